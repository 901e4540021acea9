#include <cameo/geometry/repeat.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<basic_tile<dim>> tile_of(shape_view<dim>, number_list);
template result<basic_tile<std::int64_t>> tile_of(shape_view<std::int64_t>, number_list);
template result<basic_tile<dim>> tile_of_axis(shape_view<dim>, std::int64_t, std::int64_t);
template result<basic_tile<std::int64_t>> tile_of_axis(shape_view<std::int64_t>, std::int64_t, std::int64_t);
template result<output_shape<dim>> expand_of(shape_view<dim>, shape_view<dim>);
template result<output_shape<std::int64_t>> expand_of(shape_view<std::int64_t>, shape_view<std::int64_t>);

}  // namespace CAMEO_NAMESPACE::geometry
