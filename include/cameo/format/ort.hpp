#pragma once
#include <cameo/format/onnx.hpp>

CAMEO_BEGIN_NAMESPACE

/// Reads a model in ONNX Runtime's format, versions 1 to 6; it is not checked yet (check_model). Weights and texts stay
/// in the mapped file, which the model keeps. Data that breaks the format's rules is refused before it is used; errors
/// name the file, the table and its field:
///   NO_SUCHFILE       no such file
///   FAIL              no ORT file, a damaged one, a future version; a table, name or index that is missing or that
///                     leads nowhere; data of the wrong length
///   INVALID_ARGUMENT  an unknown element type; dims that are negative or too large
///   INVALID_GRAPH     an initializer without a type, an attribute without a name, a domain without an opset
///   NOT_IMPLEMENTED   a tensor of more than 12 dims
///   OUT_OF_MEMORY     more than the limits allow
///
/// model::warnings lists what was left out or corrected.
CAMEO_API result<std::unique_ptr<model>> read_ort(const std::string& path, const read_options& = {});
/// The same from memory at any address, which must outlive the model. `name` is used in messages instead of a file's.
CAMEO_API result<std::unique_ptr<model>> read_ort(std::span<const std::byte> bytes, std::string_view name,
                                                  const read_options& = {});

/// Writes a checked model (check_model: operators and types known) in version 6: complete or absent, the same bytes for
/// the same model, constants aligned to 64. What Constant nodes hold becomes initializers. Saved optimizations are kept
/// if no node has changed since they were read.
///   INVALID_ARGUMENT  what the format can't hold, named: optional and unknown types, calls of the model's functions,
///                     nodes that a provider compiled, types of attributes, names with a zero byte, more than 64 levels
///                     of tables (18 of subgraphs, about), a million tables, or 2 GiB
///   FAIL              a model that has not been checked; the system's words when the file can't be written
CAMEO_API status write_ort(const model&, const std::string& path);
/// Returns the bytes of the model.
CAMEO_API result<std::string> write_ort(const model&);

/// ONNX Runtime's own format, for a session's list of formats. As in ONNX Runtime, a file is recognised by a name that
/// ends in .ort, in upper or lower case, and bytes by their identifier.
struct ort_format {
  static constexpr std::string_view name = "ort";
  /// See format_row::needs_kernels.
  static constexpr bool needs_kernels = true;
  /// `path` is empty for bytes that come from no file.
  CAMEO_API static bool recognises(std::span<const std::byte>, std::string_view path);
  /// See detail::format_row::can_begin.
  static bool can_begin(std::span<const std::byte> first, std::size_t) { return recognises(first, {}); }
  /// read_ort, of a file and of bytes.
  CAMEO_API static result<std::unique_ptr<model>> read(const std::string& path, const read_options& options);
  CAMEO_API static result<std::unique_ptr<model>> read(std::span<const std::byte> bytes, std::string_view called,
                                                       const read_options& options);
  /// See format_row.
  CAMEO_API static std::vector<std::string> dim_denotations(std::string_view unknown);
  /// write_ort, to a file and to a sink; weights are always inside the file. write_options::tell is told of constants
  /// of types that ONNX Runtime does not load from ORT files.
  CAMEO_API static status write(const model&, const std::string& path, const write_options&);
  CAMEO_API static status write(const model&, detail::model_sink, const std::string& folder, const write_options&);
};

CAMEO_END_NAMESPACE
