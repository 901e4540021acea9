#pragma once
#include <cameo/format/onnx.hpp>

namespace CAMEO_NAMESPACE {

/// Reads a model in ONNX Runtime's format, versions 1 to 6, which check_model() has yet to check. Weights and texts
/// stay in the mapped file, which the model keeps. Data that breaks the format's rules is refused before it is used.
/// Errors contain the file, the table and its field:
///   NO_SUCHFILE       no such file
///   FAIL              not an ORT file, a damaged one, a future version; a missing or invalid table, name or index;
///                     data of the wrong length
///   INVALID_ARGUMENT  an unknown element type; dims that are negative or too large
///   INVALID_GRAPH     an initializer without a type, an attribute without a name, a domain without an opset
///   NOT_IMPLEMENTED   a tensor of more than 12 dims
///   OUT_OF_MEMORY     more than the limits allow
///
/// model::warnings lists what was left out or corrected.
CAMEO_API result<std::unique_ptr<model>> read_ort(const std::string& path, const read_options& = {});
/// Reads a model from memory at any address, which must outlive the model. `name` replaces the file's name in messages.
CAMEO_API result<std::unique_ptr<model>> read_ort(std::span<const std::byte> bytes, std::string_view name,
                                                  const read_options& = {});

/// Writes a checked model (check_model: operators and types known) in version 6, as a whole or not at all. The same
/// model gives the same bytes; constants are aligned to 64 bytes. Values of Constant nodes become initializers. Saved
/// optimizations are kept if no node has changed since they were read.
///   INVALID_ARGUMENT  content that the format cannot represent: optional and unknown types, calls of the model's
///                     functions, nodes that a provider compiled, types of attributes, names with a zero byte, more
///                     than 64 levels of tables (about 18 of subgraphs), a million tables, or 2 GiB
///   FAIL              a model that has not been checked; the system's message when the file cannot be written
CAMEO_API status write_ort(const model&, const std::string& path);
/// Returns the bytes of the model.
CAMEO_API result<std::string> write_ort(const model&);

/// ONNX Runtime's own format, for a session's list of formats. As in ONNX Runtime, a file is recognized by a name that
/// ends in .ort, in either case, and bytes by their identifier.
struct ort_format {
  static constexpr std::string_view name = "ort";
  /// See format_row::needs_kernels.
  static constexpr bool needs_kernels = true;
  /// True for ORT files and their bytes. `path` is empty for bytes from memory.
  CAMEO_API static bool recognizes(std::span<const std::byte>, std::string_view path);
  /// See detail::format_row::can_begin.
  static bool can_begin(std::span<const std::byte> first, std::size_t) { return recognizes(first, {}); }
  /// Calls read_ort(), for a file or bytes.
  CAMEO_API static result<std::unique_ptr<model>> read(const std::string& path, const read_options& options);
  CAMEO_API static result<std::unique_ptr<model>> read(std::span<const std::byte> bytes, std::string_view called,
                                                       const read_options& options);
  /// The denotations of a value's dims; see detail::format_row.
  CAMEO_API static std::vector<std::string> dim_denotations(std::string_view unknown);
  /// Calls write_ort(), for a file or a sink; weights are always inside the file. write_options::report receives
  /// messages about constants of types that ONNX Runtime does not load from ORT files.
  CAMEO_API static status write(const model&, const std::string& path, const write_options&);
  CAMEO_API static status write(const model&, byte_sink, const std::string& folder, const write_options&);
};

}  // namespace CAMEO_NAMESPACE
