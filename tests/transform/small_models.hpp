#pragma once
#include "rule_rig.hpp"

/// Parts of small models for the tests of several transforms.
namespace cameo::test {

using builder = model_builder;
using ids = std::vector<value_id>;
inline constexpr auto integer = model_builder::integer;

/// The attribute `name` with a list.
inline attribute list_of(std::string_view name, const std::vector<std::int64_t>& numbers) {
  return attribute_of(name, std::span<const std::int64_t>{numbers});
}
/// Small numbers above and below `base`.
inline std::vector<float> numbers(std::size_t count, float base = 0.0f) {
  std::vector<float> all = ramp(count, 0.001f);
  for (float& each : all) each += base;
  return all;
}

/// A model that `make` builds. The value that it returns, if any, is the last output.
template <class Make>
auto model_of(Make make, std::int64_t opset = 17) {
  return [make, opset] {
    builder b{opset};
    if constexpr (std::is_void_v<decltype(make(b))>) make(b);
    else b.output(make(b));
    return b.take();
  };
}

inline std::size_t nodes_of(const session& s) { return s.graph().main().order().size(); }

}  // namespace cameo::test
