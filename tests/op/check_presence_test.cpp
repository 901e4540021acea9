#include <doctest/doctest.h>
#include <cameo/op/check_presence.hpp>

namespace presence_rules {

using namespace cameo;

constexpr parameter inputs[] = {
    {"X", "T"}, {"key", "T", parameter_option::optional}, {"value", "T", parameter_option::optional}};
constexpr parameter outputs[] = {{"Y", "T"}, {"present", "T", parameter_option::optional}};
constexpr op_version with_rules(const char* rules) { return {1, inputs, outputs, {}, {}, 1, 1, false, nullptr, rules}; }

/// Bit i of `ins` and `outs` is set if the node has input or output i.
constexpr status check(const char* rules, unsigned ins, unsigned outs, std::span<const attribute> attributes = {}) {
  return cameo::detail::check_presence(
      with_rules(rules), attributes, [&](std::size_t i) { return (ins >> i & 1) != 0; },
      [&](std::size_t i) { return (outs >> i & 1) != 0; });
}
constexpr bool says(const status& s, std::string_view words) {
  return s.code() == status_code::invalid_graph && (!status::has_words || s.words() == words);
}

constexpr attribute switched_on[] = {{.name = "rotates", .kind = attribute_kind::i, .i = 1}};
constexpr attribute switched_off[] = {{.name = "rotates", .kind = attribute_kind::i, .i = 0}};
constexpr attribute text[] = {{.name = "rotates", .kind = attribute_kind::s, .s = ""}};

static_assert(check(nullptr, 0, 0) && check("key&value", 1, 1) && check("key&value", 7, 1));
static_assert(says(check("key&value", 3, 1), "key and value go together"));
static_assert(says(check("key&value", 5, 1), "key and value go together"));
static_assert(check("present>key", 1, 1) && check("present>key", 3, 3) && check("present>key", 3, 1));
static_assert(says(check("present>key", 5, 3), "present needs key"));
static_assert(check("rotates>key", 1, 1) && check("rotates>key", 1, 1, switched_off) &&
              check("rotates>key", 3, 1, switched_on));
static_assert(says(check("rotates>key", 1, 1, switched_on), "rotates needs key"));
static_assert(says(check("rotates>key", 1, 1, text), "rotates needs key"));
static_assert(says(check("key&value present>key", 1, 3), "present needs key"));
static_assert(says(check("key>nothing", 3, 1), "key needs nothing"));

TEST_CASE("op: inputs that need each other are checked when a model is loaded and while compiling alike") {
  for (unsigned ins = 0; ins < 8; ++ins) {
    const bool key = (ins & 2) != 0, value = (ins & 4) != 0;
    CHECK(bool(check("key&value", ins, 1)) == (key == value));
    CHECK(bool(check("key>value", ins, 1)) == (!key || value));
  }
}

}  // namespace presence_rules
