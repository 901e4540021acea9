#pragma once
#include <cameo/core/result.hpp>

#include <string>

namespace CAMEO_NAMESPACE {

namespace detail {
class file_bytes;
}  // namespace detail
class model;

/// The file at the model's path that was opened to read it; null for a model that came from elsewhere.
const detail::file_bytes* own_file_of(const model&);

/// The path of the compiled model of `source`: `wanted`, or beside the source as "<stem>_ctx.onnx".
/// INVALID_ARGUMENT when `wanted` is a folder or has no extension, or when both are missing.
result<std::string> compiled_model_path(std::string_view wanted, std::string_view source);

/// Folder, with its last separator, and file name without extension: "a/b.c.onnx" is "a/" and "b.c".
std::string folder_of(std::string_view path);
std::string stem_of(std::string_view path);
/// Where a node of a compiled model has its context: "<folder><stem>_<node>.bin", with '_' for letters that are not
/// plain.
std::string context_path_beside(std::string_view folder, std::string_view stem, std::string_view node);

}  // namespace CAMEO_NAMESPACE
