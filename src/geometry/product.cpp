#include <cameo/geometry/product.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<basic_matrix_product<dim>> matrix_product_of(shape_view<dim>, shape_view<dim>, factor_order,
                                                             factor_order);
template result<matrix_product> matrix_product_of(shape_view<std::int64_t>, shape_view<std::int64_t>, factor_order,
                                                  factor_order);
template result<basic_gemm<dim>> gemm_of(shape_view<dim>, bool, shape_view<dim>, bool, shape_view<dim>);
template result<gemm> gemm_of(shape_view<std::int64_t>, bool, shape_view<std::int64_t>, bool, shape_view<std::int64_t>);

}  // namespace CAMEO_NAMESPACE::geometry
