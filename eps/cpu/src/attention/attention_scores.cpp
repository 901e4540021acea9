#include "attention_scores.hpp"

#include <algorithm>

#include "functions/float_rows.hpp"
#include "operands/refuse.hpp"
#include "skeletons/float_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Returns a row of a key as float: in place, or converted in `buffer`.
const float* key_at(const attention_work& w, std::int64_t place, float* buffer) {
  if (w.key_type == dtype::f32) return static_cast<const float*>(w.k) + place;
  if (w.key_type == dtype::i8) {
    std::copy_n(static_cast<const std::int8_t*>(w.k) + place, w.size, buffer);
  } else {
    const std::int64_t bytes = bits_of(w.key_type) / 8;
    convert_floats(w.key_type, static_cast<const std::byte*>(w.k) + place * bytes, buffer, w.size);
  }
  return buffer;
}

/// Computes the scores of one query with keys [first, last), including cap and bias.
void score_keys(const attention_work& w, std::int64_t batch, std::int64_t head, std::int64_t query, std::int64_t first,
                std::int64_t last, float* buffer, float* scores) {
  const std::int64_t shared = head / (w.heads / w.key_heads), keys = batch * w.at_k.batch + shared * w.at_k.head;
  const float* const q = w.q + batch * w.at_q.batch + head * w.at_q.head + query * w.at_q.row;
  float* const scaled = buffer + w.size;
  for (std::int64_t i = 0; i < w.size; ++i)
    scaled[i] = q[i] * w.scale * (w.key_scales ? w.key_scales[shared * w.size + i] : 1);
  for (std::int64_t j = first; j < last; ++j) {
    const float* const key = key_at(w, keys + j * w.at_k.row, buffer);
    double sum = 0;
    for (std::int64_t i = 0; i < w.size; ++i) sum += double(scaled[i]) * double(key[i]);
    scores[j] = float(sum);
  }
  cap_scores(scores + first, last - first, w.softcap);
  if (!w.bias) return;
  const float* const bias = w.bias + batch * w.at_bias.batch + head * w.at_bias.head + query * w.at_bias.row;
  bias_scores(scores + first, last - first, bias + first);
}

/// Converts n scores to weights. The sink's score, if there is one, follows the n scores and takes weight, too.
void weigh(float* scores, std::int64_t n, const float* sink) {
  if (sink) scores[n] = *sink;
  const std::int64_t all = n + (sink ? 1 : 0);
  constexpr float never = -std::numeric_limits<float>::infinity();
  if (std::all_of(scores, scores + all, [](float s) { return s == never; })) std::fill_n(scores, all, 0.0f);
  else softmax_row(scores, scores, all);
}

}  // namespace

status write_scores(run_context& c, const attention_work& w, const shown_scores& how) {
  const result<value*> made = c.output(how.output, extents{w.batches, w.heads, w.queries, how.keys});
  if (!made) return made.error();
  value& out = **made;
  if (out.shape.count() == 0) return {};
  const std::int64_t buffer_size = 2 * w.size + how.keys + 1;
  const auto buffers = c.scratch<float>(c.lanes() * std::size_t(buffer_size));
  if (!buffers) return buffers.error();
  const std::int64_t grain = 1 + (1 << 14) / (1 + w.size * how.keys);
  const auto row = [&](std::int64_t r, std::size_t lane) {
    const std::int64_t batch = r / w.queries / w.heads, head = r / w.queries % w.heads, query = r % w.queries;
    float *const keys = buffers->data() + std::int64_t(lane) * buffer_size, *const scores = keys + 2 * w.size;
    std::int64_t first = 0, last = 0;
    w.range_of(batch, query, first, last);
    last = std::min(last, how.keys), first = std::min(first, last);
    score_keys(w, batch, head, query, first, last, keys, scores);
    if (how.weights) weigh(scores + first, last - first, w.sinks ? w.sinks + head : nullptr);
    const float hidden = how.weights ? 0 : how.hidden;
    std::fill_n(scores, first, hidden);
    std::fill(scores + last, scores + how.keys, hidden);
    save_floats(scores, out, r * how.keys, how.keys);
  };
  return parallel_each(c, w.batches * w.heads * w.queries, grain, row) ? status{} : status_code::canceled;
}

}  // namespace CAMEO_NAMESPACE::eps
