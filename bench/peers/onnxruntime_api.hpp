#pragma once
// The part of ONNX Runtime's C API that the benchmarks use. The library exports a table of functions, to which new
// versions only append. A function is therefore declared as an index of the table and a type.
#include <cstddef>
#include <cstdint>

namespace peers::ort {

// Opaque objects, which the library creates and releases.
struct status;
struct environment;
struct options;
struct session;
struct memory_info;
struct value;
struct type_and_shape;
struct allocator;
struct binding;
struct run_options;
struct ep_device;

/// The result of the library's symbol OrtGetApiBase.
struct api_base {
  const void* const* (*table)(std::uint32_t version);  // null if the library is older
  const char* (*version)();
};
inline constexpr const char* entry_point = "OrtGetApiBase";
/// The versions of the API that have the functions below, without and with those for plugins.
inline constexpr std::uint32_t version = 17, version_with_plugins = 22;

/// A function of the table that returns a status. A status other than null is an error, which the caller releases.
template <std::size_t Place, class... Args>
struct checked_function {
  static constexpr std::size_t place = Place;
  using type = status*(Args...);
};
/// A function of the table that returns a result and cannot fail.
template <std::size_t Place, class Result, class... Args>
struct plain_function {
  static constexpr std::size_t place = Place;
  using type = Result(Args...);
};

using get_error_message = plain_function<2, const char*, const status*>;
using create_environment = checked_function<3, int, const char*, environment**>;
using create_session = checked_function<7, environment*, const char*, const options*, session**>;
using create_options = checked_function<10, options**>;
using set_log_severity = checked_function<22, options*, int>;
using set_intra_op_threads = checked_function<24, options*, int>;
using set_inter_op_threads = checked_function<25, options*, int>;
using output_count = checked_function<31, const session*, std::size_t*>;
using output_name = checked_function<37, const session*, std::size_t, allocator*, char**>;
using create_tensor =
    checked_function<49, const memory_info*, void*, std::size_t, const std::int64_t*, std::size_t, int, value**>;
using tensor_data = checked_function<51, value*, void**>;
using element_type = checked_function<60, const type_and_shape*, int*>;
using rank = checked_function<61, const type_and_shape*, std::size_t*>;
using dims = checked_function<62, const type_and_shape*, std::int64_t*, std::size_t>;
using shape_of = checked_function<65, const value*, type_and_shape**>;
using create_cpu_memory_info = checked_function<69, int, int, memory_info**>;
using free_allocated = checked_function<76, allocator*, void*>;
using default_allocator = checked_function<78, allocator**>;
using release_environment = plain_function<92, void, environment*>;
using release_status = plain_function<93, void, status*>;
using release_memory_info = plain_function<94, void, memory_info*>;
using release_session = plain_function<95, void, session*>;
using release_value = plain_function<96, void, value*>;
using release_shape = plain_function<99, void, type_and_shape*>;
using release_options = plain_function<100, void, options*>;
using run_with_binding = checked_function<133, session*, const run_options*, const binding*>;
using create_binding = checked_function<134, session*, binding**>;
using release_binding = plain_function<135, void, binding*>;
using bind_input = checked_function<136, binding*, const char*, const value*>;
using bind_output = checked_function<137, binding*, const char*, const value*>;
using bind_output_to_device = checked_function<138, binding*, const char*, const memory_info*>;
using bound_outputs = checked_function<140, const binding*, allocator*, value***, std::size_t*>;

using set_optimization = checked_function<23, options*, int>;
using register_plugin = checked_function<301, environment*, const char*, const char*>;
using ep_devices = checked_function<303, const environment*, const ep_device* const**, std::size_t*>;
using append_devices = checked_function<304, options*, environment*, const ep_device* const*, std::size_t,
                                        const char* const*, const char* const*, std::size_t>;
using ep_name = plain_function<312, const char*, const ep_device*>;

inline constexpr int log_errors = 3, no_optimization = 0, device_allocator = 0, default_memory = 0;

}  // namespace peers::ort
