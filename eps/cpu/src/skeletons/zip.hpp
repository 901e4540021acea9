#pragma once
#include <cameo/eps/cpu/binary.hpp>

namespace cameo::inline CAMEO_ABI::eps {

/// The loop of F, an operator or a form of one, over pairs of elements of this type on this processor; null for a type
/// that its row does not have.
template <class F>
binary_row find_zip(dtype type);
/// The loop over floats, for kernels that apply an operator to what they made.
template <class F>
void zip_floats(const float* x, std::int64_t x_step, const float* y, std::int64_t y_step, float* z, std::int64_t n);

}  // namespace cameo::inline CAMEO_ABI::eps
