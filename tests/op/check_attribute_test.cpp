#include <doctest/doctest.h>
#include <cameo/op/check_attribute.hpp>

#include <cmath>

using namespace cameo;

namespace {

constexpr attribute_rule rule_of(attribute_kind kind, const char* values) {
  return {"x", kind, false, false, 0, 0, {}, values};
}
constexpr attribute number(std::int64_t i) { return {.name = "x", .kind = attribute_kind::i, .i = i}; }
constexpr attribute real(float f) { return {.name = "x", .kind = attribute_kind::f, .f = f}; }
constexpr attribute text(std::string_view s) { return {.name = "x", .kind = attribute_kind::s, .s = s}; }
constexpr attribute list(std::span<const std::int64_t> ints) {
  return {.name = "x", .kind = attribute_kind::ints, .ints = ints};
}

constexpr bool is_legal(const char* values, const attribute& a) {
  return bool(detail::check_attribute(rule_of(a.kind, values), a));
}
constexpr bool says(const char* values, const attribute& a, std::string_view words) {
  const status s = detail::check_attribute(rule_of(a.kind, values), a);
  return s.code() == status_code::invalid_graph && (!status::has_words || s.words() == words);
}

// The rules are evaluated by the compiler.
constexpr std::int64_t pair[] = {2, 3}, triple[] = {1, 2, 3}, zero[] = {2, 0};
static_assert(is_legal("1..", number(1)) && is_legal("1..", number(INT64_MAX)) && is_legal("-1..", number(-1)));
static_assert(says("1..", number(0), "attribute x is 0, must be 1 or more"));
static_assert(says("-1..", number(-2), "attribute x is -2, must be -1 or more"));
static_assert(is_legal("0..8", number(8)) && says("0..8", number(9), "attribute x is 9, must be from 0 to 8"));
static_assert(is_legal("2|4|8", number(4)) && says("2|4|8", number(3), "attribute x is 3, must be 2, 4 or 8"));
static_assert(is_legal("0|1", number(1)) && says("0|1", number(2), "attribute x is 2, must be 0 or 1"));
static_assert(is_legal("0..", real(0)) && is_legal("0<..", real(1e-30f)));
static_assert(says("0<..", real(0), "attribute x is a number that is not legal, must be above 0"));
static_assert(is_legal("edge|wrap", text("wrap")));
static_assert(says("edge|wrap", text("wra"), "attribute x is 'wra', must be edge or wrap"));
static_assert(is_legal("edge|wrap|", text("")) && is_legal("edge|wrap|", text("wrap")));
static_assert(says("edge|wrap|", text("wra"), "attribute x is 'wra', must be edge or wrap"));
static_assert(says("a|b|c", text(""), "attribute x is '', must be a, b or c"));
static_assert(is_legal("1..", list(pair)) && is_legal("1..", list({})) && is_legal("2:1..", list(pair)));
static_assert(says("1..", list(zero), "attribute x has 0, must be 1 or more"));
static_assert(says("2:1..", list(triple), "attribute x has 3 elements, must have 2"));
static_assert(is_legal("2:", list(zero)) && says("4:", list(zero), "attribute x has 2 elements, must have 4"));
static_assert(is_legal(nullptr, number(-5)) && is_legal(nullptr, text("anything")));

/// An attribute with a value, or an element, that no rule of the operator tables allows.
attribute illegal(const attribute_rule& rule) {
  static const std::int64_t low[] = {INT64_MIN};
  static const float nan[] = {NAN};
  static const std::string_view names[] = {"?"};
  return {.name = rule.name,
          .kind = rule.kind,
          .f = NAN,
          .i = INT64_MIN,
          .s = "?",
          .floats = nan,
          .ints = low,
          .strings = names};
}

}  // namespace

TEST_CASE("op: every rule for the values of an attribute allows the default and refuses an illegal value") {
  CHECK(says("0..", real(NAN), "attribute x is a number that is not legal, must be 0 or more"));
  std::size_t rules = 0;
  for (const op_row& op : detail::standard_ops())
    for (const op_version& version : op.versions)
      for (const attribute_rule& rule : version.attributes) {
        if (!rule.values) continue;
        ++rules;
        CAPTURE(op.name);
        CAPTURE(version.since);
        CAPTURE(rule.name);
        const attribute absent{.name = rule.name,
                               .kind = rule.kind,
                               .f = rule.default_float,
                               .i = rule.default_int,
                               .s = rule.default_string};
        if (rule.has_default) CHECK(detail::check_attribute(rule, absent));
        CHECK(detail::check_attribute(rule, illegal(rule)).code() == status_code::invalid_graph);
      }
  CHECK(rules > 150);
}
