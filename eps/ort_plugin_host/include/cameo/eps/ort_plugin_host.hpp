#pragma once
#include <cameo/ep/provider.hpp>

#include <deque>
#include <string>

namespace CAMEO_NAMESPACE::eps {

namespace ort_plugin_host_detail {
struct lazy_execution;
}  // namespace ort_plugin_host_detail

/// Runs vendors' plugins of ONNX Runtime without ONNX Runtime (docs/ort_plugin_host.md). A plugin is a shared library
/// that exports CreateEpFactories; option `library` names it. Without a library the provider supports no node. Values
/// that a plugin returns are checked, but errors inside of its code are not contained. Libraries stay loaded until the
/// process ends.
struct ort_plugin_host {
  static constexpr std::string_view name = "ort_plugin", long_name = "OrtPluginExecutionProvider";
  static constexpr provider_vendor vendor{"cameo"};  // of this provider; a plugin's devices have their own
  /// The values of EPContext's attribute `source` that this provider restores. The first one is written for a context
  /// whose plugin gives no source.
  static constexpr context_source sources[] = {
      {"OrtPluginExecutionProvider"}, {"QNNExecutionProvider"}, {"QNN", true}, {"OpenVINOExecutionProvider"}, {"ggml"}};
  static constexpr provider_option options[] = {
      {"library", "", "path of the plugin"},
      {"options", "", "the plugin's own options: KEY=VALUE, separated by ';'"},
      {"hardware", "", "a processor to report to the plugin, present or not: KIND or KIND:VENDOR_ID, as in npu:0x8086"},
      {"name", "", "the name that the plugin is registered under; without, that of its file"},
      {"contexts", "0", "1: compiled groups can be stored in a compiled model"},
      {"weightless", "0", "1: with `contexts`, constants stay in the model; set by ep.enable_weightless"},
  };

  std::string library = {}, hardware = {}, registered = {};  // the options
  detail::text_pairs plugin_options = {};
  bool contexts = false, weightless = false;

  /// The devices that the plugin states; none without a library. NO_SUCHFILE or EP_FAIL, with the message of the system
  /// or of the plugin, if the library can't be loaded.
  CAMEO_API result<std::vector<provider_device>> devices() const;
  /// A provider with these options. INVALID_ARGUMENT for an option that can't be parsed.
  CAMEO_API result<ort_plugin_host> configured(const provider_options&) const;
  /// The groups that the plugin supports. EP_FAIL, with the plugin's name, if the plugin fails or returns an invalid
  /// group.
  CAMEO_API result<std::vector<node_group>> groups(const graph_view&) const;
  /// Compiles each group separately; errors as of groups(). Programs are thread-safe.
  CAMEO_API result<std::vector<compiled_node>> compile(std::span<const fused_view>) const;

  /// The plugin's contexts, by the names of the groups.
  struct context_builder {
    std::vector<std::pair<std::string, std::string>> contexts;
    std::deque<std::vector<value_id>> constants;  // per context: the constants that it leaves in the model
  };
  /// Adds the context of a group. NOT_IMPLEMENTED if the plugin made no context (option `contexts`). EP_FAIL for a
  /// context whose inputs or outputs differ from the group's.
  CAMEO_API result<context_part> store(context_builder&, const fused_view&, const compiled_node&) const;
  /// Adds a context without constants, with the list of the constants that the model keeps. NOT_IMPLEMENTED if the
  /// plugin stores constants nevertheless.
  CAMEO_API result<context_part> store_weightless(context_builder&, const fused_view&, const compiled_node&) const;
  /// Writes the plugin's bytes unchanged if there is one context; otherwise the name and the bytes of each.
  CAMEO_API status write(const context_builder&, byte_sink) const;
  /// Makes a program from a context. INVALID_GRAPH, with the plugin's message, if the plugin can't use it.
  CAMEO_API result<compiled_node> restore(const context_binary&, const context_node&) const;

 protected:
  /// The groups if the plugin prefers this layout of images; otherwise none.
  CAMEO_API result<std::vector<node_group>> groups_in(const graph_view&, data_layout) const;

 private:
  /// The plugin's execution provider, made when it is first needed; null until configured() has been called.
  std::shared_ptr<ort_plugin_host_detail::lazy_execution> state_;
};

/// The provider for plugins that prefer images with channels last. A session may list both providers; only the one with
/// the layout that the plugin prefers then returns groups.
struct ort_plugin_host_nhwc : ort_plugin_host {
  static constexpr std::string_view name = "ort_plugin_nhwc", long_name = "OrtPluginNhwcExecutionProvider";
  static constexpr data_layout layout = data_layout::nhwc;
  static constexpr context_source sources[] = {{"OrtPluginNhwcExecutionProvider"}};

  /// See ort_plugin_host::groups().
  result<std::vector<node_group>> groups(const graph_view& g) const { return groups_in(g, layout); }
};

static_assert(claims_groups<ort_plugin_host> && claims_groups<ort_plugin_host_nhwc> && context_store<ort_plugin_host>);
static_assert(configurable_provider<ort_plugin_host> && device_provider<ort_plugin_host>);

}  // namespace CAMEO_NAMESPACE::eps
