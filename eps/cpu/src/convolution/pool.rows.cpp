#include <cameo/eps/cpu/pool.hpp>
#include <cameo/op/read_window.hpp>

#include "machine/lane_scratch.hpp"
#include "skeletons/row_list.hpp"
#include "skeletons/row_rooms.hpp"
#include "windows/outer_window.hpp"

#include <cmath>
#include <limits>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The type in which a pool of elements of T is computed.
template <class T>
using number = std::conditional_t<is_narrow_v<T>, float, T>;

template <class T>
constexpr T lowest =
    std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();

// How a window is reduced: the start value, how an element is added (operator()), and the operation that merges two
// partial results (merger()).

template <class T>
struct largest {
  T start() const { return lowest<T>; }
  T operator()(T most, T v) const { return v > most || v != v ? v : most; }
  largest merger() const { return {}; }
};
template <class T>
struct sum {
  T start() const { return T(0); }
  T operator()(T so_far, T v) const { return so_far + v; }
  sum merger() const { return {}; }
};
template <class T>
struct sum_of_magnitudes : sum<T> {
  T operator()(T so_far, T v) const { return so_far + std::abs(v); }
};
template <class T>
struct sum_of_squares : sum<T> {
  T operator()(T so_far, T v) const { return so_far + v * v; }
};
template <class T>
struct sum_of_powers : sum<T> {
  T p;
  explicit sum_of_powers(T power) : p{power} {}
  T operator()(T so_far, T v) const { return so_far + std::pow(std::abs(v), p); }
};

/// y[o] = op(y[o], x[o * stride]) for a line of outputs and one element of each window.
template <class T, class Op>
void take_line(const Op& op, const T* x, std::int64_t stride, std::int64_t count, T* y) {
  if (stride == 1)
    for (std::int64_t o = 0; o < count; ++o) y[o] = op(y[o], x[o]);
  else if (stride == 2)
    for (std::int64_t o = 0; o < count; ++o) y[o] = op(y[o], x[2 * o]);
  else
    for (std::int64_t o = 0; o < count; ++o) y[o] = op(y[o], x[stride * o]);
}

/// Reads the lines of a plane; a line is a row along the innermost axis, given by the index of its first element.
template <class T, class From>
struct plane_lines {
  const row_rooms<T, From>* rows;
  std::size_t lane;
  std::int64_t first, width;
  const T* data;  // the plane; null: each line is widened when it is read

  const T* operator()(std::int64_t start) const {
    if constexpr (row_rooms<T, From>::converts)
      if (!data) return rows->read(lane, first + start, width);
    return data + start;
  }
};

/// Computes one line of outputs. The input lines that a window spans are first reduced element by element into
/// `buffer`, so that the compiler vectorizes along a line.
template <class T, class From, class Op>
void pool_line(const placed_window& w, const Op& op, const plane_lines<T, From>& x, std::int64_t line, T* buffer,
               T* y) {
  const window_axis& axis = w.axes[w.rank - 1];
  std::fill_n(y, axis.out, op.start());
  const auto along = [&](const auto& add, const T* from) {
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      const window_axis::range o = axis.outputs_of(k);
      if (o.begin >= o.end) continue;
      const std::int64_t start = o.begin * axis.stride - axis.pad_begin + k * axis.dilation;
      take_line(add, from + start, axis.stride, o.end - o.begin, y + o.begin);
    }
  };
  if (w.rank == 1) return along(op, x(0));
  bool first = true;
  outer_window(w, line).each_line(w, [&](std::int64_t start) {
    const T* const from = x(start);
    if (first)
      for (std::int64_t i = 0; i < axis.in; ++i) buffer[i] = op(op.start(), from[i]);
    else
      for (std::int64_t i = 0; i < axis.in; ++i) buffer[i] = op(buffer[i], from[i]);
    first = false;
  });
  if (!first) along(op.merger(), static_cast<const T*>(buffer));
}

