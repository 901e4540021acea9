#include <doctest/doctest.h>
#include <cameo/eps/cpu/recurrent.hpp>

#include "kernel_rig.hpp"

namespace cameo::test {
namespace {

const floats sequence(6, 0.5f), weights(8, 0.1f), recurrent_weights(16, 0.2f), initial_state{1, 2, 3, 4};

/// A rig with X [3, 2, 1] and hidden size 2: 4 gates for an LSTM, 3 for a GRU, 1 for an RNN.
kernel_rig rig_of_gates(std::int64_t gates, std::int64_t length = 3) {
  kernel_rig rig{14, 3};
  rig.input<float>({length, 2, 1}, sequence)
      .input<float>({1, gates * 2, 1}, weights)
      .input<float>({1, gates * 2, 2}, recurrent_weights);
  return rig;
}

TEST_CASE("a sequence of no steps leaves the initial state") {
  kernel_rig rig = rig_of_gates(1, 0);
  rig.checked_as<op::RNN>();
  rig.no_input().no_input().input<float>({1, 2, 2}, initial_state);
  CHECK(rig.run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}));
  CHECK(rig.output<float>(0).empty());
  CHECK(std::ranges::equal(rig.output<float>(1).span(), initial_state));
}

TEST_CASE("without batches or hidden elements a run ends at once, however many steps or batches it has") {
  const std::int64_t many = std::int64_t{1} << 61;
  const floats none;
  kernel_rig steps{14}, batches{14};
  for (kernel_rig* const rig : {&steps, &batches}) rig->checked_as<op::RNN>();
  steps.input<float>({many, 0, 1}, none).input<float>({1, 2, 1}, weights).input<float>({1, 2, 2}, recurrent_weights);
  REQUIRE(steps.run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}));
  CHECK(steps.output<float>(0).shape() == extents{many, 1, 0, 2});
  batches.input<float>({1, many, 0}, none).input<float>({1, 0, 0}, none).input<float>({1, 0, 0}, none);
  REQUIRE(batches.run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}));
  CHECK(batches.output<float>(1).shape() == extents{1, many, 0});
}

TEST_CASE("a sequence ends at its length: zeros follow, and the last state stays") {
  const std::vector<std::int32_t> lengths{1, 3};
  kernel_rig rig = rig_of_gates(4);
  rig.checked_as<op::LSTM>();
  rig.no_input().input<std::int32_t>({2}, lengths);
  CHECK(rig.run<eps::recurrent<op::LSTM>>({dtype::f32, dtype::f32, dtype::f32}));
  const tensor_view<const float> y = rig.output<float>(0), last = rig.output<float>(1);
  CHECK(y[4] == 0);
  CHECK(y[8] == 0);
  CHECK(last[0] == y[0]);
  CHECK(last[2] == y[10]);
}

TEST_CASE("a sequence without a step ends with zeros, not with its initial state, in either direction") {
  const std::vector<std::int32_t> lengths{0, 2};
  for (const char* direction : {"forward", "reverse"}) {
    kernel_rig rig = rig_of_gates(4);
    rig.checked_as<op::LSTM>();
    rig.attribute("direction", std::string_view{direction});
    rig.no_input()
        .input<std::int32_t>({2}, lengths)
        .input<float>({1, 2, 2}, initial_state)
        .input<float>({1, 2, 2}, initial_state);
    REQUIRE(rig.run<eps::recurrent<op::LSTM>>({dtype::f32, dtype::f32, dtype::f32}));
    for (const std::size_t i : {1, 2}) {
      const tensor_view<const float> last = rig.output<float>(i);
      CHECK((last[0] == 0 && last[1] == 0));
      CHECK((last[2] != 0 && last[2] != initial_state[2]));
    }
  }
}

TEST_CASE("activations without alpha and beta have ONNX Runtime's defaults") {
  const std::vector<float> one{0.5f}, by_one{1}, by_zero{0};
  for (const auto& [name, want] : {std::pair{"Affine", 0.0f},
                                   {"ScaledTanh", 0.0f},
                                   {"ThresholdedRelu", 0.5f},
                                   {"LeakyRelu", 0.5f},
                                   {"HardSigmoid", 0.6f}}) {
    kernel_rig rig{14};
    rig.checked_as<op::RNN>();
    const std::string_view names[] = {name};
    rig.attribute("activations", std::span<const std::string_view>{names});
    rig.input<float>({1, 1, 1}, one).input<float>({1, 1, 1}, by_one).input<float>({1, 1, 1}, by_zero);
    REQUIRE(rig.run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}));
    CHECK(rig.output<float>(1)[0] == doctest::Approx(want));
  }
}

TEST_CASE("lengths beyond the sequence and negative ones are refused") {
  for (const std::int32_t bad : {4, -1, std::numeric_limits<std::int32_t>::min()}) {
    const std::vector<std::int32_t> lengths{1, bad};
    kernel_rig rig = rig_of_gates(3);
    rig.checked_as<op::GRU>();
    rig.no_input().input<std::int32_t>({2}, lengths);
    CHECK(rig.run<eps::recurrent<op::GRU>>({dtype::f32, dtype::f32}).code() == status_code::invalid_argument);
  }
}

