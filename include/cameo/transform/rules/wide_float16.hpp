#pragma once
#include <cameo/transform/family.hpp>

namespace CAMEO_NAMESPACE::detail {

/// Keeps values float32 from one float16 node to the next, if both do arithmetic on single elements or along axes:
/// elementwise operators, reductions, normalizations and sums. For a provider whose kernels compute float16 in float32
/// anyway, so that only the rounding between two nodes is left out: values in between may leave the range of float16.
/// Which values these are depends on the operators alone, not on shapes or sizes. Other readers (products,
/// convolutions, Casts of the model, subgraphs, other providers) and graph outputs get float16.
///
/// A session applies it at every level of optimization, after all other rewrites, so that fusions find the model's own
/// types. Not applied with session.round_float16.
struct wide_float16 : detail::family_at<optimization_level::all> {
  CAMEO_API static const transform_table& table();
};

}  // namespace CAMEO_NAMESPACE::detail
