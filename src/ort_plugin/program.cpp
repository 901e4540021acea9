// Runs of fused nodes inside ONNX Runtime.
#include "ort_plugin/program.hpp"

#include "file/messages.hpp"
#include "ort_plugin/graph.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace cameo::inline CAMEO_ABI::detail::ort {
namespace {

/// A run of ONNX Runtime's that this thread is in; it may be inside another.
struct current_run {
  current_run(const host& h, const ort_kernel_context& c) : of{h}, context{c} {}
  current_run(const current_run&) = delete;
  current_run& operator=(const current_run&) = delete;
  ~current_run() { innermost = outer; }

  static inline thread_local const current_run* innermost = nullptr;
  const host& of;
  const ort_kernel_context& context;
  const current_run* const outer = std::exchange(innermost, this);
};

}  // namespace

void host_threads::parallel(std::size_t count, task f) {
  struct shared {
    std::atomic<std::size_t> next{0};
    std::size_t count;
    task f;
  } all{{}, count, f};
  const std::size_t lanes = std::min(lanes_, count);
  const auto work = [](void* of, std::size_t lane) {
    shared& s = *static_cast<shared*>(of);
    for (std::size_t i; (i = s.next.fetch_add(1, std::memory_order_relaxed)) < s.count;) s.f(i, lane);
  };
  // 0 batches: as many as the session has threads. What a failure leaves undone is done here.
  if (const current_run* const run = current_run::innermost; run && lanes > 1)
    static_cast<void>(run->of.ask<api::KernelContext_ParallelFor>(&run->context, +work, lanes, std::size_t{0}, &all));
  work(&all, 0);
}

host_threads& threads_of_host() {
  static host_threads all;
  return all;
}

program::program(std::shared_ptr<const plugin> by, const ort_graph& body, session made)
    : shared_{std::move(by)}, host_{shared_->side}, session_{std::move(made)} {
  version = host_.version();
  CreateState = [](ort_node_compute_info*, ort_compute_context*, void** state) -> ort_status* {
    return *state = nullptr, nullptr;
  };
  Compute = [](ort_node_compute_info* of, void*, ort_kernel_context* context) -> ort_status* {
    const program& me = static_cast<const program&>(*of);
    return me.host_.give(guarded_as<status_code::runtime_exception>([&] { return me.run(*context); }));
  };
  ReleaseState = [](ort_node_compute_info*, void*) {};
  const std::vector<io_info>& inputs = session_.inputs();
  questions ask{host_};
  const auto given = ask.list<api::Graph_GetNumInputs, api::Graph_GetInputs>(body);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!ask.get<api::ValueInfo_IsConstantInitializer>(*given[i])) places_.push_back(i);
  places_.resize(inputs.size(), SIZE_MAX);  // a context may have more inputs than its node: the run says so
  const auto known = [&](dim d) {
    if (d.known()) return known_dim{d.size};
    for (std::size_t i = 0; d.symbol != 0 && i < inputs.size(); ++i)
      for (std::size_t axis = 0; inputs[i].type.shape && axis < inputs[i].type.shape->size(); ++axis)
        if ((*inputs[i].type.shape)[axis].same(d)) return known_dim{-1, i, axis};
    return known_dim{-1, inputs.size(), 0};
  };
  for (const io_info& each : session_.outputs()) {
    output& made_output = outputs_.emplace_back();
    if (!each.type.shape || each.type.shape->size() > max_rank) continue;
    std::transform(each.type.shape->begin(), each.type.shape->end(), std::back_inserter(made_output.emplace()), known);
    const auto is_unknown = [&](const known_dim& d) { return d.input == inputs.size(); };
    if (std::any_of(made_output->begin(), made_output->end(), is_unknown)) made_output.reset();
  }
}

status program::run(ort_kernel_context& context) const {
  std::unique_ptr<lease> used = idle_.take();
  if (!used) {
    result<io_binding> binding = session_.bind();
    if (!binding) return std::move(binding).error();
    used = std::make_unique<lease>();
    used->binding = *std::move(binding);
    used->inputs.resize(session_.inputs().size());
    used->shapes.resize(outputs_.size());
  }
  status done = run(context, *used);
  idle_.give_back(std::move(used));
  return done;
}

status program::run(ort_kernel_context& context, lease& with) const {
  if (status s = bind_inputs(context, with); !s) return s;
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (status s = bind_output(context, with, i); !s) return s;
  {
    const current_run here{host_, context};
    if (status s = session_.run(with.binding); !s) return s;
  }
  for (std::size_t i = 0; i < outputs_.size(); ++i)
    if (status s = finish_output(context, with, i); !s) return s;
  return {};
}

status program::bind_inputs(ort_kernel_context& context, lease& with) const {
  for (std::size_t i = 0; i < with.inputs.size(); ++i) {
    const ort_value* given = nullptr;
    if (status s = host_.ask<api::KernelContext_GetInput>(&context, places_[i], &given); !s) return s;
    if (!given) return failed(status_code::invalid_argument, "input '{}' is missing", session_.inputs()[i].name);
    const result<value> v = view_of(host_, *given);
    if (!v) return v.error().in(session_.inputs()[i].name);
    with.inputs[i] = *v;
    if (status s = with.binding.bind_input({i, *v}); !s) return s;
  }
  return {};
}

result<void*> program::memory_of(ort_kernel_context& context, std::size_t i, const extents& shape) const {
  ort_value* made = nullptr;
  void* memory = nullptr;
  if (status s = host_.ask<api::KernelContext_GetOutput>(&context, i, shape.dims().data(), shape.rank(), &made); !s)
    return s;
  if (made)
    if (status s = host_.ask<api::GetTensorMutableData>(made, &memory); !s) return s;
  return memory;
}

/// Where the shape of an output is known, the run writes it where ONNX Runtime has it.
status program::bind_output(ort_kernel_context& context, lease& with, std::size_t i) const {
  if (!outputs_[i]) return {};
  extents& shape = with.shapes[i];
  shape.resize(0);
  for (const known_dim& d : *outputs_[i]) shape.push_back(d.size >= 0 ? d.size : with.inputs[d.input].shape[d.axis]);
  std::int64_t count = 0;
  if (!shape.checked_count(count)) return status{status_code::invalid_argument, "an output would be too large"};
  const result<void*> memory = memory_of(context, i, shape);
  if (!memory) return memory.error();
  if (!*memory && count > 0) return failed(status_code::fail, "output '{}' has no memory", session_.outputs()[i].name);
  return with.binding.bind_output(i, value::tensor(session_.outputs()[i].element(), shape, *memory));
}

status program::finish_output(ort_kernel_context& context, lease& with, std::size_t i) const {
  const value& made = with.binding.output(i);
  const auto refuse = [&](std::string_view words) {
    return failed(status_code::fail, "output '{}' {}", session_.outputs()[i].name, words);
  };
  if (made.kind != value_kind::tensor) return refuse("is not a tensor");
  if (outputs_[i] && made.shape == with.shapes[i]) return {};
  if (outputs_[i])
    return refuse(fmt::format("has the shape [{}] in this run, and the model says [{}]",
                              fmt::join(made.shape.dims(), ","), fmt::join(with.shapes[i].dims(), ",")));
  const result<void*> memory = memory_of(context, i, made.shape);
  if (!memory) return memory.error();
  if (made.bytes() == 0) return {};
  if (!*memory) return refuse("has no memory");
  std::memcpy(*memory, made.data, made.bytes());
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::detail::ort
