#pragma once
#include <cameo/transform/pattern.hpp>
#include <cameo/transform/transform.hpp>

namespace CAMEO_NAMESPACE {

/// The source of an attribute of a new node.
struct attribute_source {
  std::string_view name;
  /// Computes the attribute. If it returns false, the rule is not applied.
  bool (*make)(const match_result&, attribute& made) = nullptr;
  std::uint8_t node = pattern_step::none;  // the matched node that it is copied from
  std::string_view source_name = {};       // the attribute's name in that node
  attribute literal = {};
};
/// A new node or value of a replacement, in preorder.
struct result_step {
  /// The kind of the step.
  enum class what : std::uint8_t { absent, value, inputs, computed, node, again } kind = what::absent;
  std::uint8_t name = 0;   // name of the value, or of the node whose inputs these are
  std::uint8_t first = 0;  // the first of those inputs
  std::uint8_t parts = 0;  // number of inputs, which are the steps that follow
  std::string_view domain = {}, op = {};
  std::span<const attribute_source> attributes = {};
  std::uint8_t copied = pattern_step::none;  // node whose attributes are copied, if the new operator has them
  bool (*has_attribute)(std::string_view) = nullptr;
  value_id (*compute)(const match_result&, edit&) = nullptr;
  std::span<const made_op> makes = {};
};

template <class Node>
struct result_check {
  static_assert(Node::fewest <= 1, "cameo: the replacement makes more outputs than what it replaces");
};

/// The common part of new nodes: inputs, and attributes that are given singly. `Made` is the type of node.
template <class Made, class... In>
class made_node {
 public:
  static constexpr std::size_t most_attributes = 8;
  static constexpr name_mask values = (In::values | ... | 0u);
  static constexpr std::size_t steps = (In::result_steps + ... + 1), result_steps = steps,
                               sources = (In::sources + ... + most_attributes);
  name_mask nodes = 0;

  constexpr explicit made_node(In... in) : in_{in...} { ((nodes |= in.nodes), ...); }

  /// Sets an attribute to this value.
  template <detail::fixed_string Name, class T>
  constexpr Made attr(T literal) const {
    attribute_source s{std::string_view{Name}};
    s.literal = attribute_of(std::string_view{Name}, literal);
    return add_source<Name>(s);
  }
  /// Sets an attribute to what a function of the match computes: `bool make(const match_result&, attribute&)`. If it
  /// returns false, the rule is not applied. Lists that the attribute refers to must live as long as the model
  /// (model::memory).
  template <detail::fixed_string Name, auto Make>
  constexpr Made attr() const {
    attribute_source s{std::string_view{Name}};
    s.make = [](const match_result& m, attribute& made) { return Make(m, made); };
    return add_source<Name>(s);
  }
  /// Copies an attribute of a matched node, with the same or another name; absent if that node does not have it.
  template <detail::fixed_string Name, int I, detail::fixed_string From = Name>
  constexpr Made copy(node_name<I>) const {
    attribute_source s{std::string_view{Name}};
    s.node = I, s.source_name = std::string_view{From};
    Made made = add_source<Name>(s);
    made.nodes |= 1u << I;
    return made;
  }
  /// Leaves out an attribute that is copied with others.
  template <detail::fixed_string Name>
  constexpr Made leave_out() const {
    return add_source<Name>({std::string_view{Name}});
  }

 protected:
  /// Appends the inputs at `at` and all attributes at `source`.
  constexpr void write_parts(result_step& me, result_step*& at, attribute_source*& source) const {
    me.parts = sizeof...(In);
    attribute_source* const first = source;
    for (std::size_t i = 0; i < used_; ++i) *source++ = attributes_[i];
    me.attributes = {first, used_};
    std::apply([&](const In&... each) { (each.write(at, source), ...); }, in_);
  }

