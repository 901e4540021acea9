#pragma once
#include <cameo/format/format.hpp>

CAMEO_BEGIN_NAMESPACE

/// Reads an ONNX model of any IR version; it is not checked yet (check_model). Weights stay in the mapped file:
/// raw_data and external data become spans; the model keeps the mappings. Errors name the file and what is wrong:
///   NO_SUCHFILE       no such file
///   INVALID_PROTOBUF  not protobuf, truncated, or no ModelProto
///   INVALID_ARGUMENT  a model without a graph; a name that is not defined
///   INVALID_GRAPH     duplicate names, dims negative or too large, data of the wrong length, external data outside
///                     the folder or short, subgraphs nested too deep, an opset below 1
CAMEO_API result<std::unique_ptr<model>> read_onnx(const std::string& path, const read_options& = {});
/// The same from memory, which must outlive the model (weights are not copied). `name` is used in messages instead of a
/// file's; external data needs options.external_data_folder.
CAMEO_API result<std::unique_ptr<model>> read_onnx(std::span<const std::byte> bytes, std::string_view name,
                                                   const read_options& = {});

/// Writes a model: complete or absent, with its external data (see write_file_atomically). INVALID_ARGUMENT for more
/// than 2 GB, with the advice to use external data. Fields that cameo did not interpret are written back.
CAMEO_API status write_onnx(const model&, const std::string& path, const write_options& = {});
/// The same to a sink; external data is written to a file in `folder` (with its separator; empty: the current one).
CAMEO_API status write_onnx(const model&, detail::model_sink, const std::string& folder, const write_options& = {});
/// Returns the bytes of the model, without external data.
CAMEO_API result<std::string> write_onnx(const model&);

/// ONNX's protobuf files, for a session's list of formats. It recognises every file: protobuf has no magic number.
struct onnx_format {
  static constexpr std::string_view name = "onnx";
  static bool recognises(std::span<const std::byte>, std::string_view) { return true; }
  /// See detail::format_row::can_begin.
  CAMEO_API static bool can_begin(std::span<const std::byte> first, std::size_t most);
  /// read_onnx, of a file and of bytes.
  CAMEO_API static result<std::unique_ptr<model>> read(const std::string& path, const read_options& options);
  CAMEO_API static result<std::unique_ptr<model>> read(std::span<const std::byte> bytes, std::string_view called,
                                                       const read_options& options);
  /// What the dims of a tensor are said to be, of a value that either format's reader made (graph_value::unknown);
  /// empty texts for dims without a denotation, and nothing at all if no dim has one.
  CAMEO_API static std::vector<std::string> dim_denotations(std::string_view unknown);
  /// write_onnx, to a file and to a sink.
  static status write(const model& from, const std::string& path, const write_options& options) {
    return write_onnx(from, path, options);
  }
  static status write(const model& from, detail::model_sink to, const std::string& folder,
                      const write_options& options) {
    return write_onnx(from, to, folder, options);
  }
};

CAMEO_END_NAMESPACE
