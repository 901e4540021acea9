#include <cameo/eps/cpu/skip_layer_normalization.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include <algorithm>

#include "functions/float_rows.hpp"
#include "skeletons/float_output.hpp"

#include "functions/quantized.hpp"
#include "operands/refuse.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The outputs: normalized rows (output 0), and the sums of the inputs that were normalized, if the node has that
/// output.
template <class C>
struct normal_outputs {
  row_rooms<C> y, sum;
  bool keeps_sum = false;

  static result<normal_outputs> make(run_context& c, std::size_t sum_output, const extents& shape, std::int64_t n) {
    const result<value*> out = c.output(0, shape);
    if (!out) return out.error();
    const result<value*> sum_out = optional_output(c, sum_output, shape, *out);
    if (!sum_out) return sum_out.error();
    const auto y = row_rooms<C>::make(c, **out, 1, n), sum = row_rooms<C>::make(c, **sum_out, 1, n);
    if (!y || !sum) return status_code::out_of_memory;
    return normal_outputs{*y, *sum, *sum_out != *out};
  }
  /// Computes row r of both outputs from the inputs in `row`, and sets the pointers to the outputs in `row`.
  row_statistics fill(normal_row<C>& row, std::size_t lane, std::int64_t r) const {
    row.y = y.room(lane, r * row.n), row.sum = sum.room(lane, r * row.n);
    const row_statistics made = normalize_row(row);
    y.store(lane, r * row.n, row.n);
    if (keeps_sum) sum.store(lane, r * row.n, row.n);
    return made;
  }
};

/// The shape that the skip of an input must have: that of the input, or without its batches.
extents skip_shape(const extents& x, const extents& skip) {
  extents must = x;
  if (x.rank() == 3 && skip.rank() == 2) must.erase(0);
  else if (x.rank() == 3 && skip.rank() == 3 && skip[0] == 1) must[0] = 1;
  return must;
}

}  // namespace

template <class C>
status skip_layer_normalization_state::run_as(run_context& c) const {
  const value &x = c.input(0), &skip = c.input(1);
  const std::size_t rank = x.shape.rank();
  if (status s = usable_sizes("input", x.shape); !s) return s;
  const std::int64_t n = x.shape.back();
  if (status s = check_shape("skip", skip.shape, skip_shape(x.shape, skip.shape)); !s) return s;
  const auto out = normal_outputs<C>::make(c, 3, x.shape, n);
  if (!out) return out.error();
  extents per_row = x.shape;
  per_row[rank - 1] = 1;
  const result<float*> means = optional_floats(c, 1, per_row), inverses = optional_floats(c, 2, per_row);
  if (!means) return means.error();
  if (!inverses) return inverses.error();
  if (x.shape.count() == 0) return {};
  const auto from = row_rooms<C>::make(c, x, 1, n), added = row_rooms<C>::make(c, skip, 1, n);
  if (!from || !added) return status_code::out_of_memory;
  const auto gamma = wide_vector<C>(c, c.input(2)), bias = wide_vector<C>(c, c.input(centers ? 4 : 3));
  const auto beta = centers ? wide_vector<C>(c, c.input(3)) : result<const C*>{static_cast<const C*>(nullptr)};
  if (!gamma || !beta || !bias) return status_code::out_of_memory;
  const std::int64_t rows = x.shape.count() / n, skip_rows = skip.shape.count() / n;
  parallel_each_row(c, rows, grain_of(1 << 14, n), [&](std::int64_t r, std::size_t lane) {
    normal_row<C> row{};
    row.x = from->read(lane, r * n, n), row.skip = added->read(lane, r % skip_rows * n, n), row.skip_bias = *bias;
    row.scale = *gamma, row.bias = *beta, row.n = n, row.epsilon = epsilon, row.centers = centers;
    const row_statistics s = out->fill(row, lane, r);
    if (*means) (*means)[r] = float(s.mean);
    if (*inverses) (*inverses)[r] = float(s.inverse);
  });
  return {};
}

status skip_layer_normalization_state::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

template <class Op>
result<skip_layer_normalization<Op>> skip_layer_normalization<Op>::bind(bind_context& c) {
  skip_layer_normalization made;
  made.centers = std::is_same_v<Op, op::microsoft::SkipLayerNormalization>;
  made.epsilon = double(attributes_of<Op>{c.attributes}.epsilon);
  c.may_overwrite(0, 0);
  return made;
}

template struct skip_layer_normalization<op::microsoft::SkipLayerNormalization>;
template struct skip_layer_normalization<op::microsoft::SkipSimplifiedLayerNormalization>;

namespace {

status check_ids(const value& ids, std::int64_t rows, std::string_view name) {
  for (const std::int32_t id : ids.as_unchecked<std::int32_t>())
    if (status s = check_element(name, id, 0, rows - 1); !s) return s;
  return {};
}

/// An embedding table, and the ids that select its rows; without ids, the position in the sequence selects.
struct embedding {
  row_rooms<float> table;
  const std::int32_t* ids = nullptr;
  std::int64_t rows = 0, id_rows = 0;  // rows of the table; the number of ids, after which they repeat
};

status read_embedding(run_context& c, std::size_t table, const value& ids, const extents& shape, std::int64_t n,
                      std::string_view name, embedding& out) {
  const value& t = c.input(table);
  const auto read = row_rooms<float>::make(c, t, 1, n);
  if (!read) return read.error();
  out.table = *read, out.rows = t.shape[0];
  if (!ids) return check_least_count("position_embedding", out.rows, shape[1]);
  const tensor_view<const std::int32_t> all = ids.as_unchecked<std::int32_t>();
  out.ids = all.data(), out.id_rows = all.count();
  return check_ids(ids, out.rows, name);
}

/// Counts the ones of each row of the mask, as output 1; 0 without a mask.
status count_mask(run_context& c, const value& mask, const extents& shape) {
  if (!c.has_output(1)) return {};
  const auto out = c.output<std::int32_t>(1, extents{shape[0]});
  if (!out) return out.error();
  for (std::int64_t b = 0; b < shape[0]; ++b) {
    const std::int32_t* const row = mask ? mask.as_unchecked<std::int32_t>().data() + b * shape[1] : nullptr;
    (*out)[b] = row ? std::int32_t(std::count(row, row + shape[1], 1)) : 0;
  }
  return {};
}

}  // namespace