TEST_CASE("shapes that contradict each other are refused") {
  kernel_rig rig = rig_of_gates(4);
  rig.checked_as<op::GRU>();
  CHECK(rig.run<eps::recurrent<op::GRU>>({dtype::f32, dtype::f32}).code() == status_code::invalid_argument);
  kernel_rig sized = rig_of_gates(1);
  sized.checked_as<op::RNN>();
  sized.attribute("hidden_size", std::int64_t{3});
  CHECK(sized.run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}).code() == status_code::invalid_argument);
  kernel_rig sideways = rig_of_gates(1);
  sideways.checked_as<op::RNN>();
  sideways.attribute("direction", "sideways");
  CHECK(sideways.run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}).code() == status_code::invalid_graph);
}

/// Transposes [a, b, rest...] to [b, a, rest...].
std::vector<float> first_axes_swapped(const std::vector<float>& from, std::int64_t a, std::int64_t b,
                                      std::int64_t rest) {
  std::vector<float> made(from.size());
  for (std::int64_t i = 0; i < a; ++i)
    for (std::int64_t j = 0; j < b; ++j)
      std::copy_n(from.begin() + (i * b + j) * rest, rest, made.begin() + (j * a + i) * rest);
  return made;
}

TEST_CASE("layout 1 has the numbers of layout 0 with the batch first, with all combinations of attributes") {
  std::mt19937 random{4};
  for (const char* direction : {"forward", "reverse", "bidirectional"}) {
    const std::int64_t d = direction == std::string_view{"bidirectional"} ? 2 : 1, length = 4, batch = 3, in = 2, n = 3;
    const auto numbers = [&](std::int64_t count) { return random_numbers<float>(random, count); };
    const std::vector<float> x = numbers(length * batch * in), w = numbers(d * 4 * n * in), r = numbers(d * 4 * n * n),
                             h = numbers(d * batch * n), c = numbers(d * batch * n), p = numbers(d * 3 * n);
    const std::vector<float> x1 = first_axes_swapped(x, length, batch, in), h1 = first_axes_swapped(h, d, batch, n),
                             c1 = first_axes_swapped(c, d, batch, n);
    const std::vector<std::int32_t> lengths{4, 1, 2};
    kernel_rig plain{14, 2}, first{14, 2};
    for (kernel_rig* rig : {&plain, &first}) {
      rig->checked_as<op::LSTM>();
      const bool is_first = rig == &first;
      rig->attribute("direction", std::string_view{direction}).attribute("layout", std::int64_t{is_first});
      rig->input<float>(is_first ? extents{batch, length, in} : extents{length, batch, in}, is_first ? x1 : x);
      rig->input<float>({d, 4 * n, in}, w).input<float>({d, 4 * n, n}, r).no_input();
      rig->input<std::int32_t>({batch}, lengths);
      const extents state = is_first ? extents{batch, d, n} : extents{d, batch, n};
      rig->input<float>(state, is_first ? h1 : h).input<float>(state, is_first ? c1 : c).input<float>({d, 3 * n}, p);
      REQUIRE(rig->run<eps::recurrent<op::LSTM>>({dtype::f32, dtype::f32, dtype::f32}));
    }
    const auto all = [](kernel_rig& rig, std::size_t i) {
      const tensor_view<const float> y = rig.output<float>(i);
      return std::vector<float>(y.begin(), y.end());
    };
    // Y is [length, d, batch, n] in layout 0, and [batch, length, d, n] in layout 1.
    CHECK(first_axes_swapped(all(plain, 0), length * d, batch, n) == all(first, 0));
    for (const std::size_t i : {1, 2}) CHECK(first_axes_swapped(all(plain, i), d, batch, n) == all(first, i));
  }
}

TEST_CASE("sizes whose product overflows, in empty tensors, are refused") {
  kernel_rig rig{14};
  rig.checked_as<op::RNN>();
  rig.input<float>({std::int64_t{1} << 40, std::int64_t{1} << 40, 0}, sequence).input<float>({1, 0, 0}, weights);
  CHECK(!rig.input<float>({1, 0, 0}, recurrent_weights).run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}));
}

TEST_CASE("outputs may be left out, and the batch may be empty") {
  kernel_rig rig = rig_of_gates(1);
  rig.checked_as<op::RNN>();
  CHECK(rig.run<eps::recurrent<op::RNN>>({dtype::undefined, dtype::f32}));
  kernel_rig empty{14};
  empty.checked_as<op::RNN>();
  empty.input<float>({3, 0, 1}, sequence).input<float>({1, 2, 1}, weights).input<float>({1, 2, 2}, recurrent_weights);
  CHECK(empty.run<eps::recurrent<op::RNN>>({dtype::f32, dtype::f32}));
}

}  // namespace
}  // namespace cameo::test
