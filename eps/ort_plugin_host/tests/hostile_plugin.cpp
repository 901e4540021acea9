// A plugin that makes one mistake, its mode, which the name of its file contains ("hostile_null_name.so"). Without a
// mode it is correct, and runs single nodes of operator Relu. In mode "weightless" it runs nodes of operator Add, and
// makes contexts without constants.
#include <cameo/ort_abi/tables.hpp>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

using namespace cameo::detail::ort;

namespace {

std::string mode;
ort_table functions = nullptr, ep_functions = nullptr;

bool when(const char* which) { return mode == which; }
bool is_weightless() { return mode.starts_with("weightless"); }
ort_status* error(const char* words) { return at<api::CreateStatus>(functions)(1, words); }
void* garbage() { return reinterpret_cast<void*>(std::uintptr_t{0x40}); }

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define CAMEO_FORGETS 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(CAMEO_FORGETS)
extern "C" void __lsan_disable();
extern "C" void __lsan_enable();
#else
void __lsan_disable() {}
void __lsan_enable() {}
#endif

// The test calls functions through pointers of another type, which clang's sanitizer reports.
#ifdef __clang__
#define CAMEO_CALLS_AS_ANOTHER __attribute__((no_sanitize("function")))
#else
#define CAMEO_CALLS_AS_ANOTHER
#endif

CAMEO_CALLS_AS_ANOTHER void call(ort_table table, std::size_t count) {
  using any = void*(void*, void*, void*, void*, void*, void*, void*, void*, void*, void*);
  for (std::size_t i = 0; i < count; ++i)
    reinterpret_cast<any*>(const_cast<void*>(table[i]))(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                                        nullptr, nullptr, nullptr);
}

/// Calls the functions in all slots of the tables with null arguments, and ignores their results.
void call_every_slot() {
  __lsan_disable();  // the returned errors are never released
  call(functions, 426);
  call(ep_functions, 74);
  call(at<api::GetModelEditorApi>(functions)(), 20);
  __lsan_enable();
}

struct compute_object : ort_node_compute_info {
  compute_object() {
    version = 23;
    CreateState = [](ort_node_compute_info*, ort_compute_context* about, void** state) -> ort_status* {
      if (when("state_error")) return error("no state today");
      return *state = const_cast<char*>(at<ep_api::NodeComputeContext_NodeName>(ep_functions)(about)), nullptr;
    };
    if (!when("null_compute")) Compute = [](ort_node_compute_info*, void*, ort_kernel_context* c) { return run(c); };
    ReleaseState = [](ort_node_compute_info*, void*) {
      if (when("release_throws")) throw std::runtime_error{"in ReleaseState"};
    };
  }
  static ort_status* run(ort_kernel_context* c) {
    if (when("compute_throws")) throw std::runtime_error{"in Compute"};
    if (when("compute_throws_number")) throw 7;
    if (when("compute_error")) return error("no run today");
    if (when("no_output")) return nullptr;
    const ort_value* input = nullptr;
    if (ort_status* s = at<api::KernelContext_GetInput>(functions)(c, when("input_99") ? 99 : 0, &input)) return s;
    std::int32_t type = 0;
    const std::int64_t* dims = nullptr;
    std::size_t rank = 0;
    at<api::GetTensorElementTypeAndShapeDataReference>(functions)(input, &type, &dims, &rank);
    std::int64_t shape[16] = {};
    std::memcpy(shape, dims, rank * sizeof *dims);
    std::size_t count = 1;
    for (std::size_t i = 0; i < rank; ++i) count *= std::size_t(shape[i]);
    if (when("negative_shape")) shape[0] = -4;
    if (when("huge_shape")) shape[0] = INT64_MAX;
    ort_value* output = nullptr;
    const std::size_t place = when("output_99") ? 99 : 0, axes = when("rank_99") ? 99 : rank;
    if (ort_status* s = at<api::KernelContext_GetOutput>(functions)(c, place, shape, axes, &output)) return s;
    if (when("two_shapes")) {
      shape[0] += 1;
      if (ort_status* s = at<api::KernelContext_GetOutput>(functions)(c, 0, shape, rank, &output)) return s;
    }
    const void* from = nullptr;
    void* to = nullptr;
    if (is_weightless()) {
      const ort_value* second = nullptr;
      if (ort_status* s = at<api::KernelContext_GetInput>(functions)(c, 1, &second)) return s;
      const void* more = nullptr;
      at<api::GetTensorData>(functions)(input, &from);
      at<api::GetTensorData>(functions)(second, &more);
      at<api::GetTensorMutableData>(functions)(output, &to);
      for (std::size_t i = 0; i < count; ++i)
        static_cast<float*>(to)[i] = static_cast<const float*>(from)[i] + static_cast<const float*>(more)[i];
      return nullptr;
    }
    at<api::GetTensorData>(functions)(input, &from);
    at<api::GetTensorMutableData>(functions)(output, &to);
    for (std::size_t i = 0; i < count; ++i) {
      const float x = static_cast<const float*>(from)[i];
      static_cast<float*>(to)[i] = x < 0 ? 0 : x;
    }
    return nullptr;
  }
};

/// Makes the context node of a fused node, with the same inputs and outputs.
ort_status* make_context(const ort_node* fused, ort_node** made) {
  if (when("weightless_no_context")) return nullptr;
  std::vector<const char*> names[2];
  for (const bool inputs : {true, false}) {
    std::size_t count = 0;
    at<api::Node_GetNumInputs>(functions)(fused, &count);
    if (!inputs) at<api::Node_GetNumOutputs>(functions)(fused, &count);
    std::vector<const ort_value_info*> values(count);
    if (inputs) at<api::Node_GetInputs>(functions)(fused, values.data(), count);
    else at<api::Node_GetOutputs>(functions)(fused, values.data(), count);
    for (const ort_value_info* each : values)
      at<api::GetValueInfoName>(functions)(each, &names[!inputs].emplace_back());
  }
  if (when("weightless_twice")) names[0].push_back(names[0].back());
  if (when("weightless_unknown")) names[0].push_back("nowhere");
  if (when("weightless_first")) std::swap(names[0].front(), names[0].back());
  if (when("weightless_no_input")) names[0].erase(names[0].begin());
  if (when("weightless_no_output")) names[1].clear();
  if (when("weightless_null_name")) names[0][0] = nullptr;
  ort_attribute* bytes = nullptr;
  at<api::CreateOpAttr>(functions)("ep_cache_context", "sum", 3, std::int32_t(ort_attribute_kind::s), &bytes);
  ort_status* const failed = at<editor_api::CreateNode>(at<api::GetModelEditorApi>(functions)())(
      "EPContext", "com.microsoft", "sum", names[0].data(), names[0].size(), names[1].data(), names[1].size(), &bytes,
      1, made);
  if (failed) at<api::ReleaseOpAttr>(functions)(bytes);
  return failed;
}

struct ep_object : ort_ep {
  ep_object() {
    version = when("old_ep") ? 3 : is_weightless() ? 29 : 23;
    if (!when("weightless_null"))
      GetWeightlessSupport = [](const ort_ep*, std::int32_t* to) -> ort_status* {
        if (when("weightless_throws")) throw std::runtime_error{"in GetWeightlessSupport"};
        if (when("weightless_error")) return error("no answer today");
        *to = when("weightless_none")    ? weightless_none
              : when("weightless_files") ? weightless_external
                                         : weightless_all;
        return *to = when("weightless_99") ? 99 : *to, nullptr;
      };
    GetName = [](const ort_ep*) { return "hostile"; };
    if (!when("no_compile"))
      Compile = [](ort_ep*, const ort_graph**, const ort_node** fused, std::size_t count, ort_node_compute_info** made,
                   ort_node** contexts) -> ort_status* {
        if (when("compile_throws")) throw std::runtime_error{"in Compile"};
        if (when("compile_error")) return error("no compiler today");
        if (when("null_info")) return nullptr;
        if (when("invalid_context")) contexts[0] = static_cast<ort_node*>(garbage());
        if (is_weightless())
          if (ort_status* s = make_context(fused[0], contexts)) return s;
        for (std::size_t i = 0; i < count; ++i) made[i] = new compute_object;
        return nullptr;
      };
    GetCapability = [](ort_ep*, const ort_graph* graph, ort_support_info* to) { return claim(graph, to); };
    ReleaseNodeComputeInfos = [](ort_ep*, ort_node_compute_info** made, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) delete static_cast<compute_object*>(made[i]);
    };
    GetPreferredDataLayout = [](ort_ep*, std::int32_t* to) -> ort_status* {
      if (when("layout_error")) return error("no layout today");
      return *to = when("layout_99") ? 99 : 0, nullptr;
    };
  }
  static ort_status* claim(const ort_graph* graph, ort_support_info* to) {
    if (when("every_slot")) call_every_slot();
    if (when("capability_throws")) throw std::runtime_error{"in GetCapability"};
    if (when("capability_error")) return error("");
    const auto add = at<ep_api::EpGraphSupportInfo_AddNodesToFuse>(ep_functions);
    if (when("empty_group")) return add(to, nullptr, 0, nullptr);
    if (when("invalid_node")) {
      const ort_node* const no_node = static_cast<const ort_node*>(garbage());
      return add(to, &no_node, 1, nullptr);
    }
    std::size_t count = 0;
    at<api::Graph_GetNumNodes>(functions)(graph, &count);
    const ort_node* nodes[64] = {};
    if (count > 64) return nullptr;
    if (when("short_list")) return at<api::Graph_GetNodes>(functions)(graph, nodes, count - 1);
    at<api::Graph_GetNodes>(functions)(graph, nodes, count);
    for (std::size_t i = 0; i < count; ++i) {
      const char* type = nullptr;
      at<api::Node_GetOperatorType>(functions)(nodes[i], &type);
      const bool is_context = is_weightless() && std::strcmp(type, "EPContext") == 0;
      if (!is_context && std::strcmp(type, is_weightless() ? "Add" : "Relu") != 0) continue;
      const ort_node* const group[] = {nodes[i], nodes[i]};
      const ort_fusion_options how{29, when("weightless_dropped")};
      if (ort_status* s = add(to, group, when("twice_in_group") ? 2 : 1, is_weightless() ? &how : nullptr)) return s;
      if (when("claims_twice"))
        if (ort_status* s = add(to, group, 1, nullptr)) return s;
    }
    return nullptr;
  }
};

