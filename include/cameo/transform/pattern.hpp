#pragma once
#include <cameo/core/fixed_string.hpp>
#include <cameo/transform/transform.hpp>

#include <array>
#include <tuple>

namespace cameo::inline CAMEO_ABI {

// Patterns are values that read like the expression that they match. They are written as types and flattened to the
// rows below when the program is compiled; one function interprets the rows (src/transform/pattern.cpp).

/// A condition on an attribute: that its value, or its default, equals this.
struct attribute_check {
  std::string_view name;
  attribute_kind kind = attribute_kind::undefined;
  std::int64_t i = 0;
  float f = 0;
  std::string_view s = {};
};

/// A pattern in preorder: a node, then those of its inputs.
struct pattern_step {
  /// What it matches.
  enum class what : std::uint8_t { node, value, constant, number, absent } kind = what::absent;
  std::uint8_t name = none;  // of the value or node that it binds
  std::uint8_t inputs = 0;
  bool any_order = false, sole_use = false;
  std::uint8_t size = 1;  // steps of the whole subexpression
  double number = 0;
  std::span<const op_id> ops = {};
  std::span<const attribute_check> checks = {};
  static constexpr std::uint8_t none = 255;
};

/// The values and nodes that a match has bound, by the numbers of their names.
struct match_result {
  static constexpr std::size_t most = 16;
  rewriter* in = nullptr;
  node_view root;
  std::array<value_view, most> values;
  std::array<node_view, most> nodes;
};

/// A set of names: bit i stands for `value_name<i>`, or `node_name<i>`.
using name_mask = std::uint32_t;

/// The name of a value: the same name twice means the same value.
template <int I>
struct value_name {
  static_assert(I >= 0 && I < int(match_result::most));
  static constexpr name_mask values = 1u << I, nodes = 0;
  static constexpr std::size_t steps = 1, checks = 0;
  constexpr void write(pattern_step*& at, attribute_check*&) const {
    at->kind = pattern_step::what::value;
    (at++)->name = std::uint8_t(I);
  }
  const value_view& of(const match_result& m) const { return m.values[I]; }
};
/// The name of a node, for its attributes.
template <int I>
struct node_name {
  static_assert(I >= 0 && I < int(match_result::most));
  static constexpr name_mask values = 0, nodes = 1u << I;
  const node_view& of(const match_result& m) const { return m.nodes[I]; }
};
namespace pattern {
/// Names of values, for patterns and replacements.
inline constexpr value_name<0> x;
inline constexpr value_name<1> y;
inline constexpr value_name<2> z;
inline constexpr value_name<3> w;
inline constexpr value_name<4> a;
inline constexpr value_name<5> b;
inline constexpr value_name<6> c;
inline constexpr value_name<7> d;
inline constexpr value_name<8> e;
inline constexpr value_name<9> f;
inline constexpr value_name<10> g;
inline constexpr value_name<11> h;
/// Names of nodes, for their attributes.
inline constexpr node_name<0> n0;
inline constexpr node_name<1> n1;
inline constexpr node_name<2> n2;
inline constexpr node_name<3> n3;
inline constexpr node_name<4> n4;
inline constexpr node_name<5> n5;

/// An input that is left out.
struct absent_pattern {
  static constexpr name_mask values = 0, nodes = 0;
  static constexpr std::size_t steps = 1, checks = 0;
  constexpr void write(pattern_step*& at, attribute_check*&) const { ++at; }
};
/// An input that is left out.
inline constexpr absent_pattern absent;

/// A constant with this one number in it (any shape of one element; to a ten-thousandth).
struct number {
  static constexpr name_mask values = 0, nodes = 0;
  static constexpr std::size_t steps = 1, checks = 0;
  double expected;
  constexpr explicit number(double n) : expected{n} {}
  constexpr void write(pattern_step*& at, attribute_check*&) const {
    at->kind = pattern_step::what::number;
    (at++)->number = expected;
  }
};

/// A named value that is the same in every run.
template <int I>
struct constant {
  static constexpr name_mask values = 1u << I, nodes = 0;
  static constexpr std::size_t steps = 1, checks = 0;
  constexpr explicit constant(value_name<I>) {}
  constexpr void write(pattern_step*& at, attribute_check*&) const {
    at->kind = pattern_step::what::constant;
    (at++)->name = std::uint8_t(I);
  }
};
}  // namespace pattern

// The limits of an operator over all its versions.
/// The largest number of inputs of Op; 255: any number.
template <declared_op Op>
constexpr std::size_t most_inputs() {
  std::size_t most = 0;
  for (const op_version& v : Op::versions) {
    if (!v.inputs.empty() && v.inputs.back().option == parameter_option::variadic) return 255;
    most = most < v.inputs.size() ? v.inputs.size() : most;
  }
  return most;
}
/// The smallest number of outputs of Op.
template <declared_op Op>
constexpr std::size_t fewest_outputs() {
  std::size_t fewest = 255;
  for (const op_version& v : Op::versions) fewest = v.min_outputs < fewest ? v.min_outputs : fewest;
  return fewest;
}
/// True if some version of Op has the attribute.
template <declared_op Op>
constexpr bool has_attribute(std::string_view name) {
  for (const op_version& v : Op::versions)
    for (const attribute_rule& rule : v.attributes)
      if (rule.name == name) return true;
  return false;
}

template <class Op, bool Fits>
struct arity_check {
  static_assert(Fits, "cameo: this operator of the rule is given more inputs than it has");
};
template <class Op, fixed_string Name>
struct attribute_name_check {
  static_assert(has_attribute<Op>(std::string_view{Name}),
                "cameo: the rule names an attribute that this operator does not have");
};

/// A node of one of the operators, with these inputs. Further inputs must be absent, and so must outputs after the
/// first. A variadic operator has exactly these inputs.
template <class Ops, class... In>
class node_pattern;
template <class... Ops, class... In>
class node_pattern<op_set<Ops...>, In...> {
 public:
  static constexpr std::size_t most_checks = 6;
  static constexpr name_mask values = (In::values | ... | 0u);
  static constexpr std::size_t steps = (In::steps + ... + 1), checks = (In::checks + ... + most_checks);
  using ops = op_set<Ops...>;
  static_assert((sizeof(arity_check<Ops, sizeof...(In) <= most_inputs<Ops>()>) && ...));

