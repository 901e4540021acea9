#pragma once
#include <cameo/core/result.hpp>

#include <string>

namespace CAMEO_NAMESPACE {

namespace detail {
class file_bytes;
}  // namespace detail
class model;

/// The mapped file that the model was read from; null for a model that came from memory.
const detail::file_bytes* own_file_of(const model&);

/// The path of the compiled model of the model at `source`: `wanted` or, if that is empty, "<stem>_ctx.onnx" beside the
/// source. INVALID_ARGUMENT when `wanted` is a folder or has no extension, or when both are empty.
result<std::string> compiled_model_path(std::string_view wanted, std::string_view source);

/// The folder of a path, with its last separator: "a/" for "a/b.c.onnx".
std::string folder_of(std::string_view path);
/// The file name of a path without extension: "b.c" for "a/b.c.onnx".
std::string stem_of(std::string_view path);
/// The path of the context file of a compiled node: "<folder><stem>_<node>.bin", in which each character of the node's
/// name other than an ASCII letter, a digit or '-' is replaced by '_'.
std::string context_path_beside(std::string_view folder, std::string_view stem, std::string_view node);

}  // namespace CAMEO_NAMESPACE
