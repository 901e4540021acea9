#include <cameo/geometry/conv.hpp>

namespace CAMEO_NAMESPACE::geometry {

using sizes = shape_view<std::int64_t>;
using dims = shape_view<dim>;
using numbers = std::span<const std::int64_t>;

template result<basic_conv<dim>> conv_of(const window&, std::int64_t, dims, dims, dims);
template result<basic_conv<std::int64_t>> conv_of(const window&, std::int64_t, sizes, sizes, sizes);
template result<basic_conv<dim>> conv_transpose_of(const window&, std::int64_t, dims, dims, dims, numbers, numbers);
template result<basic_conv<std::int64_t>> conv_transpose_of(const window&, std::int64_t, sizes, sizes, sizes, numbers,
                                                            numbers);

}  // namespace CAMEO_NAMESPACE::geometry
