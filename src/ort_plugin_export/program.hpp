#pragma once
#include <cameo/session/session.hpp>
#include <cameo/session/threads.hpp>

#include "ort_plugin_export/plugin.hpp"
#include "session/idle_objects.hpp"
#include "session/known_shapes.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// The threads of ONNX Runtime's session as a task_pool. Work inside of program::run() uses the threads of the current
/// run; other work, as while a model is loaded, stays on its thread.
class host_threads {
 public:
  std::size_t concurrency() const { return lanes_; }
  void parallel(std::size_t count, task);

 private:
  std::size_t lanes_ = available_threads();
};
/// The object for all sessions; it has no state.
host_threads& threads_of_host();

/// A session for the graph of a fused node. Thread-safe. Inputs are read from ONNX Runtime's memory, and outputs whose
/// shapes are known before the run are written to it. Other outputs are copied. This memory is the provider's if it has
/// its own.
class program : public ort_node_compute_info {
 public:
  program(std::shared_ptr<const plugin>, const ort_graph& body, session);

 private:
  using place = memory_cache::place;
  /// The objects that one run at a time uses.
  struct lease {
    io_binding binding;
    std::vector<value> inputs;
    std::vector<extents> shapes;                     // of outputs
    std::vector<place> places;                       // of outputs
    std::vector<memory_cache::block> copied_inputs;  // inputs of this run that were copied to the provider's memory
    std::vector<std::byte> copy_buffer;              // for copies within the provider's memory
  };
  status run(ort_kernel_context&, lease&) const;
  status bind_inputs(ort_kernel_context&, lease&) const;
  status bind_output(ort_kernel_context&, lease&, std::size_t) const;
  status finish_output(ort_kernel_context&, lease&, std::size_t) const;
  /// ONNX Runtime's memory for an output of this type and shape. FAIL if it has none.
  result<place> place_of(ort_kernel_context&, std::size_t i, const value& shaped) const;

  /// Runs the session with the inputs and outputs of a kernel that ONNX Runtime calls.
  status run(ort_kernel_context&) const;

  std::shared_ptr<const plugin> shared_;
  const host& host_;
  session session_;
  std::vector<std::size_t> positions_;  // of the session's inputs among those of the node, which include constants
  known_shapes shapes_;
  mutable idle_objects<lease, 8> idle_;
};

}  // namespace CAMEO_NAMESPACE::detail::ort
