#pragma once
#include <cameo/context/workspace.hpp>
#include <cameo/ort_plugin_export/export.hpp>
#include <cameo/session/loader.hpp>

#include "ort_plugin_export/graph.hpp"
#include "ort_plugin_export/memory.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// The state that a factory shares with the execution providers that it makes. They may outlive the factory.
struct plugin {
  host ort;
  const ort_logger* log = nullptr;
  provider ep;  // the exported provider
  std::string name, vendor;
  op_table ops;
  std::unique_ptr<device_memory> memory;  // for values between nodes; null: host memory
  /// The workspace of the sessions that share contexts.
  std::shared_ptr<context_workspace> workspace = std::make_shared<context_workspace>();
};

/// The loader that loads or compiles models in memory for the plugin's provider alone.
loader loader_of(const plugin&);

/// A part of a graph that ONNX Runtime replaced by one node, which is to be compiled.
struct fused_group {
  const ort_graph* body;
  const ort_node* node;
};

struct context_place;

/// The execution provider of one session of ONNX Runtime, which forwards to cameo's provider.
struct execution_provider_object : ort_ep {
  explicit execution_provider_object(std::shared_ptr<const plugin>);

  // The implementations of GetCapability, Compile and OnSessionInitializationEnd.
  status claim(const ort_graph*, ort_support_info*);
  status compile(const ort_graph** bodies, const ort_node** fused, std::size_t count, ort_node_compute_info** made,
                 ort_node** contexts);
  status finish();

  /// The value of a configuration entry of ONNX Runtime's session; empty if the entry is not set.
  std::string_view option(std::string_view key) const {
    const std::string* const found = find_text(options, key);
    return found ? std::string_view{*found} : std::string_view{};
  }
  bool is_on(std::string_view key) const { return option(key) == "1"; }
  /// True if contexts are written without constants, which stay in the compiled model.
  bool is_weightless() const {
    return is_on("ep.context_enable") &&
           (is_on("ep.enable_weightless") || is_on("ep.enable_weightless_ep_context_nodes"));
  }

  std::shared_ptr<const plugin> shared;
  std::shared_ptr<const ort_ep_factory> factory;  // must stay alive, see factory_object
  const ort_logger* log = nullptr;
  text_pairs options;         // the configuration entries of ONNX Runtime's session
  session_options session;    // for cameo's sessions, one for each fused node
  std::string compatibility;  // the compatibility text of the compiled model

 private:
  static const execution_provider_object& self(const ort_ep* of) {
    return static_cast<const execution_provider_object&>(*of);
  }
  result<std::vector<std::vector<node_id>>> groups(const ort_graph&, const read_graph&);
  bool runs_alone(const ort_graph& in, const ort_node&) const;
  result<bool> looks_like_body(const ort_graph&) const;
  result<bool> is_left_to_its_node(const ort_graph&) const;
  result<std::unique_ptr<model>> read(const fused_group&) const;
  result<context_place> place(const fused_group&, bool is_last) const;
  /// Makes the session of group `i` of those that are compiled together. `context`, if not null, receives the node
  /// that stands for the group in the compiled model.
  result<cameo::session> session_of(std::span<const fused_group>, std::size_t i, ort_node** context);
  result<cameo::session> restored(std::unique_ptr<model>) const;
  result<cameo::session> restored(std::span<const fused_group>, std::size_t i, std::unique_ptr<model>) const;
  result<cameo::session> compiled(std::unique_ptr<model>, const fused_group&, bool is_last, ort_node** context);
};

}  // namespace CAMEO_NAMESPACE::detail::ort
