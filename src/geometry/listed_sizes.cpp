#include <cameo/geometry/listed_sizes.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<sizes<dim>> sizes_in(std::span<const std::int64_t>, std::string_view);
template result<sizes<std::int64_t>> sizes_in(std::span<const std::int64_t>, std::string_view);

}  // namespace CAMEO_NAMESPACE::geometry
