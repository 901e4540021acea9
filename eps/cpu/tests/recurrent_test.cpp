#include <doctest/doctest.h>
#include <cameo/eps/cpu/recurrent.hpp>

#include "kernel_rig.hpp"

namespace cameo::test {
namespace {

const std::vector<float> x(6, 0.5f), w(8, 0.1f), r(16, 0.2f), h0{1, 2, 3, 4};

/// X [3, 2, 1], hidden 2: an LSTM's, a GRU's with fewer gates, an RNN's.
kernel_rig rig_of(std::int64_t gates, std::int64_t length = 3) {
  kernel_rig rig{14, 3};
  rig.input<float>({length, 2, 1}, x).input<float>({1, gates * 2, 1}, w).input<float>({1, gates * 2, 2}, r);
  return rig;
}

TEST_CASE("a sequence of no steps leaves the initial state") {
  kernel_rig rig = rig_of(1, 0);
  rig.no_input().no_input().input<float>({1, 2, 2}, h0);
  CHECK(rig.run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}));
  CHECK(rig.output<float>(0).empty());
  CHECK(std::ranges::equal(rig.output<float>(1).span(), h0));
}

TEST_CASE("a batch ends with its own length: zeros beyond, and the last state stays") {
  const std::vector<std::int32_t> lengths{1, 3};
  kernel_rig rig = rig_of(4);
  rig.no_input().input<std::int32_t>({2}, lengths);
  CHECK(rig.run<eps::recurrent<op::LSTM>>({dtype::f32, dtype::f32, dtype::f32}));
  const tensor_view<const float> y = rig.output<float>(0), last = rig.output<float>(1);
  CHECK(y[4] == 0);
  CHECK(y[8] == 0);
  CHECK(last[0] == y[0]);
  CHECK(last[2] == y[10]);
}

TEST_CASE("lengths beyond the sequence, and negative ones") {
  for (const std::int32_t bad : {4, -1, std::numeric_limits<std::int32_t>::min()}) {
    const std::vector<std::int32_t> lengths{1, bad};
    kernel_rig rig = rig_of(3);
    rig.no_input().input<std::int32_t>({2}, lengths);
    CHECK(rig.run<eps::recurrent<op::GRU>>({dtype::f32, dtype::f32}).code() == status_code::invalid_argument);
  }
}

TEST_CASE("shapes that don't belong together") {
  kernel_rig rig = rig_of(4);
  CHECK(rig.run<eps::recurrent<op::GRU>>({dtype::f32, dtype::f32}).code() == status_code::invalid_argument);
  kernel_rig sized = rig_of(1);
  sized.attribute("hidden_size", std::int64_t{3});
  CHECK(sized.run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}).code() == status_code::invalid_argument);
  kernel_rig turned = rig_of(1);
  turned.attribute("direction", "sideways");
  CHECK(turned.run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}).code() == status_code::invalid_graph);
}

TEST_CASE("sizes whose product does not fit, in tensors of no elements") {
  kernel_rig rig{14};
  rig.input<float>({std::int64_t{1} << 40, std::int64_t{1} << 40, 0}, x).input<float>({1, 0, 0}, w);
  CHECK(!rig.input<float>({1, 0, 0}, r).run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}));
}

TEST_CASE("no output asked for, nothing in the batch") {
  kernel_rig rig = rig_of(1);
  CHECK(rig.run<eps::recurrent<op::RNN>>({dtype::undefined, dtype::f32}));
  kernel_rig empty{14};
  empty.input<float>({3, 0, 1}, x).input<float>({1, 2, 1}, w).input<float>({1, 2, 2}, r);
  CHECK(empty.run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}));
}

}  // namespace
}  // namespace cameo::test
