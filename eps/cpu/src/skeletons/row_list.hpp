#pragma once
#include <cameo/kernel/kernel_list.hpp>

#include <bit>

#include "functions/form.hpp"

namespace cameo::inline CAMEO_ABI::eps {

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

/// The operator that a form is one of.
template <class F>
struct operator_of {
  using type = F;
};
template <class Op, fixed_string Value>
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

}  // namespace cameo::inline CAMEO_ABI::eps