struct factory_object : ort_ep_factory {
  factory_object() {
    version = when("no_version") ? 0 : 23;
    if (!when("no_callbacks")) GetName = [](const ort_ep_factory*) { return when("null_name") ? nullptr : "hostile"; };
    GetVendor = [](const ort_ep_factory*) -> const char* { return nullptr; };
    GetSupportedDevices = [](ort_ep_factory* me, const ort_hardware_device* const* machine, std::size_t n,
                             ort_ep_device** to, std::size_t, std::size_t* count) -> ort_status* {
      if (when("devices_error")) return error("no devices today");
      if (when("devices_throw")) throw std::runtime_error{"in GetSupportedDevices"};
      if (when("no_devices")) return nullptr;
      if (when("many_devices")) return *count = 1000, nullptr;
      if (when("invalid_device")) return to[0] = static_cast<ort_ep_device*>(garbage()), *count = 1, nullptr;
      if (n == 0) return nullptr;
      *count = when("one_device_twice") ? 2 : 1;
      ort_status* const done = at<ep_api::CreateEpDevice>(ep_functions)(me, machine[0], nullptr, nullptr, &to[0]);
      to[1] = to[0];
      return done;
    };
    CreateEp = [](ort_ep_factory*, const ort_hardware_device* const*, const ort_key_values* const*, std::size_t,
                  const ort_session_options*, const ort_logger*, ort_ep** made) -> ort_status* {
      if (when("ep_error")) return *made = static_cast<ort_ep*>(garbage()), error("no provider today");
      if (when("ep_throws")) throw std::runtime_error{"in CreateEp"};
      return *made = when("null_ep") ? nullptr : new ep_object, nullptr;
    };
    ReleaseEp = [](ort_ep_factory*, ort_ep* made) { delete static_cast<ep_object*>(made); };
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) ort_status* CreateEpFactories(const char* registered,
                                                                                const ort_api_base* base,
                                                                                const ort_logger*, ort_ep_factory** to,
                                                                                std::size_t most, std::size_t* count) {
  mode = std::string_view{registered}.substr(0, 8) == "hostile_" ? registered + 8 : "";
  if (base->GetApi(1000) != nullptr)
    return nullptr;  // the host must return null for a version that it does not support
  functions = base->GetApi(23);
  ep_functions = at<api::GetEpApi>(functions)();
  if (when("factories_throw")) throw std::runtime_error{"in CreateEpFactories"};
  if (when("factories_error")) return error("no factory today");
  if (when("no_factories")) return nullptr;
  *count = when("many_factories") ? most + 1 : 1;
  // The host keeps a plugin and its factories until the process ends.
  static std::vector<std::unique_ptr<factory_object>> all;
  if (!when("null_factory")) to[0] = all.emplace_back(std::make_unique<factory_object>()).get();
  return nullptr;
}
extern "C" __attribute__((visibility("default"))) ort_status* ReleaseEpFactory(ort_ep_factory*) { return nullptr; }
