#pragma once
#include "os/libraries.hpp"

#include <cameo/core/result.hpp>

#include <openvino/c/openvino.h>

#include <memory>
#include <span>
#include <string>

/// The functions of the SDK's C interface that are loaded, by their names without "ov_".
// clang-format off
#define CAMEO_OPENVINO_FUNCTIONS(f) \
  f(get_openvino_version) f(version_free) f(get_last_err_msg) f(get_error_info) f(free) f(core_create) f(core_free) \
  f(core_get_available_devices) f(available_devices_free) f(core_set_property) f(core_get_property) \
  f(core_read_model_from_memory_buffer) f(model_free) f(core_compile_model) f(core_import_model) \
  f(compiled_model_export_model) f(compiled_model_free) f(compiled_model_inputs_size) f(compiled_model_outputs_size) \
  f(compiled_model_input_by_index) f(compiled_model_output_by_index) f(compiled_model_input_by_name) \
  f(compiled_model_output_by_name) f(compiled_model_create_infer_request) f(output_const_port_free) \
  f(port_get_any_name) f(port_get_partial_shape) f(port_get_element_type) f(partial_shape_free) \
  f(partial_shape_is_dynamic) f(infer_request_free) f(infer_request_set_tensor_by_const_port) \
  f(infer_request_get_tensor_by_const_port) f(infer_request_start_async) f(infer_request_wait) \
  f(infer_request_wait_for) f(infer_request_cancel) f(tensor_create_from_host_ptr) f(tensor_get_shape) \
  f(tensor_get_element_type) f(tensor_get_byte_size) f(tensor_data) f(tensor_free) f(shape_free)
// clang-format on

namespace CAMEO_NAMESPACE::eps::openvino_detail {

/// An owned object of the SDK.
template <class T>
using handle = std::unique_ptr<T, void (*)(T*)>;

/// The SDK's C interface, loaded once per process and never unloaded: its threads may outlive every session.
/// Thread-safe.
class sdk {
 public:
  /// Loads the SDK. EP_FAIL, with the places that were searched, if it is not found.
  static result<const sdk*> load(const std::string& folder);

  /// Converts the code that a function of the SDK returned: EP_FAIL with the SDK's last error message, unless the code
  /// is OK.
  status check(ov_status_e, std::string_view doing) const;
  /// Copies and frees a text of the SDK.
  std::string take_text(const char* text) const;
  result<std::string> version() const;
  result<handle<ov_core_t>> make_core() const;
  /// A property of a device; empty if the device does not have it.
  std::string property(const ov_core_t&, const std::string& device, const char* key) const;
  /// OK if the device runs the whole model, and its outputs have these shapes (the rank of each, then its dims; -1 for
  /// an unknown one); otherwise the SDK's message. Without the helper library it only checks that the SDK reads the
  /// model.
  status can_run(std::string_view onnx, const std::string& device, std::span<const std::int64_t> shapes) const;

  // The SDK's functions, with their names without "ov_".
#define CAMEO_OPENVINO_FUNCTION(name) decltype(&::ov_##name) name = nullptr;
  CAMEO_OPENVINO_FUNCTIONS(CAMEO_OPENVINO_FUNCTION)
#undef CAMEO_OPENVINO_FUNCTION

 private:
  status bind(const os::library&);
  /// The function of the helper library; null if the library was not found.
  int (*query_)(const char* onnx, std::size_t bytes, const char* device, const std::int64_t* shapes, std::size_t count,
                char* words, std::size_t capacity) = nullptr;
};

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
