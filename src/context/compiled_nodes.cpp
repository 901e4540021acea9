#include <cameo/context/compiled_nodes.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/op/compiled_context.hpp>

#include "context/node.hpp"
#include "context/output_path.hpp"
#include "file/held_folder.hpp"
#include "file/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace CAMEO_NAMESPACE {
namespace {

/// True for a compiled node. It compares names, because a model that was only read has no operators yet.
bool is_compiled(const detail::graph_node& n) {
  const op_row& op = compiled_operator();
  return !n.removed && n.domain == op.domain && n.op_type == op.name;
}

status add_nodes(const graph& g, std::vector<compiled_node_info>& to) {
  for (std::size_t i = 0; i < g.node_capacity(); ++i) {
    const detail::graph_node& n = g[node_id(i)];
    if (n.removed) continue;
    for (const graph* sub : n.subgraphs)
      if (status s = add_nodes(*sub, to); !s) return s;
    if (!is_compiled(n)) continue;
    const result<context_record> r = read_context_node(node_view{g, node_id(i)});
    if (!r) return status{r.error()}.in(fmt::format("node '{}' ({})", n.name, n.op_type));
    compiled_node_info& made = to.emplace_back();
    made.node = n.name, made.graph_name = r->facts.graph_name;
    made.source = compiled_context_attributes{n.attributes}.source;
    made.sdk_version = r->facts.sdk_version, made.hardware = r->facts.hardware_architecture;
    made.notes = r->facts.notes, made.id = r->id;
    made.is_main = r->is_main, made.is_embedded = r->is_embedded;
    if (r->is_embedded) made.embedded_bytes = r->context.size();
    else made.file = r->context;
  }
  return {};
}

}  // namespace

result<std::vector<compiled_node_info>> compiled_nodes_of(const model& m) {
  return guarded([&]() -> result<std::vector<compiled_node_info>> {
    std::vector<compiled_node_info> made;
    if (status s = add_nodes(m.main(), made); !s) return s;
    for (const function& f : m.functions)
      if (f.body)
        if (status s = add_nodes(*f.body, made); !s) return s;
    return made;
  });
}

status require_contexts_beside(const model& m, std::string_view output) {
  return guarded([&]() -> status {
    if (m.path.empty()) return {};
    std::error_code error;
    const std::string from = folder_of(m.path), to = folder_of(output);
    if (std::filesystem::equivalent(from.empty() ? "." : from, to.empty() ? "." : to, error)) return {};
    const result<std::vector<compiled_node_info>> nodes = compiled_nodes_of(m);
    if (!nodes) return status{nodes.error()};
    if (std::none_of(nodes->begin(), nodes->end(), [](const compiled_node_info& n) { return !n.file.empty(); }))
      return {};
    const result<detail::held_folder> folder = detail::held_folder::open(to);
    for (const compiled_node_info& n : *nodes)
      if (!n.file.empty() &&
          (!folder || !folder->find(context_path, n.file, open_for::place).has_kind(os::file_kind::file)))
        return failed(status_code::invalid_argument,
                      "node '{}' was compiled before, and its context '{}' lies beside '{}'; from '{}' it would not "
                      "be found: put a copy of it there first, or write the model into the same folder",
                      n.node, n.file, m.path, output);
    return {};
  });
}

}  // namespace CAMEO_NAMESPACE
