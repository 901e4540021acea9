#include <cameo/geometry/broadcast.hpp>

namespace CAMEO_NAMESPACE::geometry {

template struct basic_common_shape<dim>;
template struct basic_common_shape<std::int64_t>;
template result<output_shape<dim>> broadcast_of(std::span<const shape_view<dim>>);
template result<output_shape<std::int64_t>> broadcast_of(std::span<const shape_view<std::int64_t>>);
template result<output_shape<dim>> broadcast_of(shape_view<dim>, shape_view<dim>, operand_name);
template result<output_shape<std::int64_t>> broadcast_of(shape_view<std::int64_t>, shape_view<std::int64_t>,
                                                         operand_name);
template status check_broadcast(shape_view<dim>, shape_view<dim>, operand_name);
template status check_broadcast(shape_view<std::int64_t>, shape_view<std::int64_t>, operand_name);
template result<sizes<dim>> aligned(shape_view<dim>, shape_view<dim>, alignment, std::int64_t, operand_name);
template result<sizes<std::int64_t>> aligned(shape_view<std::int64_t>, shape_view<std::int64_t>, alignment,
                                             std::int64_t, operand_name);

}  // namespace CAMEO_NAMESPACE::geometry
