#include <cameo/geometry/reduction.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<basic_reduction<dim>> reduction_of(shape_view<dim>, const number_list&, bool, bool);
template result<reduction> reduction_of(shape_view<std::int64_t>, const number_list&, bool, bool);
template result<basic_extreme<dim>> extreme_of(shape_view<dim>, std::int64_t, bool);
template result<extreme> extreme_of(shape_view<std::int64_t>, std::int64_t, bool);
template result<basic_top<dim>> top_of(shape_view<dim>, std::int64_t, const std::int64_t*, dim);
template result<top> top_of(shape_view<std::int64_t>, std::int64_t, const std::int64_t*, std::int64_t);
template result<basic_slices<dim>> normalization_of(shape_view<dim>, std::int64_t, normalized);
template result<slices> normalization_of(shape_view<std::int64_t>, std::int64_t, normalized);
template result<basic_layer_normalization<dim>> layer_normalization_of(shape_view<dim>, std::int64_t, shape_view<dim>,
                                                                       shape_view<dim>);
template result<layer_normalization> layer_normalization_of(shape_view<std::int64_t>, std::int64_t,
                                                            shape_view<std::int64_t>, shape_view<std::int64_t>);
template result<basic_slices<dim>> batch_normalization_of(shape_view<dim>, bool, std::span<const named_shape<dim>>);
template result<slices> batch_normalization_of(shape_view<std::int64_t>, bool,
                                               std::span<const named_shape<std::int64_t>>);

}  // namespace CAMEO_NAMESPACE::geometry
