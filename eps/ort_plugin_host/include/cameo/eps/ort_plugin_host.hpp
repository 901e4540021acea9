#pragma once
#include <cameo/ep/provider.hpp>

#include <deque>
#include <string>

namespace CAMEO_NAMESPACE::eps {

namespace ort_plugin_host_detail {
struct lazy_execution;
}  // namespace ort_plugin_host_detail

/// Vendors' plugins of ONNX Runtime (docs/ort_plugin_host.md): a library that exports CreateEpFactories, loaded when a
/// session names it, without ONNX Runtime in the process. Without a library it takes nothing. What a plugin returns is
/// checked; what it does in its own code is the plugin's. Libraries stay loaded.
struct ort_plugin_host {
  static constexpr std::string_view name = "ort_plugin", long_name = "OrtPluginExecutionProvider";
  static constexpr provider_vendor vendor{"cameo"};  // of this side; a plugin's devices name theirs
  /// The first is written where the plugin gives no source of its own.
  static constexpr context_source sources[] = {
      {"OrtPluginExecutionProvider"}, {"QNNExecutionProvider"}, {"QNN", true}, {"OpenVINOExecutionProvider"}, {"ggml"}};
  static constexpr provider_option options[] = {
      {"library", "", "path of the plugin"},
      {"options", "", "the plugin's own options: KEY=VALUE, separated by ';'"},
      {"hardware", "",
       "a processor to tell the plugin of, whether it is there or not: KIND or KIND:VENDOR_ID, as in "
       "npu:0x8086"},
      {"name", "", "the name that the plugin is registered under; without, that of its file"},
      {"contexts", "0", "1: what is compiled can be stored in a compiled model"},
      {"weightless", "0", "1: with `contexts`, constants stay in the model; set by ep.enable_weightless"},
  };

  std::string library = {}, hardware = {}, registered = {};  // by the options
  detail::text_pairs plugin_options = {};
  bool contexts = false, weightless = false;

  /// The devices that the plugin states; none without a library. NO_SUCHFILE or EP_FAIL when it can't be loaded, with
  /// the system's words or the plugin's.
  CAMEO_API result<std::vector<provider_device>> devices() const;
  /// INVALID_ARGUMENT for an option that can't be read.
  CAMEO_API result<ort_plugin_host> configured(const provider_options&) const;
  /// What the plugin says it takes. EP_FAIL, naming the plugin, when it fails or answers what can't be.
  CAMEO_API result<std::vector<node_group>> groups(const graph_view&) const;
  /// Each group by itself; errors as of groups(). Programs may run several times at once.
  CAMEO_API result<std::vector<compiled_node>> compile(std::span<const fused_view>) const;

  /// Contexts of the plugin, by the groups' names.
  struct context_builder {
    std::vector<std::pair<std::string, std::string>> contexts;
    std::deque<std::vector<value_id>> constants;  // that those leave in the model
  };
  /// NOT_IMPLEMENTED when the plugin gave no context (option `contexts`). EP_FAIL for a context with other inputs or
  /// outputs than the group.
  CAMEO_API result<context_part> store(context_builder&, const fused_view&, const compiled_node&) const;
  /// The same for a plugin that was asked for contexts without constants; it says which the model keeps.
  /// NOT_IMPLEMENTED when it keeps constants by itself.
  CAMEO_API result<context_part> store_weightless(context_builder&, const fused_view&, const compiled_node&) const;
  /// The plugin's bytes as they are; of several groups, one after the other behind a list of their names.
  CAMEO_API status write(const context_builder&, byte_sink) const;
  /// INVALID_GRAPH with the plugin's words when it can't use the context.
  CAMEO_API result<compiled_node> restore(const context_binary&, const context_node&) const;

 protected:
  /// The groups if the plugin wants images in this layout; else none.
  CAMEO_API result<std::vector<node_group>> groups_in(const graph_view&, data_layout) const;

 private:
  std::shared_ptr<ort_plugin_host_detail::lazy_execution>
      state_;  // of a configured one: its execution provider, made when needed
};

/// The same for plugins that want images with their channels last; a session may list both, and the one whose layout
/// the plugin wants takes what there is.
struct ort_plugin_host_nhwc : ort_plugin_host {
  static constexpr std::string_view name = "ort_plugin_nhwc", long_name = "OrtPluginNhwcExecutionProvider";
  static constexpr data_layout layout = data_layout::nhwc;
  static constexpr context_source sources[] = {{"OrtPluginNhwcExecutionProvider"}};

  /// See ort_plugin.
  result<std::vector<node_group>> groups(const graph_view& g) const { return groups_in(g, layout); }
};

static_assert(claims_groups<ort_plugin_host> && claims_groups<ort_plugin_host_nhwc> && context_store<ort_plugin_host>);
static_assert(configurable_provider<ort_plugin_host> && device_provider<ort_plugin_host>);

}  // namespace CAMEO_NAMESPACE::eps