/// A window whose sizes are known, and the sizes of the output.
struct pool_job {
  placed_window w;
  extents y;
  std::int64_t planes, in, out, lines;
};
result<pool_job> job_of(const window& shape, const extents& x) {
  result<placed_window> w = shape.place<std::int64_t>(x, {}, true);
  if (!w) return w.error();
  pool_job job{*w, {x[0], x[1]}, x[0] * x[1], w->in_count(), w->out_count(), 0};
  for (std::size_t i = 0; i < w->rank; ++i) job.y.push_back(w->axes[i].out);
  job.lines = job.y.count(2, job.y.rank() - 1);
  return job;
}

/// Reads the planes of a pool's input as numbers to compute with. The worker that reads float16 or bfloat16 widens it:
/// small planes as a whole, since windows overlap, large ones line by line.
template <class T, class From>
class pool_planes {
 public:
  static result<pool_planes> make(run_context& c, const pool_job& job) {
    constexpr std::int64_t small = 1 << 14;
    pool_planes made;
    made.in_ = job.in, made.width_ = job.w.axes[job.w.rank - 1].in,
    made.whole_ = !row_rooms<T, From>::converts || job.in <= small;
    const auto rows = row_rooms<T, From>::make(c, c.input(0), 1, made.whole_ ? made.in_ : made.width_);
    if (!rows) return rows.error();
    return made.rows_ = *rows, made;
  }
  plane_lines<T, From> lines(std::size_t lane, std::int64_t plane) const {
    const std::int64_t first = plane * in_;
    return {&rows_, lane, first, width_, whole_ ? rows_.read(lane, first, in_) : nullptr};
  }

 private:
  row_rooms<T, From> rows_;
  std::int64_t in_ = 0, width_ = 0;
  bool whole_ = false;
};

/// Computes the lines of Y, one after the other: compute(plane, line, output line, lines of X, worker).
template <class T, class From, class F>
status each_pool_line(run_context& c, const pool_job& job, std::int64_t work, const value& y, const F& compute) {
  const std::int64_t width = job.y.back();
  const std::int64_t some = std::max<std::int64_t>(1, 4 * narrow_block / width);  // lines that are rounded together
  const auto x = pool_planes<T, From>::make(c, job);
  const auto to = row_rooms<T, From>::make(c, y, some, width);
  if (!x || !to) return status_code::out_of_memory;
  std::int64_t grain = std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(1, work));
  if (grain > job.lines) grain -= grain % job.lines;  // a task has whole planes
  parallel_rows(c, job.planes * job.lines, grain, [&](std::int64_t first, std::int64_t last, std::size_t lane) {
    std::int64_t plane = first / job.lines, line = first % job.lines;
    plane_lines<T, From> from = x->lines(lane, plane);
    for (std::int64_t l = first, stored = first; l < last; ++l) {
      if (line == job.lines) line = 0, from = x->lines(lane, ++plane);
      compute(plane, line++, to->room(lane, stored * width) + (l - stored) * width, from, lane);
      if (l + 1 - stored < some && l + 1 < last) continue;
      to->store(lane, stored * width, (l + 1 - stored) * width);
      stored = l + 1;
    }
  });
  return {};
}

/// Reduces all windows; finish(line, results) converts the results of a line in place, such as a sum to a mean.
template <class T, class From, class Op, class F>
status pool_all(run_context& c, const pool_job& job, const Op& op, const value& y, const F& finish) {
  const window_axis& axis = job.w.axes[job.w.rank - 1];
  const auto buffers = lane_scratch<T>::make(c, std::size_t(axis.in));
  if (!buffers) return buffers.error();
  const std::int64_t work = axis.out * axis.kernel + axis.in * (job.w.taps() / axis.kernel);
  const auto compute = [&](std::int64_t, std::int64_t line, T* made, const plane_lines<T, From>& x, std::size_t lane) {
    pool_line(job.w, op, x, line, buffers->at(lane), made);
    finish(line, made);
  };
  return each_pool_line<T, From>(c, job, work, y, compute);
}

