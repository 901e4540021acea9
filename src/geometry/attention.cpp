#include <cameo/geometry/attention.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<basic_attention<dim>> attention_of(const basic_attention_inputs<dim>&, std::int64_t, std::int64_t);
template result<attention> attention_of(const attention_inputs&, std::int64_t, std::int64_t);
template result<basic_attention<dim>> multi_head_attention_of(const basic_attention_inputs<dim>&, std::int64_t);
template result<attention> multi_head_attention_of(const attention_inputs&, std::int64_t);
template result<basic_attention<dim>> group_query_attention_of(const basic_attention_inputs<dim>&,
                                                               const group_query_attributes&);
template result<attention> group_query_attention_of(const attention_inputs&, const group_query_attributes&);
template result<basic_projected_attention<dim>> projected_attention_of(shape_view<dim>, shape_view<dim>, std::int64_t,
                                                                       std::span<const std::int64_t>, shape_view<dim>,
                                                                       bool, bool);
template result<basic_projected_attention<std::int64_t>> projected_attention_of(shape_view<std::int64_t>,
                                                                                shape_view<std::int64_t>, std::int64_t,
                                                                                std::span<const std::int64_t>,
                                                                                shape_view<std::int64_t>, bool, bool);

}  // namespace CAMEO_NAMESPACE::geometry
