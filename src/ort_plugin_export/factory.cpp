// The factory that ONNX Runtime finds in the library.
#include <cameo/context/compatibility.hpp>
#include <cameo/core/version.hpp>

#include "core/guarded.hpp"
#include "file/letters.hpp"
#include "file/messages.hpp"
#include "ort_plugin_export/placeholders.hpp"
#include "ort_plugin_export/plugin.hpp"
#include "ort_plugin_export/program.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::detail::ort {
namespace {

/// The metadata key with the name of the provider's device.
constexpr const char* device_key = "cameo.device";

/// The factory. It lives until it has been released and all of its execution providers have been destroyed, since ONNX
/// Runtime may release those through the factory later.
struct factory_object : ort_ep_factory, std::enable_shared_from_this<factory_object> {
  explicit factory_object(std::shared_ptr<const plugin>);

  // The implementations of GetSupportedDevices, CreateEp and ValidateCompiledModelCompatibilityInfo.
  status find_devices(const ort_hardware_device* const* found, std::size_t found_count, ort_ep_device** to,
                      std::size_t most, std::size_t* count);
  status create(const ort_hardware_device* const*, const ort_key_values* const* metadata, std::size_t device_count,
                const ort_session_options*, const ort_logger*, ort_ep** made);
  status check_fit(const ort_hardware_device* const*, std::size_t device_count, const char* text, std::int32_t* fit);

