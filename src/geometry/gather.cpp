#include <cameo/geometry/gather.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<basic_gather<dim>> gather_of(shape_view<dim>, shape_view<dim>, std::int64_t);
template result<gather> gather_of(shape_view<std::int64_t>, shape_view<std::int64_t>, std::int64_t);
template result<basic_element_places<dim>> element_places_of(shape_view<dim>, shape_view<dim>, std::int64_t,
                                                             shape_view<dim>);
template result<element_places> element_places_of(shape_view<std::int64_t>, shape_view<std::int64_t>, std::int64_t,
                                                  shape_view<std::int64_t>);
template result<basic_blocks<dim>> blocks_of(shape_view<dim>, shape_view<dim>, std::int64_t, shape_view<dim>);
template result<blocks> blocks_of(shape_view<std::int64_t>, shape_view<std::int64_t>, std::int64_t,
                                  shape_view<std::int64_t>);
template result<basic_one_hot<dim>> one_hot_of(shape_view<dim>, std::int64_t, const std::int64_t*, dim);
template result<one_hot> one_hot_of(shape_view<std::int64_t>, std::int64_t, const std::int64_t*, std::int64_t);
template result<basic_selection<dim>> selection_of(shape_view<dim>, const std::int64_t*);
template result<selection> selection_of(shape_view<std::int64_t>, const std::int64_t*);
template result<basic_slices<dim>> tensor_scatter_of(shape_view<dim>, shape_view<dim>, std::int64_t);
template result<slices> tensor_scatter_of(shape_view<std::int64_t>, shape_view<std::int64_t>, std::int64_t);

}  // namespace CAMEO_NAMESPACE::geometry
