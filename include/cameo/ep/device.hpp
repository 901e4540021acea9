#pragma once
#include <cameo/core/callback.hpp>
#include <cameo/core/device_kind.hpp>
#include <cameo/core/result.hpp>

#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace CAMEO_NAMESPACE {

namespace detail {
/// Keys and values, in order.
using text_pairs = std::vector<std::pair<std::string, std::string>>;
}  // namespace detail
/// The value of a key; null when the key is absent.
CAMEO_API const std::string* find_text(const detail::text_pairs&, std::string_view key);

/// The vendor of a provider. The id is the PCI vendor id; 0 if the vendor has no such id.
struct provider_vendor {
  std::string_view name;
  std::uint32_t id = 0;
};

/// A processor of this machine.
struct hardware_device {
  device_kind kind = device_kind::cpu;
  std::string vendor = {};              // "Intel"; empty: unknown
  std::uint32_t vendor_id = 0, id = 0;  // PCI ids; 0: unknown
  detail::text_pairs metadata = {};     // "Discrete" = "1": a discrete graphics card
};

/// A device, as described by the provider that can use it.
struct provider_device {
  std::string name = {};  // the provider's name for it, for display: "GPU.1"; may be empty
  hardware_device hardware = {};
  detail::text_pairs metadata = {};  // "version", "architecture" (model packages are matched by it), ...
  detail::text_pairs options = {};   // values of options for this device, where the user sets none
};

/// A provider paired with one of its devices.
struct ep_device {
  std::string provider = {}, ep = {};  // short name, long name
  std::string vendor = {};             // of the provider
  std::uint32_t vendor_id = 0;
  bool is_fallback = false;  // true if the provider is the fallback
  provider_device device = {};

  device_kind kind() const { return device.hardware.kind; }
};

namespace detail {
/// Sorts devices for policies: NPUs, GPUs (discrete ones first), CPUs; then devices made by the provider's vendor
/// first; fallbacks last; then by the provider's long name. The sort is stable.
CAMEO_API void sort_by_preference(std::vector<ep_device>&);
}  // namespace detail

/// The input of a policy: devices sorted by preference, and the model's metadata (producer_name, producer_version,
/// domain, model_version, doc_string, graph_name, graph_description, and its metadata_props).
struct device_request {
  std::span<const ep_device> devices;
  const detail::text_pairs& model;
};

/// A policy, which chooses the devices of a session.
/// - `result<std::vector<std::size_t>> operator()(const device_request&) const` returns indices of devices in the
///   request: 1 to 8 of them, none twice. Providers are used in the order of their first chosen device, each with all
///   of its devices that were chosen. It is called once for each model, after the model was read, by the thread that
///   loads it. The request is valid during the call. An error, an exception or another number of devices becomes FAIL.
///
/// Without a policy the session uses the list of providers.
template <class P>
concept device_selector = requires(const P& policy, const device_request& request) {
  { policy(request) } -> std::same_as<result<std::vector<std::size_t>>>;
};
namespace detail {
/// A type-erased device_selector.
using device_delegate = callback<result<std::vector<std::size_t>>(const device_request&)>;
}  // namespace detail

/// Policies as numbers, with ONNX Runtime's values. max_performance is prefer_gpu; max_efficiency and min_overall_power
/// are prefer_npu; default_policy is prefer_cpu. The types with these names are below.
enum class device_policy : std::uint8_t {
  default_policy = 0,
  prefer_cpu = 1,
  prefer_npu = 2,
  prefer_gpu = 3,
  max_performance = 4,
  max_efficiency = 5,
  min_overall_power = 6
};
/// Returns indices of devices, each once, in this order: the first device of the kind, if there is one; the first CPU;
/// and the fallback provider's first CPU, if the first CPU belongs to another provider. FAIL if no provider has a CPU.
CAMEO_API result<std::vector<std::size_t>> preferred_devices(const device_request&, device_kind);

/// ONNX Runtime's policies, as types: a device of the kind if there is one, and the CPU.
template <device_kind Kind>
struct prefer {
  result<std::vector<std::size_t>> operator()(const device_request& request) const {
    return preferred_devices(request, Kind);
  }
};
using prefer_cpu = prefer<device_kind::cpu>;  ///< The first CPU.
using prefer_npu = prefer<device_kind::npu>;  ///< An NPU if there is one.
using prefer_gpu = prefer<device_kind::gpu>;  ///< A GPU if there is one.

namespace detail {
/// The device_selector for a policy; INVALID_ARGUMENT for a number that is not a policy's.
CAMEO_API result<detail::device_delegate> delegate_of(device_policy);
/// The policy of this name ("prefer_npu"); INVALID_ARGUMENT listing the names for any other word.
CAMEO_API result<device_policy> device_policy_named(std::string_view);

/// The largest number of devices that a policy may choose.
inline constexpr std::size_t most_devices = 8;
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