/// Finds the largest element of each window of a line, and its index in the plane; -1 if the window is empty.
template <class T, class From>
void find_largest(const pool_job& job, const plane_lines<T, From>& x, std::int64_t line, T* most, std::int64_t* found) {
  const window_axis& axis = job.w.axes[job.w.rank - 1];
  std::fill_n(most, axis.out, lowest<T>);
  std::fill_n(found, axis.out, -1);
  outer_window(job.w, line).each_line(job.w, [&](std::int64_t start) {
    const T* const from = x(start);
    for (std::int64_t o = 0; o < axis.out; ++o)
      for (std::int64_t k = axis.first(o), last = axis.last(o); k < last; ++k) {
        const std::int64_t at = o * axis.stride - axis.pad_begin + k * axis.dilation;
        const T v = from[at];
        if (found[o] < 0 || v > most[o] || (v != v && most[o] == most[o])) found[o] = start + at, most[o] = v;
      }
  });
}

/// Converts an index into a plane to an index with the first axis fastest.
std::int64_t first_axis_fastest_index(const placed_window& w, std::int64_t at) {
  std::int64_t index[max_spatial], made = 0;
  for (std::size_t i = w.rank; i-- > 0; at /= w.axes[i].in) index[i] = at % w.axes[i].in;
  for (std::size_t i = w.rank; i-- > 0;) made = made * w.axes[i].in + index[i];
  return made;
}

template <class T, class From>
status max_with_indices(run_context& c, const pool_job& job, const value& y, std::int64_t* indices,
                        bool first_axis_fastest) {
  const std::int64_t width = job.w.axes[job.w.rank - 1].out;
  const auto compute = [&](std::int64_t plane, std::int64_t line, T* made, const plane_lines<T, From>& x, std::size_t) {
    std::int64_t* const found = indices + (plane * job.lines + line) * width;
    find_largest(job, x, line, made, found);
    for (std::int64_t o = 0; o < width; ++o)
      if (found[o] >= 0)
        found[o] = plane * job.in + (first_axis_fastest ? first_axis_fastest_index(job.w, found[o]) : found[o]);
  };
  return each_pool_line<T, From>(c, job, 16 * width, y, compute);
}

/// Calls f with the output of a pool, unless it is empty.
template <class F>
status with_output(run_context& c, const extents& shape, const F& f) {
  const result<value*> y = c.output(0, shape);
  if (!y) return y.error();
  if (shape.count() > 0) return f(**y);
  return c.has_output(1) ? c.output(1, shape).error() : status{};
}

template <class N, class From>
status largest_of_windows(run_context& c, const window& shape, bool first_axis_fastest) {
  const result<pool_job> job = job_of(shape, c.input(0).shape);
  if (!job) return job.error();
  return with_output(c, job->y, [&](const value& y) -> status {
    if (!c.has_output(1)) return pool_all<N, From>(c, *job, largest<N>{}, y, [](std::int64_t, N*) {});
    const result<tensor_view<std::int64_t>> indices = c.output<std::int64_t>(1, job->y);
    if (!indices) return indices.error();
    return max_with_indices<N, From>(c, *job, y, indices->data(), first_axis_fastest);
  });
}

