#include <cameo/eps/openvino.hpp>

#include "claims.hpp"
#include "container.hpp"
#include "onnx_part.hpp"
#include "program.hpp"

#include <cameo/core/version.hpp>
#include <cameo/partition/convex_groups.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace CAMEO_NAMESPACE::eps {
namespace {

using namespace openvino_detail;

/// The option's names of precisions, and the SDK's.
constexpr std::array<std::string_view, 2> precisions[] = {{"FP32", "f32"}, {"FP16", "f16"}, {"BF16", "bf16"}};

/// The names of the devices that the SDK finds; empty if it fails.
std::string devices_in(const sdk& api, const ov_core_t& core, std::string_view separator) {
  ov_available_devices_t found{};
  if (!api.check(api.core_get_available_devices(&core, &found), "listing devices")) return {};
  std::string names;
  for (std::size_t i = 0; i < found.size; ++i) names.append(names.empty() ? "" : separator).append(found.devices[i]);
  api.available_devices_free(&found);
  return names;
}

/// Checks that the SDK finds the device, else INVALID_ARGUMENT. Combinations of devices are not checked here, but by
/// the SDK.
status require_device(const sdk& api, const ov_core_t& core, const std::string& device) {
  ov_available_devices_t found{};
  if (status s = api.check(api.core_get_available_devices(&core, &found), "listing devices"); !s) return s;
  bool is_there = device == "AUTO" || device.find(':') != device.npos;
  for (std::size_t i = 0; i < found.size; ++i) {  // "GPU" means the first of "GPU.0" and "GPU.1"
    const std::string_view each = found.devices[i];
    is_there = is_there || each == device || each.substr(0, each.find('.')) == device;
  }
  api.available_devices_free(&found);
  if (is_there) return {};
  const std::string names = devices_in(api, core, ", ");
  return {status_code::invalid_argument,
          fmt::format("OpenVINO finds no device '{}' here; it finds {}", device, names.empty() ? "none" : names)};
}

/// The devices whose properties are set: GPU.0 and CPU for "AUTO:GPU.0,CPU", but AUTO for "AUTO".
std::vector<std::string> members_of(std::string_view device_type) {
  const std::size_t colon = device_type.find(':');
  if (colon == device_type.npos) return {std::string{device_type}};
  std::vector<std::string> members;
  for (std::string_view rest = device_type.substr(colon + 1); !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view each = rest.substr(0, end);  // "GPU(4)": with 4 requests; "-GPU": without this device
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (!each.empty() && each.front() != '-') members.emplace_back(each.substr(0, each.find('(')));
  }
  return members;
}

/// Makes a core with the properties that the options set.
result<handle<ov_core_t>> make_core(const sdk& api, const openvino& options) {
  result<handle<ov_core_t>> core = api.make_core();
  if (!core) return core;
  if (status s = require_device(api, **core, options.device_type); !s) return s;
  for (const std::string& device : members_of(options.device_type)) {
    const auto set = [&](const char* key, std::string to) {
      return api.check(api.core_set_property(core->get(), device.c_str(), key, to.c_str()),
                       fmt::format("setting {} of device '{}' to {}", key, device, to));
    };
    if (options.precision == "ACCURACY")
      if (status s = set("EXECUTION_MODE_HINT", "ACCURACY"); !s) return s;
    for (const auto& [name, theirs] : precisions)
      if (options.precision == name)
        if (status s = set("INFERENCE_PRECISION_HINT", std::string{theirs}); !s) return s;
    if (options.num_of_threads > 0 && (device == "CPU" || device == options.device_type))
      if (status s = set("INFERENCE_NUM_THREADS", std::to_string(options.num_of_threads)); !s) return s;
  }
  return core;
}

/// True for AUTO, with which the SDK chooses a device when it compiles. It then can neither export nor import blobs.
bool chooses_itself(std::string_view device_type) { return device_type.starts_with("AUTO"); }

std::string single_device_advice(std::string_view device_type) {
  return fmt::format(
      "device_type is {}, for which OpenVINO writes no contexts; name one device, as in ep.openvino.device_type=CPU",
      device_type);
}

/// The release that contexts contain: "2025.4" for "2025.4.1-20426-...".
std::string_view release_of(std::string_view version) {
  const std::size_t dot = version.find('.');
  return version.substr(0, dot == version.npos ? dot : version.find('.', dot + 1));
}

struct maker {
  std::string_view name, id_text;  // as in "GPU: vendor=0x8086 arch=v12.70.4"
  std::uint32_t id;                // PCI's
};
constexpr maker makers[] = {{"Intel", "vendor=0x8086", 0x8086},
                            {"AMD", "vendor=0x1022", 0x1022},
                            {"AMD", "vendor=0x1002", 0x1002},
                            {"NVIDIA", "vendor=0x10de", 0x10de}};

/// The device with this name ("GPU.1"), with the SDK's properties; std::nullopt for a virtual device (AUTO, HETERO).
std::optional<provider_device> describe(const sdk& api, const ov_core_t& core, const std::string& name,
                                        const std::string& version) {
  const std::optional<device_kind> kind = detail::device_kind_named(std::string_view{name}.substr(0, name.find('.')));
  if (!kind) return std::nullopt;
  const std::string full_name = api.property(core, name, "FULL_DEVICE_NAME");
  const std::string architecture = api.property(core, name, "DEVICE_ARCHITECTURE");
  const std::string type = api.property(core, name, "DEVICE_TYPE");
  provider_device made;
  made.name = name, made.hardware.kind = *kind;
  for (const maker& each : makers)
    if (made.hardware.vendor.empty() &&
        (full_name.rfind(each.name, 0) == 0 || architecture.find(each.id_text) != architecture.npos))
      made.hardware.vendor = each.name, made.hardware.vendor_id = each.id;
  if (*kind == device_kind::gpu && !type.empty())
    made.hardware.metadata.emplace_back("Discrete", type == "discrete" ? "1" : "0");
  if (!full_name.empty()) made.hardware.metadata.emplace_back("name", full_name);
  made.metadata = {{"version", version}};
  if (!architecture.empty()) made.metadata.emplace_back("architecture", architecture);
  made.options = {{"device_type", name}};
  return made;
}

/// The SDK's name for several devices, among which it chooses when it compiles.
std::string combined_device(std::span<const provider_device> devices) {
  std::string names;
  for (const provider_device& device : devices) names.append(names.empty() ? "AUTO:" : ",").append(device.name);
  return names;
}

result<compiled_node> compile_one(const sdk& api, const std::shared_ptr<const ov_core_t>& core,
                                  const std::string& device, const graph& body) {
  result<std::string> bytes = onnx_bytes(all_of(body));
  if (!bytes) return std::move(bytes).error();
  ov_model_t* model = nullptr;
  if (status s = api.check(
          api.core_read_model_from_memory_buffer(core.get(), bytes->data(), bytes->size(), nullptr, &model), "reading");
      !s)
    return s;
  const handle<ov_model_t> kept{model, api.model_free};
  bytes = std::string{};
  ov_compiled_model_t* raw = nullptr;
  if (status s = api.check(api.core_compile_model(core.get(), model, device.c_str(), 0, &raw), "compiling"); !s)
    return s;
  const graph_view view{body};
  result<program> made = program::make(api, core, {raw, api.compiled_model_free}, boundaries_of(view.inputs()),
                                       boundaries_of(view.outputs()));
  if (!made) return std::move(made).error();
  return compiled(std::move(*made));
}

}  // namespace

