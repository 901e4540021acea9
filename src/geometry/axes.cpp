#include <cameo/geometry/axes.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<axis_list> axes_of<dim>(std::span<const std::int64_t>, std::size_t, std::string_view, bool);
template result<axis_list> axes_of<std::int64_t>(std::span<const std::int64_t>, std::size_t, std::string_view, bool);
template result<basic_slices<dim>> slices_of(shape_view<dim>, std::int64_t, std::string_view);
template result<slices> slices_of(shape_view<std::int64_t>, std::int64_t, std::string_view);

}  // namespace CAMEO_NAMESPACE::geometry