  constexpr explicit node_pattern(In... in) : in_{in...} {}

  /// Its first two inputs may be in either order.
  constexpr node_pattern any_order() const {
    return changed([](node_pattern& p) { p.any_order_ = true; });
  }
  /// One node alone reads its output, which is not an output of the graph.
  constexpr node_pattern sole_use() const {
    return changed([](node_pattern& p) { p.sole_use_ = true; });
  }
  /// Its attribute, or the attribute's default, has this value.
  template <fixed_string Name>
  constexpr node_pattern attr(std::int64_t i) const {
    return with<Name>({std::string_view{Name}, attribute_kind::i, i});
  }
  template <fixed_string Name>
  constexpr node_pattern attr(int i) const {
    return attr<Name>(std::int64_t(i));
  }
  template <fixed_string Name>
  constexpr node_pattern attr(float f) const {
    return with<Name>({std::string_view{Name}, attribute_kind::f, 0, f});
  }
  template <fixed_string Name>
  constexpr node_pattern attr(std::string_view s) const {
    return with<Name>({std::string_view{Name}, attribute_kind::s, 0, 0, s});
  }
  constexpr void write(pattern_step*& at, attribute_check*& check) const { write(at, check, pattern_step::none); }
  constexpr void write(pattern_step*& at, attribute_check*& check, std::uint8_t name) const {
    pattern_step& me = *at++;
    me.kind = pattern_step::what::node;
    me.name = name;
    me.inputs = sizeof...(In);
    me.any_order = any_order_, me.sole_use = sole_use_;
    me.size = std::uint8_t(steps);
    me.ops = ops::ids;
    attribute_check* const first = check;
    for (std::size_t i = 0; i < used_; ++i) *check++ = checks_[i];
    me.checks = {first, used_};
    std::apply([&](const In&... each) { (each.write(at, check), ...); }, in_);
  }
  static constexpr name_mask nodes = (In::nodes | ... | 0u);

 private:
  template <class Change>
  constexpr node_pattern changed(Change change) const {
    node_pattern copy = *this;
    change(copy);
    return copy;
  }
  template <fixed_string Name>
  constexpr node_pattern with(attribute_check check) const {
    static_assert((sizeof(attribute_name_check<Ops, Name>) && ...));
    return changed([&](node_pattern& p) { p.checks_[p.used_++] = check; });
  }
  std::tuple<In...> in_;
  std::array<attribute_check, most_checks> checks_{};
  std::size_t used_ = 0;
  bool any_order_ = false, sole_use_ = false;
};

/// A node pattern whose node has a name.
template <int I, class Node>
struct named_pattern {
  static constexpr name_mask values = Node::values, nodes = Node::nodes | (1u << I);
  static constexpr std::size_t steps = Node::steps, checks = Node::checks;
  using ops = typename Node::ops;
  Node node;
  constexpr void write(pattern_step*& at, attribute_check*& check) const { node.write(at, check, std::uint8_t(I)); }
};

namespace pattern {
/// `match<op::Add>(x, y)`; alternatives: `match<op::Relu, op::Tanh>(x)`.
template <declared_op... Ops, class... In>
constexpr auto match(In... in) {
  return node_pattern<op_set<Ops...>, In...>{in...};
}
/// `name(n0, match<op::Conv>(x, w))`: the replacement may use the node's attributes.
template <int I, class Node>
constexpr named_pattern<I, Node> name(node_name<I>, Node node) {
  return {node};
}
/// `sole_use(match<...>(...))`: see node_pattern::sole_use.
template <class Node>
constexpr Node sole_use(Node node) {
  return node.sole_use();
}
/// `any_order(match<...>(...))`: its first two inputs in either order.
template <class Node>
constexpr Node any_order(Node node) {
  return node.any_order();
}
}  // namespace pattern

/// Matches `steps` against a node and the nodes that produce its inputs; `found` receives what is bound. Every order of
/// the inputs of commutative nodes is tried. A node that the rewriter may not touch does not match.
CAMEO_API bool match_pattern(rewriter&, const node_view& root, std::span<const pattern_step> steps,
                             match_result& found);

}  // namespace cameo::inline CAMEO_ABI
