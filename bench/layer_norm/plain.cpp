#include "layer_norm/layer_norm.hpp"

namespace bench {
namespace {

struct plain {
  explicit plain(const layer_norm_case& c) : given{c} {}
  void run(numbers& y) { normalize_rows<float>(given, y); }
  const layer_norm_case& given;
};

}  // namespace

BENCHMARK_TEMPLATE(layer_norm, plain)->Apply(layer_norm_cases);

}  // namespace bench
