// Loads plugins and calls their factories and execution providers.
#include "library.hpp"

#include "os/processors.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace CAMEO_NAMESPACE::eps::ort_plugin_host_detail {
namespace {

constexpr std::size_t most_devices = 8;

template <class... Args>
status ep_failed(fmt::format_string<Args...> format, Args&&... args) {
  return {status_code::ep_fail, fmt::format(format, std::forward<Args>(args)...)};
}

/// The default name under which a plugin is registered: "ggml" for libonnxruntime_ggml.so, "qnn" for
/// libonnxruntime_providers_qnn.so.
std::string stem_of(const std::filesystem::path& path) {
  std::string name = path.filename().string();
  name = name.substr(0, name.find('.'));
  for (std::string_view prefix : {"lib", "onnxruntime_", "providers_"})
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  return name;
}

}  // namespace

const ort::ort_hardware_device& processor() {
  static const ort::ort_hardware_device found = [] {
    ort::ort_hardware_device made;
    made.description.kind = device_kind::cpu;
    if (const std::string vendor = os::processor_vendor(); !vendor.empty()) {
      made.description.vendor = vendor == "GenuineIntel" ? "Intel" : "AMD";
      made.description.vendor_id = made.description.vendor == "Intel" ? 0x8086 : 0x1022;
    }
    return made;
  }();
  return found;
}

result<std::unique_ptr<ort::ort_hardware_device>> hardware_named(std::string_view words) {
  const std::size_t colon = std::min(words.find(':'), words.size());
  const std::optional<device_kind> kind = detail::device_kind_named(words.substr(0, colon));
  std::string_view id = words.substr(std::min(colon + 1, words.size()));
  std::uint32_t number = 0;
  const int base = id.starts_with("0x") ? 16 : 10;
  if (base == 16) id.remove_prefix(2);
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number, base);
  const bool is_number = id.empty() ? colon == words.size() : error == std::errc{} && end == id.data() + id.size();
  if (!kind || !is_number)
    return status{status_code::invalid_argument,
                  fmt::format("option 'hardware' is KIND or KIND:VENDOR_ID, as in npu:0x8086, and not '{}'", words)};
  auto made = std::make_unique<ort::ort_hardware_device>();
  made->description.kind = *kind, made->description.vendor_id = number;
  return made;
}

namespace {

/// The loaded libraries, by their canonical paths. They are never destroyed, because threads of plugins may run until
/// the process ends.
struct loaded_libraries {
  std::mutex guard;
  std::map<std::string, std::unique_ptr<library>> all;
};
loaded_libraries& loaded() {
  static loaded_libraries& one = *new loaded_libraries;
  return one;
}

}  // namespace

std::unique_ptr<library> library::take(const std::string& path) {
  std::error_code error;
  const std::lock_guard lock{loaded().guard};
  const auto found = loaded().all.extract(std::filesystem::canonical(path, error).string());
  return found ? std::move(found.mapped()) : nullptr;
}

void library::release_factory() {
  using release_function = ort::ort_status*(ort::ort_ep_factory*);
  if (!handle_ || std::exchange(is_released_, true)) return;
  auto* const release = handle_.find<release_function>("ReleaseEpFactory");
  static_cast<void>(invoke("ReleaseEpFactory", release, factory_));
}

library::~library() {
  release_factory();
  handle_.unload();
}

result<const library*> library::load(const std::string& path, const std::string& registered) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(path, error);
  if (error) return status{status_code::no_suchfile, fmt::format("plugin '{}': {}", path, error.message())};
  const std::lock_guard lock{loaded().guard};
  std::unique_ptr<library>& place = loaded().all[real.string()];
  if (!place) {
    result<std::unique_ptr<library>> made = open(real.string(), registered.empty() ? stem_of(real) : registered);
    if (!made) return std::move(made).error().in(fmt::format("plugin '{}'", path));
    place = *std::move(made);
  }
  return static_cast<const library*>(place.get());
}

