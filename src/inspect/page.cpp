#include "inspect/page.hpp"

#include "inspect/describe.hpp"

#include <cameo/context/compiled_nodes.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cameo::inspect {
namespace {

using json = nlohmann::ordered_json;

json describe_ios(const std::vector<io_info>& ios) {
  json all = json::array();
  for (const io_info& io : ios) all.push_back({io.name, io.type_text, io.optional});
  return all;
}

/// Contexts of a compiled model, and optimizations that an .ort file has saved.
json describe_compiled(const model& m) {
  json all = json::array();
  const auto nodes = compiled_nodes_of(m);
  if (!nodes) return all;
  for (const compiled_node_info& n : *nodes)
    all.push_back({n.node, n.source, n.sdk_version, n.hardware, n.graph_name,
                   n.is_embedded ? fmt::format("{} bytes in the model", n.embedded_bytes)
                   : n.is_main   ? n.file
                                 : "in another node"});
  return all;
}
json describe_saved(const graph& g) {
  json all = json::array();
  if (!g.keeps_saved()) return all;
  for (const detail::saved_optimization& each : g.saved_optimizations)
    all.push_back({each.optimizer, each.action, fmt::format("{}", fmt::join(each.produces, ", "))});
  return all;
}

json describe(const std::string& path, const session& loaded, const inspection& seen, const profiled_run* profile) {
  const model& m = loaded.graph();
  json opsets = json::array(), metadata = json::array(), providers = json::array(), partitions = json::array();
  for (const opset_import& each : m.imports) opsets.push_back({domain_name(each.domain), each.version});
  for (const detail::property& each : m.metadata) metadata.push_back({each.first, each.second});
  for (const auto& [name, count] : seen.providers) providers.push_back({name, count});
  for (const partition_info& p : seen.partitions)
    partitions.push_back({p.provider, p.nodes, p.first, p.last, p.fused_from});
  json ops = json::array();
  for (const auto& [op, count] : seen.ops) ops.push_back({op, count});
  json made{{"model", path},
            {"graph", m.main().name},
            {"producer", std::string{m.producer_name} + " " + std::string{m.producer_version}},
            {"ir_version", m.ir_version},
            {"opsets", std::move(opsets)},
            {"metadata", std::move(metadata)},
            {"inputs", describe_ios(loaded.inputs())},
            {"outputs", describe_ios(loaded.outputs())},
            {"parameters", {seen.parameters.elements, seen.parameters.tensors, seen.parameters.bytes}},
            {"nodes", seen.placements.size()},
            {"ops", std::move(ops)},
            {"providers", std::move(providers)},
            {"partitions", std::move(partitions)}};
  made["graphs"] = describe_graphs(loaded, seen, profile);
  made["memory"] = describe_memory(loaded, made["graphs"][0]["steps"]);
  made["compiled"] = describe_compiled(m);
  made["saved"] = describe_saved(m.main());
  if (profile) made["profile"] = {{"wall", profile->wall}, {"sum", profile->sum}, {"dropped", profile->dropped}};
  return made;
}

/// JSON that an HTML parser reads as text: names in a model must not end the enclosing element.
std::string embeddable(const json& data) {
  const std::string text = data.dump(-1, ' ', true, json::error_handler_t::replace);
  std::string made;
  made.reserve(text.size());
  for (const char c : text) {
    if (c == '<') made += "\\u003c";
    else made += c;
  }
  return made;
}

/// Replaces the first `mark` in `page`.
void insert(std::string& page, std::string_view mark, std::string_view what) {
  if (const std::size_t at = page.find(mark); at != page.npos) page.replace(at, mark.size(), what);
}

}  // namespace

std::string page_of(const std::string& path, const session& loaded, const inspection& seen,
                    const profiled_run* profile) {
  const page_parts parts = parts_of_page();
  std::string page{parts.html};
  insert(page, "/* page.css */", parts.css);
  insert(page, "/* page.js */", parts.js);
  insert(page, "/* data */", embeddable(describe(path, loaded, seen, profile)));
  return page;
}

}  // namespace cameo::inspect
