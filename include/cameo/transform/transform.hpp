#pragma once
#include <cameo/core/type_list.hpp>
#include <cameo/transform/family.hpp>
#include <cameo/transform/groups.hpp>
#include <cameo/transform/rewriter.hpp>

#include <array>

namespace CAMEO_NAMESPACE {

// A transform is a type with a `name` and one of
//
//   using roots = op_set<op::Transpose, ...>;
//   static bool rewrite(rewriter&, const node_view&);     at every node of these operators; true if it was changed
//
//   static result<bool> run(rewriter&);                   once per step, over the whole graph
//
// The first kind is tried again at the nodes that it makes and at their readers; rule_of<...> (rule.hpp) makes one from
// a declarative rule. Transforms are listed by level: transform_list<optimization_level::basic, ...>. A third kind
// selects and replaces in two halves, which have separate functions: groups.hpp.

/// The ids and names of operators.
template <declared_op... Ops>
struct op_set {
  static constexpr detail::op_id ids[] = {detail::op_id_of<Ops>...};
  static constexpr made_op names[] = {{Ops::domain, Ops::name}...};
};

// With `using makes = op_set<...>` a transform declares the operators of nodes that it makes, apart from operators that
// the graph has already; with `using needs = op_set<...>`, operators that a graph must have for that besides a root.
// Declarative rules declare both by themselves. Tests check the declarations (transform_log::unsaid); files for builds
// without schemas contain the operators that may come (note_operators_to_come).

/// A local rewrite with its type erased.
struct rewrite_row {
  std::string_view name;
  std::span<const detail::op_id> roots;
  bool (*rewrite)(rewriter&, const node_view&);
  std::span<const made_op> makes = {};
  std::span<const detail::op_id> needs = {};
};
/// A pass with its type erased.
struct pass_row {
  std::string_view name;
  result<bool> (*run)(rewriter&);
  std::span<const detail::op_id> roots = {};  // the operators that it searches for, if it declares them
  std::span<const made_op> makes = {};
  std::span<const detail::op_id> needs = {};
};

/// A rewrite that is tried at every node of its `roots`.
template <class T>
concept local_rewrite = requires(rewriter& r, const node_view& n) {
  { T::name } -> std::convertible_to<std::string_view>;
  { std::span<const detail::op_id>{T::roots::ids} };
  { T::rewrite(r, n) } -> std::same_as<bool>;
};
/// A transform of the whole graph, run once per step.
template <class T>
concept graph_pass = requires(rewriter& r) {
  { T::name } -> std::convertible_to<std::string_view>;
  { T::run(r) } -> std::same_as<result<bool>>;
};
template <class T>
struct transform_check {
  static_assert(
      local_rewrite<T> || graph_pass<T> || group_rewrite<T>,
      "cameo: a transform needs `name`, and `static result<bool> run(rewriter&)`, or `using roots = op_set<...>` "
      "and `static bool rewrite(rewriter&, const node_view&)`");
};

/// When a session applies a table. apply_transforms() applies every table that it is given.
enum class transform_phase : std::uint8_t {
  at_level,                   // at the table's level of optimization
  at_level_and_after_groups,  // and again after groups were replaced, because it spared constants for them
  last,                       // of a provider: at every level of optimization, after all other rewrites
  before_saving,              // only to models that are saved for readers with format_row::needs_kernels
};
/// A value of a session key (docs/session_keys.md).
struct key_condition {
  std::string_view key, value = "1";
};
/// The phase in which a session applies a table, and the session keys that it depends on.
struct transform_condition {
  transform_phase phase = transform_phase::at_level;
  std::span<const key_condition> required = {};  // the table is applied only if all of these keys have these values
  std::span<const key_condition> excluded = {};  // the table is not applied if one of these keys has this value
};
/// The condition of tables that depend on their level alone.
inline constexpr transform_condition unconditional{};

/// The transforms of one level, in order: first the local rewrites, all in one walk over the nodes, then the passes.
/// Groups are applied by apply_groups() and replay_groups().
struct transform_table {
  optimization_level level;
  std::span<const rewrite_row> rewrites;
  std::span<const pass_row> passes;
  std::span<const group_row> groups;
  transform_condition when = {};
  /// A condition on new nodes, also on those of other tables that are applied together with this one: a rewrite that
  /// makes a node for which it returns false does not happen. Null: none. A session applies a table with such a
  /// condition at its level and at all levels above.
  bool (*takes)(const node_view& made) = nullptr;
};

/// The transforms of one level, in order, as a type: `transform_list<optimization_level::basic, rule_of<mine>,
/// my_pass>`.
template <optimization_level Level, class... Ts>
class transform_list {
  static_assert((sizeof(transform_check<Ts>) && ... && true));
  template <class T>
  static constexpr int kind = local_rewrite<T> ? 0
                              : graph_pass<T>  ? 1
                                               : 2;
  template <int Kind>
  static constexpr std::size_t count = (std::size_t(kind<Ts> == Kind) + ... + 0u);

