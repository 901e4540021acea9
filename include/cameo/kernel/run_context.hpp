#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/core/result.hpp>
#include <cameo/core/value.hpp>

namespace CAMEO_NAMESPACE {

class run_context;

namespace detail {
/// A subgraph that a kernel runs. Made by run_context::open(), destroyed when the kernel's call ends.
struct subplan_frame;
}  // namespace detail

namespace detail {
/// Limits how often a loop reads the clock: about every 100 us, however short its iterations are. For one thread.
struct stop_pace {
  static constexpr std::int64_t interval = 100'000;  // nanoseconds
  static constexpr std::uint32_t most_skips = 15;    // checks that do not read the clock: iterations may become longer

  std::int64_t seen = 0;  // when the clock was read last
  std::uint32_t step = 0, left = 0;

  /// True when it is time to read the clock.
  bool due() { return left == 0 || (--left, false); }
  /// Receives the time that was read.
  void read(std::int64_t now) {
    const std::int64_t since = now - seen;
    if (since > interval) step = 0;
    else if (since < interval / 2) step = most_skips < 2 * step + 1 ? most_skips : 2 * step + 1;
    seen = now, left = step;
  }
};
}  // namespace detail

namespace detail {
/// The functions of the runner that kernels use, implemented in run/services.cpp. On hosts the table keeps this layer
/// independent of it; a build for targets calls it directly, so that unused functions are not linked.
struct run_services {
#ifdef CAMEO_CODE_ONLY
#define CAMEO_SERVICE(result, name, ...) static result name(__VA_ARGS__)
#else
#define CAMEO_SERVICE(result, name, ...) result (*name)(__VA_ARGS__)
#endif
  CAMEO_SERVICE(status, allocate, run_context&, std::uint32_t slot, value_kind, const extents&, std::size_t parts);
  CAMEO_SERVICE(status, forward, run_context&, std::uint32_t slot, const value& from, const extents*);
  CAMEO_SERVICE(status, give, run_context&, std::uint32_t slot, value&);
  CAMEO_SERVICE(result<value>, keep, run_context&, const value&);
  CAMEO_SERVICE(void, release, run_context&, value&);
  CAMEO_SERVICE(void*, scratch, run_context&, std::size_t bytes);
  CAMEO_SERVICE(char*, text, run_context&, std::size_t bytes);
  CAMEO_SERVICE(result<value>, make, run_context&, dtype, const extents&);
  CAMEO_SERVICE(result<subplan_frame*>, open, run_context&, std::size_t subgraph);
  CAMEO_SERVICE(status, call, run_context&, subplan_frame&, std::span<const value> inputs, std::span<value> outputs);
  CAMEO_SERVICE(bool, parallel, run_context&, std::size_t, function_ref<void(std::size_t, std::size_t)>);
  CAMEO_SERVICE(bool, stopped, const run_context&, stop_pace*);
#undef CAMEO_SERVICE
};
}  // namespace detail

/// What a kernel uses in a run: one node of one run. Values and views are valid only during the kernel's call. Only the
/// thread that called the kernel may use it, except for stopped(): functions passed to parallel() use views that were
/// taken before.
class run_context {
 public:
  std::size_t input_count() const { return inputs_.size(); }
  std::size_t output_count() const { return outputs_.size(); }
  bool has_input(std::size_t i) const { return i < inputs_.size() && inputs_[i] != 0; }
  bool has_output(std::size_t i) const { return i < outputs_.size() && outputs_[i] != 0; }

  /// Input i; its kind is `none` if the node does not have it, or if it is an empty optional.
  const value& input(std::size_t i) const { return values_[i < inputs_.size() ? inputs_[i] : 0]; }
  template <element_type T>
  tensor_view<const T> input(std::size_t i) const {
    return input(i).as_unchecked<T>();
  }
  /// The element type of output i in the plan.
  dtype output_type(std::size_t i) const { return values_[outputs_[i]].type; }

