#include "layer_norm/layer_norm.hpp"

namespace bench {
namespace {

struct cameo_cpu {
  explicit cameo_cpu(const layer_norm_case& c)
      : given{c},
        node{"LayerNormalization",
             17,
             {c.rows, c.columns},
             {{cameo::extents{c.columns}, &c.scale}, {cameo::extents{c.columns}, &c.bias}},
             {{"axis", {-1}}}} {}
  void run(numbers& y) { node.run({given.rows, given.columns}, given.x, {given.rows, given.columns}, y); }
  const layer_norm_case& given;
  one_node node;
};

}  // namespace

BENCHMARK_TEMPLATE(layer_norm, cameo_cpu)->Apply(layer_norm_cases);

}  // namespace bench
