#pragma once
#include <cameo/core/table.hpp>
#include <cameo/kernel/checked_kernel.hpp>
#include <cameo/kernel/entry_check.hpp>

#include <array>
#include <tuple>

namespace CAMEO_NAMESPACE {

namespace detail {
/// One kernel for one operator, one range of versions and one choice of types. Rows are found by `op`.
struct kernel_row {
  op_id op;
  std::uint8_t first, last;  // since-versions
  std::uint16_t rules;       // index of its first rule in kernel_table::rules
  std::uint8_t rule_count;
  bool choosy;          // a match must also call `bind` with only_check
  std::uint16_t entry;  // number of its entry in the kernel list, counted from 1
  result<bound_kernel> (*bind)(bind_context&, bool only_check);
};
}  // namespace detail
static_assert(sizeof(detail::kernel_row) <= 32);

namespace detail {
/// An operator whose kernel needs a library that this build lacks, and advice for the user.
struct lacking_kernel {
  op_id op;
  std::string_view advice;
};

/// All kernels of a provider: rows sorted by `op`, their rules and their operators.
struct kernel_table {
  std::span<const detail::kernel_row> rows;
  std::span<const detail::kernel_rule> rules;
  std::span<const op_row> ops;
  std::span<const detail::lacking_kernel> lacking = {};
};

/// True if some node could match both rows: operator, versions and types of each parameter overlap.
constexpr bool match_the_same_node(const kernel_row& a, const kernel_row& b, std::span<const kernel_rule> rules) {
  if (a.op != b.op || a.last < b.first || b.last < a.first) return false;
  for (const kernel_rule& x : rules.subspan(a.rules, a.rule_count))
    for (const kernel_rule& y : rules.subspan(b.rules, b.rule_count))
      if (((x.inputs & y.inputs) || (x.outputs & y.outputs)) && !(x.allowed & y.allowed)) return false;
  return true;
}

template <class First, class Second>
struct ambiguity_check {
  static_assert(std::is_void_v<First>,
                "cameo: two entries of one kernel list match the same node; separate them by version or type");
};
template <>
struct ambiguity_check<void, void> {};

/// Converts entries to rows, one for each combination of types. Only here do types become numbers and pointers.
template <std::size_t Rows, std::size_t Rules>
struct table_builder {
  std::array<kernel_row, Rows> rows{};
  std::array<kernel_rule, Rules> rules{};
  std::size_t row_count = 0, rule_count = 0;
  std::uint16_t entry = 0;

  template <fixed_string S, class T>
  struct chosen {};

  template <class Line, fixed_string S, class... Ts, class... Rest, class... Chosen>
  constexpr void add(Line line, constraints<one_of<S, Ts...>, Rest...>, Chosen... so_far) {
    (add(line, constraints<Rest...>{}, so_far..., chosen<S, Ts>{}), ...);
  }
  template <class Op, int First, int Last, auto C, template <class...> class K, fixed_string... S, class... Ts>
  constexpr void add(kernel_entry<Op, since<First, Last>, C, K>, constraints<>, chosen<S, Ts>...) {
    add_row<Op, First, Last, K<Ts...>>(std::array<type_choice, sizeof...(S)>{type_choice{S, mask_of<Ts>}...});
  }
  template <class Op, class Since, auto C, template <class...> class K>
  constexpr void add_line(kernel_entry<Op, Since, C, K> line) {
    ++entry;
    add(line, line.types);
  }
  template <class Op, int First, int Last, auto C, class K>
  constexpr void add_line(erased_entry<Op, since<First, Last>, C, K> line) {
    ++entry;
    add_erased<Op, First, Last, K>(line.types);
  }
  template <class Op, int First, int Last, class K, class... Sets>
  constexpr void add_erased(constraints<Sets...>) {
    add_row<Op, First, Last, K>(std::array<type_choice, sizeof...(Sets)>{choice_of(Sets{})...});
  }

