// Tests which quantized nodes of a session compute with integers, and the keys that decide it.
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include <doctest/doctest.h>

#include "models.hpp"

namespace cameo::test {
namespace {

/// A model of a convolution between DequantizeLinear nodes (of an activation of T and of int8 weights) and a
/// QuantizeLinear.
template <class T>
std::unique_ptr<model> quantized_conv() {
  model_builder b{17};
  const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(4), dim::fixed(6), dim::fixed(6)});
  const value_id scale = b.constant<float>("scale", {}, {0.05f}), zero = b.constant<T>("zero", {}, {T(3)});
  const auto rounded = [&](value_id v) {
    return b.node("DequantizeLinear", {b.node("QuantizeLinear", {v, scale, zero}), scale, zero});
  };
  std::vector<std::int8_t> weights(8 * 4 * 3 * 3);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::int8_t(int(i * 29 % 201) - 100);
  const value_id w =
      b.node("DequantizeLinear", {b.constant("w", {8, 4, 3, 3}, weights), b.constant<float>("w_scale", {}, {0.01f}),
                                  b.constant<std::int8_t>("w_zero", {}, {0})});
  b.output(rounded(b.node("Conv", {rounded(x), w})));
  return b.take();
}

template <class T>
std::size_t integer_convolutions(const char* key, const char* text) {
  session_options options;
  if (key) options.config.emplace_back(key, text);
  const auto made = runtime<eps::cpu>{}.load(quantized_conv<T>(), options);
  REQUIRE_MESSAGE(made, made.error().words());
  std::size_t found = 0;
  for (const placement_info& each : made->placements()) found += each.op_type == "QLinearConv";
  return found;
}

TEST_CASE("a quantized convolution runs on integers of either sign, unless a key says that it is to stay a float") {
  CHECK(integer_convolutions<std::uint8_t>(nullptr, "") == 1);
  CHECK(integer_convolutions<std::int8_t>(nullptr, "") == 1);
  CHECK(integer_convolutions<std::uint8_t>("session.disable_quant_qdq", "1") == 0);
  CHECK(integer_convolutions<std::uint8_t>("session.qdqisint8allowed", "0") == 1);
  CHECK(integer_convolutions<std::int8_t>("session.qdqisint8allowed", "0") == 0);
  CHECK(integer_convolutions<std::int8_t>("session.qdqisint8allowed", "1") == 1);
  CHECK(integer_convolutions<std::uint8_t>("session.enable_saved_runtime_optimizations", "1") == 0);
}

}  // namespace
}  // namespace cameo::test
