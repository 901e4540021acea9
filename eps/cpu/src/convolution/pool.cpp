#include <cameo/eps/cpu/detail/as_number.hpp>
#include <cameo/eps/cpu/pool.hpp>

#include "common/refuse.hpp"
#include "outer_window.hpp"

#include <cmath>
#include <limits>

namespace cameo::inline CAMEO_ABI::eps {
namespace {

template <class T>
constexpr T lowest = std::numeric_limits<T>::has_infinity ? -std::numeric_limits<T>::infinity()
                                                          : std::numeric_limits<T>::lowest();

// What is done with the elements of a window: where to start, how one more changes it, and how to put results of it
// together.

template <class T>
struct largest {
  T start() const { return lowest<T>; }
  T operator()(T most, T v) const { return v > most || v != v ? v : most; }
  largest again() const { return {}; }
};
template <class T>
struct sum {
  T start() const { return T(0); }
  T operator()(T so_far, T v) const { return so_far + v; }
  sum again() const { return {}; }
};
template <class T>
struct sum_of_magnitudes {
  T start() const { return T(0); }
  T operator()(T so_far, T v) const { return so_far + std::abs(v); }
  sum<T> again() const { return {}; }
};
template <class T>
struct sum_of_squares {
  T start() const { return T(0); }
  T operator()(T so_far, T v) const { return so_far + v * v; }
  sum<T> again() const { return {}; }
};
template <class T>
struct sum_of_powers {
  T p;
  T start() const { return T(0); }
  T operator()(T so_far, T v) const { return so_far + std::pow(std::abs(v), p); }
  sum<T> again() const { return {}; }
};

/// y[o] takes in x[o * stride]: a line of windows meets one of their elements.
template <class T, class Op>
void take_line(const Op& op, const T* x, std::int64_t stride, std::int64_t count, T* y) {
  if (stride == 1)
    for (std::int64_t o = 0; o < count; ++o) y[o] = op(y[o], x[o]);
  else if (stride == 2)
    for (std::int64_t o = 0; o < count; ++o) y[o] = op(y[o], x[2 * o]);
  else
    for (std::int64_t o = 0; o < count; ++o) y[o] = op(y[o], x[stride * o]);
}

/// One line of outputs. Lines of the input that a window spans are put together first, in `room`: along a line,
/// neighbours are a vector.
template <class T, class Op>
void pool_line(const placed_window& w, const Op& op, const T* x, std::int64_t line, T* room, T* y) {
  const window_axis& axis = w.axes[w.rank - 1];
  const T* from = x;
  if (w.rank > 1) {
    bool first = true;
    outer_window(w, line).each_line(w, [&](std::int64_t start) {
      if (first)
        for (std::int64_t i = 0; i < axis.in; ++i) room[i] = op(op.start(), x[start + i]);
      else
        for (std::int64_t i = 0; i < axis.in; ++i) room[i] = op(room[i], x[start + i]);
      first = false;
    });
    if (first) return void(std::fill_n(y, axis.out, op.start()));
    from = room;
  }
  std::fill_n(y, axis.out, op.start());
  const auto along = [&](const auto& add) {
    for (std::int64_t k = 0; k < axis.kernel; ++k) {
      const window_axis::range o = axis.outputs_of(k);
      if (o.begin >= o.end) continue;
      const std::int64_t start = o.begin * axis.stride - axis.pad_begin + k * axis.dilation;
      take_line(add, from + start, axis.stride, o.end - o.begin, y + o.begin);
    }
  };
  if (w.rank > 1) along(op.again());
  else along(op);
}

/// A placed window and the shape of what it makes.
struct pool_job {
  placed_window w;
  extents y;
  std::int64_t planes, in, out, lines;
};
result<pool_job> job_of(const window& shape, const extents& x) {
  result<placed_window> w = shape.place(x, shape.kernel, true);
  if (!w) return w.error();
  pool_job job{*w, {x[0], x[1]}, x[0] * x[1], w->in_count(), w->out_count(), 0};
  for (std::size_t i = 0; i < w->rank; ++i) job.y.push_back(w->axes[i].out);
  job.lines = job.y.count(2, job.y.rank() - 1);
  return job;
}

/// Y = finish(line, the windows' results on it), for all lines.
template <class T, class Op, class F>
status pool_all(run_context& c, const pool_job& job, const Op& op, const T* x, T* y, const F& finish) {
  const window_axis& axis = job.w.axes[job.w.rank - 1];
  std::size_t size = 0;
  if (!checked_multiply(std::size_t(axis.in), c.lanes(), size)) return status_code::out_of_memory;
  result<std::span<T>> rooms = c.scratch<T>(size);
  if (!rooms) return rooms.error();
  const std::int64_t work = axis.out * axis.kernel + axis.in * (job.w.taps() / axis.kernel),
                     lines = job.planes * job.lines;
  const std::int64_t grain = std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(1, work));
  c.parallel_lanes(std::size_t((lines + grain - 1) / grain), [&](std::size_t block, std::size_t lane) {
    T* const room = rooms->data() + lane * std::size_t(axis.in);
    const std::int64_t first = std::int64_t(block) * grain;
    for (std::int64_t l = first; l < std::min(lines, first + grain); ++l) {
      pool_line(job.w, op, x + l / job.lines * job.in, l % job.lines, room, y + l * axis.out);
      finish(l % job.lines, y + l * axis.out);
    }
  });
  return {};
}

/// Input 0 and output 0 of a pool as numbers to compute with, and back.
template <class T, class F>
status with_numbers(run_context& c, const extents& y_shape, const F& f) {
  using number = std::conditional_t<is_narrow_v<T>, float, T>;
  result<tensor_view<T>> y = c.output<T>(0, y_shape);
  if (!y) return y.error();
  if (y->empty()) return f(static_cast<const number*>(nullptr), static_cast<number*>(nullptr), false);
  result<const number*> x = as_numbers<number, T>(c, 0);
  if (!x) return x.error();
  result<number*> room = room_for_numbers<number>(c, *y);
  if (!room) return room.error();
  if (status done = f(*x, *room, true); !done) return done;
  store_numbers(c, *room, *y);
  return {};
}

/// The largest of one window and where in the plane it is; -1 when there is nothing.
template <class T>
std::int64_t find_largest(const pool_job& job, const T* x, const outer_window& outer, std::int64_t o, T& most) {
  const window_axis& axis = job.w.axes[job.w.rank - 1];
  const std::int64_t first = axis.first(o), last = axis.last(o);
  std::int64_t found = -1;
  most = lowest<T>;
  outer.each_line(job.w, [&](std::int64_t start) {
    for (std::int64_t k = first; k < last; ++k) {
      const std::int64_t at = start + o * axis.stride - axis.pad_begin + k * axis.dilation;
      if (found >= 0 && !(x[at] > most || (x[at] != x[at] && most == most))) continue;
      found = at, most = x[at];
    }
  });
  return found;
}

/// An index into a plane, counted with the first axis fastest.
std::int64_t turned(const placed_window& w, std::int64_t at) {
  std::int64_t index[max_spatial], turned = 0;
  for (std::size_t i = w.rank; i-- > 0; at /= w.axes[i].in) index[i] = at % w.axes[i].in;
  for (std::size_t i = w.rank; i-- > 0;) turned = turned * w.axes[i].in + index[i];
  return turned;
}

template <class T>
void max_with_indices(run_context& c, const pool_job& job, const T* x, T* y, std::int64_t* indices, bool turn) {
  const std::int64_t width = job.w.axes[job.w.rank - 1].out;
  parallel_for(c, job.planes * job.lines, std::max<std::int64_t>(1, (1 << 12) / width),
               [&](std::int64_t a, std::int64_t b) {
                 for (std::int64_t l = a; l < b; ++l) {
                   const std::int64_t base = l / job.lines * job.in;
                   const outer_window outer(job.w, l % job.lines);
                   for (std::int64_t o = 0; o < width; ++o) {
                     const std::int64_t at = find_largest(job, x + base, outer, o, y[l * width + o]);
                     indices[l * width + o] = at < 0 ? -1 : base + (turn ? turned(job.w, at) : at);
                   }
                 }
               });
}

}  // namespace

