#include <cameo/geometry/reshape.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<sizes<dim>> reshape_of(shape_view<dim>, std::span<const std::int64_t>, bool);
template result<sizes<std::int64_t>> reshape_of(shape_view<std::int64_t>, std::span<const std::int64_t>, bool);
template result<sizes<dim>> flatten_of(shape_view<dim>, std::int64_t);
template result<sizes<std::int64_t>> flatten_of(shape_view<std::int64_t>, std::int64_t);
template result<output_shape<dim>> squeeze_of(shape_view<dim>, number_list);
template result<output_shape<std::int64_t>> squeeze_of(shape_view<std::int64_t>, number_list);
template result<output_shape<dim>> unsqueeze_of(shape_view<dim>, number_list);
template result<output_shape<std::int64_t>> unsqueeze_of(shape_view<std::int64_t>, number_list);

}  // namespace CAMEO_NAMESPACE::geometry