result<embed_layer_normalization> embed_layer_normalization::bind(bind_context& c) {
  return embed_layer_normalization{double(attributes_of<op::microsoft::EmbedLayerNormalization>{c.attributes}.epsilon)};
}

status embed_layer_normalization::run(run_context& c) const {
  const value &words = c.input(0), &segments = c.input(1), &table = c.input(2);
  const extents shape = words.shape;
  const std::int64_t n = table.shape[1];
  embedding of[3];
  if (status s = read_embedding(c, 2, words, shape, n, "input_ids", of[0]); !s) return s;
  if (status s = read_embedding(c, 3, c.input(8), shape, n, "position_ids", of[1]); !s) return s;
  if (segments)
    if (status s = read_embedding(c, 4, segments, shape, n, "segment_ids", of[2]); !s) return s;
  if (status s = count_mask(c, c.input(7), shape); !s) return s;
  const extents y_shape{shape[0], shape[1], n};
  const auto out = normal_outputs<float>::make(c, 2, y_shape, n);
  if (!out) return out.error();
  if (y_shape.count() == 0) return {};
  const auto gamma = wide_vector<float>(c, c.input(5)), beta = wide_vector<float>(c, c.input(6));
  if (!gamma || !beta) return status_code::out_of_memory;
  parallel_each_row(c, shape[0] * shape[1], grain_of(1 << 14, n), [&](std::int64_t r, std::size_t lane) {
    const auto place = [&](const embedding& e) {
      return e.table.read(lane, (e.ids ? std::int64_t(e.ids[r % e.id_rows]) : r % shape[1]) * n, n);
    };
    normal_row<float> row{};
    row.x = place(of[0]), row.skip = place(of[1]), row.skip_bias = segments ? place(of[2]) : nullptr;
    row.scale = *gamma, row.bias = *beta, row.n = n, row.epsilon = epsilon;
    out->fill(row, lane, r);
  });
  return {};
}

namespace {

/// A quantized embedding table, with its scale and zero point.
struct coded_table {
  const value* codes = nullptr;
  float scale = 0;
  std::int32_t zero = 0;

  static coded_table read(const run_context& c, std::size_t codes, std::size_t scale, std::size_t zero) {
    return {&c.input(codes), c.input(scale).as_unchecked<float>()[0], code_of(c.input(zero), 0)};
  }
  /// Dequantizes elements [first, first + n) and adds them to a row.
  void add(std::int64_t first, std::int64_t n, float* to) const {
    for (std::int64_t i = 0; i < n; ++i) to[i] += scale * float(code_of(*codes, first + i) - zero);
  }
};

}  // namespace

result<quantized_embed_layer_normalization> quantized_embed_layer_normalization::bind(bind_context& c) {
  const attributes_of<op::microsoft::QEmbedLayerNormalization> a{c.attributes};
  return quantized_embed_layer_normalization{double(a.epsilon)};
}

status quantized_embed_layer_normalization::run(run_context& c) const {
  const value &words = c.input(0), &segments = c.input(1);
  const extents shape = words.shape;
  const std::int64_t n = c.input(2).shape[1];
  coded_table tables[5];
  for (std::size_t i = 0; i < 5; ++i)
    if (i != 2 || segments) tables[i] = coded_table::read(c, 2 + i, 8 + i, 13 + i);
  if (status s = check_ids(words, c.input(2).shape[0], "input_ids"); !s) return s;
  if (status s = check_least_count("position_embedding", c.input(3).shape[0], shape[1]); !s) return s;
  if (segments)
    if (status s = check_ids(segments, c.input(4).shape[0], "segment_ids"); !s) return s;
  if (status s = count_mask(c, c.input(7), shape); !s) return s;
  const result<tensor_view<float>> y = c.output<float>(0, extents{shape[0], shape[1], n});
  if (!y) return y.error();
  const result<std::span<float>> vectors = c.scratch<float>(2 * std::size_t(n));
  if (!vectors) return vectors.error();
  float *const gamma = vectors->data(), *const beta = gamma + n;
  std::fill_n(gamma, 2 * n, 0.0f);
  tables[3].add(0, n, gamma), tables[4].add(0, n, beta);
  if (y->empty()) return {};
  parallel_each(c, shape[0] * shape[1], 1 + (1 << 13) / n, [&](std::int64_t r, std::size_t) {
    float* const to = y->data() + r * n;
    std::fill_n(to, n, 0.0f);
    tables[0].add(words.as_unchecked<std::int32_t>()[r] * n, n, to);
    tables[1].add(r % shape[1] * n, n, to);
    if (segments) tables[2].add(segments.as_unchecked<std::int32_t>()[r] * n, n, to);
    normal_row<float> row{};
    row.x = to, row.scale = gamma, row.bias = beta, row.y = to, row.n = n, row.epsilon = epsilon;
    normalize_row(row);
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
