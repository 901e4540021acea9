#pragma once
#include <cameo/eps/cpu/token_search.hpp>

#include <cstring>
#include <utility>

#include "flow/subgraph_values.hpp"
#include "token_scores.hpp"

namespace cameo::inline CAMEO_ABI::eps {

/// A decoder while a search runs it: call() gives the last logits of all rows, advance() what the next call reads.
class decoder_steps {
 public:
  decoder_steps(run_context& c, const token_search& how) : c_{c}, how_{how} {}

  /// Prepares the first call, for each batch in so many rows.
  status begin(const value& ids, const value& mask, std::int64_t beams) {
    rows_ = ids.shape[0] * beams, length_ = ids.shape[1];
    const result<std::span<value>> in = value_list(c_, 3 + how_.layers), out = value_list(c_, 1 + how_.layers);
    const result<std::span<std::int32_t>> places = c_.scratch<std::int32_t>(std::size_t(rows_));
    if (!in || !out || !places) return status_code::out_of_memory;
    in_ = *in, out_ = *out, places_ = *places;
    std::int32_t* made[3] = {};
    for (std::size_t i = 0; i < 3; ++i)
      if (status s = make(i, {rows_, length_}, made[i]); !s) return s;
    for (std::int64_t r = 0; r < rows_; ++r) {
      const std::int32_t* const tokens = ids.as_unchecked<std::int32_t>().data() + r / beams * length_;
      const std::int32_t* const seen = mask ? mask.as_unchecked<std::int32_t>().data() + r / beams * length_ : nullptr;
      std::int32_t place = 0;
      for (std::int64_t i = 0; i < length_; ++i) {
        const std::int64_t at = r * length_ + i;
        const bool there = seen ? seen[i] != 0 : tokens[i] != how_.pad;
        made[0][at] = tokens[i], made[1][at] = there ? place++ : 0, made[2][at] = seen ? seen[i] : there;
      }
      places_[std::size_t(r)] = place;
    }
    for (std::size_t i = 0; i < how_.layers; ++i) {
      const result<value> past = c_.make(dtype::f32, {2, rows_, how_.heads, 0, how_.size});
      if (!past) return past.error();
      in_[3 + i] = *past;
    }
    return {};
  }

  /// Runs the decoder. Row r's logits are then at logits(r).
  status call() {
    if (c_.stopped()) return status_code::canceled;
    const int graph = first_ ? how_.first : how_.decoder;
    if (!frame_ || (first_ && how_.first != how_.decoder) || changed_) {
      const result<detail::subplan_frame*> opened = c_.open(std::size_t(graph));
      if (!opened) return opened.error();
      frame_ = *opened;
    }
    changed_ = first_ && how_.first != how_.decoder, first_ = false;
    const std::int64_t asked = in_[0].shape[1];
    if (status done = c_.call(*frame_, in_, out_); !done) return done;
    for (value& v : in_)
      if (&v != &in_[2]) c_.release(v);
    const value& logits = out_[0];
    if (logits.kind != value_kind::tensor || logits.type != dtype::f32 || logits.shape.rank() != 3 ||
        logits.shape[0] != rows_ || logits.shape[1] != asked || logits.shape[2] < 1)
      return bad_input("the decoder gave logits ", logits.type, " ", logits.shape, ", must be float [", rows_, ",",
                       asked, ",words]");
    const std::int64_t words = logits.shape[2];
    if (words_ && words != words_) return bad_input("the decoder gave ", words, " words, before that ", words_);
    words_ = words;
    return {};
  }
  std::int64_t words() const { return words_; }
  const float* logits(std::int64_t r) const {
    const extents& s = out_[0].shape;
    return out_[0].as_unchecked<float>().data() + ((r + 1) * s[1] - 1) * s[2];
  }

  /// What the next call reads: a token for each row, which goes on from row parents[r] (null: from itself).
  status advance(std::span<const std::int32_t> tokens, const std::int32_t* parents) {
    value before = std::exchange(in_[2], value{});
    std::int32_t *ids = nullptr, *places = nullptr, *mask = nullptr;
    if (status s = make(0, {rows_, 1}, ids); !s) return s;
    if (status s = make(1, {rows_, 1}, places); !s) return s;
    if (status s = make(2, {rows_, length_ + 1}, mask); !s) return s;
    for (std::int64_t r = 0; r < rows_; ++r) {
      ids[r] = tokens[std::size_t(r)], places[r] = places_[std::size_t(r)]++;
      std::copy_n(before.as_unchecked<std::int32_t>().data() + r * length_, length_, mask + r * (length_ + 1));
      mask[r * (length_ + 1) + length_] = 1;
    }
    c_.release(before);
    ++length_;
    for (std::size_t i = 0; i < how_.layers; ++i) {
      value& present = out_[1 + i];
      if (status s = check_present(present); !s) return s;
      if (!parents) {
        in_[3 + i] = std::exchange(present, value{});
        continue;
      }
      const result<value> past = c_.make(present.type, present.shape);
      if (!past) return past.error();
      const std::int64_t row = present.shape.count(2, 5);
      const float* const from = present.as_unchecked<float>().data();
      float* const to = past->as_mutable_unchecked<float>().data();
      for (std::int64_t half = 0; half < 2; ++half)
        for (std::int64_t r = 0; r < rows_; ++r)
          std::copy_n(from + (half * rows_ + parents[r]) * row, row, to + (half * rows_ + r) * row);
      c_.release(present);
      in_[3 + i] = *past;
    }
    c_.release(out_[0]);
    return {};
  }
  /// Gives back what the last call left.
  void end() {
    for (value& v : out_) c_.release(v);
    c_.release(in_[2]);
  }

 private:
  status make(std::size_t i, const extents& shape, std::int32_t*& data) {
    const result<value> made = c_.make(dtype::i32, shape);
    if (!made) return made.error();
    in_[i] = *made, data = made->as_mutable_unchecked<std::int32_t>().data();
    return {};
  }
  status check_present(const value& v) const {
    if (v.kind == value_kind::tensor && v.type == dtype::f32 && v.shape.rank() == 5 && v.shape[0] == 2 &&
        v.shape[1] == rows_)
      return {};
    return bad_input("the decoder gave a present ", v.type, " ", v.shape, ", must be float [2,", rows_,
                     ",heads,length,size]");
  }

  run_context& c_;
  const token_search& how_;
  detail::subplan_frame* frame_ = nullptr;
  bool first_ = true, changed_ = false;
  std::int64_t rows_ = 0, length_ = 0, words_ = 0;
  std::span<value> in_, out_;
  std::span<std::int32_t> places_;
};

}  // namespace cameo::inline CAMEO_ABI::eps
