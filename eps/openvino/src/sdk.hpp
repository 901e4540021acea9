#pragma once
#include "os/libraries.hpp"

#include <cameo/core/result.hpp>

#include <openvino/c/openvino.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE::eps::openvino_detail {

// clang-format off
/// The functions of the SDK's C interface that are loaded, by their names without "ov_".
#define CAMEO_OPENVINO_FUNCTIONS(F) \
  F(get_openvino_version) F(version_free) F(get_last_err_msg) F(get_error_info) F(free) F(core_create) F(core_free) \
  F(core_get_available_devices) F(available_devices_free) F(core_set_property) F(core_get_property) \
  F(core_read_model_from_memory_buffer) F(model_free) F(core_compile_model) F(core_import_model) \
  F(compiled_model_export_model) F(compiled_model_free) F(compiled_model_inputs_size) F(compiled_model_outputs_size) \
  F(compiled_model_input_by_index) F(compiled_model_output_by_index) F(compiled_model_input_by_name) \
  F(compiled_model_output_by_name) F(compiled_model_create_infer_request) F(output_const_port_free) \
  F(port_get_any_name) F(port_get_partial_shape) F(port_get_element_type) F(partial_shape_free) \
  F(partial_shape_is_dynamic) F(infer_request_free) F(infer_request_set_tensor_by_const_port) \
  F(infer_request_get_tensor_by_const_port) F(infer_request_start_async) F(infer_request_wait) \
  F(infer_request_wait_for) F(infer_request_cancel) F(tensor_create_from_host_ptr) F(tensor_get_shape) \
  F(tensor_get_element_type) F(tensor_get_byte_size) F(tensor_data) F(tensor_free) F(shape_free)
// clang-format on

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
#define CAMEO_OPENVINO_MEMBER(name) decltype(&::ov_##name) name = nullptr;
  CAMEO_OPENVINO_FUNCTIONS(CAMEO_OPENVINO_MEMBER)
#undef CAMEO_OPENVINO_MEMBER

 private:
  status bind(const os::library&);
  /// The function of the helper library; null if the library was not found.
  int (*query_)(const char* onnx, std::size_t bytes, const char* device, const std::int64_t* shapes, std::size_t count,
                char* words, std::size_t capacity) = nullptr;
};

}  // namespace CAMEO_NAMESPACE::eps::openvino_detail
