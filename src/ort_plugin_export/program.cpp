// Runs fused nodes for ONNX Runtime.
#include "ort_plugin_export/program.hpp"

#include "file/messages.hpp"
#include "ort_plugin_export/graph.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstring>

namespace CAMEO_NAMESPACE::detail::ort {
namespace {

/// The innermost run of ONNX Runtime on the current thread. Runs may be nested.
struct current_run {
  current_run(const host& h, const ort_kernel_context& c) : ort{h}, context{c} {}
  current_run(const current_run&) = delete;
  current_run& operator=(const current_run&) = delete;
  ~current_run() { innermost = outer; }

  static inline thread_local const current_run* innermost = nullptr;
  const host& ort;
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
  // 0 batches means one per thread of the session. If the call fails, this thread does all tasks.
  if (const current_run* const in = current_run::innermost; in && lanes > 1)
    static_cast<void>(in->ort.invoke<api::KernelContext_ParallelFor>(&in->context, +work, lanes, std::size_t{0}, &all));
  work(&all, 0);
}

host_threads& threads_of_host() {
  static host_threads all;
  return all;
}

program::program(std::shared_ptr<const plugin> by, const ort_graph& body, session made)
    : shared_{std::move(by)}, host_{shared_->ort}, session_{std::move(made)}, shapes_{session_} {
  version = host_.version();
  CreateState = [](ort_node_compute_info*, ort_compute_context*, void** state) -> ort_status* {
    return *state = nullptr, nullptr;
  };
  Compute = [](ort_node_compute_info* of, void*, ort_kernel_context* context) -> ort_status* {
    const program& me = static_cast<const program&>(*of);
    return me.host_.give(guarded_as<status_code::runtime_exception>([&] { return me.run(*context); }));
  };
  ReleaseState = [](ort_node_compute_info*, void*) {};
  call_sequence calls{host_};
  const auto given = calls.list<api::Graph_GetNumInputs, api::Graph_GetInputs>(body);
  for (std::size_t i = 0; i < given.size(); ++i)
    if (!calls.get<api::ValueInfo_IsConstantInitializer>(*given[i])) positions_.push_back(i);
  positions_.resize(session_.inputs().size(), SIZE_MAX);  // a context with too many inputs makes the run fail
}

status program::run(ort_kernel_context& context) const {
  std::unique_ptr<lease> used = idle_.take();
  if (!used) {
    result<io_binding> binding = session_.bind();
    if (!binding) return std::move(binding).error();
    used = std::make_unique<lease>();
    used->binding = *std::move(binding);
    used->inputs.resize(session_.inputs().size());
    used->shapes.resize(session_.outputs().size()), used->places.resize(session_.outputs().size());
  }
  status done = run(context, *used);
  used->copied_inputs.clear();
  idle_.give_back(std::move(used));
  return done;
}

status program::run(ort_kernel_context& context, lease& with) const {
  if (status s = bind_inputs(context, with); !s) return s;
  for (std::size_t i = 0; i < session_.outputs().size(); ++i)
    if (status s = bind_output(context, with, i); !s) return s;
  {
    const current_run here{host_, context};
    if (status s = session_.run(with.binding); !s) return s;
  }
  for (std::size_t i = 0; i < session_.outputs().size(); ++i)
    if (status s = finish_output(context, with, i); !s) return s;
  return {};
}

status program::bind_inputs(ort_kernel_context& context, lease& with) const {
  for (std::size_t i = 0; i < with.inputs.size(); ++i) {
    const ort_value* given = nullptr;
    if (status s = host_.invoke<api::KernelContext_GetInput>(&context, positions_[i], &given); !s) return s;
    if (!given) return failed(status_code::invalid_argument, "input '{}' is missing", session_.inputs()[i].name);
    result<value> v = view_of(host_, *given);
    if (!v) return v.error().in(session_.inputs()[i].name);
    const auto at = shared_->memory ? shared_->memory->location_of(*given) : device_memory::own;
    if (at == device_memory::other)
      return failed(status_code::ep_fail, "input '{}' is in memory of another device", session_.inputs()[i].name);
    if (at == device_memory::cpu) {  // ONNX Runtime does not copy the outputs of other providers' nodes
      result<memory_cache::block> there = shared_->memory->cache.bring(v->data, v->bytes());
      if (!there) return std::move(there).error().in(session_.inputs()[i].name);
      v->data = there->get();
      with.copied_inputs.push_back(*std::move(there));
    }
    with.inputs[i] = *v;
    if (status s = with.binding.bind_input({i, *v}); !s) return s;
  }
  return {};
}

result<program::place> program::place_of(ort_kernel_context& context, std::size_t i, const value& shaped) const {
  ort_value* made = nullptr;
  place found;
  call_sequence calls{host_};
  calls.call<api::KernelContext_GetOutput>(&context, i, shaped.shape.dims().data(), shaped.shape.rank(), &made);
  if (made) calls.call<api::GetTensorMutableData>(made, &found.memory);
  if (!found.memory && shaped.bytes() > 0)
    calls.fail(failed(status_code::fail, "output '{}' has no memory", session_.outputs()[i].name));
  const auto at = made && shared_->memory ? shared_->memory->location_of(*made) : device_memory::cpu;
  if (at == device_memory::other) calls.fail({status_code::ep_fail, "it is in memory of another device"});
  found.is_of_host = at == device_memory::cpu;
  return calls.outcome() ? result<place>{found} : calls.outcome();
}

/// Binds an output whose shape is known to ONNX Runtime's memory.
status program::bind_output(ort_kernel_context& context, lease& with, std::size_t i) const {
  extents& shape = with.shapes[i];
  if (!shapes_.find(i, with.inputs, shape)) return {};
  std::int64_t count = 0;
  if (!shape.checked_count(count)) return status{status_code::invalid_argument, "an output would be too large"};
  value bound = value::tensor(session_.outputs()[i].element(), shape, nullptr);
  const result<place> there = place_of(context, i, bound);
  if (!there) return there.error();
  with.places[i] = *there;
  if (!shared_->memory || !there->is_of_host) bound.data = there->memory;
  return with.binding.bind_output(i, bound);
}

status program::finish_output(ort_kernel_context& context, lease& with, std::size_t i) const {
  const value& made = with.binding.output(i);
  const auto refuse = [&](std::string_view words) {
    return failed(status_code::fail, "output '{}' {}", session_.outputs()[i].name, words);
  };
  if (made.kind != value_kind::tensor) return refuse("is not a tensor");
  if (shapes_.is_known(i) && made.shape != with.shapes[i])
    return refuse(fmt::format("has the shape [{}] in this run, and the model says [{}]",
                              fmt::join(made.shape.dims(), ","), fmt::join(with.shapes[i].dims(), ",")));
  const result<place> there = shapes_.is_known(i) ? result<place>{with.places[i]} : place_of(context, i, made);
  if (!there) return there.error();
  if (made.bytes() == 0 || there->memory == made.data) return {};
  if (shared_->memory) return shared_->memory->cache.copy({made.data, false}, *there, made.bytes(), with.copy_buffer);
  std::memcpy(there->memory, made.data, made.bytes());
  return {};
}

}  // namespace CAMEO_NAMESPACE::detail::ort
