#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE {

/// Since-versions First to Last of an operator; without Last, all versions from First on in the operator tables.
template <int First, int Last = 255>
struct since {};

namespace detail {
/// The element types for one type string. Constraints are values, so that they combine like C++'s: constrain<"T1",
/// float> && constrain<"T2", bool, int>.
template <fixed_string TypeString, class... Ts>
struct one_of {
  static constexpr std::size_t size = sizeof...(Ts);
};
}  // namespace detail
/// The constraints of one entry, one for each type string.
template <class... Sets>
struct constraints {
  static constexpr std::size_t size = sizeof...(Sets), combinations = (1 * ... * Sets::size);
};
/// The element types that a kernel takes for a type string of its operator.
template <detail::fixed_string TypeString, class... Ts>
inline constexpr constraints<detail::one_of<TypeString, Ts...>> constrain{};
/// No constraint: all types that the operator allows.
inline constexpr constraints<> any_types{};
/// Combines the constraints of a kernel with several type strings.
template <class... A, class... B>
constexpr constraints<A..., B...> operator&&(constraints<A...>, constraints<B...>) {
  return {};
}

namespace detail {
template <class Op, class Since, class Constraints>
struct entry_check;  // defined in entry_check.hpp
template <class Op, class Since, class Constraints>
struct entry_facts;
}  // namespace detail

/// An entry of a kernel list: Kernel runs Op in these versions, for every combination of the types listed. Kernel takes
/// one type for each type string, in the order of `constrain`; each combination becomes a row.
template <class Op, class Since, auto Constraints, template <class...> class Kernel>
struct kernel_entry {
  using op = Op;
  using check = detail::entry_check<Op, Since, std::remove_const_t<decltype(Constraints)>>;
  using facts = detail::entry_facts<Op, Since, std::remove_const_t<decltype(Constraints)>>;
  static constexpr auto types = Constraints;
  static constexpr std::size_t rows = types.combinations, rules = rows * types.size;
};

/// An entry for a kernel that is not a template: one row for all the types listed. For kernels that move elements by
/// their size, or that read the types when they are bound.
template <class Op, class Since, auto Constraints, class Kernel>
struct erased_entry {
  using op = Op;
  using check = detail::entry_check<Op, Since, std::remove_const_t<decltype(Constraints)>>;
  using facts = detail::entry_facts<Op, Since, std::remove_const_t<decltype(Constraints)>>;
  static constexpr auto types = Constraints;
  static constexpr std::size_t rows = 1, rules = types.size;
};

namespace detail {
/// The types that a row requires of the values that a type string binds. Bit i of `inputs` stands for formal input i;
/// bits from that of a variadic input on stand for all its arguments.
struct kernel_rule {
  type_mask allowed;
  std::uint32_t inputs;
  std::uint16_t outputs;
  char type_string[10];  // for messages; truncated when longer
};

/// A type string with the types required of it.
struct type_choice {
  std::string_view type_string;
  type_mask types;
};

/// The element types that a version allows for a type string: of tensors, and of optionals that contain tensors.
constexpr type_mask allowed_types(const op_version& version, std::string_view type_string) {
  for (const type_rule& rule : version.types)
    if (rule.type_string == type_string) return rule.tensors | rule.optionals;
  return 0;
}

/// The since-versions from first to last; empty if `last` is 0.
struct version_range {
  int first = 255, last = 0;
};
/// The versions in a range that allow all the chosen types.
constexpr version_range versions_that_allow(std::span<const op_version> versions, version_range range,
                                            std::span<const type_choice> choices) {
  version_range found;
  for (const op_version& version : versions) {
    bool fits = range.first <= version.since && version.since <= range.last;
    for (const type_choice& choice : choices)
      fits = fits && (choice.types & allowed_types(version, choice.type_string)) == choice.types;
    if (fits) found = {found.last ? found.first : version.since, version.since};
  }
  return found;
}

/// The parameters that a type string binds, as bits: see kernel_rule.
constexpr std::uint32_t positions(std::span<const parameter> parameters, std::string_view type_string) {
  std::uint32_t bits = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (parameters[i].type_string == type_string)
      bits |= parameters[i].option == parameter_option::variadic ? ~std::uint32_t{} << i : std::uint32_t{1} << i;
  return bits;
}

/// Resolves a type string to the parameters that it binds, at compile time, so that only numbers are compared later.
constexpr detail::kernel_rule resolve(std::span<const op_version> versions, detail::version_range range,
                                      const detail::type_choice& choice) {
  detail::kernel_rule rule{choice.types, 0, 0, {}};
  for (const op_version& version : versions) {
    if (version.since < range.first || version.since > range.last) continue;
    rule.inputs |= positions(version.inputs, choice.type_string);
    rule.outputs = std::uint16_t(rule.outputs | positions(version.outputs, choice.type_string));
  }
  const std::string_view shown = choice.type_string.substr(0, sizeof rule.type_string - 1);
  for (std::size_t i = 0; i < shown.size(); ++i) rule.type_string[i] = shown[i];
  return rule;
}
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
