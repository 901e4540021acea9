#pragma once
#include <cameo/eps/cpu/token_search.hpp>
#include <cameo/geometry/shape_pattern.hpp>

#include <array>
#include <cstring>
#include <utility>

#include "flow/subgraph_values.hpp"
#include "token_scores.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Checks that a value which a graph returned is a tensor of float, whose shape matches a pattern with these sizes.
inline status check_returned(std::string_view name, const value& v, std::string_view pattern,
                             std::initializer_list<geometry::named_size> sizes) {
  if (status s = check_tensor(name, v, dtype::f32); !s) return s;
  const geometry::named_shape<std::int64_t> one[] = {{name, geometry::shape_of(v)}};
  return geometry::check_shapes<std::int64_t>(pattern, one, {sizes.begin(), sizes.size()});
}

/// Runs the graphs of a search: after begin() and next(), logits() are those of the last token of each row; a batch has
/// `beams` rows. Models differ in their first step, and in the inputs of the decoder other than past keys and values:
///   GPT-2    a decoder without an encoder, which begins with the prompt
///   T5       an encoder of tokens, and a decoder
///   Whisper  an encoder of features, and a decoder
/// The encoder may itself run the decoder's first step (how.encoder_starts).
class decoder_steps {
 public:
  decoder_steps(run_context& c, const token_search& how, const search_plan& plan, std::int64_t beams)
      : c_{c}, how_{how}, plan_{plan}, beams_{beams}, rows_{plan.batches * beams}, length_{plan.length} {}

  /// Runs the first step. `mask` is the input attention_mask, or absent.
  status begin(const value& mask) {
    const result<std::span<value>> in = value_list(c_, how_.leading + how_.renewed + how_.kept);
    const result<std::span<value>> out = value_list(c_, 1 + how_.renewed + how_.shown);
    if (!in || !out) return status_code::out_of_memory;
    in_ = *in, out_ = *out;
    if (alone()) {
      if (status fed = begin_alone(mask); !fed) return fed;
      return decode(how_.first);
    }
    if (status done = encode(mask); !done || how_.encoder_starts) return done;
    if (status passed = pass_encoded(); !passed) return passed;
    std::int32_t* tokens = nullptr;
    if (status s = make(in_[0], {rows_, 1}, tokens); !s) return s;
    for (std::int64_t r = 0; r < rows_; ++r) plan_.begin(r / beams_, tokens + r);
    return decode(how_.decoder);
  }

  /// Runs the next step, with the last token of each of `rows`. Row r continues row parents[r] of the step before;
  /// null: each row continues itself.
  status next(const token_rows& rows, const std::int32_t* parents) {
    if (encoded_.empty()) {
      if (status carried = carry(parents); !carried) return carried;
    } else if (status passed = pass_encoded(); !passed) {
      return passed;
    }
    ++length_;
    const std::int64_t read = how_.takes_whole ? length_ : 1;
    std::int32_t* tokens = nullptr;
    if (status s = make(in_[0], {rows_, read}, tokens); !s) return s;
    for (std::int64_t r = 0; r < rows_; ++r) std::copy_n(rows.row(r) + (length_ - read), read, tokens + r * read);
    if (alone())
      if (status fed = extend_mask(); !fed) return fed;
    return decode(how_.decoder);
  }

  std::int64_t rows() const { return rows_; }
  /// The words that have logits, without those from the attribute vocab_size on.
  std::int64_t words() const { return how_.words ? std::min(how_.words, words_) : words_; }
  /// The logits of the last token of row r.
  const float* logits(std::int64_t r) const {
    const extents& s = logits_->shape;
    return logits_->as_unchecked<float>().data() + ((r / (rows_ / s[0]) + 1) * s[1] - 1) * s[2];
  }
  /// The shape of the keys of cross attention that the encoder computed for the first layer: [batch, heads, length,
  /// size].
  const extents& crossed() const { return crossed_; }
  /// The scores of cross attention that the decoder returned, by layer.
  std::span<const value> shown() const { return out_.subspan(1 + how_.renewed); }

  /// Releases the values of the last step.
  void end() {
    for (const std::span<value> all : {in_, out_, encoded_})
      for (value& v : all) c_.release(v);
  }

 private:
  /// True if the decoder has no encoder.
  bool alone() const { return how_.kind == token_search::model::gpt2; }