  /// Allocates output i, a tensor of the type in the plan; its memory is uninitialized. OUT_OF_MEMORY when `shape` is
  /// too large, also when its dims are negative or overflow. A second call with the same shape returns the same memory.
  template <element_type T>
  result<tensor_view<T>> output(std::size_t i, const extents& shape) {
    result<value*> made = output(i, shape);
    if (!made) return made.error();
    return (*made)->template as_mutable_unchecked<T>();
  }
  result<value*> output(std::size_t i, const extents& shape) {
    value& v = values_[outputs_[i]];
    if (v.data && v.kind == value_kind::tensor && v.shape == shape) return &v;
    if (status made = services_->allocate(*this, outputs_[i], value_kind::tensor, shape, 0); !made) return made;
    return &v;
  }
  /// Makes output i a sequence (or map, or sparse tensor) of `count` parts, which are `none` at first. The kernel
  /// assigns each part a value that keep() or make() returned.
  result<std::span<value>> output_parts(std::size_t i, value_kind kind, std::size_t count) {
    if (status made = services_->allocate(*this, outputs_[i], kind, {}, count); !made) return made;
    return std::span<value>{values_[outputs_[i]].parts};
  }
  /// Makes output i a sequence of `count` parts; see output_parts().
  result<std::span<value>> output_sequence(std::size_t i, std::size_t count) {
    return output_parts(i, value_kind::sequence, count);
  }
  /// Output i in its present state. A kernel passes it to keep() to make a sequence or map a part of another.
  const value& output_value(std::size_t i) const { return values_[outputs_[i]]; }

  /// Makes output i equal to `from`, an input or a part of an input, with other extents of the same element count. The
  /// elements are not copied if the kernel called bind_context::views() when it was bound.
  status forward(std::size_t i, const value& from, const extents& shape) {
    return services_->forward(*this, outputs_[i], from, &shape);
  }
  /// Makes output i equal to `from`, a value of any kind: tensor, sequence, none.
  status forward(std::size_t i, const value& from) { return services_->forward(*this, outputs_[i], from, nullptr); }

  /// Returns a kept value: a counted reference that stays valid after the slot of `v` is reused, for a sequence or for
  /// the next iteration of a loop. Elements are copied only if they are in planned memory. The kernel must pass each
  /// kept value to release() or give(), unless it becomes a part of an output.
  result<value> keep(const value& v) { return services_->keep(*this, v); }
  /// Releases a value that keep(), make() or call() returned, and sets `v` to `none`.
  void release(value& v) { services_->release(*this, v); }
  /// Moves a value that keep(), make() or call() returned into output i; `kept` becomes `none`.
  status give(std::size_t i, value& kept) { return services_->give(*this, outputs_[i], kept); }
  /// Allocates a tensor that does not belong to an output. It is a kept value: see keep().
  result<value> make(dtype type, const extents& shape) { return services_->make(*this, type, shape); }

  /// Uninitialized memory, aligned to 64 bytes, valid until the kernel returns.
  template <class T>
  result<std::span<T>> scratch(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T> || std::is_same_v<T, value>);
    std::size_t bytes = 0;
    if (!checked_multiply(count, sizeof(T), bytes)) return status_code::out_of_memory;
    void* const memory = services_->scratch(*this, bytes);
    if (!memory) return status_code::out_of_memory;
    return std::span<T>{static_cast<T*>(memory), count};
  }
  /// Memory for the characters of string tensors, valid until the run ends.
  result<std::span<char>> text(std::size_t count) {
    char* const memory = services_->text(*this, count);
    if (!memory) return status_code::out_of_memory;
    return std::span<char>{memory, count};
  }

  /// Calls f(0) ... f(count - 1), each once, in any order, perhaps on several threads, and returns after the last.
  /// Choose `count` by shapes alone, so that results are the same for any number of threads. Use a loop for little
  /// work.
  ///
  /// Before each call it checks whether the run should end; if so, it skips the rest and returns false. Skipped parts
  /// of outputs are not written, so a kernel that reads them as sizes or indices must return CANCELED first. Other
  /// kernels may go on: the runner ends the run after the kernel, whatever it returns. To let a run end in time, one
  /// call of f should take about 100 us, and never more than 2 ms.
  bool parallel(std::size_t count, detail::function_ref<void(std::size_t)> f) {
    return parallel_lanes(count, [&](std::size_t i, std::size_t) { f(i); });
  }
  /// Like parallel(), but f also receives, as second argument, the index of its thread, which is below lanes(). Kernels
  /// use it to give each thread separate scratch memory.
  bool parallel_lanes(std::size_t count, detail::function_ref<void(std::size_t, std::size_t)> f) {
    return services_->parallel(*this, count, f);
  }
  std::size_t lanes() const { return lanes_; }

