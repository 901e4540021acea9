#pragma once
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/op/onnx.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include "skeletons/map.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Bahdanau's attention over a memory, for one direction of AttnLSTM: after each step, the state is the query, and the
/// result ("answer") is a part of the input of the next step. All weights are dense, row by row.
template <class C>
struct memory_attention {
  std::int64_t batch, hidden, steps, depth, size, width;  // `size`: elements of a key; `width`: elements of an answer
  const C *memory, *keys;                                 // [batch, steps, depth], [batch, steps, size]
  const C *of_query, *score;                              // the weights QW [hidden, size] and V [size]
  const C* of_answer;           // the weights AW [hidden + depth, width]; null: the answer is the context
  const std::int32_t* lengths;  // the valid steps of each batch; null: all
  C *answers, *rooms;           // [batch, width]; buffers [batch, size + steps + depth]

  std::int64_t room() const { return size + steps + depth; }
  C* answer(std::int64_t b) const { return answers + b * width; }

  /// Computes the answer for batch b from its state after a step.
  void attend(std::int64_t b, const C* state) const {
    C *const query = rooms + b * room(), *const weights = query + size, *const context = weights + steps;
    std::fill_n(query, size, C(0));
    weigh(state, query, hidden, of_query, size);
    const std::int64_t count = lengths ? lengths[b] : steps;
    C most = -std::numeric_limits<C>::infinity(), sum = 0;
    for (std::int64_t t = 0; t < count; ++t) {
      const C* const key = keys + (b * steps + t) * size;
      C found = 0;
      map_values<op::Tanh, C>(
          size, {}, [&](std::int64_t j) { return key[j] + query[j]; },
          [&](std::int64_t j, C value) { found += score[j] * value; });
      weights[t] = found, most = std::max(most, found);
    }
    for (std::int64_t t = 0; t < count; ++t) sum += weights[t] = std::exp(weights[t] - most);
    std::fill_n(context, depth, C(0));
    for (std::int64_t t = 0; t < count; ++t) {
      const C part = weights[t] / sum, *const row = memory + (b * steps + t) * depth;
      for (std::int64_t j = 0; j < depth; ++j) context[j] += part * row[j];
    }
    if (!of_answer) return static_cast<void>(std::copy_n(context, depth, answer(b)));
    std::fill_n(answer(b), width, C(0));
    weigh(state, answer(b), hidden, of_answer, width);
    weigh(context, answer(b), depth, of_answer + hidden * width, width);
  }

 private:
  /// y [columns] += x [rows] * matrix.
  static void weigh(const C* x, C* y, std::int64_t rows, const C* matrix, std::int64_t columns) {
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) y[j] += x[i] * matrix[i * columns + j];
  }
};

}  // namespace CAMEO_NAMESPACE::eps
