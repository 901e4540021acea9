#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The numeric attributes of an operator, in alphabetical order of their names.
struct unary_parameters {
  float a = 0, b = 0;
};

/// Applies an operator to n elements. `out` may be the buffer of `x` if the elements have the same size.
using unary_row = void (*)(const unary_parameters&, const void* x, void* out, std::int64_t n);

/// The members that unary kernels share; the kernels differ in how they are bound.
struct unary_state {
  unary_row row = nullptr;
  unary_parameters parameters;
  std::uint8_t in_bytes = 0, out_bytes = 0;  // the sizes of elements

  /// Completes binding after the row function was chosen: sets the numeric attributes and the sizes of elements.
  template <class Op>
  void finish(bind_context& c, unary_row found) {
    if constexpr (has_numbers<Op>) read_parameters(c, Op::versions);
    finish(c, found);
  }
  status run(run_context&) const;

 private:
  template <class Op>
  static constexpr bool has_numbers = [] {
    for (const op_version& version : Op::versions)
      for (const attribute_rule& rule : version.attributes)
        if (rule.kind == attribute_kind::f || rule.kind == attribute_kind::i) return true;
    return false;
  }();
  void read_parameters(const bind_context&, std::span<const op_version>);
  void finish(bind_context&, unary_row);
};

/// The loop of F, an operator or a variant of an operator, over elements of T, for the instruction set in use.
template <class F, class T>
unary_row map_loop();
template <>
inline constexpr bool chosen_by_type<op::Gelu> = false;

/// Elementwise operators with one input: y[i] = f(x[i]). y has the shape of x and may be the buffer of x if the
/// elements have the same size. float16 and bfloat16 are computed in float; integers wrap around; NaN stays NaN.
/// Allocates nothing.
///
/// unary<Op> takes all element types of the operator's row; unary<Op, float> takes float only, so that a program which
/// needs no other type links no other loops.
template <class Op, class... Ts>
struct unary : unary_state {
  static_assert(chosen_by_type<Op>, "cameo: this operator's loops depend on more than a type; write unary<operator>");
  static constexpr bool instantiated = detail::has_role(Op::roles, role::is_pointwise);
  static result<unary> bind(bind_context& c) {
    unary made;
    made.template finish<Op>(
        c, detail::element_set<Ts...>::visit(c.inputs[0].type, unary_row{},
                                             []<class T>(std::type_identity<T>) { return map_loop<Op, T>(); }));
    return made;
  }
};
template <class Op>
struct unary<Op> : unary_state {
  static constexpr bool instantiated = detail::has_role(Op::roles, role::is_pointwise);
  template <class... Ts>
    requires chosen_by_type<Op>
  using of = unary<Op, Ts...>;
  static result<unary> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
