#pragma once
#include <cameo/core/fixed_string.hpp>
#include <cameo/transform/transform.hpp>

#include <array>
#include <tuple>

namespace CAMEO_NAMESPACE {

// Patterns are values that read like the expressions that they match. The compiler flattens their types into tables of
// the rows below, and one function interprets the rows (src/transform/pattern.cpp).

/// A condition on an attribute: its value, or its default, equals this value.
struct attribute_check {
  std::string_view name;
  attribute_kind kind = attribute_kind::undefined;
  std::int64_t i = 0;
  float f = 0;
  std::string_view s = {};
};

/// How a tree of nodes forms one sum or product: `join` combines two operands, `undo` is its inverse, and `power`
/// repeats it.
struct flattening {
  detail::op_id join, undo, power;
  double neutral;  // 0 for sums, 1 for products
};

/// A pattern in preorder: a step, followed by those of its parts.
struct pattern_step {
  /// The kind of the step.
  enum class what : std::uint8_t {
    absent,     // an absent input
    value,      // any value
    optional,   // any value, or an absent input
    constant,   // a value that is the same in every run
    scalar,     // a constant with one element, whose number is bound
    number,     // a constant with one element, which is this number
    node,       // a value produced by a node; its parts are the node's inputs
    perhaps,    // as `node`, or the value that would be that node's first input
    either,     // the first of its parts that leads to a match
    flattened,  // a sum or product of a number and its parts, in any order
    follower,   // after the pattern: the only reader of its result
  } kind = what::absent;
  std::uint8_t name = none;  // the number of the name that it binds
  std::uint8_t parts = 0;
  bool any_order = false, sole_use = false;
  bool others = false;      // the node may have further inputs
  std::uint8_t size = 1;    // number of steps of the subexpression
  role roles = role::none;  // roles of the node's operator, if `ops` is empty
  double number = 0;        // the number to match, or to bind if it has a name
  std::span<const detail::op_id> ops = {};
  std::span<const attribute_check> checks = {};
  const flattening* algebra = nullptr;
  static constexpr std::uint8_t none = 255;
};

/// The values, numbers and nodes that a match has bound, by the numbers of their names. A name in a part that is not
/// there is an absent value, or a node that is false.
struct match_result {
  static constexpr std::size_t most = 16, most_numbers = 4;
  rewriter* in = nullptr;
  node_view root, last;  // `last` is the node whose output is replaced: the root, or a follower
  std::array<value_view, most> values;
  std::array<node_view, most> nodes;
  std::array<double, most_numbers> numbers{};
};

/// A set of placeholders: bit i stands for `value_name<i>` or `node_name<i>`; the bits after those of values are for
/// numbers.
using name_mask = std::uint32_t;

/// A placeholder for a value. If a pattern contains it twice, both must match the same value.
template <int I>
struct value_name {
  static_assert(I >= 0 && I < int(match_result::most));
  static constexpr name_mask values = 1u << I, nodes = 0;
  static constexpr std::size_t steps = 1, checks = 0;
  constexpr void write(pattern_step*& at, attribute_check*&) const {
    at->kind = pattern_step::what::value;
    (at++)->name = std::uint8_t(I);
  }
  const value_view& get(const match_result& m) const { return m.values[I]; }
};
/// A placeholder for a number: for a constant with one element, or for the number in a flattened sum or product.
template <int I>
struct number_name {
  static_assert(I >= 0 && I < int(match_result::most_numbers));
  static constexpr name_mask values = 1u << (match_result::most + I), nodes = 0;
  static constexpr std::size_t steps = 1, checks = 0;
  constexpr void put(pattern_step& at) const { at.name = std::uint8_t(I); }
  constexpr void write(pattern_step*& at, attribute_check*&) const {
    at->kind = pattern_step::what::scalar;
    put(*at++);
  }
  double get(const match_result& m) const { return m.numbers[I]; }
};
/// A placeholder for a matched node, by which rules use the attributes of that node.
template <int I>
struct node_name {
  static_assert(I >= 0 && I < int(match_result::most));
  static constexpr name_mask values = 0, nodes = 1u << I;
  const node_view& get(const match_result& m) const { return m.nodes[I]; }
};
namespace pattern {
/// Placeholders for values, which stand for the same value in a pattern and in its replacement.
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
/// Placeholders for numbers: constants with one element.
inline constexpr number_name<0> s0;
inline constexpr number_name<1> s1;
/// Placeholders for matched nodes, by which replacements and conditions use the attributes of these nodes.
inline constexpr node_name<0> n0;
inline constexpr node_name<1> n1;
inline constexpr node_name<2> n2;
inline constexpr node_name<3> n3;
inline constexpr node_name<4> n4;
inline constexpr node_name<5> n5;
inline constexpr node_name<6> n6;

/// The pattern of an absent input.
struct absent_pattern {
  static constexpr name_mask values = 0, nodes = 0;
  static constexpr std::size_t steps = 1, checks = 0;
  constexpr void write(pattern_step*& at, attribute_check*&) const { ++at; }
};
/// An absent input.
inline constexpr absent_pattern absent;

/// A constant with one element, of any shape, that is this number within a tolerance of 1e-4.
struct number {
  static constexpr name_mask values = 0, nodes = 0;
  static constexpr std::size_t steps = 1, checks = 0;
  double expected;
  constexpr explicit number(double n) : expected{n} {}
  constexpr void put(pattern_step& at) const { at.number = expected; }
  constexpr void write(pattern_step*& at, attribute_check*&) const {
    at->kind = pattern_step::what::number;
    put(*at++);
  }
};

/// `optional{b}` matches any value, or an absent input.
template <int I>
struct optional {
  static constexpr name_mask values = 1u << I, nodes = 0;
  static constexpr std::size_t steps = 1, checks = 0;
  constexpr explicit optional(value_name<I>) {}
  constexpr void write(pattern_step*& at, attribute_check*&) const {
    at->kind = pattern_step::what::optional;
    (at++)->name = std::uint8_t(I);
  }
};

/// The type of `others`.
struct others_pattern {
  static constexpr name_mask values = 0, nodes = 0;
  static constexpr std::size_t steps = 0, checks = 0;
  constexpr void write(pattern_step*&, attribute_check*&) const {}
};
/// The pattern `others`, as the last input of a node, matches any further inputs of that node.
inline constexpr others_pattern others;

/// `constant{b}` matches a value that is the same in every run.
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
/// The largest number of inputs of Op; 255 for variadic operators.
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
  static_assert(Fits, "cameo: the rule gives this operator more inputs than it has");
};
template <class Op, detail::fixed_string Name>
struct attribute_name_check {
  static_assert(has_attribute<Op>(std::string_view{Name}),
                "cameo: the rule names an attribute that this operator does not have");
};

/// True if `others` is the last of these patterns, or none of them.
template <class... In>
constexpr bool others_last() {
  constexpr bool is[] = {false, std::is_same_v<In, pattern::others_pattern>...};
  for (std::size_t i = 0; i < sizeof...(In); ++i)
    if (is[i]) return false;
  return true;
}

/// A node of one of the operators, with these inputs. It may have further inputs only if the last is `others`, and
/// further outputs only without readers. A variadic operator has exactly these inputs. For patterns without operators,
/// see having().
template <class Ops, class... In>
class node_pattern;
template <class... Ops, class... In>
class node_pattern<op_set<Ops...>, In...> {
 public:
  static constexpr std::size_t most_checks = 6;
  static constexpr name_mask values = (In::values | ... | 0u);
  static constexpr std::size_t steps = (In::steps + ... + 1), checks = (In::checks + ... + most_checks);
  static constexpr bool has_others = (std::is_same_v<In, pattern::others_pattern> || ... || false);
  static constexpr std::size_t inputs = sizeof...(In) - has_others;
  using ops = op_set<Ops...>;
  static_assert(others_last<In...>(), "cameo: `others` must be last in a pattern: it stands for all further inputs");
  static_assert((sizeof(arity_check<Ops, inputs <= most_inputs<Ops>()>) && ...));