result<std::vector<provider_device>> openvino::devices() const {
  const result<const sdk*> api = sdk::load(library_folder);
  if (!api) return api.error();
  const result<handle<ov_core_t>> core = (*api)->make_core();
  if (!core) return core.error();
  const result<std::string> version = (*api)->version();
  if (!version) return version.error();
  ov_available_devices_t found{};
  if (status s = (*api)->check((*api)->core_get_available_devices(core->get(), &found), "listing devices"); !s)
    return s;
  std::vector<provider_device> made;
  for (std::size_t i = 0; i < found.size; ++i)
    if (std::optional<provider_device> device = describe(**api, **core, found.devices[i], *version))
      made.push_back(std::move(*device));
  (*api)->available_devices_free(&found);
  return made;
}

result<std::string> openvino::sdk_version() const {
  const result<const sdk*> api = sdk::load(library_folder);
  if (!api) return api.error();
  return (*api)->version();
}

result<std::vector<node_group>> openvino::groups(const graph_view& g) const {
  const result<const sdk*> api = sdk::load(library_folder);
  if (!api) return api.error();
  // Without this check, no node would be claimed for a missing device, and no reason given.
  const result<handle<ov_core_t>> core = make_core(**api, *this);
  if (!core) return core.error();
  const std::string candidate = device_type == "AUTO" ? "AUTO:" + devices_in(**api, **core, ",") : device_type;
  const result<std::vector<node_id>> taken = runnable_nodes(**api, g, candidate);
  if (!taken) return taken.error();
  std::vector<node_group> found;
  for (std::vector<node_id>& nodes : convex_groups(g, *taken))
    found.push_back({std::move(nodes), fmt::format("OpenVINO-EP-subgraph_{}", found.size() + 1)});
  return found;
}

result<std::vector<compiled_node>> openvino::compile(std::span<const fused_view> groups) const {
  const result<const sdk*> api = sdk::load(library_folder);
  if (!api) return api.error();
  result<handle<ov_core_t>> core = make_core(**api, *this);
  if (!core) return core.error();
  const std::shared_ptr<const ov_core_t> shared = std::move(*core);
  std::vector<compiled_node> made;
  for (const fused_view& group : groups) {
    result<compiled_node> one = compile_one(**api, shared, device_type, group.body.raw());
    if (!one) return std::move(one).error().in(group.name);
    made.push_back(std::move(*one));
  }
  return made;
}

