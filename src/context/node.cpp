#include "context/node.hpp"

#include <fmt/format.h>

namespace cameo::inline CAMEO_ABI {

result<context_record> read_context_node(const node_view& node) {
  context_record made;
  made.facts.node = node;
  const auto text = [&](std::string_view name) {
    const attribute* const found = node.find(name);
    return found ? found->s : std::string_view{};
  };
  status bad;
  const auto flag = [&](std::string_view name) {
    const attribute* const found = node.find(name);
    if (found && found->i != 0 && found->i != 1)
      bad = {status_code::invalid_graph, fmt::format("{} is {}; it is 0 or 1", name, found->i)};
    return !found || found->i != 0;
  };
  made.is_main = flag("main_context");
  made.is_embedded = flag("embed_mode");
  made.context = text("ep_cache_context");
  made.facts.graph_name = text("partition_name");
  if (made.facts.graph_name.empty()) made.facts.graph_name = node.name();
  made.facts.sdk_version = text("ep_sdk_version");
  made.facts.hardware_architecture = text("hardware_architecture");
  made.facts.notes = text("notes");
  made.facts.model_file_name = text("onnx_model_filename");
  if (const attribute* const size = node.find("max_size")) made.facts.max_size = size->i;
  if (!bad) return bad;
  return made;
}

}  // namespace cameo::inline CAMEO_ABI
