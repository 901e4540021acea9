#include "softmax/softmax.hpp"

namespace bench {
namespace {

struct cameo_cpu {
  explicit cameo_cpu(const softmax_case& c)
      : given{c}, node{"Softmax", 13, {c.rows, c.columns}, {}, {{"axis", {-1}}}} {}
  void run(numbers& y) { node.run({given.rows, given.columns}, given.x, {given.rows, given.columns}, y); }
  const softmax_case& given;
  one_node node;
};

}  // namespace

BENCHMARK_TEMPLATE(softmax, cameo_cpu)->Apply(softmax_cases);

}  // namespace bench
