#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel_list.hpp>

#include <bit>
#include <tuple>

#include "functions/form.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Rows of one skeleton.
template <class... Rows>
struct row_list {
  template <class... More>
  friend consteval row_list<Rows..., More...> operator+(row_list, row_list<More...>) {
    return {};
  }
  /// The entries of a kernel list, with these rows before them.
  template <class... Entries>
  friend consteval kernel_list<Rows..., Entries...> operator+(row_list, kernel_list<Entries...>) {
    return {};
  }
};

/// Kernels that say which element types they compute with: `using elements = element_set<...>`.
template <class K>
concept has_elements = requires { typename K::elements; };

/// The types that some version of an operator has for a type string.
template <class Op, int First, int Last>
consteval detail::type_mask types_of(since<First, Last>, std::string_view type_string) {
  detail::type_mask all = 0;
  for (const op_version& version : Op::versions)
    if (First <= version.since && version.since <= Last) all |= detail::allowed_types(version, type_string);
  return all;
}
/// The row of an operator whose loops a skeleton makes of one function: its versions, and the element types for which
/// that function is compiled. Kernel<Op> runs the loops.
template <class Op, class Since, class Set, template <class...> class Kernel>
struct skeleton_row : erased_entry<Op, Since, allow<type_string_of<Op>>(Set{}), Kernel<Op>> {
  using elements = Set;
  using kernel = Kernel<Op>;
};

/// Those of Set that the operator has for each of its type strings; for the first input's if none is named.
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

/// The row of a kernel that computes: it takes those of its own `elements` that the operator has for the type strings.
/// The kernel goes by that set where it looks at types, so that what it says and what is compiled are one.
template <class Op, class Since, class Kernel, detail::fixed_string... Strings>
struct computes
    : erased_entry<Op, Since, constrained_by<Op, Since, typename elements_of_kernel<Kernel>::type, Strings...>(),
                   Kernel> {};

/// The row of a kernel that moves elements by their size: all types of whole bytes that the operator has.
template <class Op, class Since, class Kernel, detail::fixed_string... Strings>
struct moves : erased_entry<Op, Since, constrained_by<Op, Since, whole_elements, Strings...>(), Kernel> {};

/// The row of a kernel that hands on or counts values of any kind, or whose operator has one type for each input.
template <class Op, class Since, class Kernel>
struct takes_any : erased_entry<Op, Since, any_types, Kernel> {};

/// The kernels of a list of skeleton rows are compiled where `template struct bound_rows<LIST>` stands, after the
/// definition of their `bind`.
template <class List>
struct bound_rows;
template <class... Rows>
struct bound_rows<row_list<Rows...>> {
  static constexpr std::tuple all{&Rows::kernel::bind...};
};

/// Kernels that are templates of their element type are compiled for the types of a set where `template struct
/// bound_kernels<SET, KERNEL...>` stands.
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

/// The operator that a form is one of.
template <class F>
struct operator_of {
  using type = F;
};
template <class Op, detail::fixed_string Value>
struct operator_of<form<Op, Value>> {
  using type = Op;
};

/// The loop of F over elements of T, as one parameter.
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

/// The element types that the loops of F, an operator or a form of one, are compiled for: those of the largest of its
/// rows.
template <class F, class List>
using elements_in = decltype(largest_set<typename operator_of<F>::type>(List{}, detail::element_set<>{}));

}  // namespace CAMEO_NAMESPACE::eps
