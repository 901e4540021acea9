#include "softmax/softmax.hpp"

namespace bench {
namespace {

struct plain {
  explicit plain(const softmax_case& c) : given{c} {}
  void run(numbers& y) { softmax_rows<float>(given, y); }
  const softmax_case& given;
};

}  // namespace

BENCHMARK_TEMPLATE(softmax, plain)->Apply(softmax_cases);

}  // namespace bench
