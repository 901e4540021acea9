// Tests the results that differ from ONNX Runtime's, as docs/from_onnxruntime.md documents.
#include "session/models.hpp"

#include <cmath>
#include <limits>

using namespace cameo;
using namespace cameo::test;

namespace {

attribute integers(std::string_view name, std::span<const std::int64_t> values) {
  attribute a;
  a.name = name, a.kind = attribute_kind::ints, a.ints = values;
  return a;
}

attribute text(std::string_view name, std::string_view s) {
  attribute a;
  a.name = name, a.kind = attribute_kind::s, a.s = s;
  return a;
}

/// The output of one node for constant inputs.
template <class T>
std::vector<T> answer(std::string_view op, const extents& shape, std::vector<T> x, std::vector<attribute> attributes,
                      const std::vector<std::pair<extents, std::vector<T>>>& more = {}) {
  model_builder m;
  std::vector<value_id> inputs{m.constant<T>("x", shape, std::move(x))};
  for (const auto& [dims, values] : more) inputs.push_back(m.constant<T>("w", dims, values));
  m.output(m.node(op, inputs, std::move(attributes)));
  auto s = runtime<eps::cpu>{}.load(m.take());
  REQUIRE_MESSAGE(s, (s ? "" : s.error().words()));
  auto outputs = s->run({});
  REQUIRE_MESSAGE(outputs, (outputs ? "" : outputs.error().words()));
  const auto y = outputs->items[0].value.template as_unchecked<T>();
  return {y.data(), y.data() + y.count()};
}

template <class T>
constexpr T inf = std::numeric_limits<T>::infinity();

}  // namespace

TEST_CASE("windows of SAME begin with the first element where strides exceed them by two or more") {
  const std::vector<float> x{0, 1, 2, 3, 4, 5, 6, 7};
  const std::int64_t kernel[] = {1}, stride[] = {4};
  for (const std::string_view same : {"SAME_UPPER", "SAME_LOWER"}) {
    const std::vector<attribute> windows{integers("kernel_shape", kernel), integers("strides", stride),
                                         text("auto_pad", same)};
    for (const std::string_view op : {"MaxPool", "AveragePool", "LpPool"}) {
      CAPTURE(op);
      CHECK(answer<float>(op, {1, 1, 8}, x, windows) == std::vector<float>{0, 4});
    }
    CHECK(answer<float>("Conv", {1, 1, 8}, x, windows, {{{1, 1, 1}, {1}}}) == std::vector<float>{0, 4});
  }
}

TEST_CASE("MaxPool over padding alone is minus infinity") {
  const std::int64_t kernel[] = {2, 2}, pads[] = {1, 1, 1, 1}, dilations[] = {3, 3};
  const std::vector<attribute> windows{integers("kernel_shape", kernel), integers("pads", pads),
                                       integers("dilations", dilations)};
  CHECK(answer<float>("MaxPool", {1, 1, 2, 2}, {5, 6, 7, 8}, windows) == std::vector<float>{-inf<float>});
  CHECK(answer<double>("MaxPool", {1, 1, 2, 2}, {5, 6, 7, 8}, windows) == std::vector<double>{-inf<double>});
}

TEST_CASE_TEMPLATE("Sign of NaN and a row of LogSoftmax with infinity are NaN", T, float, double) {
  const auto signs = answer<T>("Sign", {3}, {std::numeric_limits<T>::quiet_NaN(), T(-2), T(0)}, {});
  CHECK(std::isnan(signs[0]));
  CHECK(signs[1] == -1);
  CHECK(signs[2] == 0);
  for (const std::int64_t axis : {0, 1})
    for (const T y : answer<T>("LogSoftmax", axis ? extents{1, 3} : extents{3, 1}, {inf<T>, 1, 2},
                               {model_builder::integer("axis", axis)}))
      CHECK(std::isnan(y));
}

TEST_CASE("Sign of a float16 NaN is NaN") {
  const auto y = answer<float16>("Sign", {1}, {float16{std::numeric_limits<float>::quiet_NaN()}}, {});
  CHECK(std::isnan(float(y[0])));
}
