#include "context/node.hpp"

#include <cameo/graph/model.hpp>
#include <cameo/op/compiled_context.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::string_view id_line = "context id ";
constexpr std::size_t id_digits = 32;

bool is_id(std::string_view text) {
  return text.size() == id_digits &&
         std::all_of(text.begin(), text.end(), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// Removes the id from the last line of notes and returns it; empty if there is none.
std::string_view take_id(std::string_view& notes) {
  if (notes.size() < id_line.size() + id_digits) return {};
  const std::size_t at = notes.size() - id_line.size() - id_digits;
  const std::string_view id = notes.substr(notes.size() - id_digits);
  if (notes.substr(at, id_line.size()) != id_line || !is_id(id) || (at > 0 && notes[at - 1] != '\n')) return {};
  notes = notes.substr(0, at > 0 ? at - 1 : 0);
  return id;
}

/// True for the attributes of a compiled node that contain or locate its context.
bool locates_context(const attribute& a) {
  return a.name == "main_context" || a.name == "embed_mode" || a.name == "ep_cache_context";
}

}  // namespace

const op_row& compiled_operator() {
  static const op_row* const found = [] {
    const std::span<const op_row> rows = detail::standard_ops();
    return &*std::find_if(rows.begin(), rows.end(),
                          [](const op_row& row) { return detail::has_role(row.roles, role::is_compiled_context); });
  }();
  return *found;
}

std::string new_context_id() {
  std::random_device chance;
  std::string made;
  while (made.size() < id_digits) made += fmt::format("{:08x}", std::uint32_t(chance()));
  return made;
}

std::string notes_with(std::string_view notes, std::string_view id) {
  if (id.empty()) return std::string{notes};
  return fmt::format("{}{}{}{}", notes, notes.empty() ? "" : "\n", id_line, id);
}

result<context_record> read_context_node(const node_view& node) {
  context_record made;
  made.facts.node = node;
  const compiled_context_attributes a{node.raw().attributes};
  for (const auto& [name, flag] : {std::pair{"main_context", a.main_context}, {"embed_mode", a.embed_mode}})
    if (flag != 0 && flag != 1)
      return status{status_code::invalid_graph, fmt::format("{} is {}; it is 0 or 1", name, flag)};
  made.is_main = a.main_context != 0;
  made.is_embedded = a.embed_mode != 0;
  made.context = a.ep_cache_context;
  made.facts.graph_name = a.partition_name.empty() ? node.name() : a.partition_name;
  made.facts.sdk_version = a.ep_sdk_version;
  made.facts.hardware_architecture = a.hardware_architecture;
  made.facts.notes = a.notes;
  made.id = take_id(made.facts.notes);
  made.facts.model_file_name = a.onnx_model_filename;
  made.facts.max_size = a.max_size;
  return made;
}

node_view only_node(const model& m) {
  const auto nodes = graph_view{m.main()}.nodes();
  return nodes.size() == 1 ? nodes[0] : node_view{};
}

result<bool> lend_context(const model& main, model& to) {
  const node_view from = only_node(main), n = only_node(to);
  const result<context_record> record = read_context_node(from);
  if (!record) return record.error();
  if (!record->is_main) return false;
  std::vector<attribute> attributes;
  for (const attribute& a : n.raw().attributes)
    if (!locates_context(a)) attributes.push_back(a);
  for (attribute a : from.raw().attributes) {
    if (!locates_context(a)) continue;
    const result<std::string_view> text = to.memory.copy(a.s);
    if (!text) return text.error();
    a.s = *text, attributes.push_back(a);
  }
  to.main().set_attributes(n.id(), attributes);
  return true;
}

}  // namespace CAMEO_NAMESPACE
