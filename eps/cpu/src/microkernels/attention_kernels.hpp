#pragma once
#include <cameo/core/dtype.hpp>

#include "machine/work_split.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Where the heads of Q, K, V or Y lie: element (batch, head, position, i) at data[batch * batch + head * head +
/// position * row + i].
struct head_strides {
  std::int64_t batch, head, row;
};

/// Y = softmax(softcap(scale * Q * K^T) + bias) * V for every head, in float, without the matrix of scores.
struct attention_work {
  std::int64_t batches, heads, key_heads;  // heads is a multiple of key_heads, which are shared in order
  std::int64_t queries, keys, size, value_size;
  const float* q;
  const void *k, *v;  // of key_type: float, or 16 bits or int8 that are widened where they are read
  float* y;
  head_strides at_q, at_k, at_v, at_y;
  dtype key_type = dtype::f32;
  float scale = 1, softcap = 0;  // softcap 0: none
  // Where K and V are codes: what a code of each channel stands for, [key_heads, size] and [key_heads, value_size].
  const float *key_scales = nullptr, *value_scales = nullptr;

  // What a query may see. A query that sees no key gives zeros.
  const float* bias = nullptr;  // added to scores; -infinity hides a key. Keys are neighbours, strides of 0 broadcast
  head_strides at_bias{};       // `row`: of queries
  std::int64_t bias_keys = 0;   // keys that it has; those after them are hidden
  const std::int64_t* lengths = nullptr;  // keys of each batch that are there; null: all
  std::int64_t past = 0;                  // where no lengths are given, query i stands at key past + i; else the last
                                          // query stands at the last key
  bool is_padded = false;                 // query i stands at key i even so: queries after the lengths are padding
  bool causal = false;                    // a query sees no key after its own place;
  bool last_sees_all = false;             // but the last query does
  std::int64_t left_window = -1, right_window = -1;  // nor more than so many before or after it; -1: any
  const run_context* run = nullptr;  // asked between some keys and the next: a run that should end leaves out the rest
  const float* sinks = nullptr;      // one score of each head that takes weight but has no value; null: none

  /// Keys [first, last) that the windows leave a query.
  void range_of(std::int64_t batch, std::int64_t query, std::int64_t& first, std::int64_t& last) const;
};

/// The tiles of queries that the loops compute one after the other: by shapes, and the instruction set, alone.
struct attention_tiles {
  std::int64_t count;              // of all heads of all batches
  std::int64_t queries, per_head;  // queries of a tile, tiles of a head
  std::size_t scratch;             // floats that a worker needs
  double cost;                     // multiplications of all tiles

  work_split split(std::size_t workers) const {
    const double least = queries == 1 ? 1 << 16 : 1 << 18;
    return {{.outer = {count}, .cost = cost, .least_cost = least, .tasks_per_worker = 8}, workers};
  }
};
/// False when sizes overflow.
[[nodiscard]] bool tile_attention(const attention_work&, attention_tiles&);
/// Tiles [first, last) with scratch of one worker.
void attend(const attention_work&, const attention_tiles&, std::int64_t first, std::int64_t last, float* scratch);

}  // namespace CAMEO_NAMESPACE::eps
