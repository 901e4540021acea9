#include "conv/conv.hpp"

namespace bench {
namespace {

struct plain {
  explicit plain(const conv_case& c) : given{c} {}
  void run(numbers& y) { convolve<float>(given, y); }
  const conv_case& given;
};

}  // namespace

BENCHMARK_TEMPLATE(conv, plain)->Apply(conv_cases);

}  // namespace bench
