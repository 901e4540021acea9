#pragma once
// A provider whose contexts are like those of QNN's provider in ONNX Runtime: one binary contains all graphs of a
// model. The first node has the binary, and the others refer to its graphs by name. The provider's key is compared
// without regard to case. The binary consists of "QNNCTX", the number of graphs, their names and offsets, and the
// graphs, each of which can be read separately.
#include "context/ref_provider.hpp"

#include <functional>

namespace cameo::test {

struct qnn_shaped {
  static constexpr std::string_view name = "qnn", long_name = "QNNExecutionProvider";
  static constexpr context_source sources[] = {{"QNNExecutionProvider", true}, {"QNN", true}};
  struct context_builder {
    std::vector<std::pair<std::string, std::string>> graphs;
  };
  struct directory {
    struct entry {
      std::size_t offset = 0, bytes = 0;
    };
    std::map<std::string, entry, std::less<>> graphs;
    std::string_view bodies;
  };
  ref_counters* counters = nullptr;

  result<std::vector<node_group>> groups(const graph_view& g) const {
    result<std::vector<node_group>> found = ref_a{counters}.groups(g);
    for (node_group& group : *found) group.name = "QNN";
    return found;
  }
  result<std::vector<compiled_node>> compile(std::span<const fused_view> all) const {
    return ref_a{counters}.compile(all);
  }

  result<context_part> store(context_builder& context, const fused_view& group, const compiled_node& program) const {
    context.graphs.emplace_back(group.name, static_cast<const ref_program*>(program.state.get())->text());
    context_part part;
    part.sdk_version = counters->sdk_version, part.max_size = 4096;
    part.is_secondary = context.graphs.size() > 1;
    return part;
  }
  status write(const context_builder& context, byte_sink to) const {
    std::string head = "QNNCTX " + std::to_string(context.graphs.size());
    std::size_t offset = 0;
    for (const auto& [graph, body] : context.graphs) {
      head += " " + graph + " " + std::to_string(offset) + " " + std::to_string(body.size());
      offset += body.size();
    }
    const auto put = [&](const std::string& text) { return to(std::as_bytes(std::span{text})); };
    if (status s = put(head + "\n"); !s) return s;
    for (const auto& each : context.graphs)
      if (status s = put(each.second); !s) return s;
    return {};
  }

  result<std::shared_ptr<const directory>> open(const context_binary& binary) const {
    return binary.opened<directory>([&](std::span<const std::byte> bytes) -> result<directory> {
      ++counters->opened;
      const std::string_view all{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
      const std::size_t end = all.find('\n');
      std::istringstream head{std::string{all.substr(0, end)}};
      std::string magic;
      std::size_t count = 0;
      if (end == all.npos || !(head >> magic >> count) || magic != "QNNCTX" || count > 1000)
        return status{status_code::fail, "no QNN context"};
      directory made;
      made.bodies = all.substr(end + 1);
      for (std::size_t i = 0; i < count; ++i) {
        std::string graph;
        directory::entry e;
        if (!(head >> graph >> e.offset >> e.bytes) || e.offset > made.bodies.size() ||
            e.bytes > made.bodies.size() - e.offset)
          return status{status_code::fail, "the directory is damaged"};
        made.graphs.emplace(std::move(graph), e);
      }
      return made;
    });
  }
  result<compiled_node> restore(const context_binary& binary, const context_node& node) const {
    const auto context = open(binary);
    if (!context) return status{context.error()};
    const auto found = (*context)->graphs.find(node.graph_name);
    if (found == (*context)->graphs.end()) return status_code::not_found;
    std::istringstream from{std::string{(*context)->bodies.substr(found->second.offset, found->second.bytes)}};
    ref_program program;
    if (!ref_program::parse(from, program)) return status{status_code::fail, "a graph is damaged"};
    return compiled(std::move(program));
  }
  result<std::vector<std::string>> graphs(const context_binary& binary) const {
    const auto context = open(binary);
    if (!context) return status{context.error()};
    std::vector<std::string> names;
    for (const auto& each : (*context)->graphs) names.push_back(each.first);
    return names;
  }
};
static_assert(context_store<qnn_shaped> && context_lister<qnn_shaped> && !compatibility_checker<qnn_shaped>);

}  // namespace cameo::test
