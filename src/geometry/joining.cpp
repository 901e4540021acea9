#include <cameo/geometry/joining.hpp>

namespace CAMEO_NAMESPACE::geometry {

template class basic_join<dim>;
template class basic_join<std::int64_t>;
template result<basic_split<dim>> split_of(shape_view<dim>, std::int64_t, std::size_t, const split_sizes&);
template result<split> split_of(shape_view<std::int64_t>, std::int64_t, std::size_t, const split_sizes&);
template result<basic_split<dim>> split_to_sequence_of(shape_view<dim>, std::int64_t, const number_list&, bool, bool);
template result<split> split_to_sequence_of(shape_view<std::int64_t>, std::int64_t, const number_list&, bool, bool);

}  // namespace CAMEO_NAMESPACE::geometry
