#pragma once
#include <cameo/ep/provider.hpp>

#include <string>

namespace CAMEO_NAMESPACE::eps {

/// Intel's OpenVINO: compiles the largest convex groups of a graph that the SDK's device takes. Names, contexts and
/// names of options follow ONNX Runtime's provider for the same SDK.
///
/// The SDK's libraries are loaded when they are first needed, so that a program starts without them: from
/// `library_folder`, or from the folder in the environment variable CAMEO_OPENVINO_LIBRARIES; without either, from
/// where they were when cameo was built, then from the system's search path. They stay loaded. Without them every use
/// of the provider is EP_FAIL.
///
/// Contexts are ONNX Runtime's, in both directions. The SDK imports only those of its own version.
///
/// The device computes integers in 32 bits, and may have less precision than the model if it is allowed to
/// (`precision`). Nodes with float64 are left to other providers.
struct openvino {
  static constexpr std::string_view name = "openvino", long_name = "OpenVINOExecutionProvider";
  static constexpr provider_vendor vendor{"Intel", 0x8086};
  static constexpr context_source sources[] = {{"OpenVINOExecutionProvider"}};
  static constexpr provider_option options[] = {
      {"device_type", "CPU", "one of the SDK's devices, or what it makes of several: AUTO:GPU,CPU"},
      {"precision", "ACCURACY", "ACCURACY: the model's; FP32, FP16, BF16; empty: what the device likes best"},
      {"num_of_threads", "0", "threads of the device CPU; 0: as many as the SDK likes"},
  };

  std::string device_type = "CPU", precision = "ACCURACY";  // by the options
  std::size_t num_of_threads = 0;
  std::string library_folder = {};  // of libopenvino_c.so

  /// The devices that the SDK finds on this machine: CPU, GPU.0, NPU, with their properties. EP_FAIL with the SDK's
  /// message.
  CAMEO_API result<std::vector<provider_device>> devices() const;
  /// The SDK's version, as in "2025.4.1-20426-...". EP_FAIL when it is not found.
  CAMEO_API result<std::string> sdk_version() const;
  /// A session for which several devices were chosen leaves it to the SDK which of them compiles (AUTO), unless the
  /// user sets the device. INVALID_ARGUMENT for an unknown precision or a number out of range.
  CAMEO_API result<openvino> configured(const provider_options&) const;

  /// Asks the SDK whether it can read and run the nodes, all at once, then by halves. EP_FAIL when the SDK is not
  /// found, INVALID_ARGUMENT when the SDK finds no such device.
  CAMEO_API result<std::vector<node_group>> groups(const graph_view&) const;
  /// EP_FAIL with the SDK's message. Programs may run several times at once; each run then has a request of its own,
  /// and requests are kept for later runs.
  CAMEO_API result<std::vector<compiled_node>> compile(std::span<const fused_view>) const;

  /// Compiled blobs of the SDK, by the groups' names.
  struct context_builder {
    std::vector<std::pair<std::string, std::vector<std::byte>>> blobs;
    std::string id;  // see identify()
  };
  /// EP_FAIL with the SDK's message when it can't export the compiled model.
  CAMEO_API result<context_part> store(context_builder&, const fused_view&, const compiled_node&) const;
  /// Writes a container as ONNX Runtime's provider does.
  CAMEO_API status write(const context_builder&, byte_sink) const;
  /// INVALID_GRAPH for a damaged container and for blobs of another version of the SDK, naming both; EP_FAIL with the
  /// SDK's message for a blob that it can't import; NOT_IMPLEMENTED for blobs without their weights.
  CAMEO_API result<compiled_node> restore(const context_binary&, const context_node&) const;
  /// Sets the id for the container, in a field that other readers skip.
  CAMEO_API void identify(context_builder&, std::string_view id) const;
  /// The id in a container; empty in ONNX Runtime's. INVALID_GRAPH for a damaged one.
  CAMEO_API result<std::string> identity(const context_binary&) const;
  /// The names of its blobs.
  CAMEO_API result<std::vector<std::string>> graphs(const context_binary&) const;
};

static_assert(claims_groups<openvino> && context_store<openvino> && context_lister<openvino>);
static_assert(context_identifier<openvino>);
static_assert(configurable_provider<openvino> && device_provider<openvino>);

}  // namespace CAMEO_NAMESPACE::eps
