#pragma once
#include <cameo/core/device_kind.hpp>
#include <cameo/core/result.hpp>

#include <concepts>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cameo::inline CAMEO_ABI {

/// Keys and values, in order.
using text_pairs = std::vector<std::pair<std::string, std::string>>;
/// The value of a key; null when there is none of it.
CAMEO_API const std::string* find_text(const text_pairs&, std::string_view key);

/// Who makes a provider. The id is PCI's, 0 for who has none.
struct provider_vendor {
  std::string_view name;
  std::uint32_t id = 0;
};

/// A processor of this machine.
struct hardware_device {
  device_kind kind = device_kind::cpu;
  std::string vendor = {};              // "Intel"; empty: unknown
  std::uint32_t vendor_id = 0, id = 0;  // PCI's; 0: unknown
  text_pairs metadata = {};             // "Discrete" = "1": a graphics card of its own
};

/// A device as the provider states it that can use it.
struct provider_device {
  std::string name = {};  // the provider's own for it, for people: "GPU.1"; may be empty
  hardware_device hardware = {};
  text_pairs metadata = {};  // "version", "architecture" (model packages are matched by it), ...
  text_pairs options = {};   // of the provider's table: what holds when the device is used and the user says nothing
};

/// A provider paired with one of its devices.
struct ep_device {
  std::string provider = {}, ep = {};  // short name, long name
  std::string vendor = {};             // of the provider
  std::uint32_t vendor_id = 0;
  bool is_fallback = false;  // the provider is
  provider_device device = {};

  device_kind kind() const { return device.hardware.kind; }
};

/// As a policy wants them: NPUs, GPUs (discrete ones first), CPUs; then devices of the provider's own maker; fallbacks
/// last; then by the provider's long name. Stable: what is equal stays as it was.
CAMEO_API void sort_by_preference(std::vector<ep_device>&);

/// What a policy decides from: devices sorted by preference, and what the model says of itself (producer_name,
/// producer_version, domain, model_version, doc_string, graph_name, graph_description, and its metadata).
struct device_request {
  std::span<const ep_device> devices;
  const text_pairs& model;
};

/// Decides which devices a session uses, by their numbers in the request: from 1 to 8 of them. Providers are used in
/// the order in which their first device comes, each with all of its devices that were chosen.
template <class P>
concept device_selector = requires(const P& policy, const device_request& request) {
  { policy(request) } -> std::same_as<result<std::vector<std::size_t>>>;
};
/// Any of them.
using device_delegate = std::function<result<std::vector<std::size_t>>(const device_request&)>;

/// The first device of the kind, if there is one; then the first CPU, and the fallback's after another provider's. FAIL
/// when nobody has a CPU.
CAMEO_API result<std::vector<std::size_t>> preferred_devices(const device_request&, device_kind);

/// ONNX Runtime's policies, as types: a device of a kind if there is one, and the CPU.
template <device_kind Kind>
struct prefer {
  result<std::vector<std::size_t>> operator()(const device_request& request) const {
    return preferred_devices(request, Kind);
  }
};
using prefer_cpu = prefer<device_kind::cpu>;  ///< The first CPU.
using prefer_npu = prefer<device_kind::npu>;  ///< An NPU if there is one.
using prefer_gpu = prefer<device_kind::gpu>;  ///< A GPU if there is one.

/// The same as numbers, which are ONNX Runtime's. max_performance is prefer_gpu; max_efficiency and min_overall_power
/// are prefer_npu; default_policy is prefer_cpu.
enum class device_policy : std::uint8_t {
  default_policy = 0,
  prefer_cpu = 1,
  prefer_npu = 2,
  prefer_gpu = 3,
  max_performance = 4,
  max_efficiency = 5,
  min_overall_power = 6
};
/// INVALID_ARGUMENT for a number that is none of them.
CAMEO_API result<device_delegate> delegate_of(device_policy);
/// "prefer_npu"; INVALID_ARGUMENT naming those there are for another word.
CAMEO_API result<device_policy> device_policy_named(std::string_view);

/// Most that a policy may choose.
inline constexpr std::size_t most_devices = 8;

}  // namespace cameo::inline CAMEO_ABI
