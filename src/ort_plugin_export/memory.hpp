#pragma once
#include "ort_plugin_export/host.hpp"
#include "run/memory_cache.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// The memory of a provider as ONNX Runtime uses it: memory of a device, with an allocator for values and with copies
/// to and from the processor's. One object for all that ONNX Runtime asks for. Thread-safe.
class device_memory : public ort_allocator, public ort_data_transfer {
 public:
  /// Of a provider's hooks, which outlive it. Null for a provider without memory of its own, and in ONNX Runtime before
  /// 1.24, which does not copy where nodes of other providers meet its nodes.
  static result<std::unique_ptr<device_memory>> of(const host&, const memory_source&, const std::string& name,
                                                   ort_memory_kind, std::uint32_t vendor);

  const ort_memory_info* info() const { return info_.get(); }
  /// Where memory is, or a value: this, the processor's, or that of another device.
  enum class where : std::uint8_t { here, host, elsewhere };
  where is(const ort_memory_device*) const;
  where is(const ort_value& v) const { return is(host_.call<ep_api::Value_GetMemoryDevice>(&v)); }

  memory_cache pieces;

 private:
  device_memory(const host&, const memory_source&, ort_memory_info*);
  static const device_memory& self(const ort_data_transfer* of) { return static_cast<const device_memory&>(*of); }
  status copy(const ort_value* from, ort_value* to) const;

  const host host_;
  std::shared_ptr<const ort_memory_info> info_;
};

}  // namespace CAMEO_NAMESPACE::detail::ort