  /// Makes the first inputs of a decoder without an encoder: tokens, positions, mask, and empty past keys and values.
  status begin_alone(const value& mask) {
    const result<std::span<std::int32_t>> places = c_.scratch<std::int32_t>(std::size_t(rows_));
    if (!places) return status_code::out_of_memory;
    places_ = *places;
    std::int32_t* made[3] = {};
    for (std::size_t i = 0; i < 3; ++i)
      if (status s = make(in_[i], {rows_, length_}, made[i]); !s) return s;
    for (std::int64_t r = 0; r < rows_; ++r) {
      const std::int32_t* const tokens = plan_.prompt + r / beams_ * length_;
      const std::int32_t* const seen = mask ? mask.as_unchecked<std::int32_t>().data() + r / beams_ * length_ : nullptr;
      std::int32_t place = 0;
      for (std::int64_t i = 0; i < length_; ++i) {
        const std::int64_t at = r * length_ + i;
        const bool there = tokens[i] != how_.pad;  // positions don't depend on the mask, as in ONNX Runtime
        made[0][at] = tokens[i], made[1][at] = there ? place++ : 0, made[2][at] = seen ? seen[i] : there;
      }
      places_[std::size_t(r)] = place;
    }
    for (std::size_t i = 0; i < how_.renewed; ++i)
      if (status s = make(in_[3 + i], dtype::f32, {2, rows_, how_.heads, 0, how_.size}); !s) return s;
    return {};
  }

  /// Makes the positions of the next tokens, and extends the mask by them.
  status extend_mask() {
    value before = std::exchange(in_[2], value{});
    std::int32_t *places = nullptr, *mask = nullptr;
    if (status s = make(in_[1], {rows_, 1}, places); !s) return s;
    if (status s = make(in_[2], {rows_, length_}, mask); !s) return s;
    for (std::int64_t r = 0; r < rows_; ++r) {
      places[r] = places_[std::size_t(r)]++;
      std::copy_n(before.as_unchecked<std::int32_t>().data() + r * (length_ - 1), length_ - 1, mask + r * length_);
      mask[r * length_ + length_ - 1] = 1;
    }
    c_.release(before);
    return {};
  }

  /// Runs the encoder, with one row for each batch.
  status encode(const value& mask) {
    const result<std::span<value>> given =
        value_list(c_, how_.encoder_starts ? 2 + how_.renewed + how_.kept : how_.kept);
    if (!given) return status_code::out_of_memory;
    encoded_ = *given;
    const bool whispers = how_.kind == token_search::model::whisper;
    std::array<value, 3> in;
    std::size_t count = 0;
    in[count++] = c_.input(0);  // the caller owns this input and `mask`, so they are not released
    if (!whispers) {
      source_mask_ = mask;
      if (!mask)
        if (status s = mask_of_source(); !s) return s;
      in[count++] = source_mask_;
    }
    owns_mask_ = !whispers && !mask;
    if (how_.encoder_starts) {
      std::int32_t* tokens = nullptr;
      if (status s = make(in[count], {plan_.batches, length_}, tokens); !s) return s;
      for (std::int64_t b = 0; b < plan_.batches; ++b) plan_.begin(b, tokens + b * length_);
      ++count;
    }
    if (status done = call(how_.first, std::span{in}.first(count), encoded_); !done) return done;
    if (how_.encoder_starts) c_.release(in[count - 1]);
    for (std::size_t i = 0; i < encoded_.size(); ++i) {
      const std::string_view shape = how_.encoder_starts && i < 2 ? "[batch,_,_]" : "[batch,_,_,_]";
      if (status s = check_returned("an output of the encoder", encoded_[i], shape, {{"batch", plan_.batches}}); !s)
        return s;
    }
    crossed_ = encoded_[encoded_.size() - how_.kept].shape;
    return how_.encoder_starts ? take_logits(encoded_[0], plan_.batches, "logits of the encoder") : status{};
  }

  /// Makes the encoder's mask, if the node has none: 0 for the pads at the beginning of a batch, else 1.
  status mask_of_source() {
    const extents& shape = c_.input(0).shape;
    std::int32_t* seen = nullptr;
    if (status s = make(source_mask_, shape, seen); !s) return s;
    const std::int32_t* const tokens = c_.input(0).as_unchecked<std::int32_t>().data();
    for (std::int64_t b = 0; b < shape[0]; ++b) {
      bool begun = false;
      for (std::int64_t i = b * shape[1]; i < (b + 1) * shape[1]; ++i)
        begun = begun || tokens[i] != how_.pad, seen[i] = begun;
    }
    return {};
  }