template <class N, class From>
status mean_of_windows(run_context& c, const window& shape, bool include_pad) {
  const result<pool_job> job = job_of(shape, c.input(0).shape);
  if (!job) return job.error();
  return with_output(c, job->y, [&](const value& y) -> status {
    const placed_window& w = job->w;
    const window_axis& axis = w.axes[w.rank - 1];
    result<std::span<N>> counts = c.scratch<N>(std::size_t(axis.out));  // the window's elements along the last axis
    if (!counts) return counts.error();
    for (std::int64_t o = 0; o < axis.out; ++o) (*counts)[std::size_t(o)] = N(axis.elements(o, include_pad));
    return pool_all<N, From>(c, *job, sum<N>{}, y, [&](std::int64_t line, N* row) {
      std::int64_t others = 1;
      for (std::size_t i = w.rank - 1; i-- > 0; line /= w.axes[i].out)
        others *= w.axes[i].elements(line % w.axes[i].out, include_pad);
      for (std::int64_t o = 0; o < axis.out; ++o) {
        const N count = N(others) * (*counts)[std::size_t(o)];
        row[o] = count > N(0) ? row[o] / count : N(0);
      }
    });
  });
}

/// Returns p of LpPool and GlobalLpPool: an integer, or in their first version any number.
template <class Attributes>
float power_of(const bind_context& c, const Attributes& a) {
  return c.since < 2 ? a.p_float : float(a.p);
}

/// Calls f with the operation that sums |v|^p, and with the function that converts the sum to the norm.
template <class N, class F>
void with_power(N p, const F& f) {
  if (p == N(1)) f(sum_of_magnitudes<N>{}, [](N v) { return v; });
  else if (p == N(2)) f(sum_of_squares<N>{}, [](N v) { return std::sqrt(v); });
  else f(sum_of_powers<N>{p}, [p](N v) { return std::pow(v, N(1) / p); });
}

template <class N, class From>
status norm_of_windows(run_context& c, const window& shape, N p) {
  const result<pool_job> job = job_of(shape, c.input(0).shape);
  if (!job) return job.error();
  return with_output(c, job->y, [&](const value& y) {
    const std::int64_t width = job->y.back();
    status done;
    with_power<N>(p, [&](const auto& add, const auto& root) {
      done = pool_all<N, From>(c, *job, add, y, [&](std::int64_t, N* row) {
        for (std::int64_t o = 0; o < width; ++o) row[o] = root(row[o]);
      });
    });
    return done;
  });
}

/// Reduces many elements to one. There are several partial results, so that an operation does not wait for the one
/// before.
template <class N, class Op>
class unrolled_fold {
 public:
  explicit unrolled_fold(const Op& op) : op_{op} { std::fill_n(parts_, lanes, op.start()); }
  /// Adds elements; in all calls but the last, `count` is a multiple of `lanes`.
  void add(const N* x, std::int64_t count) {
    std::int64_t i = 0;
    for (; i + lanes <= count; i += lanes)
      for (std::int64_t l = 0; l < lanes; ++l) parts_[l] = op_(parts_[l], x[i + l]);
    for (std::int64_t l = 0; i + l < count; ++l) parts_[l] = op_(parts_[l], x[i + l]);
  }
  N total() {
    for (std::int64_t half = lanes / 2; half > 0; half /= 2)
      for (std::int64_t l = 0; l < half; ++l) parts_[l] = op_.merger()(parts_[l], parts_[l + half]);
    return parts_[0];
  }

 private:
  static constexpr std::int64_t lanes = 16;
  Op op_;
  N parts_[lanes];
};

