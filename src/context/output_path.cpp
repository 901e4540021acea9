#include "context/output_path.hpp"
#include "file/messages.hpp"

#include <cameo/graph/model.hpp>

#include <fmt/format.h>

#include <filesystem>

namespace CAMEO_NAMESPACE {

const detail::file_bytes* own_file_of(const model& m) {
  return m.path.empty() || m.files.empty() || m.files.front()->path() != m.path ? nullptr : m.files.front().get();
}

std::string folder_of(std::string_view path) { return std::string{path.substr(0, path.rfind('/') + 1)}; }

std::string stem_of(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return std::string{name.substr(0, name.rfind('.'))};
}

result<std::string> compiled_model_path(std::string_view wanted, std::string_view source) {
  if (wanted.empty()) {
    if (source.empty())
      return status{status_code::invalid_argument,
                    "the model came from memory, so that the compiled model has no path; set ep.context_file_path"};
    return fmt::format("{}{}_ctx.onnx", folder_of(source), stem_of(source));
  }
  const std::string_view name = wanted.substr(wanted.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  std::error_code error;
  if (dot == name.npos || dot + 1 == name.size() || std::filesystem::is_directory(wanted, error))
    return failed(status_code::invalid_argument,
                  "ep.context_file_path '{}' is not a path of a file; a name with an extension is needed, as "
                  "in 'model_ctx.onnx'",
                  wanted);
  return std::string{wanted};
}

std::string context_path_beside(std::string_view folder, std::string_view stem, std::string_view node) {
  std::string name{node};
  for (char& c : name)
    if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-')) c = '_';
  return fmt::format("{}{}_{}.bin", folder, stem, name);
}

}  // namespace CAMEO_NAMESPACE
