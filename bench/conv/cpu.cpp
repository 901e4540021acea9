#include "conv/conv.hpp"

namespace bench {
namespace {

struct cameo_cpu {
  explicit cameo_cpu(const conv_case& c)
      : given{c},
        node{"Conv",
             17,
             {1, c.cin, c.size, c.size},
             {{cameo::extents{c.cout, c.cin / c.groups, c.kernel, c.kernel}, &c.w}, {cameo::extents{c.cout}, &c.bias}},
             {{"strides", {c.stride, c.stride}},
              {"pads", {c.pad(), c.pad(), c.pad(), c.pad()}},
              {"group", {c.groups}}}} {}
  void run(numbers& y) {
    node.run({1, given.cin, given.size, given.size}, given.x, {1, given.cout, given.out(), given.out()}, y);
  }
  const conv_case& given;
  one_node node;
};

}  // namespace

BENCHMARK_TEMPLATE(conv, cameo_cpu)->Apply(conv_cases);

}  // namespace bench
