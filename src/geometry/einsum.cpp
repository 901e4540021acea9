#include <cameo/geometry/einsum.hpp>

namespace CAMEO_NAMESPACE::geometry {

template struct basic_einsum<dim>;
template struct basic_einsum<std::int64_t>;

}  // namespace CAMEO_NAMESPACE::geometry
