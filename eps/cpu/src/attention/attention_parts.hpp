#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include <cameo/eps/cpu/detail/instantiated.hpp>
#include <cameo/geometry/attention.hpp>
#include <cameo/geometry/broadcast.hpp>
#include <cameo/op/onnx.hpp>

#include "microkernels/attention_kernels.hpp"
#include "skeletons/zip.hpp"

#include "operands/operand_values.hpp"
#include "operands/scratch_of.hpp"
#include "skeletons/float_output.hpp"
#include "skeletons/row_rooms.hpp"

// Types and functions that the attention operators share.
namespace CAMEO_NAMESPACE::eps {

/// Heads of a dense tensor [batches, heads, length, size].
inline geometry::attention_heads split_heads(std::int64_t batches, std::int64_t heads, std::int64_t length,
                                             std::int64_t size) {
  return geometry::split_heads<std::int64_t>(extents{batches, heads, length, size});
}
/// Heads of a tensor [batches, length, row], side by side from element `first` of a row on.
inline geometry::attention_heads joined_heads(std::int64_t batches, std::int64_t heads, std::int64_t length,
                                              std::int64_t size, std::int64_t row, std::int64_t first = 0) {
  geometry::attention_heads made{batches, heads, length, size};
  geometry::join_heads(made, row, size, first);
  return made;
}
inline head_strides strides_of(const geometry::attention_heads& at) {
  return {at.batch_stride, at.head_stride, at.row_stride};
}

/// The strides of a tensor that broadcasts to scores [batches, heads, queries, keys].
inline head_strides strides_of_bias(const extents& bias) {
  const extents all = geometry::repeating_strides(bias, {0, 0, 0, 0});
  return {all[0], all[1], all[2]};
}

/// The shapes of inputs 0 to 2 (query, key and value), and of the past, which begins with this input.
inline geometry::attention_inputs shapes_of(const run_context& c, std::size_t past_key) {
  const auto of = [&](std::size_t i) { return geometry::shape_of(c.input(i)); };
  geometry::attention_inputs in{of(0), of(1), of(2), {}, of(past_key), of(past_key + 1)};
  in.has_key = bool(in.key), in.has_value = bool(in.value), in.has_past = bool(in.past_key);
  return in;
}

/// Queries, keys or values of type C, in place: `data` is the first row.
template <class C>
struct key_source {
  const C* data = nullptr;
  geometry::attention_heads at{};
};

/// Queries, keys or values in a tensor of any float type.
struct head_tensor {
  value tensor;
  geometry::attention_heads at{};

