#pragma once
#include "os/libraries.hpp"

#include <cameo/core/result.hpp>

#include <openvino/c/openvino.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

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

  /// EP_FAIL with the SDK's last error message, unless the code is OK.
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
  decltype(&::ov_get_openvino_version) get_openvino_version = nullptr;
  decltype(&::ov_version_free) version_free = nullptr;
  decltype(&::ov_get_last_err_msg) get_last_err_msg = nullptr;
  decltype(&::ov_get_error_info) get_error_info = nullptr;
  decltype(&::ov_free) free = nullptr;
  decltype(&::ov_core_create) core_create = nullptr;
  decltype(&::ov_core_free) core_free = nullptr;
  decltype(&::ov_core_get_available_devices) core_get_available_devices = nullptr;
  decltype(&::ov_available_devices_free) available_devices_free = nullptr;
  decltype(&::ov_core_set_property) core_set_property = nullptr;
  decltype(&::ov_core_get_property) core_get_property = nullptr;
  decltype(&::ov_core_read_model_from_memory_buffer) core_read_model_from_memory_buffer = nullptr;
  decltype(&::ov_model_free) model_free = nullptr;
  decltype(&::ov_core_compile_model) core_compile_model = nullptr;
  decltype(&::ov_core_import_model) core_import_model = nullptr;
  decltype(&::ov_compiled_model_export_model) compiled_model_export_model = nullptr;
  decltype(&::ov_compiled_model_free) compiled_model_free = nullptr;
  decltype(&::ov_compiled_model_inputs_size) compiled_model_inputs_size = nullptr;
  decltype(&::ov_compiled_model_outputs_size) compiled_model_outputs_size = nullptr;
  decltype(&::ov_compiled_model_input_by_index) compiled_model_input_by_index = nullptr;
  decltype(&::ov_compiled_model_output_by_index) compiled_model_output_by_index = nullptr;
  decltype(&::ov_compiled_model_input_by_name) compiled_model_input_by_name = nullptr;
  decltype(&::ov_compiled_model_output_by_name) compiled_model_output_by_name = nullptr;
  decltype(&::ov_compiled_model_create_infer_request) compiled_model_create_infer_request = nullptr;
  decltype(&::ov_output_const_port_free) output_const_port_free = nullptr;
  decltype(&::ov_port_get_any_name) port_get_any_name = nullptr;
  decltype(&::ov_port_get_partial_shape) port_get_partial_shape = nullptr;
  decltype(&::ov_port_get_element_type) port_get_element_type = nullptr;
  decltype(&::ov_partial_shape_free) partial_shape_free = nullptr;
  decltype(&::ov_partial_shape_is_dynamic) partial_shape_is_dynamic = nullptr;
  decltype(&::ov_infer_request_free) infer_request_free = nullptr;
  decltype(&::ov_infer_request_set_tensor_by_const_port) infer_request_set_tensor_by_const_port = nullptr;
  decltype(&::ov_infer_request_get_tensor_by_const_port) infer_request_get_tensor_by_const_port = nullptr;
  decltype(&::ov_infer_request_start_async) infer_request_start_async = nullptr;
  decltype(&::ov_infer_request_wait) infer_request_wait = nullptr;
  decltype(&::ov_infer_request_wait_for) infer_request_wait_for = nullptr;
  decltype(&::ov_infer_request_cancel) infer_request_cancel = nullptr;
  decltype(&::ov_tensor_create_from_host_ptr) tensor_create_from_host_ptr = nullptr;
  decltype(&::ov_tensor_get_shape) tensor_get_shape = nullptr;
  decltype(&::ov_tensor_get_element_type) tensor_get_element_type = nullptr;
  decltype(&::ov_tensor_get_byte_size) tensor_get_byte_size = nullptr;
  decltype(&::ov_tensor_data) tensor_data = nullptr;
  decltype(&::ov_tensor_free) tensor_free = nullptr;
  decltype(&::ov_shape_free) shape_free = nullptr;

 private:
  status bind(const os::library&);
  /// The function of the helper library; null if the library was not found.
  int (*query_)(const char* onnx, std::size_t bytes, const char* device, const std::int64_t* shapes, std::size_t count,
                char* words, std::size_t capacity) = nullptr;
};

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
