#pragma once
// Binds the operators of elementwise/map_rows.hpp to their loops. Sources that compile loops include this file after
// skeletons/map-inl.hpp.
#include <tuple>
#include <utility>

#include "map_rows.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Returns the loop of F, an operator or a variant of an operator, over elements of this type for the instruction set
/// in use; null for a type that the operator's row does not have.
template <class F>
unary_row find_map(dtype type) {
  return elements_in<F, all_maps>::visit(type, unary_row{},
                                         []<class T>(std::type_identity<T>) { return map_loop<F, T>(); });
}

template <class Op>
result<unary<Op>> unary<Op>::bind(bind_context& c) {
  unary made;
  made.template finish<Op>(c, find_map<Op>(c.inputs[0].type));
  return made;
}

/// Instantiates the loops and binders of a list of rows, where a source contains `template struct map_loops<LIST>`.
template <class List>
struct map_loops;
template <class... Rows>
struct map_loops<row_list<Rows...>> {
  template <class F, class... Ts>
  static consteval auto loops_of(detail::element_set<Ts...>) {
    if constexpr (chosen_by_type<F>) return std::tuple{&map_loop<F, Ts>...};
    else return std::tuple{};
  }
  static constexpr std::tuple all{
      std::pair{&unary<typename Rows::op>::bind, loops_of<typename Rows::op>(typename Rows::elements{})}...};
};

}  // namespace CAMEO_NAMESPACE::eps
