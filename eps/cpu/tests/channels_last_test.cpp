// Operators of com.microsoft on bytes with the channels last, against ONNX's operators between two Transposes.
#include "session/models.hpp"

#include <doctest/doctest.h>

using namespace cameo;
using cameo::test::model_builder;

namespace {

attribute ints_attribute(std::string_view name, const std::vector<std::int64_t>& items) {
  attribute a;
  a.name = name, a.kind = attribute_kind::ints, a.ints = items;
  return a;
}

template <class T>
std::vector<T> some_bytes(std::size_t count) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = T(std::uint8_t(i * 37 % 251));
  return all;
}

/// Runs y = node(x) for x [2, 5, 6, 4], channels last: once as the node `direct`, once as `moved` between Transposes.
template <class T, class Direct, class Moved>
void compare_layouts(const Direct& direct, const Moved& moved) {
  const std::vector<std::int64_t> front{0, 3, 1, 2}, back{0, 2, 3, 1};
  std::vector<T> answers[2];
  for (const bool is_direct : {true, false}) {
    model_builder b;
    b.whole().imports.push_back({"com.microsoft", 1});
    const value_id x = b.input("x", dtype_of<T>, {dim::fixed(2), dim::fixed(5), dim::fixed(6), dim::fixed(4)});
    b.output(is_direct ? direct(b, x)
                       : b.node("Transpose", {moved(b, b.node("Transpose", {x}, {ints_attribute("perm", front)}))},
                                {ints_attribute("perm", back)}));
    session_options options;
    options.optimize = optimization_level::none;
    const auto loaded = runtime<eps::cpu>{}.load(b.take(), options);
    REQUIRE_MESSAGE(loaded, loaded.error().words());
    const std::vector<T> input = some_bytes<T>(2 * 5 * 6 * 4);
    const auto outputs = loaded->run({{"x", value::tensor<T>({2, 5, 6, 4}, input)}});
    REQUIRE_MESSAGE(outputs, outputs.error().words());
    const auto y = (*outputs)[0].value.view().template as_unchecked<T>();
    answers[!is_direct].assign(y.begin(), y.end());
  }
  CHECK(!answers[0].empty());
  CHECK(answers[0] == answers[1]);
}

}  // namespace

TEST_CASE("a quantized convolution with the channels last, grouped, padded and per filter, is ONNX's on moved axes") {
  const auto conv = [](std::string_view domain) {
    return [domain](model_builder& b, value_id x) {
      const std::vector<value_id> inputs{x,
                                         b.constant<float>("xs", {}, {0.05f}),
                                         b.constant<std::uint8_t>("xz", {}, {120}),
                                         b.constant<std::int8_t>("w", {6, 2, 3, 2}, some_bytes<std::int8_t>(72)),
                                         b.constant<float>("ws", {6}, {0.1f, 0.2f, 0.03f, 0.1f, 0.05f, 0.08f}),
                                         b.constant<std::int8_t>("wz", {}, {0}),
                                         b.constant<float>("ys", {}, {0.9f}),
                                         b.constant<std::uint8_t>("yz", {}, {100}),
                                         b.constant<std::int32_t>("bias", {6}, {1, -200, 30, 4000, -5, 0})};
      const std::vector<std::int64_t> pads{1, 0, 1, 1}, strides{2, 1};
      std::vector<attribute> attributes{ints_attribute("pads", pads), ints_attribute("strides", strides),
                                        model_builder::integer("group", 2)};
      if (!domain.empty()) attributes.push_back(model_builder::integer("channels_last", 1));
      return b.node("QLinearConv", inputs, attributes, domain, domain.empty() ? 0 : 1);
    };
  };
  compare_layouts<std::uint8_t>(conv("com.microsoft"), conv(""));
}

TEST_CASE("the largest of windows with the channels last is ONNX's on moved axes, signed or not") {
  const auto pool = [](std::string_view op, std::string_view domain) {
    return [op, domain](model_builder& b, value_id x) {
      return b.node(op, {x},
                    {ints_attribute("kernel_shape", {3, 2}), ints_attribute("pads", {1, 1, 0, 0}),
                     ints_attribute("strides", {2, 1})},
                    domain, domain.empty() ? 0 : 1);
    };
  };
  compare_layouts<std::uint8_t>(pool("NhwcMaxPool", "com.microsoft"), pool("MaxPool", ""));
  compare_layouts<std::int8_t>(pool("NhwcMaxPool", "com.microsoft"), pool("MaxPool", ""));
}
