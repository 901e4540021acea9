#pragma once
#include "ort_plugin_export/host.hpp"
#include "run/memory_cache.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// The memory of a provider's device for ONNX Runtime: an allocator for values, and copies from and to host memory.
/// Thread-safe.
class device_memory : public ort_allocator, public ort_data_transfer {
 public:
  /// Makes the object from a provider's hooks, which must outlive it. Null for a provider that uses host memory, and in
  /// ONNX Runtime before 1.24, which does not copy values between nodes of different providers.
  static result<std::unique_ptr<device_memory>> make(const host&, const memory_source&, const std::string& name,
                                                     ort_memory_kind, std::uint32_t vendor);

  const ort_memory_info* info() const { return info_.get(); }
  /// Where a block of memory, or a value, is: in this memory, in host memory, or in that of another device.
  enum location : std::uint8_t { own, cpu, other };
  location location_of(const ort_memory_device*) const;
  location location_of(const ort_value& v) const { return location_of(host_.call<ep_api::Value_GetMemoryDevice>(&v)); }

  memory_cache cache;

 private:
  device_memory(const host&, const memory_source&, ort_memory_info*);
  static const device_memory& self(const ort_data_transfer* of) { return static_cast<const device_memory&>(*of); }
  status copy(const ort_value* from, ort_value* to) const;

  const host host_;
  std::shared_ptr<const ort_memory_info> info_;
};

}  // namespace CAMEO_NAMESPACE::detail::ort
