#pragma once
#include <cameo/ep/provider.hpp>

#include <string>

namespace cameo::inline CAMEO_ABI::eps {

/// Intel's OpenVINO: compiles the largest convex pieces of a graph that the SDK's device takes. Names, contexts and
/// what options are called follow ONNX Runtime's provider for the same SDK.
///
/// The SDK's libraries are looked for when they are first needed, so that a program starts without them: in
/// `library_folder`, or in the folder that the environment's CAMEO_OPENVINO_LIBRARIES names; without either, where they
/// were when cameo was built, then where the system looks. They stay loaded. Without them every use of the provider is
/// EP_FAIL.
///
/// Contexts are ONNX Runtime's, both ways. The SDK imports those of its own version alone.
///
/// The device has integers of 32 bits inside, and may have less precision than the model if it is allowed to
/// (`precision`). Nodes with float64 are left to others.
struct openvino {
  static constexpr std::string_view name = "openvino", long_name = "OpenVINOExecutionProvider";
  static constexpr provider_vendor vendor{"Intel", 0x8086};
  static constexpr context_source sources[] = {{"OpenVINOExecutionProvider"}};
  static constexpr provider_option options[] = {
      {"device_type", "CPU", "one of the SDK's devices, or what it makes of several: AUTO:GPU,CPU"},
      {"precision", "ACCURACY", "ACCURACY: the model's; FP32, FP16, BF16; empty: what the device likes best"},
      {"num_of_threads", "0", "threads of the device CPU; 0: as many as the SDK likes"},
  };

  std::string device_type = "CPU", precision = "ACCURACY";  // as the options say
  std::size_t num_of_threads = 0;
  std::string library_folder = {};  // of libopenvino_c.so

  /// The devices that the SDK finds on this machine: CPU, GPU.0, NPU, with what it says of them. EP_FAIL with the SDK's
  /// words.
  CAMEO_API result<std::vector<provider_device>> devices() const;
  /// The SDK's version, as in "2025.4.1-20426-...". EP_FAIL when it is not found.
  CAMEO_API result<std::string> sdk_version() const;
  /// A session for which several devices were chosen leaves it to the SDK which of them compiles (AUTO), unless the
  /// user says otherwise. INVALID_ARGUMENT for a precision or a number that there is not.
  CAMEO_API result<openvino> configured(const provider_options&) const;

  /// Asks the SDK whether it can read and run the nodes, all at once, then by halves. EP_FAIL when it is not found,
  /// INVALID_ARGUMENT when it finds no such device.
  CAMEO_API result<std::vector<node_group>> groups(const graph_view&) const;
  /// EP_FAIL with the SDK's words. Programs may run several times at once; each run then has a request of its own, and
  /// requests are kept.
  CAMEO_API result<std::vector<compiled_node>> compile(std::span<const fused_view>) const;

  /// Blobs of the SDK's, by the groups' names.
  struct context_builder {
    std::vector<std::pair<std::string, std::vector<std::byte>>> blobs;
    std::string id;  // see identify()
  };
  /// EP_FAIL with the SDK's words when it can't export what the device compiled.
  CAMEO_API result<context_part> store(context_builder&, const fused_view&, const compiled_node&) const;
  /// A container as ONNX Runtime's provider writes it.
  CAMEO_API status write(const context_builder&, byte_sink) const;
  /// INVALID_GRAPH for a damaged container and for blobs of another version of the SDK, naming both; EP_FAIL with the
  /// SDK's words for what it can't import; NOT_IMPLEMENTED for blobs without their weights.
  CAMEO_API result<compiled_node> restore(const context_binary&, const context_node&) const;
  /// The id that its container gets, in a field that other readers pass over.
  CAMEO_API void identify(context_builder&, std::string_view id) const;
  /// The id in a container; empty in ONNX Runtime's. INVALID_GRAPH for a damaged one.
  CAMEO_API result<std::string> identity(const context_binary&) const;
  /// The names of its blobs.
  CAMEO_API result<std::vector<std::string>> graphs(const context_binary&) const;
};

static_assert(claims_groups<openvino> && context_store<openvino> && context_lister<openvino>);
static_assert(context_identifier<openvino>);
static_assert(configurable_provider<openvino> && device_provider<openvino>);

}  // namespace cameo::inline CAMEO_ABI::eps