 private:
  template <detail::fixed_string Name>
  constexpr Made add_source(attribute_source s) const {
    Made::template check_attribute<Name>();
    Made made = static_cast<const Made&>(*this);
    made.attributes_[made.used_++] = s;
    return made;
  }
  std::tuple<In...> in_;
  std::array<attribute_source, most_attributes> attributes_{};
  std::size_t used_ = 0;
};

/// A new node. Attributes are given singly, or copied from a matched node.
template <declared_op Op, class... In>
class node_result : public made_node<node_result<Op, In...>, In...> {
 public:
  using made_node<node_result, In...>::made_node;
  static constexpr std::size_t fewest = fewest_outputs<Op>();
  static_assert(sizeof(arity_check<Op, sizeof...(In) <= most_inputs<Op>()>));

  /// Copies all attributes of a matched node that the new operator has, too.
  template <int I>
  constexpr node_result copy_all(node_name<I>) const {
    node_result made = *this;
    made.copied_ = I;
    made.nodes |= 1u << I;
    return made;
  }
  constexpr void write(result_step*& at, attribute_source*& source) const {
    result_step& me = *at++;
    me.kind = result_step::what::node;
    me.domain = Op::domain, me.op = Op::name;
    me.copied = copied_;
    me.has_attribute = [](std::string_view name) { return has_attribute<Op>(name); };
    this->write_parts(me, at, source);
  }
  /// Fails to compile if the operator has no attribute with this name.
  template <detail::fixed_string Name>
  static constexpr void check_attribute() {
    static_assert(sizeof(attribute_name_check<Op, Name>));
  }

 private:
  std::uint8_t copied_ = pattern_step::none;
};

/// A copy of a matched node with other first inputs; it keeps the further inputs and the attributes.
template <int I, class... In>
class again_result : public made_node<again_result<I, In...>, In...> {
 public:
  static constexpr std::size_t fewest = 1;
  static_assert(sizeof...(In) > 0, "cameo: again(node, ...) needs the first input of the new node");
  constexpr explicit again_result(In... in) : made_node<again_result, In...>{in...} { this->nodes |= 1u << I; }

