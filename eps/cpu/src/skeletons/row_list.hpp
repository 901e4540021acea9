#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel_list.hpp>

#include <bit>
#include <tuple>

#include "functions/form.hpp"

namespace CAMEO_NAMESPACE::eps {

/// A list of rows of one skeleton. A skeleton is code that all operators of a kind share, such as elementwise ones; a
/// row names an operator, its versions and element types.
template <class... Rows>
struct row_list {
  template <class... More>
  friend consteval row_list<Rows..., More...> operator+(row_list, row_list<More...>) {
    return {};
  }
  /// Prepends these rows to the entries of a kernel list.
  template <class... Entries>
  friend consteval kernel_list<Rows..., Entries...> operator+(row_list, kernel_list<Entries...>) {
    return {};
  }
};

/// A kernel that declares the element types it computes with: `using elements = element_set<...>`.
template <class K>
concept has_elements = requires { typename K::elements; };

/// The types that any of the versions [First, Last] of an operator allows for a type string, such as "T".
template <class Op, int First, int Last>
consteval detail::type_mask types_of(since<First, Last>, std::string_view type_string) {
  detail::type_mask all = 0;
  for (const op_version& version : Op::versions)
    if (First <= version.since && version.since <= Last) all |= detail::allowed_types(version, type_string);
  return all;
}
/// A row for an operator that is computed by one function per element: its versions, and the element types (Set) for
/// which the function is compiled. Kernel<Op> runs the loops.
template <class Op, class Since, class Set, template <class...> class Kernel>
struct skeleton_row : erased_entry<Op, Since, allow<type_string_of<Op>>(Set{}), Kernel<Op>> {
  using elements = Set;
  using kernel = Kernel<Op>;
};

/// The constraint that each of the type strings has a type that both Set and the operator contain; without type
/// strings, that of the first input.
template <class Op, class Since, detail::type_mask Set, detail::fixed_string String>
consteval auto constrained() {
  constexpr detail::type_mask both = types_of<Op>(Since{}, std::string_view{String}) & Set;
  static_assert(both != 0, "cameo: the kernel computes with none of the element types that these versions allow");
  return allow<String>(masked_elements<both>{});
}
template <class Op, class Since, class Set, detail::fixed_string... Strings>
consteval auto constrained_by() {
  if constexpr (sizeof...(Strings) == 0) return constrained<Op, Since, Set::mask, type_string_of<Op>>();
  else return (constrained<Op, Since, Set::mask, Strings>() && ...);
}
template <class Kernel>
struct elements_of_kernel {
  static_assert(has_elements<Kernel>,
                "cameo: the kernel says no element types: `using elements = ...` in it, or a row of `moves`");
  using type = detail::all_elements;
};
template <has_elements Kernel>
struct elements_of_kernel<Kernel> {
  using type = typename Kernel::elements;
};

/// A row for a kernel that computes: it supports the types of Kernel::elements that the operator allows for the type
/// strings. The kernel uses the same set to dispatch on types, so that supported and compiled types agree.
template <class Op, class Since, class Kernel, detail::fixed_string... Strings>
struct computes
    : erased_entry<Op, Since, constrained_by<Op, Since, typename elements_of_kernel<Kernel>::type, Strings...>(),
                   Kernel> {};

/// A row for a kernel that copies elements by their size: it supports all types of whole bytes that the operator
/// allows.
template <class Op, class Since, class Kernel, detail::fixed_string... Strings>
struct moves : erased_entry<Op, Since, constrained_by<Op, Since, whole_elements, Strings...>(), Kernel> {};

/// A row for a kernel that supports all types of its operator, as it forwards or counts values of any kind, or as the
/// operator has one type for each input.
template <class Op, class Since, class Kernel>
struct takes_any : erased_entry<Op, Since, any_types, Kernel> {};

/// Instantiates the kernels of a list of rows: write `template struct bound_rows<LIST>` after the definition of their
/// `bind`.
template <class List>
struct bound_rows;
template <class... Rows>
struct bound_rows<row_list<Rows...>> {
  static constexpr std::tuple all{&Rows::kernel::bind...};
};

/// Instantiates kernels that are templates of their element type: write `template struct bound_kernels<SET, KERNEL...>`
/// to compile them for the types of a set.
template <class Set, template <class> class... Kernels>
struct bound_kernels;
template <class... Ts, template <class> class... Kernels>
struct bound_kernels<detail::element_set<Ts...>, Kernels...> {
  template <template <class> class Kernel>
  static consteval auto functions_of() {
    return std::tuple{std::pair{&Kernel<Ts>::bind, &Kernel<Ts>::run}...};
  }
  static constexpr std::tuple all{functions_of<Kernels>()...};
};

/// The operator that F is, or of which F is a variant (form<Op, Value>: Op with one value of an attribute).
template <class F>
struct operator_of {
  using type = F;
};
template <class Op, detail::fixed_string Value>
struct operator_of<form<Op, Value>> {
  using type = Op;
};

/// A function and an element type, as the one template parameter that CAMEO_SIMD_BEST supports.
template <class F, class T>
struct loop_of_type {
  using function = F;
  using element = T;
};

template <class Op, class Found>
consteval Found largest_set(row_list<>, Found found) {
  return found;
}
template <class Op, class Found, class Row, class... Rest>
consteval auto largest_set(row_list<Row, Rest...>, Found found) {
  if constexpr (std::is_same_v<Op, typename Row::op> && std::popcount(Row::elements::mask) > std::popcount(Found::mask))
    return largest_set<Op>(row_list<Rest...>{}, typename Row::elements{});
  else return largest_set<Op>(row_list<Rest...>{}, found);
}

/// The element types that the loops of F, an operator or a variant of one, are compiled for: those of the row of the
/// operator that has the most.
template <class F, class List>
using elements_in = decltype(largest_set<typename operator_of<F>::type>(List{}, detail::element_set<>{}));

}  // namespace CAMEO_NAMESPACE::eps
