// A provider's own memory inside ONNX Runtime.
#include "ort_plugin_export/memory.hpp"

#include "file/messages.hpp"

namespace CAMEO_NAMESPACE::detail::ort {
result<std::unique_ptr<device_memory>> device_memory::of(const host& h, const memory_source& hooks,
                                                         const std::string& name, ort_memory_kind kind,
                                                         std::uint32_t vendor) {
  if (hooks.allocate == heap_memory().allocate || h.version() < 24) return std::unique_ptr<device_memory>{};
  questions ask{h};
  ort_memory_info* info = nullptr;
  ask.that<api::CreateMemoryInfo_V2>(name.c_str(), std::int32_t(kind), vendor, 0, 0, std::size_t{0}, 0, &info);
  if (!ask.outcome()) return ask.outcome();
  return std::unique_ptr<device_memory>{new device_memory{h, hooks, info}};
}

device_memory::device_memory(const host& h, const memory_source& hooks, ort_memory_info* made)
    : pieces{hooks}, host_{h}, info_{made, [h](ort_memory_info* i) { h.call<api::ReleaseMemoryInfo>(i); }} {
  ort_allocator::version = ort_data_transfer::version = h.version();
  Alloc = Reserve = [](ort_allocator* of, std::size_t bytes) {
    return static_cast<device_memory&>(*of).pieces.allocate(bytes);
  };
  Free = [](ort_allocator* of, void* memory) { static_cast<device_memory&>(*of).pieces.release(memory); };
  Info = [](const ort_allocator* of) { return static_cast<const device_memory&>(*of).info(); };
  Release = [](ort_data_transfer*) {};
  CanCopy = [](const ort_data_transfer* of, const ort_memory_device* from, const ort_memory_device* to) {
    const where is_from = self(of).is(from), is_to = self(of).is(to);
    return is_from != where::elsewhere && is_to != where::elsewhere && (is_from == where::here || is_to == where::here);
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

device_memory::where device_memory::is(const ort_memory_device* each) const {
  if (!each) return where::elsewhere;
  if (host_.call<ep_api::MemoryDevice_AreEqual>(each, host_.call<ep_api::MemoryInfo_GetMemoryDevice>(info())))
    return where::here;
  return host_.call<ep_api::MemoryDevice_GetDeviceType>(each) == 0 ? where::host : where::elsewhere;
}

status device_memory::copy(const ort_value* from, ort_value* to) const {
  if (!from || !to || is(*from) == where::elsewhere || is(*to) == where::elsewhere)
    return {status_code::invalid_argument, "a value to copy is missing, or in memory of another device"};
  questions ask{host_};
  const std::size_t bytes = ask.get<api::GetTensorSizeInBytes>(*from);
  if (ask.get<api::GetTensorSizeInBytes>(*to) != bytes)
    ask.fail({status_code::invalid_argument, "a value is copied to one of another size"});
  memory_cache::place source{const_cast<void*>(ask.get<api::GetTensorData>(*from)), is(*from) != where::here};
  memory_cache::place target{nullptr, is(*to) != where::here};
  ask.that<api::GetTensorMutableData>(to, &target.memory);
  if (bytes > 0 && (!source.memory || !target.memory))
    ask.fail({status_code::invalid_argument, "a value to copy has no memory"});
  std::vector<std::byte> between;
  return ask.outcome() && bytes > 0 ? pieces.copy(source, target, bytes, between) : ask.outcome();
}

}  // namespace CAMEO_NAMESPACE::detail::ort
