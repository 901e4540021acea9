#include <cameo/eps/openvino.hpp>

#include "claims.hpp"
#include "onnx_part.hpp"
#include "program.hpp"

#include <cameo/partition/convex_groups.hpp>

#include <fmt/format.h>

namespace cameo::inline CAMEO_ABI::eps {
namespace {

using namespace openvino_detail;

/// A core that compiles and imports as the options say.
result<handle<ov_core_t>> make_core(const sdk& api, const openvino& options) {
  result<handle<ov_core_t>> core = api.make_core();
  if (!core) return core;
  const auto set = [&](const char* key, const std::string& to) {
    return api.check(api.core_set_property(core->get(), options.device.c_str(), key, to.c_str()),
                     fmt::format("setting {} of device '{}' to {}", key, options.device, to));
  };
  static constexpr std::pair<std::string_view, const char*> precisions[] = {
      {"FP32", "f32"}, {"FP16", "f16"}, {"BF16", "bf16"}};
  if (options.precision == "ACCURACY") {
    if (status s = set("EXECUTION_MODE_HINT", "ACCURACY"); !s) return s;
  } else if (!options.precision.empty()) {
    const char* found = nullptr;
    for (const auto& [name, theirs] : precisions)
      if (options.precision == name) found = theirs;
    if (!found)
      return status{
          status_code::invalid_argument,
          fmt::format("there is no precision '{}'; there are FP32, FP16, BF16 and ACCURACY", options.precision)};
    if (status s = set("INFERENCE_PRECISION_HINT", found); !s) return s;
  }
  if (options.threads > 0)
    if (status s = set("INFERENCE_NUM_THREADS", std::to_string(options.threads)); !s) return s;
  return core;
}

result<compiled_node> compile_one(const sdk& api, const ov_core_t& core, const std::string& device, const graph& body) {
  result<std::string> bytes = onnx_bytes(all_of(body));
  if (!bytes) return std::move(bytes.error());
  ov_model_t* model = nullptr;
  if (status s = api.check(api.core_read_model_from_memory_buffer(&core, bytes->data(), bytes->size(), nullptr, &model),
                           "reading");
      !s)
    return s;
  const handle<ov_model_t> kept{model, api.model_free};
  bytes = std::string{};
  ov_compiled_model_t* raw = nullptr;
  if (status s = api.check(api.core_compile_model(&core, model, device.c_str(), 0, &raw), "compiling"); !s) return s;
  const graph_view view{body};
  result<program> made =
      program::make(api, {raw, api.compiled_model_free}, boundaries_of(view.inputs()), boundaries_of(view.outputs()));
  if (!made) return std::move(made.error());
  return compiled(std::move(*made));
}

}  // namespace

result<std::vector<std::string>> openvino::devices() const {
  const result<const sdk*> api = sdk::load(library_folder);
  if (!api) return api.error();
  const result<handle<ov_core_t>> core = (*api)->make_core();
  if (!core) return core.error();
  ov_available_devices_t found{};
  if (status s = (*api)->check((*api)->core_get_available_devices(core->get(), &found), "listing devices"); !s)
    return s;
  std::vector<std::string> names(found.devices, found.devices + found.size);
  (*api)->available_devices_free(&found);
  return names;
}

result<std::string> openvino::sdk_version() const {
  const result<const sdk*> api = sdk::load(library_folder);
  if (!api) return api.error();
  return (*api)->version();
}

result<std::vector<node_group>> openvino::groups(const graph_view& g) const {
  const result<const sdk*> api = sdk::load(library_folder);
  if (!api) return api.error();
  const result<std::vector<node_id>> taken = runnable_nodes(**api, g, device);
  if (!taken) return taken.error();
  std::vector<node_group> found;
  for (std::vector<node_id>& nodes : convex_groups(g, *taken))
    found.push_back({std::move(nodes), fmt::format("OpenVINO-EP-subgraph_{}", found.size() + 1)});
  return found;
}

result<std::vector<compiled_node>> openvino::compile(std::span<const fused_view> groups) const {
  const result<const sdk*> api = sdk::load(library_folder);
  if (!api) return api.error();
  const result<handle<ov_core_t>> core = make_core(**api, *this);
  if (!core) return core.error();
  std::vector<compiled_node> made;
  for (const fused_view& group : groups) {
    result<compiled_node> one = compile_one(**api, **core, device, group.body.raw());
    if (!one) return std::move(one.error()).in(group.name);
    made.push_back(std::move(*one));
  }
  return made;
}

}  // namespace cameo::inline CAMEO_ABI::eps
