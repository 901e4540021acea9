#include <cameo/geometry/permutation.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<basic_permutation<dim>> transpose_of(shape_view<dim>, std::span<const std::int64_t>);
template result<permutation> transpose_of(shape_view<std::int64_t>, std::span<const std::int64_t>);

}  // namespace CAMEO_NAMESPACE::geometry
