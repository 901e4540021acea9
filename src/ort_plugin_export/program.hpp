#pragma once
#include <cameo/session/session.hpp>
#include <cameo/session/threads.hpp>

#include "ort_plugin_export/plugin.hpp"
#include "session/idle_objects.hpp"
#include "session/known_shapes.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// The threads of ONNX Runtime's session, as a task_pool: work inside program::run goes to the threads of the run that
/// called it, and any other work, as while a model is loaded, stays on its thread.
class host_threads {
 public:
  std::size_t concurrency() const { return lanes_; }
  void parallel(std::size_t count, task);

 private:
  std::size_t lanes_ = available_threads();
};
/// One for all sessions: it has no state.
host_threads& threads_of_host();

/// A fused node that is ready to run: a session over its graph. Thread-safe. Inputs are read and, where their shapes
/// are known beforehand, outputs written where ONNX Runtime has them, in the provider's memory if it has its own; other
/// outputs are copied.
class program : public ort_node_compute_info {
 public:
  program(std::shared_ptr<const plugin>, const ort_graph& body, session);

 private:
  using place = memory_cache::place;
  /// A binding with room for what a run looks up.
  struct lease {
    io_binding binding;
    std::vector<value> inputs;
    std::vector<extents> shapes;               // of outputs
    std::vector<place> places;                 // of outputs
    std::vector<memory_cache::block> brought;  // inputs of this run, in the provider's memory
    std::vector<std::byte> between;            // for copies from the provider's memory to it
  };
  status run(ort_kernel_context&, lease&) const;
  status bind_inputs(ort_kernel_context&, lease&) const;
  status bind_output(ort_kernel_context&, lease&, std::size_t) const;
  status finish_output(ort_kernel_context&, lease&, std::size_t) const;
  /// Where ONNX Runtime wants an output of this type and shape. FAIL where it has no memory for it.
  result<place> place_of(ort_kernel_context&, std::size_t i, const value& shaped) const;

  /// One run: inputs and outputs are those of the kernel that ONNX Runtime calls, in the session's order.
  status run(ort_kernel_context&) const;

  std::shared_ptr<const plugin> shared_;
  const host& host_;
  session session_;
  std::vector<std::size_t> places_;  // of the session's inputs among those of the node, which has constants, too
  known_shapes shapes_;
  mutable idle_objects<lease, 8> idle_;
};

}  // namespace CAMEO_NAMESPACE::detail::ort
