#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/geometry/broadcast.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/onnx.hpp>

#include <optional>

namespace CAMEO_NAMESPACE::eps {

/// Applies an operation to n pairs of elements. A step is 1, or 0 where one element is paired with all others. `out`
/// may be the buffer of either operand.
using binary_row = void (*)(const void* a, std::int64_t a_step, const void* b, std::int64_t b_step, void* out,
                            std::int64_t n);

/// The members that binary kernels share; the kernels differ in how they are bound.
struct binary_state {
  binary_row row = nullptr;
  std::uint8_t a_bytes = 0, b_bytes = 0, out_bytes = 0;  // the sizes of elements
  std::optional<geometry::alignment> align = {};         // of operators before version 7; else b broadcasts
  bool to_first = false;                                 // the output has the shape of a
  bool divides = false;                                  // a zero among integers b is an error
  std::int64_t axis = -1;  // of by_axis: the axis of a that corresponds to the first axis of b; -1: the last axes

  /// Sets what depends on the operator before binding: how its operands are aligned, and whether it divides.
  template <class Op>
  void prepare(const bind_context&) {}
  /// Completes binding after the row function was chosen: sets the sizes of elements and how operands are aligned.
  void finish(bind_context&, binary_row found);
  status run(run_context&) const;
};

template <>
void binary_state::prepare<op::Div>(const bind_context&);
template <>
void binary_state::prepare<op::Mod>(const bind_context&);
template <>
void binary_state::prepare<op::PRelu>(const bind_context&);

/// The loop of F, an operator or a variant of an operator, over pairs of T, for the instruction set in use.
template <class F, class T>
binary_row zip_loop();
template <>
inline constexpr bool chosen_by_type<op::BitShift> = false;
template <>
inline constexpr bool chosen_by_type<op::Mod> = false;
template <>
inline constexpr bool chosen_by_type<op::Pow> = false;

/// Binary operators with broadcasting, z[i] = x[i] op y[i]: Add Sub Mul Div Mod Pow, And Or Xor, BitwiseAnd BitwiseOr
/// BitwiseXor BitShift, Equal Less LessOrEqual Greater GreaterOrEqual, PRelu. Before opset 7 the attributes `broadcast`
/// and `axis` define how y is aligned with x. z may be the buffer of x or y if the elements have the same size.
/// Integers wrap around; an integer division by zero is INVALID_ARGUMENT. float16 and bfloat16 are computed in float.
/// Comparisons with NaN are false. Allocates nothing.
///
/// binary<Op> takes all element types of the operator's row; binary<Op, float> takes float only, so that a program
/// which needs no other type links no other loops.
template <class Op, class... Ts>
struct binary : binary_state {
  static_assert(chosen_by_type<Op>, "cameo: this operator's loops depend on more than a type; write binary<operator>");
  static result<binary> bind(bind_context& c) {
    binary made;
    made.prepare<Op>(c);
    made.finish(c, detail::element_set<Ts...>::visit(c.inputs[0].type, binary_row{},
                                                     []<class T>(std::type_identity<T>) { return zip_loop<Op, T>(); }));
    return made;
  }
};
template <class Op>
struct binary<Op> : binary_state {
  static constexpr bool instantiated = [] {
    if constexpr (detail::has_roles<Op>)
      return detail::has_role(Op::roles, role::broadcasts) && std::span{Op::versions[0].inputs}.size() == 2;
    else return is_one_of<Op, op::PRelu>;
  }();
  template <class... Ts>
    requires chosen_by_type<Op>
  using of = binary<Op, Ts...>;
  static result<binary> bind(bind_context&);
};

}  // namespace CAMEO_NAMESPACE::eps