  /// True when the run should end. Kernels call it in their own loops and in long tasks, and then return CANCELED (the
  /// runner returns DEADLINE_EXCEEDED after a deadline). Any thread may call it. It reads an atomic flag,
  /// calls stop_condition::requested and, if there is a deadline, reads the clock; with a `pace`, the clock is read
  /// only about every 100 us.
  bool stopped() const { return services_->stopped(*this, nullptr); }
  bool stopped(detail::stop_pace& pace) const { return services_->stopped(*this, &pace); }

  /// Prepares a subgraph (bind_context::subgraph) for any number of call()s until the kernel returns.
  result<detail::subplan_frame*> open(std::size_t subgraph) { return services_->open(*this, subgraph); }
  /// Runs a subgraph once. `inputs` are its formal inputs (captures are filled in automatically); `outputs` receive
  /// kept values, each of which the kernel passes to release() or give(); see keep().
  status call(detail::subplan_frame& frame, std::span<const value> inputs, std::span<value> outputs) {
    return services_->call(*this, frame, inputs, outputs);
  }

  // The functions below are for the runner.
  run_context(const detail::run_services& services, void* runner, std::size_t lanes)
      : services_{&services}, runner_{runner}, lanes_{lanes} {}
  /// Starts the next node. For the runner.
  void enter(value* values, std::span<const std::uint32_t> inputs, std::span<const std::uint32_t> outputs) {
    values_ = values, inputs_ = inputs, outputs_ = outputs;
  }
  void* runner() const { return runner_; }
  value* values() const { return values_; }

 private:
  const detail::run_services* services_;
  void* runner_;
  std::size_t lanes_;
  value* values_ = nullptr;
  std::span<const std::uint32_t> inputs_, outputs_;  // slots; 0: absent
};

/// Calls f(first, last) over [0, count) in blocks of `grain`, perhaps on several threads. Blocks depend on count and
/// grain alone. Returns false when the run should end and blocks were skipped; see run_context::parallel().
template <class F>
bool parallel_for(run_context& c, std::int64_t count, std::int64_t grain, F&& f) {
  if (count <= 0) return true;
  return c.parallel(std::size_t((count - 1) / grain + 1), [&](std::size_t b) {
    const std::int64_t first = std::int64_t(b) * grain;
    f(first, (count - first < grain ? count - first : grain) + first);
  });
}

/// Like parallel_for(), for elements that do not depend on each other. A block of `grain` elements, the least that is
/// worth a thread, may take long, so f gets at most 4,096 elements per call, and a stop is checked between the calls.
template <class F>
bool parallel_elements(run_context& c, std::int64_t count, std::int64_t grain, F&& f) {
  constexpr std::int64_t most = 4096;  // the slowest, conversions of numbers to text, take about a millisecond
  return parallel_for(c, count, grain, [&](std::int64_t first, std::int64_t last) {
    detail::stop_pace pace;
    for (std::int64_t i = first; i < last; i += most) {
      if (i > first && c.stopped(pace)) return;
      f(i, last < i + most ? last : i + most);
    }
  });
}

/// Calls f(i, lane) for each i below `count`, `grain` of them in sequence on one thread, and checks before each whether
/// the run should end. It is for tasks that are each too small for a separate thread, or that use what the task before
/// left in the scratch memory of the lane (see parallel_lanes). Returns false as parallel_for() does.
template <class F>
bool parallel_each(run_context& c, std::int64_t count, std::int64_t grain, F&& f) {
  if (count <= 0) return true;
  return c.parallel_lanes(std::size_t((count - 1) / grain + 1), [&](std::size_t b, std::size_t lane) {
    const std::int64_t first = std::int64_t(b) * grain, last = (count - first < grain ? count - first : grain) + first;
    detail::stop_pace pace;
    for (std::int64_t i = first; i < last; ++i) {
      if (i > first && c.stopped(pace)) return;
      f(i, lane);
    }
  });
}

}  // namespace CAMEO_NAMESPACE