result<std::unique_ptr<library>> library::open(const std::string& path, const std::string& registered) {
  const result<os::library> handle = os::library::load(path);
  if (!handle) return ep_failed("it can't be loaded: {}", handle.error().words());
  using create_function = ort::ort_status*(const char*, const ort::ort_api_base*, const ort::ort_logger*,
                                           ort::ort_ep_factory**, std::size_t, std::size_t*);
  auto* const create = handle->find<create_function>("CreateEpFactories");
  if (!create) return ep_failed("it has no function CreateEpFactories: it is not a plugin");
  auto made = std::make_unique<library>();
  constexpr std::size_t most = 4;
  ort::ort_ep_factory* factories[most] = {};
  std::size_t count = 0;
  if (status s = invoke("CreateEpFactories", create, registered.c_str(), &ort::api_base(), &made->log_, factories, most,
                        &count);
      !s)
    return s;
  if (count == 0 || count > most || !factories[0]) return ep_failed("CreateEpFactories made {} factories", count);
  ort::ort_ep_factory* const f = made->factory_ = factories[0];
  if (f->version < 22 || !f->GetName || !f->GetVendor || !f->GetSupportedDevices || !f->CreateEp || !f->ReleaseEp)
    return ep_failed("its factory, of version {}, lacks functions", f->version);
  const auto names = [&]() -> status {
    const char *const name = f->GetName(f), *const vendor = f->GetVendor(f);
    if (!name || !*name) return ep_failed("its execution provider has no name");
    made->name_ = name, made->vendor_ = vendor ? vendor : "";
    return {};
  };
  if (status s = catch_all("GetName", names); !s) return s;
  made->handle_ = *handle;  // a library that failed before this point stays loaded, since it may have started threads
  return made;
}

result<std::vector<std::unique_ptr<ort::ort_ep_device>>> library::devices(const ort::ort_hardware_device* more) const {
  std::vector<const ort::ort_hardware_device*> machine;
  if (more) machine.push_back(more);
  machine.push_back(&processor());
  ort::ort_ep_device* found[most_devices] = {};
  std::size_t count = 0;
  status done = invoke(fmt::format("{}: GetSupportedDevices", name_), factory_->GetSupportedDevices, factory_,
                       machine.data(), machine.size(), found, most_devices, &count);
  // The devices that the plugin made are owned from here on, even if it returned an error. Other pointers are invalid.
  std::vector<std::unique_ptr<ort::ort_ep_device>> made;
  bool is_sound = count <= most_devices;
  {
    const std::lock_guard lock{ort::devices_made().guard};
    for (std::size_t i = 0; i < std::min(count, most_devices); ++i) {
      if (ort::devices_made().all.erase(found[i]) == 0) is_sound = false;
      else made.emplace_back(found[i]);
    }
  }
  if (!done) return done;
  if (!is_sound) return ep_failed("{}: GetSupportedDevices returned {} devices, some invalid", name_, count);
  for (const auto& each : made) each->name = name_, each->vendor = vendor_;
  return made;
}

/// Sets the entries of the session options that ONNX Runtime would pass to the plugin.
void execution::set_options(const detail::text_pairs& options, bool contexts, bool weightless) {
  std::string prefix = fmt::format("ep.{}.", library_.name());
  for (char& c : prefix) c = c >= 'A' && c <= 'Z' ? char(c + ('a' - 'A')) : c;
  for (const auto& [key, value] : devices_[0]->options.pairs)
    options_.entries.set((prefix + key).c_str(), value.c_str());
  for (const auto& [key, value] : options) options_.entries.set((prefix + key).c_str(), value.c_str());
  if (contexts)
    for (const char* key : {"ep.context_enable", "ep.context_embed_mode"}) options_.entries.set(key, "1");
  if (weightless) options_.entries.set("ep.enable_weightless", "1");
}

