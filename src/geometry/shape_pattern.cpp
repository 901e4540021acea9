#include <cameo/geometry/shape_pattern.hpp>

namespace CAMEO_NAMESPACE::geometry {

template status check_shapes(std::string_view, std::span<const named_shape<dim>>, std::span<const named_size>,
                             std::span<const named_size>);
template status check_shapes(std::string_view, std::span<const named_shape<std::int64_t>>, std::span<const named_size>,
                             std::span<const named_size>);

}  // namespace CAMEO_NAMESPACE::geometry