  constexpr void write(result_step*& at, attribute_source*& source) const {
    result_step& me = *at++;
    me.kind = result_step::what::again;
    me.copied = I;
    this->write_parts(me, at, source);
  }
  template <detail::fixed_string>
  static constexpr void check_attribute() {}
};

/// A matched value, as an input of a new node or as the whole replacement.
template <int I>
struct value_result {
  static constexpr name_mask values = 1u << I;
  static constexpr std::size_t steps = 1, result_steps = 1, sources = 0, fewest = 1;
  name_mask nodes = 0;
  constexpr void write(result_step*& at, attribute_source*&) const {
    at->kind = result_step::what::value;
    (at++)->name = std::uint8_t(I);
  }
};
/// An absent input.
struct absent_result {
  static constexpr name_mask values = 0;
  static constexpr std::size_t steps = 1, result_steps = 1, sources = 0, fewest = 1;
  name_mask nodes = 0;
  constexpr void write(result_step*& at, attribute_source*&) const { ++at; }
};
/// The inputs of a matched node, from input First on.
template <int I, int First>
struct inputs_result {
  static constexpr name_mask values = 0;
  static constexpr std::size_t steps = 1, result_steps = 1, sources = 0, fewest = 1;
  name_mask nodes = 1u << I;
  constexpr void write(result_step*& at, attribute_source*&) const {
    at->kind = result_step::what::inputs;
    at->name = I;
    (at++)->first = First;
  }
};
/// A value that a function of the match makes: `value_id make(const match_result&, edit&)`. If it returns `none`, the
/// rule is not applied. `Makes` are the operators of the nodes that it may add, as in a transform's `makes`.
template <auto Make, class Makes>
struct computed_result {
  static constexpr name_mask values = 0;
  static constexpr std::size_t steps = 1, result_steps = 1, sources = 0, fewest = 1;
  name_mask nodes = 0;
  constexpr void write(result_step*& at, attribute_source*&) const {
    at->kind = result_step::what::computed;
    if constexpr (requires { Makes::names; }) at->makes = Makes::names;
    (at++)->compute = [](const match_result& m, edit& e) -> value_id { return Make(m, e); };
  }
};
/// Converts a part of a replacement (names of values, `absent`, results of make()) to a result.
template <int I>
constexpr value_result<I> as_result(value_name<I>) {
  return {};
}
constexpr absent_result as_result(pattern::absent_pattern) { return {}; }
template <class T>
  requires requires { T::result_steps; }
constexpr T as_result(T made) {
  return made;
}

namespace pattern {
/// A new node: `make<op::Gemm>(x, y, c).attr<"transB">(1)`.
template <declared_op Op, class... In>
constexpr auto make(In... in) {
  return node_result<Op, decltype(as_result(in))...>{as_result(in)...};
}
/// `again(n1, x)` copies the matched node n1 with x as its first input; it is x itself if the pattern matched without
/// n1.
template <int I, class... In>
constexpr auto again(node_name<I>, In... in) {
  return again_result<I, decltype(as_result(in))...>{as_result(in)...};
}
/// `make<op::FusedConv>(inputs_of<0>(n1))` has the inputs of n1, from the first on.
template <int First, int I>
constexpr inputs_result<I, First> inputs_of(node_name<I>) {
  return {};
}
/// `computed<make>`, `computed<make, op_set<op::Mul>>`: see computed_result.
template <auto Make, class Makes = void>
inline constexpr computed_result<Make, Makes> computed{};
}  // namespace pattern

/// A condition: a function of the match and of named values and nodes.
template <auto Holds, class... Names>
struct condition {
  static constexpr name_mask values = (Names::values | ... | 0u), nodes = (Names::nodes | ... | 0u);
  constexpr explicit condition(Names...) {}
  static bool holds(const match_result& m) { return Holds(m, Names{}.get(m)...); }
};
/// Conditions that must all hold.
template <class... Conditions>
struct conditions {
  static constexpr name_mask values = (Conditions::values | ... | 0u), nodes = (Conditions::nodes | ... | 0u);
  static bool hold(const match_result& m) { return (Conditions::holds(m) && ...); }
};
namespace pattern {
/// `check<is_matrix>(x)` calls `bool is_matrix(const match_result&, const value_view&)`.
template <auto Holds, class... Names>
constexpr condition<Holds, Names...> check(Names... names) {
  return condition<Holds, Names...>{names...};
}
/// `when(check<f>(x), ...)`: the rule is applied only if all conditions hold.
template <class... Conditions>
constexpr conditions<Conditions...> when(Conditions...) {
  return {};
}
}  // namespace pattern

namespace detail {
template <class From>
concept has_root = requires { typename From::ops; } && !std::same_as<typename From::ops, op_set<>>;
}  // namespace detail

/// Replaces matches of `From` by `To` if `When` holds. A rule is a value; rule_of<name> is its type.
template <class From, class To, class When = conditions<>>
struct rule {
  std::string_view name;
  From pattern;
  To replacement;
  When when;
  static_assert(detail::has_root<From>, "cameo: a pattern must begin with match<...>, which names operators");
  static_assert((From::values & To::values) == To::values,
                "cameo: the replacement uses a value the pattern never binds");
  static_assert((From::values & When::values) == When::values,
                "cameo: the condition uses a value the pattern never binds");
  static_assert((From::nodes & When::nodes) == When::nodes, "cameo: the condition uses a node the pattern never names");
  static_assert(sizeof(result_check<To>));
  template <class Replacement>
  constexpr rule(std::string_view n, From matched, Replacement made, When condition = {})
      : name{n}, pattern{matched}, replacement{as_result(made)}, when{condition} {}
};
template <class From, class To>
rule(const char*, From, To) -> rule<From, decltype(as_result(std::declval<To>()))>;
template <class From, class To, class When>
rule(const char*, From, To, When) -> rule<From, decltype(as_result(std::declval<To>())), When>;

/// The tables of a rule.
struct rule_data {
  std::span<const pattern_step> pattern;
  std::span<const result_step> replacement;
  bool (*when)(const match_result&);
};
/// Tries a rule at a node. Returns true if the graph was changed.
CAMEO_API bool apply_rule(rewriter&, const node_view& root, const rule_data&);

/// The type of a declarative rule, for transform lists: `rule_of<matmul_add_to_gemm>`.
template <const auto& Rule>
struct rule_of {
  using pattern_type = std::remove_cvref_t<decltype(Rule.pattern)>;
  using replacement_type = std::remove_cvref_t<decltype(Rule.replacement)>;
  static constexpr std::string_view name = Rule.name;
  using roots = typename pattern_type::ops;
  static_assert(requires { roots::ids; }, "cameo: a pattern must begin with match<...>, which names operators");
  static_assert((pattern_type::nodes & Rule.replacement.nodes) == Rule.replacement.nodes,
                "cameo: the replacement copies attributes of a node the pattern never names");

