#include "attention_masks.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The keys of a sequence (and, with rank 3, of a query) that a mask excludes.
class key_mask {
 public:
  static status make(const value& mask, const attention_work& w, key_mask& out) {
    const extents& s = mask.shape;
    const std::int64_t b = w.batches;
    if (!mask) return {};
    if (s.rank() == 2 && (s[0] == b || s[0] == 1) && s[1] == 1 && w.keys != 1) return {};  // a placeholder
    out.data_ = static_cast<const std::int32_t*>(mask.data);
    out.keys_ = w.keys, out.batches_ = b;
    if (s == extents{b}) return out.how_ = ends, status{};
    std::int64_t both = 0;
    if (checked_multiply(b, std::int64_t{2}, both) && s == extents{both}) return out.how_ = ends_and_starts, status{};
    // A mask [3 * batch + 2] contains the ends, and then the offsets at which the queries and the keys of each sequence
    // start, [batch + 1] of each. Only the ends are used.
    if (s.rank() == 1 && s[0] >= 2 && s[0] % 3 == 2 && s[0] / 3 == b) return out.how_ = ends, status{};
    if (s == extents{b, w.keys}) return out.how_ = of_keys, status{};
    if (s == extents{b, w.queries, w.keys}) return out.how_ = of_queries, out.queries_ = w.queries, status{};
    return bad_input("the mask of keys has shape ", s, ", must be ", extents{b}, ", ", extents{both}, ", [", b,
                     "*3+2], ", extents{b, w.keys}, " or ", extents{b, w.queries, w.keys});
  }
  explicit operator bool() const { return how_ != none; }
  bool per_query() const { return how_ == of_queries; }

  /// Adds `hidden` to the scores of excluded keys.
  void add(std::int64_t batch, std::int64_t query, float hidden, float* row) const {
    if (how_ == none) return;
    if (how_ == ends || how_ == ends_and_starts) {
      const std::int64_t end = std::clamp<std::int64_t>(data_[batch], 0, keys_);
      const std::int64_t start = how_ == ends ? 0 : std::clamp<std::int64_t>(data_[batches_ + batch], 0, keys_);
      for (std::int64_t i = 0; i < keys_; ++i)
        if (i >= end || i < start) row[i] += hidden;
      return;
    }
    const std::int32_t* const shown = data_ + (how_ == of_keys ? batch : batch * queries_ + query) * keys_;
    for (std::int64_t i = 0; i < keys_; ++i) row[i] += shown[i] > 0 ? 0 : hidden;
  }

 private:
  enum { none, ends, ends_and_starts, of_keys, of_queries } how_ = none;
  const std::int32_t* data_ = nullptr;
  std::int64_t keys_ = 0, batches_ = 0, queries_ = 1;
};

}  // namespace

status combine_masks(run_context& c, const value& mask, const value& bias, float hidden_score, attention_work& w) {
  key_mask keys;
  if (status s = key_mask::make(mask, w, keys); !s) return s;
  if (!keys && !bias) return {};
  extents shape{1, 1, 1, w.keys};
  if (bias) {
    shape = bias.shape;
    if (status s = check_count("a row of attention_bias", shape[3], w.keys); !s) return s;
  }
  w.bias_keys = w.keys;
  if (!keys) {
    const result<const float*> added = wide_scores(c, bias);
    if (!added) return added.error();
    w.bias = *added, w.at_bias = strides_of_bias(shape);
    return {};
  }
  const head_strides from = strides_of_bias(shape);
  const extents all{w.batches, shape[1], keys.per_query() ? w.queries : shape[2], w.keys};
  const auto made = scratch_of<float>(c, all);
  if (!made) return made.error();
  const std::int64_t rows = all.count() == 0 ? 0 : all.count(0, 3);
  parallel_each_row(c, rows, grain_of(1 << 15, w.keys), [&](std::int64_t r, std::size_t) {
    const std::int64_t query = r % all[2], head = r / all[2] % all[1], batch = r / all[2] / all[1];
    float* const row = *made + r * w.keys;
    if (!bias) std::fill_n(row, w.keys, 0.0f);
    else load_floats(bias, batch * from.batch + head * from.head + query * from.row, row, w.keys);
    keys.add(batch, query, hidden_score, row);
  });
  w.bias = *made, w.at_bias = strides_of_bias(all);
  return {};
}

status attend_with_masks(run_context& c, const value& mask, const value& bias, float hidden_score,
                         const shown_scores& shown, attention_work& work, const value& y) {
  if (status s = combine_masks(c, mask, bias, hidden_score, work); !s) return s;
  if (c.has_output(shown.output))
    if (status s = write_scores(c, work, shown); !s) return s;
  return run_attention(c, work, y);
}

}  // namespace CAMEO_NAMESPACE::eps
