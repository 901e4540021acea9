#pragma once
#include <cameo/format/format.hpp>

namespace CAMEO_NAMESPACE {

/// Reads an ONNX model of any IR version, which check_model() has yet to check. Weights stay in the mapped file:
/// raw_data and external data become spans, and the model keeps the mappings. Errors contain the file and what is
/// wrong:
///   NO_SUCHFILE       no such file
///   INVALID_PROTOBUF  not protobuf, truncated, or not a ModelProto
///   INVALID_ARGUMENT  a model without a graph; a name that is not defined
///   INVALID_GRAPH     duplicate names, dims negative or too large, data of the wrong length, external data outside
///                     the folder or too short, subgraphs nested too deeply, an opset below 1
CAMEO_API result<std::unique_ptr<model>> read_onnx(const std::string& path, const read_options& = {});
/// Reads a model from memory, which must outlive the model (weights are not copied). `name` replaces the file's name in
/// messages. External data needs options.external_data_folder.
CAMEO_API result<std::unique_ptr<model>> read_onnx(std::span<const std::byte> bytes, std::string_view name,
                                                   const read_options& = {});

/// Writes a whole model with its external data, or nothing (see write_file_atomically). INVALID_ARGUMENT for more than
/// 2 GB, with the advice to use external data. Fields that cameo did not interpret are written back.
CAMEO_API status write_onnx(const model&, const std::string& path, const write_options& = {});
/// Writes a model to a sink. External data is written to a file in `folder`, a path that ends with its separator;
/// empty: the current folder.
CAMEO_API status write_onnx(const model&, byte_sink, const std::string& folder, const write_options& = {});
/// Returns the bytes of the model, without external data.
CAMEO_API result<std::string> write_onnx(const model&);

/// ONNX's protobuf files, for a session's list of formats. Recognizes every file, because protobuf has no magic number.
struct onnx_format {
  static constexpr std::string_view name = "onnx";
  static bool recognizes(std::span<const std::byte>, std::string_view) { return true; }
  /// See detail::format_row::can_begin.
  CAMEO_API static bool can_begin(std::span<const std::byte> first, std::size_t most);
  /// Calls read_onnx(), for a file or bytes.
  CAMEO_API static result<std::unique_ptr<model>> read(const std::string& path, const read_options& options);
  CAMEO_API static result<std::unique_ptr<model>> read(std::span<const std::byte> bytes, std::string_view called,
                                                       const read_options& options);
  /// The denotations of a tensor's dims, decoded from `unknown`, a graph_value::unknown that read_onnx() or read_ort()
  /// has set. An empty text stands for a dim without a denotation; the list is empty if no dim has one.
  CAMEO_API static std::vector<std::string> dim_denotations(std::string_view unknown);
  /// Calls write_onnx(), for a file or a sink.
  static status write(const model& from, const std::string& path, const write_options& options) {
    return write_onnx(from, path, options);
  }
  static status write(const model& from, byte_sink to, const std::string& folder, const write_options& options) {
    return write_onnx(from, to, folder, options);
  }
};

}  // namespace CAMEO_NAMESPACE
