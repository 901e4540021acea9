#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/core/result.hpp>
#include <cameo/core/value.hpp>

namespace cameo::inline CAMEO_ABI {

class run_context;

/// A subgraph while a kernel runs it; made by run_context::open, gone with the kernel's call.
struct subplan_frame;

/// What the runner does for kernels. One implementation (run/services.cpp). On hosts the table keeps this layer free of
/// it; a build for targets calls it directly, so that a program has no more of it than its kernels call.
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
  CAMEO_SERVICE(void, parallel, run_context&, std::size_t, function_ref<void(std::size_t, std::size_t)>);
  CAMEO_SERVICE(bool, stopped, const run_context&);
#undef CAMEO_SERVICE
};

/// What a kernel sees at every run: one node of one run. Values and views die with the call. Only the thread that
/// called the kernel may use it; the functions given to `parallel` use views taken before.
class run_context {
 public:
  std::size_t input_count() const { return inputs_.size(); }
  std::size_t output_count() const { return outputs_.size(); }
  bool has_input(std::size_t i) const { return i < inputs_.size() && inputs_[i] != 0; }
  bool has_output(std::size_t i) const { return i < outputs_.size() && outputs_[i] != 0; }

  /// Input i; `none` for one that the node leaves out and for an empty optional.
  const value& input(std::size_t i) const { return values_[i < inputs_.size() ? inputs_[i] : 0]; }
  template <element_type T>
  tensor_view<const T> input(std::size_t i) const {
    return input(i).as<T>();
  }
  /// Element type that the plan gives output i.
  dtype output_type(std::size_t i) const { return values_[outputs_[i]].type; }

  /// Memory for output i, not initialised; a tensor of the type the plan knows. OUT_OF_MEMORY when `shape` is too
  /// large, also when its dims are negative or overflow. Called again with the same shape it gives the same memory.
  template <element_type T>
  result<tensor_view<T>> output(std::size_t i, const extents& shape) {
    result<value*> made = output(i, shape);
    if (!made) return made.error();
    return (*made)->template as_mutable<T>();
  }
  result<value*> output(std::size_t i, const extents& shape) {
    value& v = values_[outputs_[i]];
    if (v.data && v.kind == value_kind::tensor && v.shape == shape) return &v;
    if (status made = services_->allocate(*this, outputs_[i], value_kind::tensor, shape, 0); !made) return made;
    return &v;
  }
  /// Output i as a sequence (or map, or sparse tensor) of `count` parts, all `none`: fill them with keep().
  result<std::span<value>> output_parts(std::size_t i, value_kind kind, std::size_t count) {
    if (status made = services_->allocate(*this, outputs_[i], kind, {}, count); !made) return made;
    return values_[outputs_[i]].parts;
  }
  /// output_parts() of a sequence.
  result<std::span<value>> output_sequence(std::size_t i, std::size_t count) {
    return output_parts(i, value_kind::sequence, count);
  }
  /// Output i as it is so far: to keep() a sequence or map that is to become a part of another.
  const value& output_value(std::size_t i) const { return values_[outputs_[i]]; }
  /// Extents of an output that is not a tensor of its own memory: a sparse tensor's dense shape.
  void set_output_shape(std::size_t i, const extents& shape) { values_[outputs_[i]].shape = shape; }

  /// Output i is `from`, an input or part of one, with other extents of the same count; no copy when bind said views().
  status forward(std::size_t i, const value& from, const extents& shape) {
    return services_->forward(*this, outputs_[i], from, &shape);
  }
  /// Output i is `from` as it is, whatever it is: tensor, sequence, none.
  status forward(std::size_t i, const value& from) { return services_->forward(*this, outputs_[i], from, nullptr); }

  /// A reference that keeps a value beyond the slot it is in: to put into a sequence, or to carry round a loop. Copies
  /// only what lies in planned memory. Pair with release() or give() unless it becomes a part of an output.
  result<value> keep(const value& v) { return services_->keep(*this, v); }
  /// Gives a kept value back, and leaves `none`.
  void release(value& v) { services_->release(*this, v); }
  /// Moves a kept value into output i.
  status give(std::size_t i, value& kept) { return services_->give(*this, outputs_[i], kept); }
  /// A new tensor that belongs to no output yet; counts as kept.
  result<value> make(dtype type, const extents& shape) { return services_->make(*this, type, shape); }