result<openvino> openvino::configured(const provider_options& set) const {
  openvino made = *this;
  made.device_type = set["device_type"], made.precision = set["precision"];
  if (set.devices().size() > 1 && !set.is_set("device_type")) made.device_type = combined_device(set.devices());
  const bool known = made.precision.empty() || made.precision == "ACCURACY" ||
                     std::any_of(std::begin(precisions), std::end(precisions),
                                 [&](const auto& row) { return row[0] == made.precision; });
  if (!known)
    return status{status_code::invalid_argument,
                  fmt::format("there is no precision '{}'; there are ACCURACY, FP32, FP16 and BF16", made.precision)};
  const std::string_view threads = set["num_of_threads"];
  const auto [end, wrong] = std::from_chars(threads.data(), threads.data() + threads.size(), made.num_of_threads);
  if (wrong != std::errc{} || end != threads.data() + threads.size() || made.num_of_threads > 4096)
    return status{status_code::invalid_argument,
                  fmt::format("num_of_threads is '{}'; it must be a number from 0 to 4096", threads)};
  return made;
}

result<context_part> openvino::store(context_builder& to, const fused_view& group, const compiled_node& node) const {
  const result<std::string> version = sdk_version();
  if (!version) return version.error();
  result<std::vector<std::byte>> blob = static_cast<const program*>(node.state.get())->exported();
  if (!blob && chooses_itself(device_type)) return std::move(blob).error().in(single_device_advice(device_type));
  if (!blob) return std::move(blob).error();
  to.blobs.emplace_back(group.name, std::move(*blob));
  context_part part;
  part.sdk_version = release_of(*version);
  return part;
}

status openvino::write(const context_builder& from, byte_sink sink) const {
  container made;
  made.producer = "cameo-openvino-ep-" CAMEO_VERSION, made.id = from.id;
  for (const auto& [group, blob] : from.blobs) made.blobs.push_back({group, blob});
  const result<container_pieces> pieces = write_container(made);
  if (!pieces) return pieces.error();
  if (status s = sink(std::as_bytes(std::span{pieces->head})); !s) return s;
  for (const std::span<const std::byte> piece : pieces->rest)
    if (status s = sink(piece); !s) return s;
  return {};
}

result<compiled_node> openvino::restore(const context_binary& binary, const context_node& node) const {
  const result<std::shared_ptr<const container>> content = binary.opened<container>(read_container);
  if (!content) return content.error();
  const container_blob* const blob = (*content)->find(node.graph_name);
  if (!blob) return status_code::not_found;
  if (!(*content)->weights.empty())
    return status{status_code::not_implemented,
                  "its blobs have their weights in other files, which cameo does not read"};
  const result<const sdk*> api = sdk::load(library_folder);
  if (!api) return api.error();
  const result<std::string> version = (*api)->version();
  if (!version) return version.error();
  if (!node.sdk_version.empty() && release_of(node.sdk_version) != release_of(*version))
    return status{status_code::invalid_graph, fmt::format("was compiled by OpenVINO {}, and this is {}; only blobs of "
                                                          "the same version can be imported",
                                                          node.sdk_version, *version)};
  result<handle<ov_core_t>> core = make_core(**api, *this);
  if (!core) return core.error();
  ov_compiled_model_t* raw = nullptr;
  if (status s = (*api)->check((*api)->core_import_model(core->get(), reinterpret_cast<const char*>(blob->bytes.data()),
                                                         blob->bytes.size(), device_type.c_str(), &raw),
                               fmt::format("{}, importing a blob of {}", *version,
                                           node.sdk_version.empty() ? "an unknown version" : node.sdk_version));
      !s)
    return chooses_itself(device_type) ? std::move(s).in(single_device_advice(device_type)) : s;
  result<program> made = program::make(**api, std::move(*core), {raw, (*api)->compiled_model_free},
                                       declared_boundaries_of(node.node.in(), node.node.inputs()),
                                       declared_boundaries_of(node.node.in(), node.node.outputs()));
  if (!made) return std::move(made).error();
  return compiled(std::move(*made));
}

void openvino::identify(context_builder& to, std::string_view id) const { to.id = id; }

result<std::string> openvino::identity(const context_binary& binary) const {
  const result<std::shared_ptr<const container>> content = binary.opened<container>(read_container);
  if (!content) return content.error();
  return (*content)->id;
}

result<std::vector<std::string>> openvino::graphs(const context_binary& binary) const {
  const result<std::shared_ptr<const container>> content = binary.opened<container>(read_container);
  if (!content) return content.error();
  std::vector<std::string> names;
  for (const container_blob& blob : (*content)->blobs) names.push_back(blob.name);
  return names;
}

}  // namespace CAMEO_NAMESPACE::eps
