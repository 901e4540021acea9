// The number of bytes that nodes read and write. If a node reads only some rows of an input, only those count.
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/cost.hpp>

#include "infer_list.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace CAMEO_NAMESPACE {
namespace {

using node = detail::node_in_run;

double bytes_of(const value& v) {
  if (v.kind == value_kind::tensor) return double(v.bytes());
  double all = 0;
  for (const value& part : v.parts) all += part.kind == value_kind::tensor ? double(part.bytes()) : 0.0;
  return all;
}
double bytes_of_outputs(const node& n) {
  double all = 0;
  for (const std::uint32_t s : n.outputs)
    if (s) all += bytes_of(n.values[s]);
  return all;
}

/// The number of elements of a tensor; 0 for null.
double count_of(const value* v) { return v ? double(v->shape.count()) : 0.0; }

/// The share of a table with `rows` rows that a node reads if it picks `picks` different rows.
double share_of(double picks, double rows) { return rows > picks ? picks / rows : 1.0; }
double share_of_rows(const value* table, double picks) {
  return table && table->shape.rank() > 0 ? share_of(picks, double(table->shape[0])) : 1.0;
}

// The type of the functions below. Each returns the share of an input that a node reads, from 0 to 1; its comment
// states what the node reads.
using share = double(const node&, std::size_t input);

/// The node reads only the input's type or shape.
double none(const node&, std::size_t) { return 0.0; }

/// The node reads as many bytes as its outputs have.
double moved(const node& n, std::size_t input) {
  return share_of(bytes_of_outputs(n), bytes_of(n.values[n.inputs[input]]));
}

/// The node reads one row for each element of input `Indices`.
template <std::size_t Indices>
double looked_up(const node& n, std::size_t input) {
  return share_of_rows(n.input(input), count_of(n.input(Indices)));
}

/// The node reads a table of positions: one row for each index or, without indices, the first rows, one for each
/// position of a sequence [batch, length].
template <std::size_t Indices>
double positions(const node& n, std::size_t input) {
  if (n.input(Indices)) return looked_up<Indices>(n, input);
  const value* const sequence = n.input(0);
  return sequence && sequence->shape.rank() == 2 ? share_of_rows(n.input(input), double(sequence->shape[1])) : 1.0;
}

/// The node reads a row of angles for each position, if there are positions. Otherwise it needs all rows of the input.
double angles(const node& n, std::size_t input) { return n.input(3) ? looked_up<3>(n, input) : 1.0; }

/// The node reads a row of angles for each token of input 0: [batch, length, size] or [batch, heads, length, size].
double angles_of_tokens(const node& n, std::size_t input) {
  const value* const x = n.input(0);
  if (!x || x->shape.rank() < 3) return 1.0;
  return share_of_rows(n.input(input), double(x->shape[0]) * double(x->shape[x->shape.rank() - 2]));
}

/// The node reads one slice of its data along gather_axis for each index, with the scales and zero points of the slice.
double gathered_blocks(const node& n, std::size_t) {
  const value* const data = n.input(0);
  if (!data || data->shape.rank() == 0) return 1.0;
  const auto rank = std::int64_t(data->shape.rank());
  std::int64_t axis = attributes_of<op::microsoft::GatherBlockQuantized>{n.attributes}.gather_axis;
  axis = axis < 0 ? axis + rank : axis;
  return axis < 0 || axis >= rank ? 1.0 : share_of(count_of(n.input(1)), double(data->shape[std::size_t(axis)]));
}

/// The node reads one score for each target.
double picked_scores(const node& n, std::size_t input) {
  return share_of(count_of(n.input(1)), count_of(n.input(input)));
}

/// The node reads the weights of `k` experts for each token of router_probs [tokens, experts], all different.
double chosen_experts(const node& n, std::size_t) {
  const value* const router = n.input(1);
  if (!router || router->shape.rank() != 2) return 1.0;
  const std::int64_t k = attributes_of<op::microsoft::MoE>{n.attributes}.k;
  return share_of(double(router->shape[0]) * double(k), double(router->shape[1]));
}

/// The share that an operator reads of its inputs [first, last].
struct share_row {
  detail::op_id op{};
  std::uint8_t first = 0, last = 0;
  share* read = nullptr;
};

using detail::op_id_of;
constexpr share_row share_rows[] = {
    {op_id_of<op::Shape>, 0, 0, none},
    {op_id_of<op::Size>, 0, 0, none},
    {op_id_of<op::EyeLike>, 0, 0, none},
    {op_id_of<op::RandomNormalLike>, 0, 0, none},
    {op_id_of<op::RandomUniformLike>, 0, 0, none},
    {op_id_of<op::CastLike>, 1, 1, none},
    {op_id_of<op::SequenceLength>, 0, 0, none},
    {op_id_of<op::OptionalHasElement>, 0, 0, none},
    {op_id_of<op::SequenceAt>, 0, 0, moved},
    {op_id_of<op::CenterCropPad>, 0, 0, moved},
    {op_id_of<op::contrib::Crop>, 0, 0, moved},
    {op_id_of<op::contrib::DynamicSlice>, 0, 0, moved},
    {op_id_of<op::ml::ArrayFeatureExtractor>, 0, 0, moved},
    {op_id_of<op::NegativeLogLikelihoodLoss>, 0, 0, picked_scores},
    {op_id_of<op::RotaryEmbedding>, 1, 2, angles},
    {op_id_of<op::microsoft::RotaryEmbedding>, 2, 3, angles_of_tokens},
    {op_id_of<op::microsoft::MRotaryEmbedding>, 2, 3, looked_up<1>},
    {op_id_of<op::microsoft::GroupQueryAttention>, 7, 8, angles_of_tokens},
    {op_id_of<op::microsoft::SparseAttention>, 9, 10, angles_of_tokens},
    {op_id_of<op::microsoft::EmbedLayerNormalization>, 2, 2, looked_up<0>},
    {op_id_of<op::microsoft::EmbedLayerNormalization>, 3, 3, positions<8>},
    {op_id_of<op::microsoft::EmbedLayerNormalization>, 4, 4, looked_up<1>},
    {op_id_of<op::microsoft::QEmbedLayerNormalization>, 2, 2, looked_up<0>},
    {op_id_of<op::microsoft::QEmbedLayerNormalization>, 3, 3, positions<99>},  // no input has indices of positions
    {op_id_of<op::microsoft::QEmbedLayerNormalization>, 4, 4, looked_up<1>},
    {op_id_of<op::microsoft::TorchEmbedding>, 0, 0, looked_up<1>},
    {op_id_of<op::microsoft::WordConvEmbedding>, 3, 3, looked_up<0>},
    {op_id_of<op::microsoft::GatherBlockQuantized>, 0, 0, gathered_blocks},
    {op_id_of<op::microsoft::GatherBlockQuantized>, 2, 3, gathered_blocks},
    {op_id_of<op::microsoft::MoE>, 2, 7, chosen_experts},
    {op_id_of<op::microsoft::QMoE>, 2, 13, chosen_experts},
};

/// Operators whose output is input 0 with `updates` written into it. If both share memory, only the updates are
/// written.
struct update_row {
  detail::op_id op{};
  std::uint8_t updates = 0;
};
constexpr update_row update_rows[] = {
    {op_id_of<op::Scatter>, 2},
    {op_id_of<op::ScatterElements>, 2},
    {op_id_of<op::ScatterND>, 2},
    {op_id_of<op::TensorScatter>, 1},
};

double bytes_read(const op_row* op, const node& n, std::size_t input) {
  const double all = bytes_of(n.values[n.inputs[input]]);
  if (!op) return all;
  const auto row = std::find_if(std::begin(share_rows), std::end(share_rows), [&](const share_row& each) {
    return each.op == op->id && input >= each.first && input <= each.last;
  });
  if (row != std::end(share_rows)) return std::round(all * row->read(n, input));
  return input == 0 && detail::has_role(op->roles, role::moves) ? std::round(all * moved(n, input)) : all;
}

}  // namespace

double detail::bytes_moved(const op_row* op, const node_in_run& n) {
  const value *first = n.input(0), *result = n.output(0);
  const bool is_same = first && result && first->data == result->data;
  if (op && is_same && (has_role(op->roles, role::reshapes) || has_role(op->roles, role::is_identity))) return 0;
  const auto updates = std::find_if(std::begin(update_rows), std::end(update_rows),
                                    [&](const update_row& each) { return op && each.op == op->id; });
  const bool in_place = is_same && updates != std::end(update_rows) && n.input(updates->updates);
  double all = in_place ? bytes_of(*n.input(updates->updates)) : bytes_of_outputs(n);
  for (std::size_t i = in_place ? 1 : 0; i < n.inputs.size(); ++i) {
    const auto seen = n.inputs.first(i);
    if (n.inputs[i] && std::find(seen.begin(), seen.end(), n.inputs[i]) == seen.end()) all += bytes_read(op, n, i);
  }
  return all;
}

}  // namespace CAMEO_NAMESPACE
