#include <cameo/geometry/blocks.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<basic_pixel_blocks<dim>> depth_to_space_of(shape_view<dim>, std::int64_t);
template result<pixel_blocks> depth_to_space_of(shape_view<std::int64_t>, std::int64_t);
template result<basic_pixel_blocks<dim>> space_to_depth_of(shape_view<dim>, std::int64_t);
template result<pixel_blocks> space_to_depth_of(shape_view<std::int64_t>, std::int64_t);

}  // namespace CAMEO_NAMESPACE::geometry
