#pragma once
#include <cameo/ep/provider.hpp>

#include <string>

namespace cameo::inline CAMEO_ABI::eps {

/// Intel's OpenVINO: compiles the largest convex pieces of a graph that the SDK's device takes. Names, contexts and
/// what options are called follow ONNX Runtime's provider for the same SDK.
///
/// The SDK's libraries are looked for when they are first needed, so that a program starts without them: in
/// `library_folder`, in the folder that the environment's CAMEO_OPENVINO_LIBRARIES names, where they were when cameo
/// was built, and where the system looks. They stay loaded. Without them every use of the provider is EP_FAIL.
///
/// The device has integers of 32 bits inside, and may have less precision than the model if it is allowed to
/// (`precision`). Nodes with float64 are left to others.
struct openvino {
  static constexpr std::string_view name = "openvino", long_name = "OpenVINOExecutionProvider";

  std::string device = "CPU";  // device_type: one of devices(), or what the SDK makes of several ("AUTO:GPU,CPU")
  std::string precision = "ACCURACY";  // the model's; or FP32, FP16, BF16; empty: what the device likes best
  std::size_t threads = 0;             // num_of_threads of the device CPU; 0: as many as the SDK likes
  std::string library_folder = {};     // of libopenvino_c.so

  /// The devices that the SDK finds on this machine. EP_FAIL with the SDK's words.
  result<std::vector<std::string>> devices() const;
  /// The SDK's version, as in "2025.4.1-20426-...". EP_FAIL when it is not found.
  result<std::string> sdk_version() const;

  /// Asks the SDK whether it can read and run the nodes, all at once, then by halves. EP_FAIL when it is not found.
  result<std::vector<node_group>> groups(const graph_view&) const;
  /// EP_FAIL with the SDK's words; INVALID_ARGUMENT for options that don't exist. Programs may run several times at
  /// once; each run then has a request of its own, and requests are kept.
  result<std::vector<compiled_node>> compile(std::span<const fused_view>) const;
};

static_assert(execution_provider<openvino> && claims_groups<openvino> && compiler<openvino>);

}  // namespace cameo::inline CAMEO_ABI::eps
