// Contexts: what was compiled, as nodes of the compiled models that ONNX Runtime writes, and back.
#include "ort_plugin/context_node.hpp"

#include <cameo/context/compatibility.hpp>
#include <cameo/file/atomic_file.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/session/compile.hpp>
#include <cameo/session/runtime.hpp>

#include "context/node.hpp"
#include "context/output_path.hpp"
#include "file/held_folder.hpp"
#include "file/messages.hpp"

#include <algorithm>

namespace cameo::inline CAMEO_ABI::detail::ort {
namespace {

/// What `notes` says of a node that stores a model.
constexpr std::string_view model_notes = "a model, for cameo";

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span{text}); }

/// What of a compiled node says where its context is.
bool is_of_place(const attribute& a) {
  return a.name == "main_context" || a.name == "embed_mode" || a.name == "ep_cache_context";
}

/// "<folder><stem>_<node>.bin"
std::string path_beside(const context_place& to, std::string_view node) {
  std::string name{node};
  for (char& c : name)
    if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-')) c = '_';
  return fmt::format("{}{}_{}.bin", to.folder, to.stem, name);
}

std::vector<std::string> names_of(const graph& g, std::span<const value_id> values) {
  std::vector<std::string> names;
  for (value_id v : values) names.emplace_back(v == value_id::none ? std::string_view{} : g[v].name);
  return names;
}

}  // namespace

bool is_context_of(const plugin& p, const graph_node& node) {
  if (!node.op || !has_role(node.op->roles, role::is_compiled_context)) return false;
  const attribute* const source = find_attribute(node.attributes, "source");
  if (!source) return false;
  const std::span<const context_source> sources = p.of.row->contexts.sources;
  return source->s == p.of.row->long_name ||
         std::any_of(sources.begin(), sources.end(), [&](const context_source& each) { return each.is(source->s); });
}

bool is_context_of(const plugin& p, const model& m) {
  const graph& g = m.main();
  return g.order().size() == 1 && is_context_of(p, g[g.order()[0]]);
}

namespace {

/// Where what is stored of a compiled model goes to. One compilation at a time on each thread.
thread_local stored_group* taking = nullptr;
thread_local std::string_view taking_for;  // the provider's long name

/// Writes the model, if all of it is one compiled node.
status take_stored(const model& m, model_sink to) {
  graph& g = m.main();
  if (g.order().size() != 1) return {};
  graph_node& only = g[g.order()[0]];
  if (only.domain != compiled_operator().domain || only.op_type != compiled_operator().name) return {};
  taking->fit = compatibility_of(m, taking_for).value_or("");
  taking->is_compiled = true;
  for (const attribute& a : only.attributes) {
    if (a.name == "ep_cache_context") taking->context = a.s;
    else if (a.name == "embed_mode") taking->is_file = a.i == 0;
    else if (a.kind == attribute_kind::s) taking->texts.emplace_back(a.name, a.s);
    else taking->numbers.emplace_back(a.name, a.i);
  }
  std::vector<value_id> inputs;
  for (std::size_t i = 0; i < g.input_count(g.order()[0]); ++i) inputs.push_back(g.input(g.order()[0], i));
  taking->inputs = names_of(g, inputs), taking->outputs = names_of(g, only.outputs);
  const graph_node before = only;  // in the file it is a node like others
  only.fused = -1, only.op = &compiled_operator(), only.version = &only.op->versions.back();
  only.opset = only.version->since;
  const result<std::string> bytes = write_ort(m);
  only = before;
  return bytes ? to(std::as_bytes(std::span{*bytes})) : bytes.error();
}

/// The "file format" of compiled groups: read as ORT files, and taken apart instead of written.
struct group_format {
  static constexpr std::string_view name = "ort";
  static bool recognises(std::span<const std::byte>, std::string_view) { return true; }
  static result<std::unique_ptr<model>> read(const std::string& path, const read_options& how) {
    return read_ort(path, how);
  }
  static result<std::unique_ptr<model>> read(std::span<const std::byte> bytes, std::string_view called,
                                             const read_options& how) {
    return read_ort(bytes, called, how);
  }
  static status write(const model&, const std::string&, const write_options&) { return status_code::not_implemented; }
  static status write(const model& m, model_sink to, const std::string&, const write_options&) {
    return take_stored(m, to);
  }
};

}  // namespace

session_parts parts_of(const plugin& p) {
  session_parts parts{};
  parts.providers = std::span<const provider>{&p.of, 1};
  parts.formats = format_list<group_format>::rows;
  parts.transforms = default_transforms::tables();
  return parts;
}