  constexpr explicit node_pattern(In... in) : in_{in...} {}

  /// The first two inputs match in either order.
  constexpr node_pattern any_order() const {
    return changed([](node_pattern& p) { p.any_order_ = true; });
  }
  /// The output has only one reader, and is not a graph output.
  constexpr node_pattern sole_use() const {
    return changed([](node_pattern& p) { p.sole_use_ = true; });
  }
  /// The operator has this role.
  constexpr node_pattern with_role(role one) const {
    return changed([=](node_pattern& p) { p.roles_ = one; });
  }
  /// The attribute, or its default, has this value.
  template <detail::fixed_string Name>
  constexpr node_pattern attr(std::int64_t i) const {
    return check_value<Name>({std::string_view{Name}, attribute_kind::i, i});
  }
  template <detail::fixed_string Name>
  constexpr node_pattern attr(int i) const {
    return attr<Name>(std::int64_t(i));
  }
  template <detail::fixed_string Name>
  constexpr node_pattern attr(float f) const {
    return check_value<Name>({std::string_view{Name}, attribute_kind::f, 0, f});
  }
  template <detail::fixed_string Name>
  constexpr node_pattern attr(std::string_view s) const {
    return check_value<Name>({std::string_view{Name}, attribute_kind::s, 0, 0, s});
  }
  constexpr void write(pattern_step*& at, attribute_check*& check) const { write(at, check, pattern_step::none); }
  constexpr void write(pattern_step*& at, attribute_check*& check, std::uint8_t name) const {
    pattern_step& me = *at++;
    me.kind = pattern_step::what::node;
    me.name = name;
    me.parts = inputs, me.others = has_others;
    me.any_order = any_order_, me.sole_use = sole_use_;
    me.size = std::uint8_t(steps);
    me.roles = roles_;
    if constexpr (sizeof...(Ops) > 0) me.ops = ops::ids;
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
  template <detail::fixed_string Name>
  constexpr node_pattern check_value(attribute_check check) const {
    static_assert((sizeof(attribute_name_check<Ops, Name>) && ...));
    return changed([&](node_pattern& p) { p.checks_[p.used_++] = check; });
  }
  std::tuple<In...> in_;
  std::array<attribute_check, most_checks> checks_{};
  std::size_t used_ = 0;
  bool any_order_ = false, sole_use_ = false;
  role roles_ = role::none;
};

/// A node pattern whose node has a name.
template <int I, class Node>
struct named_pattern {
  static constexpr std::size_t inputs = Node::inputs;
  static constexpr name_mask values = Node::values, nodes = Node::nodes | (1u << I);
  static constexpr std::size_t steps = Node::steps, checks = Node::checks;
  using ops = typename Node::ops;
  Node node;
  constexpr void write(pattern_step*& at, attribute_check*& check) const { node.write(at, check, std::uint8_t(I)); }
};

/// A node with one input, or the value that would be its input.
template <class Node>
struct perhaps_pattern {
  static_assert(Node::inputs == 1,
                "cameo: the node of perhaps(...) takes its first input as argument, and optionally `others`");
  static constexpr name_mask values = Node::values, nodes = Node::nodes;
  static constexpr std::size_t steps = Node::steps + 1, checks = Node::checks;
  Node node;
  constexpr void write(pattern_step*& at, attribute_check*& check) const {
    at->kind = pattern_step::what::perhaps;
    at->parts = 1;
    (at++)->size = std::uint8_t(steps);
    node.write(at, check);
  }
};

/// The operators of several sets.
template <class... Sets>
struct joined_sets;
template <class... Ops>
struct joined_sets<op_set<Ops...>> {
  using type = op_set<Ops...>;
};
template <class... A, class... B, class... Rest>
struct joined_sets<op_set<A...>, op_set<B...>, Rest...> : joined_sets<op_set<A..., B...>, Rest...> {};

/// One of several patterns: the first that leads to a match. Only names in all of them are bound.
template <class... Each>
struct either_pattern {
  static constexpr name_mask values = (Each::values & ...), nodes = (Each::nodes & ...);
  static constexpr std::size_t steps = (Each::steps + ... + 1), checks = (Each::checks + ...);
  using ops = typename joined_sets<typename Each::ops...>::type;
  std::tuple<Each...> each;
  constexpr void write(pattern_step*& at, attribute_check*& check) const {
    at->kind = pattern_step::what::either;
    at->parts = sizeof...(Each);
    (at++)->size = std::uint8_t(steps);
    std::apply([&](const Each&... one) { (one.write(at, check), ...); }, each);
  }
};

/// A tree of nodes of one algebra: the number that its constants with one element form together, and all other
/// operands, in any order. Nodes within the tree have one reader. `Roots` are the operators at the top.
template <const flattening& Algebra, class Roots, class Number, class... Parts>
struct flattened_pattern {
  static_assert(sizeof...(Parts) <= 6);
  static constexpr name_mask values = (Parts::values | ... | Number::values), nodes = (Parts::nodes | ... | 0u);
  static constexpr std::size_t steps = (Parts::steps + ... + 1), checks = (Parts::checks + ... + 0);
  using ops = Roots;
  Number number;
  std::tuple<Parts...> parts;
  constexpr void write(pattern_step*& at, attribute_check*& check) const {
    pattern_step& me = *at++;
    me.kind = pattern_step::what::flattened;
    me.parts = sizeof...(Parts);
    me.size = std::uint8_t(steps);
    me.algebra = &Algebra;
    number.put(me);
    std::apply([&](const Parts&... one) { (one.write(at, check), ...); }, parts);
  }
};

/// A reader of a pattern's result, with the name of its other operand: `then<op::Mul>(w)`.
template <class Ops, int I>
struct follower_pattern {
  static constexpr name_mask values = 1u << I;
  constexpr void write(pattern_step*& at) const {
    at->kind = pattern_step::what::follower;
    at->ops = Ops::ids;
    (at++)->name = std::uint8_t(I);
  }
};
/// A pattern and its optional followers, each with one more operand.
template <class Root, class... Next>
struct followed_pattern {
  static constexpr name_mask values = (Next::values | ... | Root::values), nodes = Root::nodes;
  static constexpr std::size_t steps = Root::steps + sizeof...(Next), checks = Root::checks;
  using ops = typename Root::ops;
  Root root;
  std::tuple<Next...> next;
  constexpr void write(pattern_step*& at, attribute_check*& check) const {
    root.write(at, check);
    std::apply([&](const Next&... each) { (each.write(at), ...); }, next);
  }
};

namespace pattern {
/// A node with these inputs: `match<op::Add>(x, y)`; of one of several operators: `match<op::Relu, op::Tanh>(x)`.
template <declared_op... Ops, class... In>
constexpr auto match(In... in) {
  return node_pattern<op_set<Ops...>, In...>{in...};
}
/// `name(n0, match<op::Conv>(x, w))` names the node, so that the replacement may use its attributes.
template <int I, class Node>
constexpr named_pattern<I, Node> name(node_name<I>, Node node) {
  return {node};
}
/// `sole_use(match<...>(...))`: see node_pattern::sole_use().
template <class Node>
constexpr Node sole_use(Node node) {
  return node.sole_use();
}
/// `any_order(match<...>(...))`: the first two inputs match in either order.
template <class Node>
constexpr Node any_order(Node node) {
  return node.any_order();
}
/// `having<role::reshapes>(x, others)`: a node of any operator with this role. Not for the root of a rule.
template <role Role, class... In>
constexpr auto having(In... in) {
  return node_pattern<op_set<>, In...>{in...}.with_role(Role);
}
/// `perhaps(match<op::Cast>(x))` matches the node, or x itself.
template <class Node>
constexpr perhaps_pattern<Node> perhaps(Node node) {
  return {node};
}
/// The first pattern that leads to a match: `either(match<op::Div>(x, y), match<op::Mul>(x, match<op::Reciprocal>(y)))`
template <class... Each>
constexpr either_pattern<Each...> either(Each... each) {
  return {std::tuple{each...}};
}
/// A follower, for followed(): `then<op::Mul>(w)`.
template <declared_op... Ops, int I>
constexpr follower_pattern<op_set<Ops...>, I> then(value_name<I>) {
  return {};
}
/// `followed(match<op::Div>(x, y), then<op::Mul>(w))` replaces the Mul if it is the only reader of the Div and the
/// conditions hold; w is its other operand. Otherwise it replaces the Div, and w is absent.
template <class Root, class... Next>
constexpr followed_pattern<Root, Next...> followed(Root root, Next... next) {
  return {root, std::tuple{next...}};
}
}  // namespace pattern

/// Matches `steps` against a node and the nodes that produce its inputs, with all choices (orders of inputs and
/// operands, alternatives), until `accept` returns true. A node that the rewriter may not change does not match. The
/// number of choices that are tried is limited.
CAMEO_API bool match_pattern(rewriter&, const node_view& root, std::span<const pattern_step> steps,
                             detail::function_ref<bool(const match_result&)> accept);

}  // namespace CAMEO_NAMESPACE