  static bool rewrite(rewriter& r, const node_view& root) { return apply_rule(r, root, data); }

 private:
  // Flattens a part into tables. A first pass, with tables of the greatest size, counts the rows that are used.
  template <class Part, class Step, class Extra, std::size_t Steps, std::size_t Extras>
  struct table {
    std::array<Extra, Extras> extras{};
    std::array<Step, Steps> steps{};
    std::size_t used_extras = 0, used_steps = 0;
    constexpr explicit table(const Part& part) {
      Step* at = steps.data();
      Extra* extra = extras.data();
      part.write(at, extra);
      used_extras = std::size_t(extra - extras.data()), used_steps = std::size_t(at - steps.data());
    }
  };
  template <class Part>
  using widest_pattern = table<Part, pattern_step, attribute_check, Part::steps, Part::checks + 1>;
  template <class Part>
  using widest_replacement = table<Part, result_step, attribute_source, Part::steps, Part::sources + 1>;
  static constexpr std::size_t pattern_checks = widest_pattern<pattern_type>{Rule.pattern}.used_extras,
                               replacement_sources = widest_replacement<replacement_type>{Rule.replacement}.used_extras;
  using pattern_table = table<pattern_type, pattern_step, attribute_check, pattern_type::steps, pattern_checks>;
  using replacement_table =
      table<replacement_type, result_step, attribute_source, replacement_type::steps, replacement_sources>;
  static constexpr pattern_table pattern{Rule.pattern};
  static constexpr replacement_table replacement{Rule.replacement};
  using when_type = std::remove_cvref_t<decltype(Rule.when)>;
  static constexpr rule_data data{pattern.steps, replacement.steps,
                                  [](const match_result& m) { return when_type::hold(m); }};

  static constexpr std::size_t count_made() {
    std::size_t count = 0;
    for (const result_step& step : replacement.steps)
      count += step.makes.size() + (step.kind == result_step::what::node);
    return count;
  }
  /// The nodes of a single operator that every match has.
  static constexpr auto needed() {
    std::array<bool, pattern_type::steps> is{};
    std::size_t sure = 0;  // steps before this belong to an alternative, or to a node that may be missing
    for (std::size_t i = 0; i < pattern.steps.size(); ++i) {
      const pattern_step& step = pattern.steps[i];
      if (step.kind == pattern_step::what::either) sure = sure < i + step.size ? i + step.size : sure;
      if (step.kind == pattern_step::what::perhaps) sure = sure < i + 2 ? i + 2 : sure;
      is[i] = i >= sure && step.kind == pattern_step::what::node && step.ops.size() == 1;
    }
    return is;
  }
  static constexpr std::size_t count_needed() {
    std::size_t count = 0;
    for (bool is : needed()) count += is;
    return count;
  }

 public:
  /// The operators of the nodes that the rule makes.
  struct makes {
    static constexpr auto names = [] {
      std::array<made_op, count_made()> all{};
      std::size_t at = 0;
      for (const result_step& step : replacement.steps) {
        if (step.kind == result_step::what::node) all[at++] = {step.domain, step.op};
        for (const made_op& each : step.makes) all[at++] = each;
      }
      return all;
    }();
  };
  /// The operators of the nodes that the rule needs.
  struct needs {
    static constexpr auto ids = [] {
      std::array<detail::op_id, count_needed()> all{};
      std::size_t at = 0;
      for (std::size_t i = 0; i < pattern.steps.size(); ++i)
        if (needed()[i]) all[at++] = pattern.steps[i].ops[0];
      return all;
    }();
  };
};

}  // namespace CAMEO_NAMESPACE
