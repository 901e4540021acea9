#pragma once
#include <cameo/op/microsoft.hpp>
#include <cameo/transform/rules/algebra.hpp>

#include "transform/rules/look.hpp"

/// Fuses rows of two or three constant tables, their sum and its normalization into com.microsoft's
/// EmbedLayerNormalization. The rules belong to normalization_fusion.
namespace CAMEO_NAMESPACE::embedding {

using namespace pattern;

/// Rows of a constant table, selected by numbers [batch or 1, sequence].
template <int Table, int Numbers>
constexpr auto rows_of(value_name<Table> table, value_name<Numbers> numbers) {
  return sole_use(match<op::Gather>(constant{table}, numbers)).template attr<"axis">(0);
}
// Words are rows of `a` with numbers `b`, positions of `c` with `d`, segments of `g` with `h`; y is the scale and z the
// bias.
constexpr auto words_and_positions =
    name(n0, match<op::LayerNormalization>(sum(number{0}, rows_of(a, b), rows_of(c, d)), y, z));
constexpr auto words_segments_and_positions =
    name(n0, match<op::LayerNormalization>(sum(number{0}, rows_of(a, b), rows_of(g, h), rows_of(c, d)), y, z));

inline bool is_of_last_axis(const match_result&, const node_view& norm) {
  const std::int64_t axis = norm.attributes<op::LayerNormalization>().axis;
  return axis == -1 || axis == 2;
}
inline bool is_sum_of_floats(const match_result& m, const node_view& norm) {
  return look::has_rank(*m.in, norm.input(0), 3) && look::is_float(norm.input(0));
}
inline bool is_vector_of_sum(const match_result& m, const value_view& v) {
  return look::is_vector_along(*m.in, v, m.root.input(0));
}
inline bool is_table(const match_result& m, const value_view& table, const value_view& numbers) {
  return look::has_rank(*m.in, table, 2) && look::has_rank(*m.in, numbers, 2);
}
/// True if both are [batch, sequence].
inline bool are_alike(const match_result& m, const value_view& words, const value_view& segments) {
  return same_shape(*m.in, words, segments);
}
/// True if the positions are the same for every batch, or one row for each.
inline bool are_positions(const match_result& m, const value_view& words, const value_view& positions) {
  const dim rows = (*m.in->shape(positions))[0], length = (*m.in->shape(words))[1],
            given = (*m.in->shape(positions))[1];
  if (given.known() && !given.same(length)) return false;
  return (rows.known() && rows.size == 1) || same_shape(*m.in, words, positions);
}

inline value_id as_int32(edit& to, const value_view& v) {
  if (!v || v.element() == dtype::i32) return v.id();
  return to.add<op::Cast>({v.id()}, {attribute_of("to", std::int64_t(dtype::i32))});
}
inline value_id embedded(const match_result& m, edit& to) {
  const value_id words = as_int32(to, b.get(m)), segments = as_int32(to, h.get(m)), positions = as_int32(to, d.get(m));
  const value_id inputs[] = {words,         segments,      a.get(m).id(),  c.get(m).id(), g.get(m).id(),
                             y.get(m).id(), z.get(m).id(), value_id::none, positions};
  const attribute attributes[] = {attribute_of("epsilon", m.root.attributes<op::LayerNormalization>().epsilon)};
  // ONNX Runtime requires a name for the second output.
  return to.add<op::microsoft::EmbedLayerNormalization>(inputs, attributes, 2);
}
using made = op_set<op::microsoft::EmbedLayerNormalization, op::Cast>;

inline constexpr rule two_tables{
    "EmbedLayerNormFusion", words_and_positions, computed<embedded, made>,
    when(check<is_of_last_axis>(n0), check<is_sum_of_floats>(n0), check<is_vector_of_sum>(y),
         check<is_vector_of_sum>(z), check<is_table>(a, b), check<is_table>(c, d), check<are_positions>(b, d))};
inline constexpr rule three_tables{
    "EmbedLayerNormFusion", words_segments_and_positions, computed<embedded, made>,
    when(check<is_of_last_axis>(n0), check<is_sum_of_floats>(n0), check<is_vector_of_sum>(y),
         check<is_vector_of_sum>(z), check<is_table>(a, b), check<is_table>(g, h), check<is_table>(c, d),
         check<are_alike>(b, h), check<are_positions>(b, d))};

}  // namespace CAMEO_NAMESPACE::embedding