  template <class C>
  void load(std::int64_t batch, std::int64_t head, std::int64_t position, C* to) const {
    load_floats(tensor, at.first + at.place(batch, head, position), to, at.size);
  }
};

/// A change of new rows is an object `change` that is called as change(batch, position, head, row), and converts to
/// false if it changes nothing. `unchanged` is one that changes nothing.
struct unchanged {
  explicit operator bool() const { return false; }
  template <class C>
  void operator()(std::int64_t, std::int64_t, std::int64_t, C*) const {}
};

/// Adds a bias to the row of each head. Without a bias nothing changes, except that `sums` changes -0 to 0, as a sum
/// with a bias of 0 does.
struct added_bias {
  const float* bias;
  std::int64_t size;
  bool sums = false;
  explicit operator bool() const { return bias || sums; }
  void operator()(std::int64_t, std::int64_t, std::int64_t head, float* row) const {
    if (bias) zip_floats<op::Add>(row, 1, bias + head * size, 1, row, size);
    else if (sums) std::transform(row, row + size, row, [](float x) { return x + 0.0f; });
  }
};

/// Returns heads as C: in place if that is their type and nothing changes them, else converted row by row into scratch.
template <class C, class F = unchanged>
result<key_source<C>> wide_heads(run_context& c, const head_tensor& t, const F& change = {}) {
  const geometry::attention_heads& at = t.at;
  if (!change && t.tensor.type == dtype_of<C>)
    return key_source<C>{static_cast<const C*>(t.tensor.data) + at.first, at};
  const std::int64_t rows = at.size == 0 ? 0 : at.batches * at.heads * at.length;  // without elements, any number
  const result<std::span<C>> made = c.scratch<C>(std::size_t(rows * at.size));
  if (!made) return made.error();
  const geometry::attention_heads to = at.row_stride == at.size
                                           ? split_heads(at.batches, at.heads, at.length, at.size)
                                           : joined_heads(at.batches, at.heads, at.length, at.size, at.heads * at.size);
  parallel_each_row(c, rows, grain_of(1 << 15, at.size), [&](std::int64_t r, std::size_t) {
    const std::int64_t head = r % at.heads, position = r / at.heads % at.length;
    const std::int64_t batch = r / at.heads / at.length;
    C* const row = made->data() + to.place(batch, head, position);
    t.load(batch, head, position, row);
    change(batch, position, head, row);
  });
  return key_source<C>{made->data(), to};
}

/// The heads of the past, from element `first` of a tensor on. Each has space for `capacity` rows.
struct past_heads {
  const value& tensor;
  std::int64_t capacity = 0, first = 0;
  bool has_space = false;  // the capacity includes the new rows; rows after these are kept
};

/// Writes for each head the past, the new rows (changed), and zeros or the rest of the past to `to`: [batch, heads,
/// total, size]. Also writes them to `present` if that has another type.
template <class C, class P, class F = unchanged>
void join_heads(run_context& c, const past_heads& old, const P& past_of, const head_tensor& now, std::int64_t total,
                const value* present, C* to, const F& change = {}) {
  const geometry::attention_heads& at = now.at;
  const std::int64_t row = total * at.size, heads = row == 0 ? 0 : at.batches * at.heads;
  const auto keep = [&](std::int64_t first, C* to_here, std::int64_t n) {  // in place, nothing has to be copied
    if (bytes_of(old.tensor) + first * std::int64_t(element_bytes(old.tensor.type)) !=
        reinterpret_cast<std::byte*>(to_here))
      load_floats(old.tensor, first, to_here, n);
  };
  parallel_each_row(c, heads, grain_of(1 << 16, row), [&](std::int64_t h, std::size_t) {
    const std::int64_t batch = h / at.heads, past = past_of(batch) * at.size;
    C *const begin = to + h * row, *target = begin + past;
    if (past) keep(old.first + h * old.capacity * at.size, begin, past);
    for (std::int64_t i = 0; at.size > 0 && i < at.length; ++i, target += at.size) {
      now.load(batch, h % at.heads, i, target);
      change(batch, i, h % at.heads, target);
    }
    const std::int64_t rest = begin + row - target;
    if (old.has_space) keep(old.first + (h + 1) * row - rest, target, rest);
    else std::fill_n(target, rest, C(0));
    if (present && present->type != dtype_of<C>) save_floats(begin, *present, h * row, row);
  });
}

/// Returns the memory to compute an optional output in: the output itself, or scratch if the node lacks it (`output` is
/// then null) or it has another type.
template <class C>
result<C*> output_buffer(run_context& c, std::size_t i, const extents& shape, value*& output) {
  const result<value*> made = optional_output(c, i, shape);
  if (!made) return made.error();
  output = *made;
  if (output && output->type == dtype_of<C>) return static_cast<C*>(output->data);
  return scratch_of<C>(c, shape);
}

/// Keys or values as the loops read them: float, or float16, bfloat16 or int8, which the loops widen.
struct key_rows {
  const void* data = nullptr;
  dtype type = dtype::f32;
  geometry::attention_heads at{};
};

/// Joins past and new rows of `width` elements as join_heads() does. The past is copied; make(batch, position, head,
/// buffer, row) computes a new row; `buffer` has space for a row of floats.
template <class S, class P, class F>
status join_made_rows(run_context& c, const past_heads& old, const P& past_of, const head_tensor& now,
                      std::int64_t total, std::int64_t width, S* to, const F& make) {
  const geometry::attention_heads& at = now.at;
  const std::int64_t row = total * width, heads = row == 0 ? 0 : at.batches * at.heads;
  const result<std::span<float>> buffers = c.scratch<float>(c.lanes() * std::size_t(at.size));
  if (!buffers) return buffers.error();
  const auto join = [&](std::int64_t h, std::size_t lane) {
    float* const buffer = buffers->data() + std::int64_t(lane) * at.size;
    const std::int64_t batch = h / at.heads, head = h % at.heads, past = past_of(batch) * width;
    const S* const before = static_cast<const S*>(old.tensor.data) + old.first + h * old.capacity * width;
    S *const begin = to + h * row, *target = begin + past;
    if (past) std::copy_n(before, past, begin);
    for (std::int64_t i = 0; width > 0 && i < at.length; ++i, target += width) make(batch, i, head, buffer, target);
    if (old.has_space) std::copy(before + (target - begin), before + row, target);
    else std::fill(target, begin + row, S{});
  };
  if (!parallel_each_row(c, heads, grain_of(1 << 16, row), join)) return status_code::canceled;
  return {};
}

/// Joins rows as join_heads() does, in 16 bits, the type of `present`. New rows are rounded after they were changed, so
/// that this step computes with the numbers that later steps will read.
template <class S, class P, class F>
status join_narrow(run_context& c, const past_heads& old, const P& past_of, const head_tensor& now, std::int64_t total,
                   S* to, const F& change) {
  const geometry::attention_heads& at = now.at;
  const auto make = [&](std::int64_t batch, std::int64_t i, std::int64_t head, float* buffer, S* row) {
    if (!change && now.tensor.type == dtype_of<S>) {
      std::copy_n(static_cast<const S*>(now.tensor.data) + at.first + at.place(batch, head, i), at.size, row);
    } else {
      now.load(batch, head, i, buffer);
      change(batch, i, head, buffer);
      narrow_row(buffer, row, at.size);
    }
  };
  return join_made_rows<S>(c, old, past_of, now, total, at.size, to, make);
}

/// Joins rows as join_heads() does, in any float type.
template <class S, class P, class F = unchanged>
status join_rows(run_context& c, const past_heads& old, const P& past_of, const head_tensor& now, std::int64_t total,
                 S* to, const F& change = {}) {
  if constexpr (is_one_of<S, float, double>) {
    join_heads<S>(c, old, past_of, now, total, nullptr, to, change);
    return {};
  } else {
    return join_narrow<S>(c, old, past_of, now, total, to, change);
  }
}

/// Joins past and new rows in an output, [batch, heads, total, size], or in scratch if the node lacks the output. The
/// type is C, or float16 or bfloat16 if the rows have it and `narrow` allows it.
template <class C = float, class P, class F = unchanged>
result<key_rows> joined_keys(run_context& c, const head_tensor& now, const past_heads& old, const P& past_of,
                             std::int64_t total, std::size_t output, const F& change = {}, bool narrow = true) {
  const geometry::attention_heads& at = now.at;
  const extents shape{at.batches, at.heads, total, at.size};
  const geometry::attention_heads split = split_heads(at.batches, at.heads, total, at.size);
  value* present = nullptr;
  result<key_rows> made = key_rows{};
  const auto join_as = [&]<class S>(std::type_identity<S>) {
    if (old.tensor && old.tensor.type != now.tensor.type) return;
    const auto to = output_buffer<S>(c, output, shape, present);
    if (!to) return static_cast<void>(made = to.error());
    const status done = join_narrow<S>(c, old, past_of, now, total, *to, change);
    if (!done) made = done;
    else made = key_rows{*to, now.tensor.type, split};
  };
  if constexpr (std::is_same_v<C, float>)
    if (narrow && narrow_floats::call(now.tensor.type, join_as) && (!made || made->data)) return made;
  const auto to = output_buffer<C>(c, output, shape, present);
  if (!to) return to.error();
  join_heads<C>(c, old, past_of, now, total, present, *to, change);
  return key_rows{*to, dtype_of<C>, split};
}

/// The past of a call in which all sequences have equally many rows of it: all rows of a tensor, or the first `rows` of
/// one whose capacity includes the new rows.
struct equal_past {
  const value& tensor;
  std::int64_t rows = 0;
  bool has_space = false;

