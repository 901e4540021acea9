#include <cameo/geometry/slice.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<basic_slice<dim>> slice_of(shape_view<dim>, number_list, number_list, number_list, number_list);
template result<basic_slice<std::int64_t>> slice_of(shape_view<std::int64_t>, number_list, number_list, number_list,
                                                    number_list);

}  // namespace CAMEO_NAMESPACE::geometry