  /// Makes the decoder's inputs, except the tokens, from the encoder's outputs, which are repeated for each row of a
  /// batch.
  status pass_encoded() {
    std::size_t to = 1, from = 0;
    if (how_.kind == token_search::model::t5) {
      if (how_.takes_source)
        if (status s = spread(c_.input(0), in_[to++]); !s) return s;
      if (status s = spread(source_mask_, in_[to++]); !s) return s;
      if (owns_mask_) c_.release(source_mask_);
    }
    if (how_.encoder_starts) {
      if (how_.takes_hidden)
        if (status s = spread(encoded_[1], in_[to++]); !s) return s;
      from = 2;
    } else {
      for (std::size_t i = 0; i < how_.renewed; ++i) {
        const extents& s = encoded_[i].shape;
        if (status made = make(in_[to++], dtype::f32, {rows_, s[1], 0, s[3]}); !made) return made;
      }
    }
    for (; from < encoded_.size(); ++from) {
      if (beams_ == 1) in_[to++] = std::exchange(encoded_[from], value{});
      else if (status s = spread(encoded_[from], in_[to++]); !s) return s;
      c_.release(encoded_[from]);
    }
    for (value& v : encoded_) c_.release(v);
    encoded_ = {};
    return {};
  }
  /// Repeats the elements of each batch for all its rows.
  status spread(const value& from, value& to) {
    extents shape = from.shape;
    shape[0] = rows_;
    if (status made = make(to, from.type, shape); !made) return made;
    const std::size_t bytes = from.bytes() / std::size_t(plan_.batches);
    for (std::int64_t r = 0; bytes && r < rows_; ++r)
      std::memcpy(static_cast<std::byte*>(to.data) + std::size_t(r) * bytes,
                  static_cast<const std::byte*>(from.data) + std::size_t(r / beams_) * bytes, bytes);
    return {};
  }

  /// Makes the past keys and values of each row from the present ones of the row that it continues.
  status carry(const std::int32_t* parents) {
    const std::int64_t halves = alone() ? 2 : 1;
    const std::size_t axis = alone() ? 1 : 0;
    for (std::size_t i = 0; i < how_.renewed; ++i) {
      value &present = out_[1 + i], &past = in_[how_.leading + i];
      const extents& s = present.shape;
      const std::string_view shape = alone() ? "[2,rows,_,_,_]" : "[rows,_,_,_]";
      if (status fits = check_returned("a present of the decoder", present, shape, {{"rows", rows_}}); !fits)
        return fits;
      if (!parents) {
        past = std::exchange(present, value{});
        continue;
      }
      if (status made = make(past, present.type, s); !made) return made;
      const std::int64_t row = s.count(axis + 1, axis + 4);
      const float* const from = present.as_unchecked<float>().data();
      float* const to = past.as_mutable_unchecked<float>().data();
      for (std::int64_t half = 0; half < halves; ++half)
        for (std::int64_t r = 0; r < rows_; ++r)
          std::copy_n(from + (half * rows_ + parents[r]) * row, row, to + (half * rows_ + r) * row);
      c_.release(present);
    }
    for (value& v : out_) c_.release(v);
    return {};
  }

  /// Runs the decoder, and releases the inputs that only this step reads. The mask of a decoder without an encoder, and
  /// the keys and values of cross attention, are kept.
  status decode(int graph) {
    if (status done = call(graph, in_, out_); !done) return done;
    c_.release(in_[0]);
    if (alone()) c_.release(in_[1]);
    for (std::size_t i = 0; i < how_.renewed; ++i) c_.release(in_[how_.leading + i]);
    return take_logits(out_[0], rows_, "logits of the decoder");
  }
  status take_logits(const value& v, std::int64_t rows, std::string_view name) {
    if (status fits = check_returned(name, v, "[rows,length+1,words+1]", {{"rows", rows}}); !fits) return fits;
    if (status fits = check_count("a row of logits", v.shape[2], words_ ? words_ : v.shape[2]); !fits) return fits;
    logits_ = &v, words_ = v.shape[2];
    return {};
  }

  status call(int graph, std::span<const value> in, std::span<value> out) {
    if (c_.stopped()) return status_code::canceled;
    if (graph != opened_) {
      const result<detail::subplan_frame*> opened = c_.open(std::size_t(graph));
      if (!opened) return opened.error();
      frame_ = *opened, opened_ = graph;
    }
    return c_.call(*frame_, in, out);
  }
  status make(value& to, dtype type, const extents& shape) {
    const result<value> made = c_.make(type, shape);
    if (made) to = *made;
    return made.error();
  }
  status make(value& to, const extents& shape, std::int32_t*& data) {
    const status made = make(to, dtype::i32, shape);
    if (made) data = to.as_mutable_unchecked<std::int32_t>().data();
    return made;
  }

  run_context& c_;
  const token_search& how_;
  const search_plan& plan_;
  std::int64_t beams_, rows_, length_, words_ = 0;
  detail::subplan_frame* frame_ = nullptr;
  int opened_ = -1;
  std::span<value> in_, out_, encoded_;  // encoded_: until pass_encoded()
  extents crossed_;
  value source_mask_;
  bool owns_mask_ = false;
  const value* logits_ = nullptr;
  std::span<std::int32_t> places_;
};

}  // namespace CAMEO_NAMESPACE::eps
