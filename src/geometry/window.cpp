#include <cameo/geometry/window.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<basic_placed_window<dim>> window::place(shape_view<dim>, shape_view<dim>, bool) const;
template result<placed_window> window::place(shape_view<std::int64_t>, shape_view<std::int64_t>, bool) const;
template result<basic_placed_window<dim>> window::place_transposed(shape_view<dim>, shape_view<dim>,
                                                                   std::span<const std::int64_t>,
                                                                   std::span<const std::int64_t>) const;
template result<placed_window> window::place_transposed(shape_view<std::int64_t>, shape_view<std::int64_t>,
                                                        std::span<const std::int64_t>,
                                                        std::span<const std::int64_t>) const;

}  // namespace CAMEO_NAMESPACE::geometry
