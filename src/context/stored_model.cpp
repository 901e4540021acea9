#include "context/stored_model.hpp"

#include "context/node.hpp"
#include "context/output_path.hpp"
#include "file/model_folders.hpp"

namespace CAMEO_NAMESPACE {

result<std::optional<std::vector<std::byte>>> stored_model(const model& m, std::string_view compiled_model) {
  std::optional<std::vector<std::byte>> made;
  const result<context_record> record = read_context_node(only_node(m));
  if (!record) return record.error();
  if (record->facts.notes != model_notes) return made;
  std::span<const std::byte> bytes = std::as_bytes(std::span{record->context});
  std::shared_ptr<const detail::file_bytes> file;
  if (!record->is_embedded) {
    const std::string_view beside = compiled_model.empty() ? m.path : compiled_model;
    if (beside.empty())
      return status{status_code::invalid_graph,
                    "its context is a file, and the model came from memory; set ep.context_file_path to the path that "
                    "the model would have"};
    const detail::file_bytes* const own = compiled_model.empty() ? own_file_of(m) : nullptr;
    const result<model_folders> folders = model_folders::open(folder_of(beside), own, folder_search::first);
    if (!folders) return folders.error();
    auto mapped = folders->map(context_path, record->context, record->facts.node.name());
    if (!mapped) return std::move(mapped).error();
    file = *std::move(mapped);
    bytes = file->bytes();
  }
  made.emplace(bytes.begin(), bytes.end());
  return made;
}

}  // namespace CAMEO_NAMESPACE