template <class T>
result<max_pool<T>> max_pool<T>::bind(bind_context& c) {
  result<window> shape = window::bind(c);
  if (!shape) return shape.error();
  return max_pool{*shape, c.int_or("storage_order", 0) != 0};
}

template <class T>
status max_pool<T>::run(run_context& c) const {
  result<pool_job> job = job_of(shape, c.input(0).shape);
  if (!job) return job.error();
  return with_numbers<T>(c, job->y, [&]<class N>(const N* x, N* y, bool any) -> status {
    if (c.has_output(1)) {
      result<tensor_view<std::int64_t>> indices = c.output<std::int64_t>(1, job->y);
      if (!indices) return indices.error();
      if (any) max_with_indices(c, *job, x, y, indices->data(), first_axis_fastest);
      return {};
    }
    return any ? pool_all(c, *job, largest<N>{}, x, y, [](std::int64_t, N*) {}) : status{};
  });
}

template <class T>
result<average_pool<T>> average_pool<T>::bind(bind_context& c) {
  result<window> shape = window::bind(c);
  if (!shape) return shape.error();
  return average_pool{*shape, c.int_or("count_include_pad", 0) != 0};
}

template <class T>
status average_pool<T>::run(run_context& c) const {
  result<pool_job> job = job_of(shape, c.input(0).shape);
  if (!job) return job.error();
  return with_numbers<T>(c, job->y, [&]<class N>(const N* x, N* y, bool any) -> status {
    if (!any) return {};
    const placed_window& w = job->w;
    const window_axis& axis = w.axes[w.rank - 1];
    result<std::span<N>> counts = c.scratch<N>(std::size_t(axis.out));  // along the last axis
    if (!counts) return counts.error();
    for (std::int64_t o = 0; o < axis.out; ++o) (*counts)[std::size_t(o)] = N(axis.elements(o, include_pad));
    return pool_all(c, *job, sum<N>{}, x, y, [&](std::int64_t line, N* row) {
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

namespace {

/// p of LpPool and GlobalLpPool: an integer, or in their first version any number.
result<float> power_of(const bind_context& c) {
  const attribute* const a = c.find("p");
  const float p = !a ? 2.0f : a->kind == attribute_kind::f ? a->f : float(a->i);
  if (!(p > 0)) return bad_attribute("p must be larger than 0");
  return p;
}

/// Calls f with what sums up |v|^p, and with what turns the sum into the norm.
template <class N, class F>
void with_power(N p, const F& f) {
  if (p == N(1)) f(sum_of_magnitudes<N>{}, [](N v) { return v; });
  else if (p == N(2)) f(sum_of_squares<N>{}, [](N v) { return std::sqrt(v); });
  else f(sum_of_powers<N>{p}, [p](N v) { return std::pow(v, N(1) / p); });
}

}  // namespace

template <class T>
result<lp_pool<T>> lp_pool<T>::bind(bind_context& c) {
  result<window> shape = window::bind(c);
  if (!shape) return shape.error();
  result<float> p = power_of(c);
  if (!p) return p.error();
  return lp_pool{*shape, *p};
}

template <class T>
status lp_pool<T>::run(run_context& c) const {
  result<pool_job> job = job_of(shape, c.input(0).shape);
  if (!job) return job.error();
  return with_numbers<T>(c, job->y, [&]<class N>(const N* x, N* y, bool any) -> status {
    if (!any) return {};
    const std::int64_t width = job->y.back();
    status done;
    with_power<N>(N(p), [&](const auto& add, const auto& root) {
      done = pool_all(c, *job, add, x, y, [&](std::int64_t, N* row) {
        for (std::int64_t o = 0; o < width; ++o) row[o] = root(row[o]);
      });
    });
    return done;
  });
}

namespace {

/// Y[plane] = f(plane, number of its elements)
template <class T, class F>
status reduce_planes(run_context& c, const F& f) {
  const extents& x_shape = c.input(0).shape;
  if (x_shape.rank() < 2) return bad_input("input ", x_shape, ", needs batch and channel");
  extents y_shape = x_shape;
  for (std::size_t i = 2; i < y_shape.rank(); ++i) y_shape[i] = 1;
  const std::int64_t count = x_shape.count(2, x_shape.rank()), planes = y_shape.count();
  return with_numbers<T>(c, y_shape, [&]<class N>(const N* x, N* y, bool any) -> status {
    if (!any) return {};
    parallel_for(c, planes, std::max<std::int64_t>(1, (1 << 16) / std::max<std::int64_t>(count, 1)),
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t i = first; i < last; ++i) y[i] = f(x + i * count, count);
                 });
    return {};
  });
}

/// Many elements in one. Several run side by side, since additions in a row would wait for each other; `join` puts
/// them together.
template <class N, class Op>
N reduce(const Op& op, const N* x, std::int64_t count, N (*join)(N, N)) {
  constexpr std::int64_t lanes = 16;
  N parts[lanes];
  std::fill_n(parts, lanes, op.start());
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) parts[l] = op(parts[l], x[i + l]);
  for (std::int64_t l = 0; i + l < count; ++l) parts[l] = op(parts[l], x[i + l]);
  for (std::int64_t half = lanes / 2; half > 0; half /= 2)
    for (std::int64_t l = 0; l < half; ++l) parts[l] = join(parts[l], parts[l + half]);
  return parts[0];
}

}  // namespace

template <class T>
status global_average_pool<T>::run(run_context& c) const {
  return reduce_planes<T>(c, []<class N>(const N* x, std::int64_t count) {
    return reduce<N>(sum<N>{}, x, count, [](N a, N b) { return a + b; }) / N(count);
  });
}

template <class T>
status global_max_pool<T>::run(run_context& c) const {
  return reduce_planes<T>(c, []<class N>(const N* x, std::int64_t count) {
    return reduce<N>(largest<N>{}, x, count, [](N a, N b) { return largest<N>{}(a, b); });
  });
}

template <class T>
result<global_lp_pool<T>> global_lp_pool<T>::bind(bind_context& c) {
  result<float> p = power_of(c);
  if (!p) return p.error();
  return global_lp_pool{*p};
}

template <class T>
status global_lp_pool<T>::run(run_context& c) const {
  return reduce_planes<T>(c, [this]<class N>(const N* x, std::int64_t count) {
    N norm{};
    with_power<N>(N(p), [&](const auto& add, const auto& root) {
      norm = root(reduce<N>(add, x, count, [](N a, N b) { return a + b; }));
    });
    return norm;
  });
}

template struct max_pool<float>;
template struct max_pool<double>;
template struct max_pool<float16>;
template struct max_pool<bfloat16>;
template struct max_pool<std::int8_t>;
template struct max_pool<std::uint8_t>;
template struct average_pool<float>;
template struct average_pool<double>;
template struct average_pool<float16>;
template struct average_pool<bfloat16>;
template struct lp_pool<float>;
template struct lp_pool<double>;
template struct lp_pool<float16>;
template struct lp_pool<bfloat16>;
template struct global_average_pool<float>;
template struct global_average_pool<double>;
template struct global_average_pool<float16>;
template struct global_average_pool<bfloat16>;
template struct global_max_pool<float>;
template struct global_max_pool<double>;
template struct global_max_pool<float16>;
template struct global_max_pool<bfloat16>;
template struct global_lp_pool<float>;
template struct global_lp_pool<double>;
template struct global_lp_pool<float16>;
template struct global_lp_pool<bfloat16>;

}  // namespace cameo::inline CAMEO_ABI::eps