/// Y[plane] = finish(the reduced plane, number of its elements). Several small planes are read at a time, and parts of
/// a large one.
template <class N, class From, class Op, class F>
status reduce_planes(run_context& c, const Op& op, const F& finish) {
  constexpr std::int64_t piece = 4096;
  const value& x = c.input(0);
  extents y_shape = x.shape;
  for (std::size_t i = 2; i < y_shape.rank(); ++i) y_shape[i] = 1;
  const std::int64_t count = x.shape.count(2, x.shape.rank()), planes = y_shape.count();
  const std::int64_t some = std::max<std::int64_t>(1, piece / std::max<std::int64_t>(1, count));
  return with_output(c, y_shape, [&](const value& y) -> status {
    const auto from = row_rooms<N, From>::make(c, x, 1, std::min(piece, count * std::min(some, planes)));
    const auto to = row_rooms<N, From>::make(c, y, 1, std::min(some, planes));
    if (!from || !to) return status_code::out_of_memory;
    parallel_rows(c, planes, std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(count, 1)),
                  [&](std::int64_t first, std::int64_t last, std::size_t lane) {
                    for (std::int64_t i = first; i < last; i += some) {
                      const std::int64_t n = std::min(some, last - i);
                      N* const made = to->room(lane, i);
                      const N* const all = count <= piece ? from->read(lane, i * count, n * count) : nullptr;
                      for (std::int64_t j = 0; j < n; ++j) {
                        unrolled_fold<N, Op> one{op};
                        if (all) one.add(all + j * count, count);
                        for (std::int64_t at = 0; !all && at < count; at += piece) {
                          const std::int64_t m = std::min(piece, count - at);
                          one.add(from->read(lane, i * count + at, m), m);
                        }
                        made[j] = finish(one.total(), count);
                      }
                      to->store(lane, i, n);
                    }
                  });
    return {};
  });
}

template <class N, class From>
status mean_of_planes(run_context& c) {
  return reduce_planes<N, From>(c, sum<N>{}, [](N all, std::int64_t count) { return all / N(count); });
}
template <class N, class From>
status largest_of_planes(run_context& c) {
  return reduce_planes<N, From>(c, largest<N>{}, [](N most, std::int64_t) { return most; });
}
template <class N, class From>
status norm_of_planes(run_context& c, N p) {
  status done;
  with_power<N>(p, [&](const auto& add, const auto& root) {
    done = reduce_planes<N, From>(c, add, [&](N all, std::int64_t) { return root(all); });
  });
  return done;
}

}  // namespace

template <class T>
result<max_pool<T>> max_pool<T>::bind(bind_context& c) {
  const attributes_of<op::MaxPool> a{c.attributes};
  return max_pool{detail::window_of(a), a.storage_order != 0};
}

template <class T>
status max_pool<T>::run(run_context& c) const {
  return largest_of_windows<number<T>, elements_like<T>>(c, shape, first_axis_fastest);
}

template <class T>
result<average_pool<T>> average_pool<T>::bind(bind_context& c) {
  const attributes_of<op::AveragePool> a{c.attributes};
  return average_pool{detail::window_of(a), a.count_include_pad != 0};
}

template <class T>
status average_pool<T>::run(run_context& c) const {
  return mean_of_windows<number<T>, elements_like<T>>(c, shape, include_pad);
}

template <class T>
result<lp_pool<T>> lp_pool<T>::bind(bind_context& c) {
  const attributes_of<op::LpPool> a{c.attributes};
  return lp_pool{detail::window_of(a), power_of(c, a)};
}

template <class T>
status lp_pool<T>::run(run_context& c) const {
  return norm_of_windows<number<T>, elements_like<T>>(c, shape, number<T>(p));
}

template <class T>
status global_average_pool<T>::run(run_context& c) const {
  return mean_of_planes<number<T>, elements_like<T>>(c);
}

template <class T>
status global_max_pool<T>::run(run_context& c) const {
  return largest_of_planes<number<T>, elements_like<T>>(c);
}

template <class T>
result<global_lp_pool<T>> global_lp_pool<T>::bind(bind_context& c) {
  return global_lp_pool{power_of(c, attributes_of<op::GlobalLpPool>{c.attributes})};
}

template <class T>
status global_lp_pool<T>::run(run_context& c) const {
  return norm_of_planes<number<T>, elements_like<T>>(c, number<T>(p));
}

template struct bound_kernels<detail::element_set<std::int8_t, std::uint8_t>, max_pool>;
template struct bound_kernels<float_elements, max_pool, average_pool, lp_pool, global_average_pool, global_max_pool,
                              global_lp_pool>;

}  // namespace CAMEO_NAMESPACE::eps
