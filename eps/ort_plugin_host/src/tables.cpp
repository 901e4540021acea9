// The functions that plugins call. A wrong call returns an error. A slot that cameo does not implement has a function
// that returns NOT_IMPLEMENTED with the name of the slot.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>

#include "names.hpp"
#include "objects.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

void ort_key_values::set(const char* key, const char* value) { pairs[key] = value, list(); }
void ort_key_values::remove(const char* key) { pairs.erase(key), list(); }
void ort_key_values::list() {
  keys.clear(), values.clear();
  for (const auto& [key, value] : pairs) keys.push_back(key.c_str()), values.push_back(value.c_str());
}

ort_status* error_of(std::int32_t code, std::string words) { return new ort_status{code, std::move(words)}; }

status status_of(ort_status* from, std::string_view whose) {
  if (!from) return {};
  const std::unique_ptr<ort_status> owned{from};
  return {code_of(owned->code), fmt::format("{}: {}", whose, owned->words)};
}

made_devices& devices_made() {
  static made_devices all;
  return all;
}

namespace {

constexpr std::int32_t bad_argument = number_of(status_code::invalid_argument);
constexpr std::int32_t no_function = number_of(status_code::not_implemented);

/// The nodes that plugins made and that take_node() has not taken yet.
struct made_nodes {
  std::mutex guard;
  std::map<ort_node*, std::unique_ptr<ort_node>> all;
};
made_nodes& nodes_made() {
  static made_nodes all;
  return all;
}

enum class nulls : bool { refused, allowed };

/// A function of a table. It throws no exception, and returns an error for null pointers unless they are allowed.
template <std::uint16_t Number, nulls May, class F, class R, class... Args>
R guarded_call(Args... args) noexcept {
  constexpr bool can_fail = std::is_same_v<R, ort_status*>;
  const auto is_null = [](auto arg) {
    if constexpr (std::is_pointer_v<decltype(arg)>) return arg == nullptr;
    else return static_cast<void>(arg), false;
  };
  if constexpr (May == nulls::refused) {
    if ((is_null(args) || ... || false)) {
      if constexpr (can_fail) return error_of(bad_argument, fmt::format("{}: an argument is null", api_names[Number]));
      else return R();
    }
  }
  try {
    return F{}(args...);
  } catch (...) {
    if constexpr (can_fail) {
      return new (std::nothrow) ort_status{1, {}};  // most likely memory ran out
    } else {
      return R();
    }
  }
}

/// Only the slots of OrtApi have names here, not those of the smaller tables.
enum class which : bool { main, smaller };
template <which Table, std::uint16_t Number>
ort_status* missing() noexcept {
  try {
    if constexpr (Table == which::smaller)
      return error_of(no_function, fmt::format("cameo has no function in slot {} of this table for plugins", Number));
    else
      return error_of(no_function, fmt::format("cameo has no function {} (slot {} of OrtApi) for plugins",
                                               api_names[Number], Number));
  } catch (...) {
    return nullptr;
  }
}

template <std::size_t Count>
struct table {
  std::array<const void*, Count> slots{};

  template <auto Slot, nulls May = nulls::refused, class F>
  void set(F) {
    put<std::uint16_t(Slot), May, F>(static_cast<typename slot_type<Slot>::type*>(nullptr));
    static_assert(std::size_t(Slot) < Count);
  }
  /// Sets a function that returns a property of an object through its second argument.
  template <auto Slot, class F>
  void getter(F) {
    put_getter<Slot, F>(static_cast<typename slot_type<Slot>::type*>(nullptr));
  }

