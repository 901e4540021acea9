#pragma once
#include <cameo/eps/cpu/bias_gelu.hpp>
#include <cameo/eps/cpu/binary.hpp>
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/variadic.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

// The elementwise operators with two inputs: each has a row here and a function in functions/zips-inl.hpp. The lists
// differ only in the source that compiles their loops.
namespace CAMEO_NAMESPACE::eps {

/// The row of an elementwise operator with two inputs or more: its versions, and the element types for which its
/// function, apply(Op{}, a, b) in functions/zips-inl.hpp, is compiled. Set is an element_set, Kernel the kernel that
/// runs the loops.
template <class Op, class Since, class Set, template <class...> class Kernel = binary>
using zip = skeleton_row<Op, Since, Set, Kernel>;

// clang-format off
using arithmetic_zips = row_list<
    zip<op::Add, since<1>, number_elements>,
    zip<op::Sub, since<1>, number_elements>,
    zip<op::Mul, since<1>, number_elements>,
    zip<op::Div, since<1>, number_elements>,
    zip<op::Mod, since<10>, number_elements>,
    zip<op::PRelu, since<1>, large_number_elements>,
    zip<op::Sum, since<1>, float_elements, variadic>,
    zip<op::Mean, since<1>, float_elements, variadic>,
    zip<op::Min, since<1>, number_elements, variadic>,
    zip<op::Max, since<1>, number_elements, variadic>,
    zip<op::microsoft::BiasGelu, since<1>, float_elements, bias_gelu>,
    zip<op::microsoft::FastGelu, since<1>, float_elements, bias_gelu>
>;
using logic_zips = row_list<
    zip<op::BitShift, since<11>, integer_elements>,
    zip<op::BitwiseAnd, since<18>, integer_elements>,
    zip<op::BitwiseOr, since<18>, integer_elements>,
    zip<op::BitwiseXor, since<18>, integer_elements>,
    zip<op::And, since<1>, truth_elements>,
    zip<op::Or, since<1>, truth_elements>,
    zip<op::Xor, since<1>, truth_elements>,
    zip<op::Equal, since<1>, equal_elements>,
    zip<op::Less, since<1>, number_elements>,
    zip<op::Greater, since<1>, number_elements>,
    zip<op::LessOrEqual, since<12>, number_elements>,
    zip<op::GreaterOrEqual, since<12>, number_elements>
>;
// clang-format on

using all_zips = decltype(arithmetic_zips{} + logic_zips{});

/// Returns the loop of F, an operator or a variant of an operator, over pairs of elements of this type for the
/// instruction set in use; null for a type that the operator's row does not have.
template <class F>
binary_row find_zip(dtype type);

}  // namespace CAMEO_NAMESPACE::eps