result<stored_group> stored_group::of(const plugin& p, const session_options& session, const context_place& to,
                                      std::unique_ptr<model> m) {
  stored_group made;
  made.inputs = names_of(m->main(), m->main().inputs()), made.outputs = names_of(m->main(), m->main().outputs());
  result<std::string> graph_bytes = write_ort(*m);
  if (!p.of.row->contexts.sources.empty()) {
    compile_options how;
    how.input = std::move(m), how.output = &made.program;
    how.session = session;
    how.embed = to.is_embedded || !to.is_shared;
    if (to.is_shared) {
      how.binary_folder = to.folder.empty() ? "./" : to.folder, how.binary_model = to.stem;
      how.session.config.emplace_back("ep.share_ep_contexts", "1");
      how.session.config.emplace_back("ep.stop_share_ep_contexts", to.is_last ? "1" : "0");
    }
    taking = &made, taking_for = p.of.row->long_name;
    const result<compile_report> report = cameo::session::compile(parts_of(p), std::move(how));
    taking = nullptr;
    if (!report) return report.error();
  }
  if (made.is_compiled && !made.is_file) return made;
  if (!graph_bytes) return std::move(graph_bytes).error();
  if (!made.is_compiled) {
    made.context = *graph_bytes, made.numbers = {{"main_context", 1}};
    const std::span<const context_source> sources = p.of.row->contexts.sources;
    made.texts = {{"source", std::string{sources.empty() ? p.of.row->long_name : sources.front().key}},
                  {"ep_sdk_version", p.version},
                  {"notes", std::string{model_notes}}};
  }
  made.program = *std::move(graph_bytes);  // a file that several models share may not be there yet
  return made;
}

result<ort_node*> stored_group::node(const plugin& p, const ort_node& fused, const context_place& to) const {
  const host& h = p.side;
  questions ask{h};
  const std::string name{ask.text<api::Node_GetName>(fused)};
  std::string_view written = context;
  std::string file;
  if (!to.is_embedded && !is_file) {
    const std::string path = path_beside(to, name);
    if (status s = write_file_atomically(path, context); !s) return s;
    file = path.substr(to.folder.size()), written = file;
  }
  if (written.size() > std::size_t(INT32_MAX))
    return failed(status_code::fail, "a context of {} bytes does not fit into a node; write it to a file",
                  written.size());
  const auto release = [&h](ort_attribute* each) { h.call<api::ReleaseOpAttr>(each); };
  std::vector<std::unique_ptr<ort_attribute, decltype(release)>> attributes;
  const auto add = [&](const std::string& key, ort_attribute_kind kind, const void* data, std::size_t count) {
    ort_attribute* made = nullptr;
    ask.that<api::CreateOpAttr>(key.c_str(), data, int(count), std::int32_t(kind), &made);
    attributes.emplace_back(made, release);
  };
  const std::int64_t embedded = to.is_embedded;
  add("ep_cache_context", ort_attribute_kind::s, written.data(), written.size());
  add("embed_mode", ort_attribute_kind::i, &embedded, 1);
  for (const auto& [key, text] : texts) add(key, ort_attribute_kind::s, text.data(), text.size());
  for (const auto& [key, number] : numbers) add(key, ort_attribute_kind::i, &number, 1);
  if (!ask.outcome()) return ask.outcome();
  std::vector<ort_attribute*> given;
  for (auto& each : attributes) given.push_back(each.release());  // the call takes them
  std::vector<const char*> from, into;
  for (const std::string& each : inputs) from.push_back(each.c_str());
  for (const std::string& each : outputs) into.push_back(each.c_str());
  ort_node* made = nullptr;
  const std::string type{compiled_operator().name}, domain{compiled_operator().domain};
  ask.that<editor_api::CreateNode>(type.c_str(), domain.c_str(), name.c_str(), from.data(), from.size(), into.data(),
                                   into.size(), given.data(), given.size(), &made);
  if (!ask.outcome()) return ask.outcome();
  return made;
}

result<bool> lend_context(const model& main, model& to) {
  const node_id from = main.main().order()[0], n = to.main().order()[0];
  const result<context_record> record = read_context_node({main.main(), from});
  if (!record) return record.error();
  if (!record->is_main) return false;
  std::vector<attribute> attributes;
  for (const attribute& a : to.main()[n].attributes)
    if (!is_of_place(a)) attributes.push_back(a);
  for (attribute a : main.main()[from].attributes) {
    if (!is_of_place(a)) continue;
    const result<std::string_view> text = to.memory.copy(a.s);
    if (!text) return text.error();
    a.s = *text, attributes.push_back(a);
  }
  to.main().set_attributes(n, attributes);
  return true;
}

result<std::optional<std::vector<std::byte>>> stored_model(const model& m, std::string_view compiled_model) {
  graph& g = m.main();
  if (g.order().size() != 1) return std::optional<std::vector<std::byte>>{};
  const result<context_record> record = read_context_node({g, g.order()[0]});
  if (!record) return record.error();
  if (record->facts.notes != model_notes) return std::optional<std::vector<std::byte>>{};
  std::span<const std::byte> bytes = bytes_of(record->context);
  std::shared_ptr<const file_bytes> file;
  if (!record->is_embedded) {
    const std::string wanted{compiled_model};
    if (wanted.empty() && m.path.empty())
      return status{status_code::invalid_graph,
                    "its context is a file, and the model came from memory; set ep.context_file_path to where the "
                    "model would lie"};
    const result<held_folder> folder = held_folder::open(folder_of(wanted.empty() ? m.path : wanted));
    if (!folder) return folder.error();
    auto mapped = folder->map(context_path, record->context, record->facts.node.name());
    if (!mapped) return std::move(mapped).error();
    file = *std::move(mapped);
    bytes = file->bytes();
  }
  return std::optional<std::vector<std::byte>>{std::vector<std::byte>{bytes.begin(), bytes.end()}};
}

}  // namespace cameo::inline CAMEO_ABI::detail::ort