result<std::shared_ptr<execution>> execution::make(const library& of, const detail::text_pairs& options,
                                                   std::string_view hardware, bool contexts, bool weightless) {
  std::shared_ptr<execution> made{new execution{of}};
  if (!hardware.empty()) {
    result<std::unique_ptr<ort::ort_hardware_device>> more = hardware_named(hardware);
    if (!more) return std::move(more).error();
    made->more_ = *std::move(more);
  }
  result<std::vector<std::unique_ptr<ort::ort_ep_device>>> devices = of.devices(made->more_.get());
  if (!devices) return std::move(devices).error();
  if (devices->empty()) return ep_failed("{} has no device on this machine; set option 'hardware'", of.name());
  made->devices_ = *std::move(devices);
  made->devices_.resize(1);  // with devices of several kinds, a policy chooses before the provider is made
  const ort::ort_ep_device& device = *made->devices_[0];
  made->set_options(options, contexts, weightless);
  const ort::ort_hardware_device* const machine[] = {device.hardware};
  const ort::ort_key_values* const metadata[] = {&device.metadata};
  ort::ort_ep_factory& f = of.factory();
  if (status s = invoke(fmt::format("{}: CreateEp", of.name()), f.CreateEp, &f, machine, metadata, 1, &made->options_,
                        &made->log_, &made->ep_);
      !s)
    return made->ep_ = nullptr, s;
  const ort::ort_ep* const ep = made->ep_;
  if (!ep || ep->version < 23 || !ep->GetCapability || !ep->Compile || !ep->ReleaseNodeComputeInfos)
    return ep_failed("{}: CreateEp returned no execution provider that compiles", of.name());
  std::int32_t layout = 0;
  if (status s = invoke(of.name(), ep->GetPreferredDataLayout, made->ep_, &layout); !s) return s;
  if (layout == 1) made->layout_ = data_layout::nhwc;
  if (!weightless) return made;
  std::int32_t support = ort::weightless_none;
  if (ep->version >= 29)
    if (status s = invoke(of.name(), ep->GetWeightlessSupport, ep, &support); !s) return s;
  if (support == ort::weightless_all || support == ort::weightless_either) return made;
  const bool in_files = support == ort::weightless_external;
  return status{status_code::not_implemented,
                fmt::format("{} writes no contexts without constants{}; set ep.enable_weightless to 0", of.name(),
                            in_files ? " except for those in files, which cameo does not report to it" : "")};
}

execution::~execution() {
  if (!ep_) return;
  ort::ort_ep_factory& f = library_.factory();
  static_cast<void>(invoke(library_.name(), f.ReleaseEp, &f, ep_));
}

result<std::vector<ort::ort_support_info::group>> execution::claims(const ort::ort_graph& graph) {
  const std::lock_guard lock{guard_};
  ort::ort_support_info info{&graph, {}};
  if (status s = invoke(fmt::format("{}: GetCapability", library_.name()), ep_->GetCapability, ep_, &graph, &info); !s)
    return s;
  std::set<node_id> seen;
  for (const auto& group : info.groups)
    for (node_id n : group.nodes)
      if (!seen.insert(n).second)
        return ep_failed("{}: GetCapability claims a node of '{}' twice", library_.name(), graph.name);
  return std::move(info.groups);
}

result<ort::ort_node_compute_info*> execution::compile(const ort::ort_graph& graph, const ort::ort_node& fused,
                                                       std::unique_ptr<ort::ort_node>* context) {
  const std::lock_guard lock{guard_};
  const ort::ort_graph* graphs[] = {&graph};
  const ort::ort_node* nodes[] = {&fused};
  ort::ort_node_compute_info* made[] = {nullptr};
  ort::ort_node* contexts[] = {nullptr};
  const status done =
      invoke(fmt::format("{}: Compile", library_.name()), ep_->Compile, ep_, graphs, nodes, 1, made, contexts);
  std::unique_ptr<ort::ort_node> node = ort::take_node(contexts[0]);
  if (!done) return done;
  const bool is_sound = made[0] && made[0]->version >= 23 && made[0]->Compute && (!contexts[0] || node);
  if (!is_sound) {
    release_one(made[0]);
    return ep_failed("{}: Compile returned nothing to run '{}' with, or an invalid context node", library_.name(),
                     fused.name);
  }
  if (context) *context = std::move(node);
  return made[0];
}

void execution::release(ort::ort_node_compute_info* info) {
  const std::lock_guard lock{guard_};
  release_one(info);
}
void execution::release_one(ort::ort_node_compute_info* info) {
  if (info) static_cast<void>(invoke(library_.name(), ep_->ReleaseNodeComputeInfos, ep_, &info, 1));
}

}  // namespace CAMEO_NAMESPACE::eps::ort_plugin_host_detail
