#pragma once
#include <cameo/ep/provider.hpp>

#include <string>

namespace CAMEO_NAMESPACE::eps {

/// Intel's OpenVINO. Compiles the largest convex groups of a graph that the SDK's device supports. The names, the
/// contexts and the names of options are those of ONNX Runtime's provider for the same SDK.
///
/// The SDK's libraries are loaded when they are first needed, so that a program starts without them. They are searched
/// in `library_folder`, else in the folder in the environment variable CAMEO_OPENVINO_LIBRARIES, else where they were
/// when cameo was built and then in the system's search path. They stay loaded. Without them every use of the provider
/// is EP_FAIL.
///
/// Contexts can be exchanged with ONNX Runtime. The SDK imports only contexts of its version.
///
/// The device computes integers in 32 bits, and may use less precision than the model if option `precision` permits it.
/// Nodes with float64 are left to other providers.
struct openvino {
  static constexpr std::string_view name = "openvino", long_name = "OpenVINOExecutionProvider";
  static constexpr provider_vendor vendor{"Intel", 0x8086};
  static constexpr context_source sources[] = {{"OpenVINOExecutionProvider"}};
  static constexpr provider_option options[] = {
      {"device_type", "CPU", "one of the SDK's devices, or a combination: AUTO:GPU,CPU"},
      {"precision", "ACCURACY", "ACCURACY: the model's; FP32, FP16, BF16; empty: the device's default"},
      {"num_of_threads", "0", "threads of the device CPU; 0: the SDK's default"},
  };

  std::string device_type = "CPU", precision = "ACCURACY";  // the options
  std::size_t num_of_threads = 0;
  std::string library_folder = {};  // of libopenvino_c.so

  /// The devices that the SDK finds on this machine: CPU, GPU.0, NPU, with their properties. EP_FAIL with the SDK's
  /// message.
  CAMEO_API result<std::vector<provider_device>> devices() const;
  /// The SDK's version, as in "2025.4.1-20426-...". EP_FAIL if the SDK is not found.
  CAMEO_API result<std::string> sdk_version() const;
  /// A provider with these options. If a session has chosen several devices and option `device_type` is not set, the
  /// SDK chooses among them (AUTO). INVALID_ARGUMENT for an unknown precision or a number out of range.
  CAMEO_API result<openvino> configured(const provider_options&) const;

  /// Finds the nodes that the SDK can read and run. EP_FAIL if the SDK is not found, INVALID_ARGUMENT if the SDK does
  /// not find the device.
  CAMEO_API result<std::vector<node_group>> groups(const graph_view&) const;
  /// Compiles each group for the device. EP_FAIL with the SDK's message if it can't. Programs are thread-safe. Each
  /// concurrent run has its own inference request, which is kept for later runs.
  CAMEO_API result<std::vector<compiled_node>> compile(std::span<const fused_view>) const;

  /// The SDK's compiled blobs, by the names of the groups.
  struct context_builder {
    std::vector<std::pair<std::string, std::vector<std::byte>>> blobs;
    std::string id;  // see identify()
  };
  /// Exports a compiled group. EP_FAIL with the SDK's message if it can't.
  CAMEO_API result<context_part> store(context_builder&, const fused_view&, const compiled_node&) const;
  /// Writes a container as ONNX Runtime's provider does.
  CAMEO_API status write(const context_builder&, byte_sink) const;
  /// Imports a blob. INVALID_GRAPH for a damaged container, and for a blob of another version of the SDK, with both
  /// versions; EP_FAIL with the SDK's message for a blob that it can't import; NOT_IMPLEMENTED for blobs without
  /// weights.
  CAMEO_API result<compiled_node> restore(const context_binary&, const context_node&) const;
  /// Sets the container's id, which is written to a field that other programs ignore.
  CAMEO_API void identify(context_builder&, std::string_view id) const;
  /// The id in a container; empty if ONNX Runtime wrote it. INVALID_GRAPH for a damaged container.
  CAMEO_API result<std::string> identity(const context_binary&) const;
  /// The names of a container's blobs. INVALID_GRAPH for a damaged container.
  CAMEO_API result<std::vector<std::string>> graphs(const context_binary&) const;
};

static_assert(claims_groups<openvino> && context_store<openvino> && context_lister<openvino>);
static_assert(context_identifier<openvino>);
static_assert(configurable_provider<openvino> && device_provider<openvino>);

}  // namespace CAMEO_NAMESPACE::eps
