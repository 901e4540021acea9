#include <cameo/geometry/pad.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<basic_pad<dim>> pad_of(shape_view<dim>, number_list, number_list, filling);
template result<basic_pad<std::int64_t>> pad_of(shape_view<std::int64_t>, number_list, number_list, filling);
template result<basic_pad<dim>> center_crop_pad_of(shape_view<dim>, number_list, shape_view<dim>);
template result<basic_pad<std::int64_t>> center_crop_pad_of(shape_view<std::int64_t>, number_list,
                                                            shape_view<std::int64_t>);

}  // namespace CAMEO_NAMESPACE::geometry