  /// Memory until the kernel returns, aligned to 64, not initialised.
  template <class T>
  result<std::span<T>> scratch(std::size_t count) {
    static_assert(std::is_trivial_v<T> || std::is_same_v<T, value> || std::is_same_v<T, std::string_view>);
    std::size_t bytes = 0;
    if (!checked_multiply(count, sizeof(T), bytes)) return status_code::out_of_memory;
    void* const memory = services_->scratch(*this, bytes);
    if (!memory) return status_code::out_of_memory;
    return std::span<T>{static_cast<T*>(memory), count};
  }
  /// Characters for elements of string tensors; they live until the run ends.
  result<std::span<char>> text(std::size_t count) {
    char* const memory = services_->text(*this, count);
    if (!memory) return status_code::out_of_memory;
    return std::span<char>{memory, count};
  }

  /// Calls f(0) ... f(count - 1), each once, in any order, perhaps on several threads; back when all are done. Choose
  /// `count` by shapes alone: then results don't depend on the number of threads. For little work, call f in a loop.
  void parallel(std::size_t count, function_ref<void(std::size_t)> f) {
    if (count <= 1 || lanes_ <= 1) {
      for (std::size_t i = 0; i < count; ++i) f(i);
    } else {
      services_->parallel(*this, count, [&](std::size_t i, std::size_t) { f(i); });
    }
  }
  /// The same with the number of the thread, below lanes(): for scratch per thread.
  void parallel_lanes(std::size_t count, function_ref<void(std::size_t, std::size_t)> f) {
    if (count <= 1 || lanes_ <= 1) {
      for (std::size_t i = 0; i < count; ++i) f(i, 0);
    } else {
      services_->parallel(*this, count, f);
    }
  }
  std::size_t lanes() const { return lanes_; }

  /// True when the run should end: long kernels and loops look now and then and return CANCELED (the runner turns that
  /// into DEADLINE_EXCEEDED where it was the clock).
  bool stopped() const { return services_->stopped(*this); }

  /// Prepares a subgraph (bind_context::subgraph) to be called any number of times until the kernel returns.
  result<subplan_frame*> open(std::size_t subgraph) { return services_->open(*this, subgraph); }
  /// Runs it once. `inputs` are the subgraph's formal ones (captures come by themselves); `outputs` receive kept
  /// values: release() or give() each.
  status call(subplan_frame& frame, std::span<const value> inputs, std::span<value> outputs) {
    return services_->call(*this, frame, inputs, outputs);
  }

  // For the runner.
  run_context(const run_services& services, void* runner, std::size_t lanes)
      : services_{&services}, runner_{runner}, lanes_{lanes} {}
  /// For the runner: begins the next node.
  void enter(value* values, std::span<const std::uint32_t> inputs, std::span<const std::uint32_t> outputs) {
    values_ = values, inputs_ = inputs, outputs_ = outputs;
  }
  void* runner() const { return runner_; }
  value* values() const { return values_; }
  std::span<const std::uint32_t> input_slots() const { return inputs_; }

 private:
  const run_services* services_;
  void* runner_;
  std::size_t lanes_;
  value* values_ = nullptr;
  std::span<const std::uint32_t> inputs_, outputs_;  // slots; 0 is an absent one
};

/// Calls f(first, last) over [0, count) in blocks of `grain`, perhaps on several threads. Blocks depend on count and
/// grain alone.
template <class F>
void parallel_for(run_context& c, std::int64_t count, std::int64_t grain, F&& f) {
  if (count <= grain) {
    if (count > 0) f(std::int64_t{0}, count);
    return;
  }
  const std::int64_t blocks = (count + grain - 1) / grain;
  c.parallel(std::size_t(blocks), [&](std::size_t b) {
    const std::int64_t first = std::int64_t(b) * grain;
    f(first, std::min(first + grain, count));
  });
}

}  // namespace cameo::inline CAMEO_ABI