  template <class T>
  static constexpr std::span<const detail::op_id> roots_of() {
    if constexpr (requires { T::roots::ids; }) return T::roots::ids;
    else return {};
  }
  template <class T>
  static constexpr std::span<const made_op> makes_of() {
    if constexpr (requires { T::makes::names; }) return T::makes::names;
    else return {};
  }
  template <class T>
  static constexpr std::span<const detail::op_id> needs_of() {
    if constexpr (requires { T::needs::ids; }) return T::needs::ids;
    else return {};
  }
  template <class T>
  static constexpr auto row_of() {
    if constexpr (kind<T> == 0)
      return rewrite_row{T::name, T::roots::ids, [](rewriter& r, const node_view& n) { return T::rewrite(r, n); },
                         makes_of<T>(), needs_of<T>()};
    else if constexpr (kind<T> == 1)
      return pass_row{T::name, [](rewriter& r) { return T::run(r); }, roots_of<T>(), makes_of<T>(), needs_of<T>()};
    else return group_row{T::name, T::roots::ids, T::select, T::replace, makes_of<T>(), needs_of<T>()};
  }
  template <class Row, int Kind>
  static constexpr auto rows_of() {
    std::array<Row, count<Kind>> rows{};
    [[maybe_unused]] std::size_t at = 0;
    [[maybe_unused]] const auto one = [&]<class T>(type_list<T>) {
      if constexpr (kind<T> == Kind) rows[at++] = row_of<T>();
    };
    (one(type_list<Ts>{}), ...);
    return rows;
  }
  static constexpr auto rewrites = rows_of<rewrite_row, 0>();
  static constexpr auto passes = rows_of<pass_row, 1>();
  static constexpr auto groups = rows_of<group_row, 2>();

 public:
  static constexpr optimization_level level = Level;
  /// The table. `When` is a constant with static storage; `Takes` is transform_table::takes.
  template <const transform_condition& When = unconditional, bool (*Takes)(const node_view& made) = nullptr>
  static const transform_table& table() {
    static constexpr transform_table made{Level, rewrites, passes, groups, When, Takes};
    return made;
  }
};

/// The changes that transforms made, for display and for tests.
struct transform_log {
  /// A transform that changed something.
  struct entry {
    std::string_view name;
    std::size_t changes = 0;  // number of nodes rewritten, or of runs of a pass that changed something
  };
  std::vector<entry> transforms;
  std::vector<std::string> unsaid;  // "NAME made OP": an operator that a transform made and does not declare
  /// Counts one change that the transform `name` made.
  CAMEO_API void add(std::string_view name);
};

/// Options for applying transforms.
struct transform_options {
  std::span<const std::string_view> disabled = {};  // names of transforms that are left out
  std::size_t most_steps = 10;                      // per level
  transform_log* log = nullptr;
};

/// Applies all lists of one level to the subgraphs of a graph and then to the graph, repeatedly, until a step changes
/// nothing. A step costs time linear in nodes, times the transforms that apply to them. Returns true if the graph
/// changed. Afterwards order, types and shapes are up to date.
CAMEO_API result<bool> apply_transforms(graph&, std::span<const transform_table* const> tables,
                                        const rewriter::surroundings&, const transform_options&);

/// Sets model::to_come: the operators that these tables may add to the model later, in the versions of its opsets,
/// except those that it already has. Transforms in `disabled`, and tables that are only applied on request, do not
/// count.
CAMEO_API void note_operators_to_come(model&, std::span<const transform_table* const> tables, const op_table&,
                                      std::span<const std::string_view> disabled);

}  // namespace CAMEO_NAMESPACE
