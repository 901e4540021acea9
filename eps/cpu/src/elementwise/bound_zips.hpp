#pragma once
// Binds the operators of elementwise/zip_rows.hpp to their loops. Sources that compile loops include this file after
// skeletons/zip-inl.hpp.
#include <tuple>
#include <utility>

#include "zip_rows.hpp"

namespace CAMEO_NAMESPACE::eps {

template <class F>
binary_row find_zip(dtype type) {
  return elements_in<F, all_zips>::visit(type, binary_row{},
                                         []<class T>(std::type_identity<T>) { return zip_loop<F, T>(); });
}

template <class Op>
result<binary<Op>> binary<Op>::bind(bind_context& c) {
  binary made;
  made.prepare<Op>(c);
  made.finish(c, find_zip<Op>(c.inputs[0].type));
  return made;
}

/// Instantiates the loops and binders of a list of rows, where a source contains `template struct zip_loops<LIST>`.
template <class List>
struct zip_loops;
template <class... Rows>
struct zip_loops<row_list<Rows...>> {
  /// The function that is instantiated for the kernel of a row: its `bind`, or, if the kernel has another one, the
  /// search for loops.
  template <class Row>
  static consteval auto function_of() {
    if constexpr (std::is_same_v<typename Row::kernel, binary<typename Row::op>>) return &Row::kernel::bind;
    else return &find_zip<typename Row::op>;
  }
  template <class F, class... Ts>
  static consteval auto loops_of(detail::element_set<Ts...>) {
    if constexpr (chosen_by_type<F>) return std::tuple{&zip_loop<F, Ts>...};
    else return std::tuple{};
  }
  static constexpr std::tuple all{
      std::pair{function_of<Rows>(), loops_of<typename Rows::op>(typename Rows::elements{})}...};
};

}  // namespace CAMEO_NAMESPACE::eps
