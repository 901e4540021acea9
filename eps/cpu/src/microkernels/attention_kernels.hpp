#pragma once
#include <cameo/core/dtype.hpp>

#include "machine/work_split.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The strides of Q, K, V or Y in elements: element (b, h, position, i) is at data[b * batch + h * head + position *
/// row + i].
struct head_strides {
  std::int64_t batch, head, row;
};

/// Y = softmax(softcap(scale * Q * K^T) + bias) * V for every head, in float, computed block by block of keys, so that
/// the whole matrix of scores is never stored.
struct attention_work {
  std::int64_t batches, heads, key_heads;  // `heads` is a multiple of key_heads; consecutive heads share one
  std::int64_t queries, keys, size, value_size;
  const float* q;
  const void *k, *v;  // elements of key_type: float; or float16, bfloat16 or int8, which are widened as they are read
  float* y;
  head_strides at_q, at_k, at_v, at_y;
  dtype key_type = dtype::f32;
  float scale = 1, softcap = 0;  // softcap 0: none
  // If K and V are quantized: the scale of each channel, [key_heads, size] and [key_heads, value_size].
  const float *key_scales = nullptr, *value_scales = nullptr;

  // The keys that each query attends to. The output of a query that attends to none is 0.
  const float* bias = nullptr;  // added to scores; -infinity hides a key. Dense along keys; strides of 0 broadcast
  head_strides at_bias{};       // `row` is the stride from one query to the next
  std::int64_t bias_keys = 0;   // keys that the bias has; later keys are hidden
  const std::int64_t* lengths = nullptr;  // the number of valid keys of each batch; null: all
  std::int64_t past = 0;       // without lengths, query i has position past + i; with lengths, the last query has the
                               // position of the last valid key
  bool is_padded = false;      // even with lengths, query i has position past + i; queries after the length are padding
  bool causal = false;         // a query attends to no key after its own position
  bool last_sees_all = false;  // exception to `causal`: the last query attends to all keys
  std::int64_t left_window = -1, right_window = -1;  // the most keys before and after a query's position; -1: any
  const run_context* run = nullptr;                  // checked between blocks of keys: a stopped run skips the rest
  const float* sinks = nullptr;  // a score of each head that takes part in softmax but has no value; null: none

  /// Computes the keys [first, last) that a query attends to, apart from those that `bias` hides.
  void range_of(std::int64_t batch, std::int64_t query, std::int64_t& first, std::int64_t& last) const;
};

/// The partition of queries into tiles, which are computed one at a time. It depends on shapes and the instruction set
/// alone, so that results do not depend on the number of workers.
struct attention_tiles {
  std::int64_t count;              // tiles of all heads of all batches
  std::int64_t queries, per_head;  // queries of a tile, tiles of a head
  std::size_t scratch;             // floats that a worker needs
  double cost;                     // multiplications of all tiles

  work_split split(std::size_t workers) const {
    const double least = queries == 1 ? 1 << 16 : 1 << 18;
    return {{.outer = {count}, .cost = cost, .least_cost = least, .tasks_per_worker = 8}, workers};
  }
};
/// Partitions the queries; false if sizes overflow.
[[nodiscard]] bool tile_attention(const attention_work&, attention_tiles&);
/// Computes tiles [first, last), with the scratch memory of one worker.
void attend(const attention_work&, const attention_tiles&, std::int64_t first, std::int64_t last, float* scratch);

}  // namespace CAMEO_NAMESPACE::eps
