// A provider's memory as an allocator and a data transfer of ONNX Runtime.
#include "ort_plugin_export/memory.hpp"

#include "file/messages.hpp"

namespace CAMEO_NAMESPACE::detail::ort {
result<std::unique_ptr<device_memory>> device_memory::make(const host& h, const memory_source& hooks,
                                                           const std::string& name, ort_memory_kind kind,
                                                           std::uint32_t vendor) {
  if (hooks.allocate == heap_memory().allocate || h.version() < 24) return std::unique_ptr<device_memory>{};
  call_sequence calls{h};
  ort_memory_info* info = nullptr;
  calls.call<api::CreateMemoryInfo_V2>(name.c_str(), std::int32_t(kind), vendor, 0, 0, std::size_t{0}, 0, &info);
  if (!calls.outcome()) return calls.outcome();
  return std::unique_ptr<device_memory>{new device_memory{h, hooks, info}};
}

device_memory::device_memory(const host& h, const memory_source& hooks, ort_memory_info* made)
    : cache{hooks}, host_{h}, info_{made, [h](ort_memory_info* i) { h.call<api::ReleaseMemoryInfo>(i); }} {
  ort_allocator::version = ort_data_transfer::version = h.version();
  Alloc = Reserve = [](ort_allocator* of, std::size_t bytes) {
    return static_cast<device_memory&>(*of).cache.allocate(bytes);
  };
  Free = [](ort_allocator* of, void* memory) { static_cast<device_memory&>(*of).cache.release(memory); };
  Info = [](const ort_allocator* of) { return static_cast<const device_memory&>(*of).info(); };
  Release = [](ort_data_transfer*) {};
  CanCopy = [](const ort_data_transfer* of, const ort_memory_device* from, const ort_memory_device* to) {
    const location source = self(of).location_of(from), target = self(of).location_of(to);
    return source != other && target != other && (source == own || target == own);
  };
  CopyTensors = [](ort_data_transfer* of, const ort_value** from, ort_value** to, void**, std::size_t count) {
    return self(of).host_.give(guarded_hook([&] {
      status done;
      for (std::size_t i = 0; done && i < count; ++i)
        done = self(of).copy(from ? from[i] : nullptr, to ? to[i] : nullptr);
      return done;
    }));
  };
}

device_memory::location device_memory::location_of(const ort_memory_device* each) const {
  if (!each) return other;
  if (host_.call<ep_api::MemoryDevice_AreEqual>(each, host_.call<ep_api::MemoryInfo_GetMemoryDevice>(info())))
    return own;
  return host_.call<ep_api::MemoryDevice_GetDeviceType>(each) == 0 ? cpu : other;
}

status device_memory::copy(const ort_value* from, ort_value* to) const {
  if (!from || !to || location_of(*from) == other || location_of(*to) == other)
    return {status_code::invalid_argument, "a value to copy is missing, or in memory of another device"};
  call_sequence calls{host_};
  const std::size_t bytes = calls.get<api::GetTensorSizeInBytes>(*from);
  if (calls.get<api::GetTensorSizeInBytes>(*to) != bytes)
    calls.fail({status_code::invalid_argument, "a value is copied to one of another size"});
  memory_cache::place source{const_cast<void*>(calls.get<api::GetTensorData>(*from)), location_of(*from) != own};
  memory_cache::place target{nullptr, location_of(*to) != own};
  calls.call<api::GetTensorMutableData>(to, &target.memory);
  if (bytes > 0 && (!source.memory || !target.memory))
    calls.fail({status_code::invalid_argument, "a value to copy has no memory"});
  std::vector<std::byte> between;
  return calls.outcome() && bytes > 0 ? cache.copy(source, target, bytes, between) : calls.outcome();
}

}  // namespace CAMEO_NAMESPACE::detail::ort