 private:
  template <auto Slot, class F, class Of, class T>
  void put_getter(ort_status* (*)(const Of*, T*)) {
    set<Slot>([](const Of* of, T* to) -> ort_status* { return *to = F{}(*of), nullptr; });
  }
  template <std::uint16_t Number, nulls May, class F, class R, class... Args>
  void put(R (*)(Args...)) {
    R (*const function)(Args...) = guarded_call<Number, May, F, R, Args...>;
    slots[Number] = reinterpret_cast<const void*>(function);
  }
};

template <class List, class T>
ort_status* give_list(const List& from, T** to, std::size_t size) {
  if (size < from.size() || (!to && size > 0))
    return error_of(bad_argument, fmt::format("the buffer has space for {} of {}", size, from.size()));
  std::copy(from.begin(), from.end(), to);
  return nullptr;
}

/// The numbers of the kinds of values in the interface.
constexpr std::int32_t kind_unknown = 0, kind_tensor = 1;

ort_tensor_info info_of(const value& v) {
  ort_tensor_info made{v.type, true, {v.shape.begin(), v.shape.end()}, {}};
  made.names.resize(v.shape.rank());
  return made;
}

const ort_memory_info& host_memory() {
  static const ort_memory_info info;
  return info;
}

ort_allocator& host_allocator() {
  static ort_allocator made{23, [](ort_allocator*, std::size_t bytes) { return std::malloc(bytes); },
                            [](ort_allocator*, void* memory) { std::free(memory); },
                            [](const ort_allocator*) { return &host_memory(); },
                            [](ort_allocator*, std::size_t bytes) { return std::malloc(bytes); }};
  return made;
}

using api_table = table<std::size(api_names)>;

/// Sets the functions of errors and of types.
void set_types(api_table& t) {
  t.set<api::CreateStatus, nulls::allowed>(
      [](std::int32_t code, const char* words) { return error_of(code ? code : 1, words ? words : ""); });
  t.set<api::GetErrorCode>([](const ort_status* s) { return s->code; });
  t.set<api::GetErrorMessage>([](const ort_status* s) { return s->words.c_str(); });
  t.set<api::ReleaseStatus>([](ort_status* s) { delete s; });
  t.getter<api::CastTypeInfoToTensorInfo>(
      [](const ort_type_info& type) { return type.is_tensor ? &type.tensor : nullptr; });
  t.getter<api::GetOnnxTypeFromTypeInfo>(
      [](const ort_type_info& type) { return type.is_tensor ? kind_tensor : kind_unknown; });
  t.getter<api::GetTensorElementType>([](const ort_tensor_info& info) { return std::int32_t(info.type); });
  t.getter<api::GetDimensionsCount>([](const ort_tensor_info& info) { return info.sizes.size(); });
  t.set<api::GetDimensions, nulls::allowed>([](const ort_tensor_info* info, std::int64_t* to, std::size_t size) {
    const std::size_t count = info ? std::min(size, info->sizes.size()) : 0;
    if (!info || (!to && count > 0)) return error_of(bad_argument, "GetDimensions: an argument is null");
    std::copy_n(info->sizes.begin(), count, to);
    return static_cast<ort_status*>(nullptr);
  });
  t.set<api::GetSymbolicDimensions, nulls::allowed>([](const ort_tensor_info* info, const char** to, std::size_t size) {
    const std::size_t count = info ? std::min(size, info->names.size()) : 0;
    if (!info || (!to && count > 0)) return error_of(bad_argument, "GetSymbolicDimensions: an argument is null");
    for (std::size_t i = 0; i < count; ++i) to[i] = info->names[i].c_str();
    return static_cast<ort_status*>(nullptr);
  });
  t.set<api::GetTensorShapeElementCount>([](const ort_tensor_info* info, std::size_t* to) -> ort_status* {
    std::size_t count = 1;
    for (std::int64_t size : info->sizes) count *= std::size_t(std::max<std::int64_t>(size, 0));
    return *to = count, nullptr;
  });
  t.set<api::TensorTypeAndShape_HasShape>([](const ort_tensor_info* info) { return info->has_shape; });
  t.set<api::ReleaseTensorTypeAndShapeInfo>([](ort_tensor_info* info) { delete info; });
  t.set<api::ReleaseTypeInfo>([](ort_type_info* info) { delete info; });
}

void set_values(api_table& t) {
  t.getter<api::IsTensor>([](const ort_value&) { return 1; });
  t.getter<api::GetValueType>([](const ort_value&) { return kind_tensor; });
  t.set<api::GetTensorMutableData>([](ort_value* v, void** p) -> ort_status* { return *p = v->tensor.data, nullptr; });
  t.getter<api::GetTensorData>([](const ort_value& v) { return v.tensor.data; });
  t.getter<api::GetTensorSizeInBytes>([](const ort_value& v) { return v.tensor.bytes(); });
  t.getter<api::GetTensorTypeAndShape>([](const ort_value& v) { return new ort_tensor_info{info_of(v.tensor)}; });
  t.getter<api::GetTypeInfo>([](const ort_value& v) { return new ort_type_info{true, info_of(v.tensor)}; });
  t.set<api::GetTensorElementTypeAndShapeDataReference>(
      [](const ort_value* v, std::int32_t* type, const std::int64_t** dims, std::size_t* rank) -> ort_status* {
        return *type = std::int32_t(v->tensor.type), *dims = v->tensor.shape.begin(), *rank = v->tensor.shape.rank(),
               nullptr;
      });
  t.getter<api::GetTensorMemoryInfo>([](const ort_value&) { return &host_memory(); });
  t.set<api::ReleaseValue>([](ort_value* v) { delete v; });
  t.set<api::CreateMemoryInfo>(
      [](const char* name, std::int32_t kind, int id, std::int32_t, ort_memory_info** to) -> ort_status* {
        return *to = new ort_memory_info{name, kind, {0, id}}, nullptr;
      });
  t.set<api::CreateCpuMemoryInfo>([](std::int32_t kind, std::int32_t, ort_memory_info** to) -> ort_status* {
    return *to = new ort_memory_info{"Cpu", kind}, nullptr;
  });
  t.set<api::CreateMemoryInfo_V2>([](const char* name, std::int32_t device, std::uint32_t vendor, std::int32_t id,
                                     std::int32_t memory, std::size_t, std::int32_t kind,
                                     ort_memory_info** to) -> ort_status* {
    return *to = new ort_memory_info{name, kind, {device, id, memory, vendor}}, nullptr;
  });
  t.getter<api::MemoryInfoGetName>([](const ort_memory_info& m) { return m.name.c_str(); });
  t.getter<api::MemoryInfoGetId>([](const ort_memory_info& m) { return m.location.id; });
  t.getter<api::MemoryInfoGetMemType>([](const ort_memory_info&) { return 0; });
  t.getter<api::MemoryInfoGetType>([](const ort_memory_info& m) { return m.kind; });
  t.set<api::MemoryInfoGetDeviceType>([](const ort_memory_info* m, std::int32_t* to) { *to = m->location.device; });
  t.set<api::MemoryInfoGetDeviceMemType>([](const ort_memory_info* m) { return m->location.memory; });
  t.set<api::MemoryInfoGetVendorId>([](const ort_memory_info* m) { return m->location.vendor; });
  t.set<api::ReleaseMemoryInfo>([](ort_memory_info* m) { delete m; });
  t.set<api::AllocatorAlloc>(
      [](ort_allocator* a, std::size_t bytes, void** to) -> ort_status* { return *to = a->Alloc(a, bytes), nullptr; });
  t.set<api::AllocatorFree, nulls::allowed>([](ort_allocator* a, void* memory) -> ort_status* {
    if (a) a->Free(a, memory);
    return nullptr;
  });
  t.set<api::GetAllocatorWithDefaultOptions>(
      [](ort_allocator** to) -> ort_status* { return *to = &host_allocator(), nullptr; });
}

void set_runs(api_table& t) {
  t.getter<api::KernelContext_GetInputCount>([](const ort_kernel_context& c) { return c.inputs.size(); });
  t.getter<api::KernelContext_GetOutputCount>([](const ort_kernel_context& c) { return c.outputs.size(); });
  t.set<api::KernelContext_GetInput>([](const ort_kernel_context* c, std::size_t i, const ort_value** to) {
    if (i >= c->inputs.size()) return error_of(bad_argument, fmt::format("no input {}", i));
    *to = c->inputs[i].tensor ? &c->inputs[i] : nullptr;
    return static_cast<ort_status*>(nullptr);
  });
  t.set<api::KernelContext_GetOutput, nulls::allowed>([](ort_kernel_context* c, std::size_t i, const std::int64_t* dims,
                                                         std::size_t rank, ort_value** to) -> ort_status* {
    if (!c || !to || (!dims && rank > 0)) return error_of(bad_argument, "KernelContext_GetOutput: an argument is null");
    if (i >= c->outputs.size() || rank > max_rank)
      return error_of(bad_argument, fmt::format("no output {} of {} axes", i, rank));
    *to = nullptr;
    if (!c->run->has_output(i)) return nullptr;
    const extents shape{std::span<const std::int64_t>{dims, rank}};
    std::int64_t count = 0;
    if (!shape.checked_count(count)) return error_of(bad_argument, "an output of an impossible shape");
    if (c->made[i] && !(c->outputs[i].tensor.shape == shape))
      return error_of(bad_argument, fmt::format("output {} was made with another shape", i));
    const result<value*> made = c->run->output(i, shape);
    if (!made) return error_of(number_of(made.error().code()), std::string{made.error().words()});
    c->outputs[i].tensor = **made, c->made[i] = true;
    return *to = &c->outputs[i], nullptr;
  });
  t.set<api::KernelContext_GetPreallocatedOutput>(
      [](const ort_kernel_context*, std::size_t, ort_value** to) -> ort_status* { return *to = nullptr, nullptr; });
  t.set<api::KernelContext_ParallelFor, nulls::allowed>([](const ort_kernel_context* c, void (*f)(void*, std::size_t),
                                                           std::size_t count, std::size_t, void* data) -> ort_status* {
    if (!c || !f) return error_of(bad_argument, "KernelContext_ParallelFor: an argument is null");
    c->run->parallel(count, [&](std::size_t i) { f(data, i); });
    return nullptr;
  });
  t.set<api::KernelContext_GetLogger>([](const ort_kernel_context*, const ort_logger** to) -> ort_status* {
    static const ort_logger log;
    return *to = &log, nullptr;
  });
  t.set<api::Logger_LogMessage, nulls::allowed>([](const ort_logger*, std::int32_t, const char*, const char*, int,
                                                   const char*) -> ort_status* { return nullptr; });
  t.getter<api::Logger_GetLoggingSeverityLevel>([](const ort_logger& log) { return log.least_severity; });
}

/// Sets a function that returns a list that is a member of an object.
template <auto Slot, auto List, class Of, class T>
void put_list(api_table& t, ort_status* (*)(const Of*, T**, std::size_t)) {
  t.set<Slot, nulls::allowed>([](const Of* of, T** to, std::size_t size) {
    return of ? give_list(of->*List, to, size) : error_of(bad_argument, "the object of a list is null");
  });
}
/// Sets the functions that return the size and the elements of a list.
template <auto Count, auto Slot, auto List>
void set_list(api_table& t) {
  t.getter<Count>([](const auto& of) { return (of.*List).size(); });
  put_list<Slot, List>(t, static_cast<typename slot_type<Slot>::type*>(nullptr));
}

void set_graphs(api_table& t) {
  using info = const ort_value_info;
  t.getter<api::Graph_GetName>([](const ort_graph& of) { return of.name.c_str(); });
  t.getter<api::Graph_GetModelPath>([](const ort_graph& of) { return of.path.c_str(); });
  t.getter<api::Graph_GetOnnxIRVersion>([](const ort_graph& of) { return of.ir_version; });
  t.getter<api::Graph_GetNumOperatorSets>([](const ort_graph& of) { return of.opsets.size(); });
  t.set<api::Graph_GetOperatorSets, nulls::allowed>(
      [](const ort_graph* of, const char** domains, std::int64_t* versions, std::size_t size) -> ort_status* {
        if (!of || !domains || !versions || size < of->opsets.size())
          return error_of(bad_argument, "Graph_GetOperatorSets: a buffer is null or too small");
        for (std::size_t i = 0; i < of->opsets.size(); ++i)
          domains[i] = of->opsets[i].first.c_str(), versions[i] = of->opsets[i].second;
        return nullptr;
      });
  set_list<api::Graph_GetNumInputs, api::Graph_GetInputs, &ort_graph::inputs>(t);
  set_list<api::Graph_GetNumOutputs, api::Graph_GetOutputs, &ort_graph::outputs>(t);
  set_list<api::Graph_GetNumInitializers, api::Graph_GetInitializers, &ort_graph::initializers>(t);
  set_list<api::Graph_GetNumNodes, api::Graph_GetNodes, &ort_graph::order>(t);
  t.getter<api::Graph_GetParentNode>([](const ort_graph& of) { return of.parent; });
  t.getter<api::GetValueInfoName>([](const ort_value_info& v) { return v.name.c_str(); });
  t.getter<api::GetValueInfoTypeInfo>([](const ort_value_info& v) { return &v.type; });
  t.getter<api::ValueInfo_GetInitializerValue>(
      [](const ort_value_info& v) { return v.is_constant ? &v.constant : nullptr; });
  t.getter<api::ValueInfo_GetExternalInitializerInfo>([](const ort_value_info&) { return nullptr; });
  t.set<api::ValueInfo_GetValueProducer, nulls::allowed>(
      [](const ort_value_info* v, const ort_node** to, std::size_t* output) -> ort_status* {
        if (!v || !to) return error_of(bad_argument, "ValueInfo_GetValueProducer: an argument is null");
        *to = v->producer;
        if (output) *output = v->producer_output;
        return nullptr;
      });
  t.getter<api::ValueInfo_GetValueNumConsumers>([](const ort_value_info& v) { return v.consumers.size(); });
  t.set<api::ValueInfo_GetValueConsumers, nulls::allowed>(
      [](const ort_value_info* v, const ort_node** to, std::int64_t* inputs, std::size_t size) -> ort_status* {
        if (!v || size < v->consumers.size() || (size > 0 && (!to || !inputs)))
          return error_of(bad_argument, "ValueInfo_GetValueConsumers: a buffer is null or too small");
        for (std::size_t i = 0; i < v->consumers.size(); ++i)
          to[i] = v->consumers[i].first, inputs[i] = v->consumers[i].second;
        return nullptr;
      });
  t.getter<api::ValueInfo_IsRequiredGraphInput>([](info& v) { return v.is_input; });
  t.getter<api::ValueInfo_IsOptionalGraphInput>([](info& v) { return v.is_optional; });
  t.getter<api::ValueInfo_IsGraphOutput>([](info& v) { return v.is_output; });
  t.getter<api::ValueInfo_IsConstantInitializer>([](info& v) { return v.is_constant; });
  t.getter<api::ValueInfo_IsFromOuterScope>([](info& v) { return v.is_outer; });
}

void set_nodes(api_table& t) {
  t.getter<api::Node_GetId>([](const ort_node& of) { return of.id; });
  t.getter<api::Node_GetName>([](const ort_node& of) { return of.name.c_str(); });
  t.getter<api::Node_GetOperatorType>([](const ort_node& of) { return of.type.c_str(); });
  t.getter<api::Node_GetDomain>([](const ort_node& of) { return of.domain.c_str(); });
  t.getter<api::Node_GetSinceVersion>([](const ort_node& of) { return of.since; });
  set_list<api::Node_GetNumInputs, api::Node_GetInputs, &ort_node::inputs>(t);
  set_list<api::Node_GetNumOutputs, api::Node_GetOutputs, &ort_node::outputs>(t);
  set_list<api::Node_GetNumImplicitInputs, api::Node_GetImplicitInputs, &ort_node::captured>(t);
  set_list<api::Node_GetNumAttributes, api::Node_GetAttributes, &ort_node::listed>(t);
  t.set<api::Node_GetAttributeByName>([](const ort_node* of, const char* name, const ort_attribute** to) {
    *to = nullptr;
    for (const ort_attribute* each : of->listed)
      if (each->name == name) *to = each;
    return *to ? static_cast<ort_status*>(nullptr)
               : error_of(number_of(status_code::not_found), fmt::format("no attribute '{}'", name));
  });
  t.getter<api::Node_GetNumSubgraphs>([](const ort_node& of) { return of.bodies.size(); });
  t.set<api::Node_GetSubgraphs, nulls::allowed>(
      [](const ort_node* of, const ort_graph** to, std::size_t size, const char** names) -> ort_status* {
        if (!of || size < of->bodies.size() || (!to && size > 0))
          return error_of(bad_argument, "Node_GetSubgraphs: a buffer is null or too small");
        for (std::size_t i = 0; i < of->bodies.size(); ++i) {
          to[i] = of->bodies[i].second;
          if (names) names[i] = of->bodies[i].first.c_str();
        }
        return nullptr;
      });
  t.getter<api::Node_GetGraph>([](const ort_node& of) { return of.in; });
  t.getter<api::Node_GetEpName>([](const ort_node&) { return ""; });
  t.set<api::ReleaseNode>([](ort_node* of) { take_node(of); });
  t.set<api::ReleaseValueInfo>([](ort_value_info*) {});
}

void set_attributes(api_table& t) {
  t.getter<api::OpAttr_GetType>([](const ort_attribute& a) { return std::int32_t(a.kind); });
  t.getter<api::OpAttr_GetName>([](const ort_attribute& a) { return a.name.c_str(); });
  t.set<api::OpAttr_GetTensorAttributeAsOrtValue>([](const ort_attribute* a, ort_value** to) -> ort_status* {
    if (a->kind != ort_attribute_kind::t) return error_of(bad_argument, "the attribute is not a tensor");
    return *to = new ort_value{a->tensor, {}}, nullptr;
  });
  t.set<api::ReadOpAttr, nulls::allowed>(
      [](const ort_attribute* a, std::int32_t kind, void* to, std::size_t size, std::size_t* bytes) -> ort_status* {
        if (!a || !bytes) return error_of(bad_argument, "ReadOpAttr: an argument is null");
        if (std::int32_t(a->kind) != kind) return error_of(bad_argument, "the attribute is of another kind");
        *bytes = a->bytes.size();
        if (size < a->bytes.size()) return error_of(bad_argument, "the buffer is too small for the attribute");
        if (!a->bytes.empty()) {
          if (!to) return error_of(bad_argument, "ReadOpAttr: an argument is null");
          std::memcpy(to, a->bytes.data(), a->bytes.size());
        }
        return nullptr;
      });
  t.set<api::CreateOpAttr, nulls::allowed>(
      [](const char* name, const void* data, int count, std::int32_t kind, ort_attribute** to) -> ort_status* {
        if (!name || !to || count < 0 || (!data && count > 0))
          return error_of(bad_argument, "CreateOpAttr: an argument is null");
        auto made = std::make_unique<ort_attribute>();
        made->name = name, made->kind = ort_attribute_kind(kind);
        const char* const bytes = static_cast<const char*>(data);
        switch (made->kind) {
          case ort_attribute_kind::i: made->bytes.assign(bytes, sizeof(std::int64_t)); break;
          case ort_attribute_kind::f: made->bytes.assign(bytes, sizeof(float)); break;
          case ort_attribute_kind::s: made->bytes.assign(bytes ? bytes : "", std::size_t(count)); break;
          case ort_attribute_kind::ints: made->bytes.assign(bytes, std::size_t(count) * sizeof(std::int64_t)); break;
          case ort_attribute_kind::floats: made->bytes.assign(bytes, std::size_t(count) * sizeof(float)); break;
          default: return error_of(no_function, "attributes of this kind can't be made");
        }
        return *to = made.release(), nullptr;
      });
  t.set<api::ReleaseOpAttr>([](ort_attribute* a) { delete a; });
}

/// Sets the functions of session options, of lists of keys and values, and of devices.
void set_options(api_table& t) {
  t.set<api::HasSessionConfigEntry>([](const ort_session_options* o, const char* key, int* to) -> ort_status* {
    return *to = o->entries.pairs.contains(key), nullptr;
  });
  t.set<api::GetSessionConfigEntry, nulls::allowed>(
      [](const ort_session_options* o, const char* key, char* to, std::size_t* bytes) -> ort_status* {
        if (!o || !key || !bytes) return error_of(bad_argument, "GetSessionConfigEntry: an argument is null");
        const auto found = o->entries.pairs.find(key);
        if (found == o->entries.pairs.end()) return error_of(1, fmt::format("no entry '{}'", key));
        const std::size_t size = std::exchange(*bytes, found->second.size() + 1);
        if (!to) return nullptr;
        if (size < found->second.size() + 1) return error_of(bad_argument, "the buffer is too small for the entry");
        std::memcpy(to, found->second.c_str(), found->second.size() + 1);
        return nullptr;
      });
  t.getter<api::GetSessionOptionsConfigEntries>(
      [](const ort_session_options& o) { return new ort_key_values{o.entries}; });
  t.set<api::CreateKeyValuePairs>([](ort_key_values** to) { *to = new ort_key_values; });
  t.set<api::AddKeyValuePair>([](ort_key_values* of, const char* key, const char* value) { of->set(key, value); });
  t.set<api::GetKeyValue>([](const ort_key_values* of, const char* key) -> const char* {
    const auto found = of->pairs.find(key);
    return found == of->pairs.end() ? nullptr : found->second.c_str();
  });
  t.set<api::GetKeyValuePairs>(
      [](const ort_key_values* of, const char* const** keys, const char* const** values, std::size_t* count) {
        *keys = of->keys.data(), *values = of->values.data(), *count = of->keys.size();
      });
  t.set<api::RemoveKeyValuePair>([](ort_key_values* of, const char* key) { of->remove(key); });
  t.set<api::ReleaseKeyValuePairs>([](ort_key_values* of) { delete of; });
  t.set<api::HardwareDevice_Type>([](const ort_hardware_device* d) { return std::int32_t(d->description.kind); });
  t.set<api::HardwareDevice_VendorId>([](const ort_hardware_device* d) { return d->description.vendor_id; });
  t.set<api::HardwareDevice_Vendor>([](const ort_hardware_device* d) { return d->description.vendor.c_str(); });
  t.set<api::HardwareDevice_DeviceId>([](const ort_hardware_device* d) { return d->description.id; });
  t.set<api::HardwareDevice_Metadata>(
      [](const ort_hardware_device* d) -> const ort_key_values* { return &d->metadata; });
  t.set<api::EpDevice_EpName>([](const ort_ep_device* d) { return d->name.c_str(); });
  t.set<api::EpDevice_EpVendor>([](const ort_ep_device* d) { return d->vendor.c_str(); });
  t.set<api::EpDevice_EpMetadata>([](const ort_ep_device* d) -> const ort_key_values* { return &d->metadata; });
  t.set<api::EpDevice_EpOptions>([](const ort_ep_device* d) -> const ort_key_values* { return &d->options; });
  t.set<api::EpDevice_Device>([](const ort_ep_device* d) { return d->hardware; });
  t.set<api::GetBuildInfoString>([] { return "cameo"; });
}

template <which Table, std::size_t Count, std::size_t... Ns>
void set_missing(table<Count>& t, std::index_sequence<Ns...>) {
  // An array is used because clang limits the number of operands of a fold expression.
  const void* const all[] = {reinterpret_cast<const void*>(&missing<Table, Ns>)...};
  std::copy(std::begin(all), std::end(all), std::begin(t.slots));
}

ort_table ep_functions() {
  static const auto made = [] {
    table<74> t;
    set_missing<which::smaller>(t, std::make_index_sequence<74>{});
    t.set<ep_api::CreateEpDevice, nulls::allowed>([](ort_ep_factory* factory, const ort_hardware_device* hardware,
                                                     const ort_key_values* metadata, const ort_key_values* options,
                                                     ort_ep_device** to) -> ort_status* {
      if (!factory || !hardware || !to) return error_of(bad_argument, "CreateEpDevice: an argument is null");
      auto device = std::make_unique<ort_ep_device>();
      device->factory = factory, device->hardware = hardware;
      if (metadata) device->metadata = *metadata;
      if (options) device->options = *options;
      const std::lock_guard lock{devices_made().guard};
      devices_made().all.insert(device.get());
      return *to = device.release(), nullptr;
    });
    t.set<ep_api::ReleaseEpDevice>([](ort_ep_device* device) {
      const std::lock_guard lock{devices_made().guard};
      if (devices_made().all.erase(device) > 0) delete device;
    });
    t.set<ep_api::EpGraphSupportInfo_AddNodesToFuse, nulls::allowed>([](ort_support_info* to,
                                                                        const ort_node* const* nodes, std::size_t count,
                                                                        const ort_fusion_options* how) -> ort_status* {
      if (!to || !nodes || count == 0) return error_of(bad_argument, "AddNodesToFuse: a group without nodes");
      ort_support_info::group group = {};
      group.drops_constants = how && how->drop_constant_initializers;
      for (std::size_t i = 0; i < count; ++i) {
        if (std::ranges::find(to->graph->order, nodes[i]) == to->graph->order.end())
          return error_of(bad_argument, "AddNodesToFuse: a node is not of this graph");
        group.nodes.push_back(nodes[i]->source);
      }
      to->groups.push_back(std::move(group));
      return nullptr;
    });
    t.set<ep_api::NodeComputeContext_NodeName>([](const ort_compute_context* of) { return of->name.c_str(); });
    t.set<ep_api::EpDevice_AddAllocatorInfo>([](ort_ep_device*, const ort_memory_info*) -> ort_status* {
      return nullptr;  // ignored: values are in host memory
    });
    t.set<ep_api::MemoryInfo_GetMemoryDevice>([](const ort_memory_info* m) { return &std::as_const(m->location); });
    t.set<ep_api::Value_GetMemoryDevice>([](const ort_value*) { return &host_memory().location; });
    t.set<ep_api::MemoryDevice_AreEqual>(
        [](const ort_memory_device* a, const ort_memory_device* b) { return *a == *b; });
    t.set<ep_api::MemoryDevice_GetDeviceType>([](const ort_memory_device* d) { return d->device; });
    t.set<ep_api::SessionOptionsGetWeightlessSourceModelBuffer>(
        [](const ort_session_options*, const void** to, std::size_t* bytes) -> ort_status* {
          return *to = nullptr, *bytes = 0, nullptr;
        });
    t.set<ep_api::GetEnvConfigEntries>(
        [](ort_key_values** to) -> ort_status* { return *to = new ort_key_values, nullptr; });
    return t;
  }();
  return made.slots.data();
}

bool take_names(const char* const* from, std::size_t count, std::vector<std::string>& to) {
  for (std::size_t i = 0; i < count; ++i) {
    if (!from || !from[i]) return false;
    to.emplace_back(from[i]);
  }
  return true;
}

ort_table editor_functions() {
  static const auto made = [] {
    table<24> t;
    set_missing<which::smaller>(t, std::make_index_sequence<24>{});
    t.set<editor_api::CreateNode, nulls::allowed>([](const char* type, const char* domain, const char* name,
                                                     const char* const* inputs, std::size_t input_count,
                                                     const char* const* outputs, std::size_t output_count,
                                                     ort_attribute** attributes, std::size_t count,
                                                     ort_node** to) -> ort_status* {
      if (!type || !domain || !name || !to || (!attributes && count > 0))
        return error_of(bad_argument, "CreateNode: an argument is null");
      auto node = std::make_unique<ort_node>();
      node->type = type, node->domain = domain, node->name = name;
      if (!take_names(inputs, input_count, node->input_names) || !take_names(outputs, output_count, node->output_names))
        return error_of(bad_argument, "CreateNode: a name is null");
      for (std::size_t i = 0; i < count; ++i) {
        if (!attributes[i]) return error_of(bad_argument, "CreateNode: an attribute is null");
        const std::unique_ptr<ort_attribute> given{attributes[i]};
        node->attributes.push_back(std::move(*given));
        node->listed.push_back(&node->attributes.back());
      }
      *to = node.get();
      const std::lock_guard lock{nodes_made().guard};
      nodes_made().all.emplace(node.get(), std::move(node));
      return nullptr;
    });
    return t;
  }();
  return made.slots.data();
}

ort_table functions() {
  static const auto made = [] {
    auto t = std::make_unique<api_table>();
    set_missing<which::main>(*t, std::make_index_sequence<std::size(api_names)>{});
    set_types(*t), set_values(*t), set_runs(*t), set_graphs(*t), set_nodes(*t), set_attributes(*t), set_options(*t);
    t->set<api::GetEpApi>([] { return ep_functions(); });
    t->set<api::GetModelEditorApi>([] { return editor_functions(); });
    t->set<api::GetCompileApi>([]() -> ort_table { return nullptr; });
    t->set<api::GetInteropApi>([]() -> ort_table { return nullptr; });
    t->set<api::GetTrainingApi>([](std::uint32_t) -> ort_table { return nullptr; });
    t->set<api::GetExperimentalFunction>([](const char*) -> void* { return nullptr; });
    return t;
  }();
  return made->slots.data();
}

}  // namespace

std::unique_ptr<ort_node> take_node(ort_node* from) {
  const std::lock_guard lock{nodes_made().guard};
  const auto found = nodes_made().all.find(from);
  if (found == nodes_made().all.end()) return nullptr;
  std::unique_ptr<ort_node> node = std::move(found->second);
  nodes_made().all.erase(found);
  return node;
}

const ort_api_base& api_base() {
  static constexpr std::uint32_t claimed = 30;  // the version whose slots are listed in names.hpp
  static const ort_api_base base{[](std::uint32_t version) { return version <= claimed ? functions() : nullptr; },
                                 [] { return "1.30.0"; }};
  return base;
}

}  // namespace CAMEO_NAMESPACE::detail::ort
