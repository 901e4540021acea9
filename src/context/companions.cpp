#include "context/companions.hpp"
#include "file/messages.hpp"

#include <cameo/context/compiled_nodes.hpp>
#include <cameo/graph/model.hpp>

#include "context/output_path.hpp"
#include "core/guarded.hpp"
#include "graph/messages.hpp"

#include <algorithm>
#include <filesystem>

namespace CAMEO_NAMESPACE {
namespace {

namespace fs = std::filesystem;

bool are_one(const std::string& a, const std::string& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

result<std::unique_ptr<model>> read(const std::string& path, std::span<const detail::format_row> formats) {
  const auto file = detail::file_bytes::map(path);
  if (!file) return status{file.error()};
  read_options how;
  how.file = *file;
  const auto by = std::find_if(formats.begin(), formats.end() - 1,
                               [&](const detail::format_row& f) { return f.recognizes((*file)->bytes(), path); });
  return by->read_file(path, how);
}

/// True if a model at `path` has its weights or a context in the file; false if `path` is not a model. Throws
/// std::bad_alloc if memory for the check runs out, because a file that belongs to a model must not be replaced.
bool refers_to(const std::string& path, const std::string& file, std::span<const detail::format_row> formats) {
  const result<std::unique_ptr<model>> m = read(path, formats);
  if (!is_possible(m.error())) return false;
  if (std::any_of((*m)->files.begin(), (*m)->files.end(),
                  [&](const auto& each) { return each->path() != path && are_one(each->path(), file); }))
    return true;
  const result<std::vector<compiled_node_info>> nodes = compiled_nodes_of(**m);
  return is_possible(nodes.error()) && std::any_of(nodes->begin(), nodes->end(), [&](const compiled_node_info& n) {
           return !n.file.empty() && are_one(folder_of(path) + n.file, file);
         });
}

/// The path of another model in the file's folder that refers to it; empty if there is none. Temporary files are
/// ignored: killed runs left them.
std::string owner_of(const std::string& file, const std::string& output, std::span<const detail::format_row> formats) {
  const std::string folder = folder_of(file);
  std::error_code error;
  for (fs::directory_iterator at{folder.empty() ? "." : folder, error}, end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const std::string path = folder + at->path().filename().string();
    if (!at->is_regular_file(ignored) || path.ends_with(".tmp") || are_one(path, file) || are_one(path, output))
      continue;
    if (refers_to(path, file, formats)) return path;
  }
  return {};
}

/// False if the provider does not recognize the file as a context. That hook is optional; without it, the result is
/// true, because the file has the name of a context. Throws std::bad_alloc if memory for the check runs out.
bool may_be_context_of(const provider& p, const std::string& path) {
  const auto file = detail::file_bytes::map(path);
  if (!is_possible(file.error())) return false;
  const context_binary binary{(*file)->bytes(), *file, path};
  const auto call = [&] { return p.row->contexts.recognize(p.self.get(), binary); };
  return is_possible(guarded_hook(call));
}

}  // namespace

status require_replaceable(const companion& c, const std::string& output, std::span<const detail::format_row> formats) {
  std::error_code error;
  if (!fs::exists(c.path, error) || (!output.empty() && refers_to(output, c.path, formats))) return {};
  const std::string owner = owner_of(c.path, output, formats);
  if (!owner.empty())
    return failed(status_code::fail, "{}: exists already, and belongs to {}; choose another name for the output",
                  c.path, owner);
  if (!c.owner.row || may_be_context_of(c.owner, c.path)) return {};
  return failed(status_code::fail,
                "{}: exists already, and is not a context that {} can read; remove it, or choose another name for "
                "the output",
                c.path, c.owner.row->long_name);
}

}  // namespace CAMEO_NAMESPACE