  static equal_past all(const value& v) { return {v, v ? v.shape[2] : 0, false}; }
  std::int64_t total(std::int64_t more) const { return has_space ? tensor.shape[2] : rows + more; }
  std::int64_t operator()(std::int64_t) const { return rows; }
};

/// Returns keys or values with those of the past before them, [batch, head, length, size], if it `joins` them; else in
/// place. Keys and values are either both joined or both not, so that they have one type. Types are those of
/// joined_keys().
template <class C = float, class F = unchanged>
result<key_rows> past_and_new(run_context& c, const head_tensor& now, const equal_past& past, bool joins,
                              std::size_t output, const F& change = {}, bool narrow = true) {
  if (joins) {
    const past_heads old{past.tensor, past.tensor ? past.tensor.shape[2] : 0, 0, past.has_space};
    return joined_keys<C>(c, now, old, past, past.total(now.at.length), output, change, narrow);
  }
  if (!change && narrow && now.tensor.type != dtype_of<C>) {
    const auto* const bytes = static_cast<const std::byte*>(now.tensor.data);
    return key_rows{bytes + now.at.first * (bits_of(now.tensor.type) / 8), now.tensor.type, now.at};
  }
  const auto wide = wide_heads<C>(c, now, change);
  if (!wide) return wide.error();
  return key_rows{wide->data, dtype_of<C>, wide->at};
}

/// True if a run joins new keys and values with the past, or shows them in outputs 1 and 2.
inline bool joins_keys(const run_context& c, const value& past) { return past || c.has_output(1) || c.has_output(2); }

/// The default factor of scores: 1 / sqrt(size).
inline double usual_scale(std::int64_t size) { return 1 / std::sqrt(double(std::max<std::int64_t>(1, size))); }

/// Returns the work for queries and the first `keys` of keys and values, without limits on which keys a query attends
/// to. Its output is [batch, length, heads * size]. A scale of 0 is the default.
inline attention_work work_of(const key_source<float>& q, const key_rows& k, const key_rows& v, std::int64_t keys,
                              float scale) {
  const geometry::attention_heads& at = q.at;
  attention_work work{};
  work.key_type = k.type;
  work.batches = at.batches, work.heads = at.heads, work.key_heads = k.at.heads;
  work.queries = at.length, work.keys = keys, work.size = at.size, work.value_size = v.at.size;
  work.q = q.data, work.k = k.data, work.v = v.data;
  work.at_q = strides_of(at), work.at_k = strides_of(k.at), work.at_v = strides_of(v.at);
  work.at_y = strides_of(joined_heads(at.batches, at.heads, at.length, v.at.size, at.heads * v.at.size));
  work.scale = scale != 0 ? scale : float(usual_scale(at.size));
  return work;
}

/// Runs the work on as many threads as pay, and writes to a tensor in the layout that the work has for its output.
inline status run_attention(run_context& c, attention_work work, const value& y) {
  work.run = &c, work.y = static_cast<float*>(y.data);
  attention_tiles tiles{};
  if (!tile_attention(work, tiles)) return status_code::out_of_memory;
  if (tiles.count == 0) return {};
  const bool narrow = y.type != dtype::f32;
  const result<std::span<float>> wide = c.scratch<float>(narrow ? std::size_t(y.shape.count()) : 0);
  if (!wide) return wide.error();
  if (narrow) work.y = wide->data();
  const work_split split = tiles.split(c.lanes());
  const std::int64_t workers = split.tasks() <= split.tasks_per_call() ? 1 : std::int64_t(c.lanes());
  const auto scratch = scratch_of<float>(c, {workers, std::int64_t(tiles.scratch)});
  if (!scratch) return scratch.error();
  for_each_task(c, split, [&](const work_task& task, std::size_t worker) {
    const std::int64_t first = task.outer, last = first + task.outer_count;
    attend(work, tiles, first, last, *scratch + worker * tiles.scratch);
    for (std::int64_t tile = first; narrow && tile < last; ++tile) {
      const std::int64_t head = tile / tiles.per_head, start = tile % tiles.per_head * tiles.queries;
      for (std::int64_t i = start; i < std::min(start + tiles.queries, work.queries); ++i) {
        const std::int64_t at =
            head / work.heads * work.at_y.batch + head % work.heads * work.at_y.head + i * work.at_y.row;
        save_floats(work.y + at, y, at, work.value_size);
      }
    }
  });
  return {};
}

/// Returns numbers that are added to scores [..., keys] as float, in place or converted row by row.
inline result<const float*> wide_scores(run_context& c, const value& v) {
  if (v.type == dtype::f32) return static_cast<const float*>(v.data);
  const std::int64_t keys = v.shape.back(), rows = keys ? v.shape.count() / keys : 0;
  const result<std::span<float>> made = c.scratch<float>(std::size_t(rows * keys));
  if (!made) return made.error();
  parallel_for(c, rows, 1 + (1 << 15) / std::max<std::int64_t>(1, keys), [&](std::int64_t first, std::int64_t last) {
    load_floats(v, first * keys, made->data() + first * keys, (last - first) * keys);
  });
  return static_cast<const float*>(made->data());
}

/// Converts n elements of a mask to numbers that are added to scores: numbers, also integers, unchanged; bool to 0 or
/// -infinity.
template <class C>
void read_mask(const value& mask, std::int64_t first, C* to, std::int64_t n) {
  number_and_truth_elements::call(mask.type, [&]<class T>(std::type_identity<T>) {
    const T* const from = static_cast<const T*>(mask.data) + first;
    for (std::int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_same_v<T, bool>) to[i] = from[i] ? C(0) : -std::numeric_limits<C>::infinity();
      else to[i] = C(widened(from[i]));
    }
  });
}
/// Converts a whole mask as read_mask() does.
inline result<const float*> read_bias(run_context& c, const value& mask) {
  if (detail::bit_of(mask.type) & mask_of<float, float16, bfloat16, double>) return wide_scores(c, mask);
  const auto count = std::size_t(mask.shape.count());
  const result<std::span<float>> bias = c.scratch<float>(count);
  if (!bias) return bias.error();
  read_mask(mask, 0, bias->data(), std::int64_t(count));
  return static_cast<const float*>(bias->data());
}

}  // namespace CAMEO_NAMESPACE::eps