  template <fixed_string S, class... Ts>
  static constexpr type_choice choice_of(one_of<S, Ts...>) {
    return {S, mask_of<Ts...>};
  }
  /// Adds a row. Each type of an erased entry may need another version; the row then spans all these versions.
  /// check_model has ensured that a node only has types that its version allows.
  template <class Op, int First, int Last, class K, std::size_t N>
  constexpr void add_row(const std::array<type_choice, N>& choices) {
    static_assert(sizeof(kernel_check<K>) != 0);
    version_range range;
    for (const op_version& v : Op::versions)
      if (First <= v.since && v.since <= Last && allows_some(v, choices))
        range = {range.last ? range.first : v.since, v.since};
    if (range.last == 0) no_version_allows_these_types_together();
    if constexpr (kernel<K>)  // otherwise kernel_check has failed
      rows[row_count++] = {op_id_of<Op>,
                           std::uint8_t(range.first),
                           std::uint8_t(range.last),
                           std::uint16_t(rule_count),
                           std::uint8_t(N),
                           choosy_kernel<K>,
                           entry,
                           bind_kernel_of<Op, K>};
    for (const type_choice& choice : choices) rules[rule_count++] = resolve(Op::versions, range, choice);
  }
  template <std::size_t N>
  static constexpr bool allows_some(const op_version& version, const std::array<type_choice, N>& choices) {
    for (const type_choice& choice : choices)
      if (!(choice.types & allowed_types(version, choice.type_string))) return false;
    return true;
  }
  /// Is called if no version of the operator allows the entry's types together. The function is not constexpr, so the
  /// call ends constant evaluation, and the compiler's error names the entry.
  static void no_version_allows_these_types_together() {}
};

/// The sum of a list. clang does not fold packs of more than 256 operands.
constexpr std::size_t sum(std::initializer_list<std::size_t> counts) {
  std::size_t total = 0;
  for (std::size_t count : counts) total += count;
  return total;
}

/// The order of rows by operator; entries of one operator keep their order. Sorts integers, because moving rows is slow
/// at compile time.
template <std::size_t Rows, std::size_t Rules>
constexpr auto sorted_order(const table_builder<Rows, Rules>& built) {
  std::array<std::uint64_t, Rows> keys{};
  for (std::size_t i = 0; i < Rows; ++i) keys[i] = std::uint64_t(built.rows[i].op) << 32 | i;
  sort_rows(keys.data(), Rows, [](std::uint64_t a, std::uint64_t b) { return a < b; });
  std::array<std::uint16_t, Rows> order{};
  for (std::size_t i = 0; i < Rows; ++i) order[i] = std::uint16_t(keys[i]);
  return order;
}

/// Two entries, counted from 1, that match the same node; zeros if there are none.
template <std::size_t Rows, std::size_t Rules>
constexpr std::pair<std::size_t, std::size_t> find_clash(const table_builder<Rows, Rules>& built,
                                                         const std::array<std::uint16_t, Rows>& order) {
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = i + 1; j < Rows && built.rows[order[j]].op == built.rows[order[i]].op; ++j)
      if (match_the_same_node(built.rows[order[i]], built.rows[order[j]], built.rules))
        return {built.rows[order[i]].entry, built.rows[order[j]].entry};
  return {};
}

/// The operators of a list of entries, without duplicates, sorted by id.
template <class... Entries>
struct entry_ops {
  static constexpr auto sorted = [] {
    std::array<op_row, sizeof...(Entries)> all{detail::make_op_row<typename Entries::op>()...};
    std::array<std::uint64_t, sizeof...(Entries)> keys{};
    for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = std::uint64_t(all[i].id) << 32 | i;
    sort_rows(keys.data(), keys.size(), [](std::uint64_t a, std::uint64_t b) { return a < b; });
    std::array<op_row, sizeof...(Entries)> made{};
    for (std::size_t i = 0; i < keys.size(); ++i) made[i] = all[std::uint32_t(keys[i])];
    return made;
  }();
  static constexpr std::size_t count = [] {
    std::size_t n = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i) n += i == 0 || sorted[i].id != sorted[i - 1].id;
    return n;
  }();
  static constexpr auto rows = [] {
    std::array<op_row, count> made{};
    std::size_t n = 0;
    for (std::size_t i = 0; i < sorted.size(); ++i)
      if (i == 0 || sorted[i].id != sorted[i - 1].id) made[n++] = sorted[i];
    return made;
  }();
};

/// The rows, rules and operators of entries that are all correct.
template <class... Entries>
class built_list {
  static constexpr std::size_t row_count = sum({0, Entries::rows...}), rule_count = sum({0, Entries::rules...});

  static constexpr auto built = [] {
    table_builder<row_count, rule_count> table;
    const int in_order[] = {0, (table.add_line(Entries{}), 0)...};
    static_cast<void>(in_order);
    return table;
  }();
  static constexpr auto order = sorted_order(built);
  static constexpr auto clash = find_clash(built, order);
  using with_none = std::tuple<void, Entries...>;
  static_assert(sizeof(
      ambiguity_check<std::tuple_element_t<clash.first, with_none>, std::tuple_element_t<clash.second, with_none>>));

  static constexpr auto rows = [] {
    std::array<kernel_row, row_count> made{};
    for (std::size_t i = 0; i < row_count; ++i) made[i] = built.rows[order[i]];
    return made;
  }();
  static constexpr auto rules = built.rules;  // a copy, so that the rest of `built` is not linked

 public:
  static constexpr kernel_table table{rows, rules, entry_ops<Entries...>::rows, {}};
};

/// True for an entry of a kernel list.
template <class E>
concept list_entry = requires {
  typename E::op;
  typename E::check;
  typename E::facts;
};
template <class E>
struct entry_check_of {
  static_assert(list_entry<E>,
                "cameo: this element of a kernel_list is not an entry: write kernel_entry<operator, since<first>, "
                "constrain<\"T\", types...>, kernel>");
};
template <list_entry E>
struct entry_check_of<E> {
  using check = typename E::check;
  static_assert(sizeof(check) != 0);
};
}  // namespace detail

/// The kernels of a provider, one entry each, in any order, checked and converted to tables by the compiler. (Packs are
/// expanded into arrays, not folded: clang folds at most 256 operands.)
template <class... Entries>
class kernel_list {
  static_assert(detail::sum({1, sizeof(detail::entry_check_of<Entries>)...}) != 0);
  template <class E>
  static constexpr bool is_fine() {
    if constexpr (detail::list_entry<E>) return E::facts::fine;
    else return false;
  }
  static constexpr bool fine = detail::sum({0, std::size_t{is_fine<Entries>()}...}) == sizeof...(Entries);

 public:
  static constexpr detail::kernel_table table = [] {
    if constexpr (fine) return detail::built_list<Entries...>::table;
    else return detail::kernel_table{};
  }();
};

}  // namespace CAMEO_NAMESPACE
