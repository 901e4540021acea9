#pragma once
#include "decoder_steps.hpp"
#include "operands/scratch_of.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Makes the output cross_qk: the scores of cross attention of chosen heads, for each token that the decoder read. The
/// scores of all rows are stored after each call of the decoder; in the end each sequence gets those on its path.
class cross_scores {
 public:
  /// Takes memory for `calls` calls of the decoder. `pairs` [count, 2] has the layers and heads to store; absent: all.
  status begin(run_context& c, const decoder_steps& steps, const value& pairs, std::int64_t calls) {
    rows_ = steps.rows(), heads_ = steps.crossed()[1], length_ = steps.crossed()[2];
    const auto layers = std::int64_t(steps.shown().size());
    chosen_ = pairs ? pairs.as_unchecked<std::int32_t>().data() : nullptr;
    count_ = pairs ? pairs.shape[0] : layers * heads_;
    for (std::int64_t i = 0; chosen_ && i < 2 * count_; ++i)
      if (status s = check_element("cross_qk_layer_head", chosen_[i], 0, (i % 2 ? heads_ : layers) - 1); !s) return s;
    const auto room = scratch_of<float>(c, {calls, rows_, count_, length_});
    if (!room) return room.error();
    room_ = *room;
    return {};
  }

  /// Stores the scores of the last token, after a call of the decoder.
  status take(const decoder_steps& steps) {
    const std::span<const value> shown = steps.shown();
    for (const value& v : shown)
      if (status s = check_returned("cross_qk of the decoder", v, "[rows,heads,more+1,length]",
                                    {{"rows", rows_}, {"heads", heads_}, {"length", length_}});
          !s)
        return s;
    float* to = room_ + calls_++ * rows_ * count_ * length_;
    for (std::int64_t r = 0; r < rows_; ++r)
      for (std::int64_t i = 0; i < count_; ++i, to += length_) {
        const std::int64_t layer = chosen_ ? chosen_[2 * i] : i / heads_,
                           head = chosen_ ? chosen_[2 * i + 1] : i % heads_;
        const value& v = shown[std::size_t(layer)];
        const std::int64_t at = (r * heads_ + head + 1) * v.shape[2] - 1;
        std::copy_n(v.as_unchecked<float>().data() + at * length_, length_, to);
      }
    return {};
  }

  /// Makes the output [batch, sequences, count, calls, length], which is 0 where a sequence has no token.
  status open(run_context& c, std::size_t output, std::int64_t batches, std::int64_t sequences) {
    const result<tensor_view<float>> made = c.output<float>(output, {batches, sequences, count_, calls_, length_});
    if (!made) return made.error();
    std::fill(made->begin(), made->end(), 0.0f);
    y_ = made->data();
    return {};
  }
  /// Writes the scores of sequence i (counted through all batches), whose rows were `path`.
  void write(std::int64_t i, std::span<const std::int32_t> path) {
    for (std::size_t call = 0; call < path.size(); ++call)
      for (std::int64_t k = 0; k < count_; ++k)
        std::copy_n(room_ + ((std::int64_t(call) * rows_ + path[call]) * count_ + k) * length_, length_,
                    y_ + ((i * count_ + k) * calls_ + std::int64_t(call)) * length_);
  }

 private:
  const std::int32_t* chosen_ = nullptr;
  std::int64_t rows_ = 0, heads_ = 0, length_ = 0, count_ = 0, calls_ = 0;
  float *room_ = nullptr, *y_ = nullptr;
};

}  // namespace CAMEO_NAMESPACE::eps
