#include <cameo/geometry/conv.hpp>

namespace CAMEO_NAMESPACE::geometry {

using known_shape = shape_view<std::int64_t>;
using open_shape = shape_view<dim>;
using numbers = std::span<const std::int64_t>;

template result<basic_conv<dim>> conv_of(const window&, std::int64_t, open_shape, open_shape, open_shape);
template result<basic_conv<std::int64_t>> conv_of(const window&, std::int64_t, known_shape, known_shape, known_shape);
template result<basic_conv<dim>> conv_transpose_of(const window&, std::int64_t, open_shape, open_shape, open_shape,
                                                   numbers, numbers);
template result<basic_conv<std::int64_t>> conv_transpose_of(const window&, std::int64_t, known_shape, known_shape,
                                                            known_shape, numbers, numbers);

}  // namespace CAMEO_NAMESPACE::geometry