  std::shared_ptr<const plugin> shared;
  std::shared_ptr<factory_object> own_reference;  // null after release
  placeholder_domains domains;
};
factory_object& self(ort_ep_factory* of) { return static_cast<factory_object&>(*of); }
const plugin& plugin_of(const ort_ep_factory* of) { return *static_cast<const factory_object&>(*of).shared; }

/// True if a device of the machine is one that the provider states; 0 matches every vendor and device.
bool is_stated(const host& h, const ort_hardware_device& found, const hardware_device& stated) {
  const auto same = [](std::uint32_t a, std::uint32_t b) { return a == 0 || b == 0 || a == b; };
  return h.call<api::HardwareDevice_Type>(&found) == std::int32_t(stated.kind) &&
         (stated.kind == device_kind::cpu || (same(h.call<api::HardwareDevice_VendorId>(&found), stated.vendor_id) &&
                                              same(h.call<api::HardwareDevice_DeviceId>(&found), stated.id)));
}

/// The provider's devices; the processor if it states none.
result<std::vector<provider_device>> devices_of(const plugin& p) {
  result<std::vector<provider_device>> stated = p.ep.row->devices(p.ep.self.get());
  // The row does not distinguish a provider without the hook from one without devices.
  if (stated && stated->empty()) stated->push_back({});
  return stated;
}

/// The provider's memory. ONNX Runtime identifies a memory by the kind and the vendor of its device. A provider without
/// a vendor id gets one that is computed from its name, so that the memories of two providers differ.
result<std::unique_ptr<device_memory>> memory_of(const plugin& p) {
  const auto devices = devices_of(p).value_or(std::vector<provider_device>{});
  const auto is_gpu = [](const provider_device& each) { return each.hardware.kind == device_kind::gpu; };
  const bool has_gpu = std::any_of(devices.begin(), devices.end(), is_gpu);
  const std::uint32_t vendor = p.ep.row->vendor.id;
  return device_memory::make(p.ort, p.ep.row->memory(p.ep.self.get()), p.name,
                             has_gpu ? ort_memory_kind::gpu : ort_memory_kind::npu,
                             vendor ? vendor : std::uint32_t(std::hash<std::string>{}(p.name)));
}

factory_object::factory_object(std::shared_ptr<const plugin> by) : shared{std::move(by)}, domains{*shared} {
  version = shared->ort.version();
  GetName = [](const ort_ep_factory* of) { return plugin_of(of).name.c_str(); };
  GetVendor = [](const ort_ep_factory* of) { return plugin_of(of).vendor.c_str(); };
  GetVendorId = [](const ort_ep_factory* of) { return plugin_of(of).ep.row->vendor.id; };
  GetVersion = [](const ort_ep_factory*) { return CAMEO_VERSION; };
  GetSupportedDevices = callback<factory_object, &factory_object::find_devices>;
  CreateEp = callback<factory_object, &factory_object::create>;
  ReleaseEp = [](ort_ep_factory*, ort_ep* made) { delete static_cast<execution_provider_object*>(made); };
  ValidateCompiledModelCompatibilityInfo = callback<factory_object, &factory_object::check_fit>;
  CreateDataTransfer = [](ort_ep_factory* of, ort_data_transfer** made) -> ort_status* {
    return *made = plugin_of(of).memory.get(), nullptr;
  };
  if (shared->memory) {
    CreateAllocator = [](ort_ep_factory* of, const ort_memory_info* info, const ort_key_values*, ort_allocator** made) {
      const plugin& p = plugin_of(of);
      const bool is_own =
          info && p.memory->location_of(p.ort.call<ep_api::MemoryInfo_GetMemoryDevice>(info)) == device_memory::own;
      *made = is_own ? p.memory.get() : nullptr;
      return p.ort.give(is_own ? status{} : status{status_code::not_implemented, "it is not the provider's memory"});
    };
    ReleaseAllocator = [](ort_ep_factory*, ort_allocator*) {};
  }
  IsStreamAware = [](const ort_ep_factory*) { return false; };
  if (version < 24) return;
  GetNumCustomOpDomains = [](ort_ep_factory* of, std::size_t* count) -> ort_status* {
    return *count = self(of).domains.all().size(), nullptr;
  };
  GetCustomOpDomains = [](ort_ep_factory* of, ort_custom_op_domain** to, std::size_t capacity) -> ort_status* {
    for (const auto& [name, domain] : self(of).domains.all())
      if (capacity > 0) *to++ = domain, --capacity;
    return nullptr;
  };
}

status factory_object::find_devices(const ort_hardware_device* const* found, std::size_t found_count,
                                    ort_ep_device** to, std::size_t most, std::size_t* count) {
  *count = 0;
  const host& h = shared->ort;
  const result<std::vector<provider_device>> stated = devices_of(*shared);
  if (!stated) {  // for example without a driver; not an error, so that other providers can be used
    h.log(shared->log, ort_severity::warning,
          fmt::format("{} has no devices: {}", shared->name, stated.error().words()));
    return {};
  }
  call_sequence calls{h};
  for (const provider_device& each : *stated) {
    const auto* const at = std::find_if(found, found + found_count, [&](const ort_hardware_device* one) {
      return one && is_stated(h, *one, each.hardware);
    });
    if (at == found + found_count || *count == most) continue;
    text_pairs about = each.metadata;
    for (auto& pair : about)  // ONNX Runtime sets these keys to the library's version and path
      if (pair.first == "version" || pair.first == "library_path") pair.first.insert(0, "device.");
    about.emplace_back(device_key, each.name);
    if (shared->ep.row->contexts.can_be_weightless) about.emplace_back(weightless_metadata, "all");
    const auto metadata = h.pairs(about), options = h.pairs(each.options);
    calls.call<ep_api::CreateEpDevice>(this, *at, metadata.get(), options.get(), to + *count);
    if (!calls.outcome()) break;
    if (shared->memory) calls.call<ep_api::EpDevice_AddAllocatorInfo>(to[*count], shared->memory->info());
    ++*count;
  }
  return calls.outcome();
}

status factory_object::create(const ort_hardware_device* const*, const ort_key_values* const* metadata,
                              std::size_t device_count, const ort_session_options* wanted, const ort_logger* log,
                              ort_ep** to) {
  *to = nullptr;
  const host& h = shared->ort;
  auto made = std::make_unique<execution_provider_object>(shared);
  made->factory = shared_from_this();
  made->log = log;
  ort_key_values* entries = nullptr;
  if (status s = h.invoke<api::GetSessionOptionsConfigEntries>(wanted, &entries); !s) return s;
  made->options = h.pairs(entries);
  h.call<api::ReleaseKeyValuePairs>(entries);

  session_options& how = made->session;
  how.use(threads_of_host());
  how.workspace = shared->workspace;
  if (shared->memory) how.io_memory = shared->name;
  how.log = [h, log](log_level level, std::string_view words) {
    h.log(log, level == log_level::warning ? ort_severity::warning : ort_severity::verbose, words);
  };
  how.log_from = log_level::warning;
  for (const auto& [key, text] : made->options)
    if (key.starts_with(fmt::format("ep.{}.", lower_case(shared->name))) || key.starts_with("ep.enable_weightless"))
      how.config.emplace_back(key, text);
  const std::vector<ep_device> all = detail::devices_of({&shared->ep, 1});
  std::vector<ep_device> chosen;
  for (std::size_t i = 0; metadata && i < device_count; ++i)
    for (const auto& [key, text] : h.pairs(metadata[i]))
      for (const ep_device& device : all)
        if (key == device_key && device.device.name == text) chosen.push_back(device);
  if (!chosen.empty())
    if (status s = how.append(chosen); !s) return s;
  *to = made.release();
  return {};
}

status factory_object::check_fit(const ort_hardware_device* const*, std::size_t, const char* text, std::int32_t* fit) {
  *fit = 0;
  const result<compiled_fit> found = fit_of(shared->ep, text ? text : "");
  if (found) *fit = std::int32_t(*found);
  return found.error();
}

}  // namespace

ort_status* create_factories(provider (*make)(), const char*, const ort_api_base* base, const ort_logger* log,
                             ort_ep_factory** factories, std::size_t most, std::size_t* count) {
  if (count) *count = 0;
  if (!base || !factories || !count || most == 0) return nullptr;
  const result<host> runtime = guarded([&] { return host::make(*base); });
  if (!runtime) return host::refuse(*base, runtime.error());
  return runtime->give(guarded_hook([&]() -> status {
    auto made = std::make_shared<plugin>();
    made->ort = *runtime, made->log = log, made->ep = make();
    const provider_row& row = *made->ep.row;
    made->name = row.long_name, made->vendor = row.vendor.name.empty() ? row.name : row.vendor.name;
    made->ops = operators(row);
    if (auto memory = memory_of(*made)) made->memory = *std::move(memory);
    else return std::move(memory).error();
    const auto factory = std::make_shared<factory_object>(std::move(made));
    factory->own_reference = factory;
    factories[0] = factory.get();
    *count = 1;
    return {};
  }));
}

ort_status* release_factory(ort_ep_factory* made) {
  if (made) const auto last = std::exchange(self(made).own_reference, nullptr);
  return nullptr;
}

}  // namespace CAMEO_NAMESPACE::detail::ort
