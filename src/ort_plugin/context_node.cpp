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

/// Attributes of a node to be made; given away when the node takes them, released otherwise.
class attribute_list {
 public:
  explicit attribute_list(const host& of) : host_{of} {}
  attribute_list(const attribute_list&) = delete;
  attribute_list& operator=(const attribute_list&) = delete;
  ~attribute_list() {
    for (ort_attribute* each : all_) host_.call<api::ReleaseOpAttr>(each);
  }
  status add(const char* name, std::int64_t number) { return add(name, ort_attribute_kind::i, &number, 1); }
  status add(const char* name, std::string_view text) {
    if (text.size() > std::size_t(INT32_MAX))
      return failed(status_code::fail, "a context of {} bytes does not fit into a node; write it to a file",
                    text.size());
    return add(name, ort_attribute_kind::s, text.data(), int(text.size()));
  }
  std::vector<ort_attribute*>& all() { return all_; }

 private:
  status add(const char* name, ort_attribute_kind kind, const void* data, int count) {
    ort_attribute* made = nullptr;
    if (status s = host_.ask<api::CreateOpAttr>(name, data, count, std::int32_t(kind), &made); !s) return s;
    all_.push_back(made);
    return {};
  }
  const host& host_;
  std::vector<ort_attribute*> all_;
};

/// "<folder><stem>_<node>.bin" of the compiled model that is to be.
result<std::string> path_beside(const host_options& options, std::string_view model_path, std::string_view node) {
  const result<std::string> model = compiled_model_path(options["ep.context_file_path"], model_path);
  if (!model) return model.error();
  std::string name{node};
  for (char& c : name)
    if (!((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-')) c = '_';
  return fmt::format("{}{}_{}.bin", folder_of(*model), stem_of(*model), name);
}

result<std::vector<const char*>> names_of(const host& of, std::span<const ort_value_info* const> values) {
  std::vector<const char*> names;
  for (const ort_value_info* v : values) {
    const result<std::string_view> name = of.text<api::GetValueInfoName>(*v);
    if (!name) return name.error();
    names.push_back(name->data());
  }
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

std::string_view source_of(const plugin& p) {
  return p.of.row->contexts.sources.empty() ? p.of.row->long_name : p.of.row->contexts.sources.front().key;
}

namespace {

/// Where a compiled model goes to: what is stored of it is taken out, and nothing is written. One compilation at a time
/// on each thread.
thread_local stored_group* taking = nullptr;
thread_local std::string_view taking_for;  // the provider's long name

status take_stored(const model& m) {
  const graph& g = m.main();
  if (g.order().size() != 1) return {};
  const graph_node& only = g[g.order()[0]];
  if (only.domain != compiled_operator().domain || only.op_type != compiled_operator().name) return {};
  const result<context_record> record = read_context_node({g, g.order()[0]});
  if (!record) return record.error();
  taking->fit = compatibility_of(m, taking_for).value_or("");
  taking->context = record->context, taking->partition = record->facts.graph_name;
  taking->sdk = record->facts.sdk_version, taking->architecture = record->facts.hardware_architecture;
  taking->max_size = record->facts.max_size, taking->notes = notes_with(record->facts.notes, record->id);
  return {};
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
  static status write(const model& m, model_sink, const std::string&, const write_options&) { return take_stored(m); }
};

}  // namespace

session_parts parts_of(const plugin& p) {
  session_parts parts{};
  parts.providers = std::span<const provider>{&p.of, 1};
  parts.formats = format_list<group_format>::rows;
  parts.transforms = default_transforms::tables();
  return parts;
}

std::unique_ptr<model> shell_of(const model& from) {
  auto made = std::make_unique<model>();
  made->ir_version = from.ir_version;
  made->symbols = from.symbols;
  graph& to = made->main();
  const graph& g = from.main();
  const auto add = [&](value_id v) { return to.add_value(g[v].name, g[v].type ? made->keep(*g[v].type) : nullptr); };
  for (value_id v : g.inputs()) to.add_input(add(v));
  for (value_id v : g.outputs()) to.add_output(add(v));
  return made;
}

result<std::unique_ptr<model>> stored_group::as_model(std::unique_ptr<model> shell, std::string_view source) const {
  model& m = *shell;
  const op_row& op = compiled_operator();
  m.imports.push_back({op.domain, op.versions.back().since});
  const auto kept = [&](std::string_view words) { return m.memory.copy(words).value_or(std::string_view{}); };
  std::vector<attribute> attributes;
  const auto add = [&](std::string_view name, std::string_view text) {
    attribute& a = attributes.emplace_back();
    a.name = name, a.kind = attribute_kind::s, a.s = kept(text);
  };
  add("ep_cache_context", context), add("source", source), add("partition_name", partition);
  add("ep_sdk_version", sdk), add("hardware_architecture", architecture), add("notes", notes);
  for (const auto& [name, number] :
       {std::pair{"main_context", std::int64_t{1}}, {"embed_mode", 1}, {"max_size", max_size}}) {
    attribute& a = attributes.emplace_back();
    a.name = name, a.kind = attribute_kind::i, a.i = number;
  }
  if (attributes[0].s.size() != context.size()) return status_code::out_of_memory;
  graph& g = m.main();
  node_spec spec;
  spec.name = kept(partition), spec.domain = op.domain, spec.op_type = op.name, spec.opset = op.versions.back().since;
  spec.inputs = g.inputs(), spec.outputs = g.outputs(), spec.attributes = attributes;
  const std::vector<value_id> inputs{spec.inputs.begin(), spec.inputs.end()};
  const std::vector<value_id> outputs{spec.outputs.begin(), spec.outputs.end()};
  spec.inputs = inputs, spec.outputs = outputs;
  g.add_node(spec);
  return shell;
}

result<stored_group> stored_group::of(const plugin& p, const session_options& session, std::unique_ptr<model> m) {
  stored_group made;
  result<std::string> graph_bytes = write_ort(*m);
  if (!p.of.row->contexts.sources.empty()) {
    std::string nothing;
    compile_options how;
    how.input = std::move(m);
    how.output = &nothing;
    how.session = session;
    how.embed = true;
    taking = &made, taking_for = p.of.row->long_name;
    const result<compile_report> report = cameo::session::compile(parts_of(p), std::move(how));
    taking = nullptr;
    if (!report) return report.error();
  }
  if (made.is_compiled()) return made;
  if (!graph_bytes) return std::move(graph_bytes).error();
  made.context = *std::move(graph_bytes), made.notes = model_notes, made.sdk = p.version;
  return made;
}

result<ort_node*> stored_group::node(const plugin& p, const ort_node& fused, const boundary& io,
                                     const host_options& options) const {
  const host& h = p.side;
  const result<std::string_view> name = h.text<api::Node_GetName>(fused);
  if (!name) return name.error();
  const bool is_embedded = options.is_on("ep.context_embed_mode");
  std::string_view written = context;
  std::string file;
  if (!is_embedded) {
    const ort_graph* in = nullptr;
    if (status s = h.ask<api::Node_GetGraph>(&fused, &in); !s) return s;
    const result<std::string_view> source = in ? h.text<api::Graph_GetModelPath>(*in) : std::string_view{};
    const result<std::string> path = path_beside(options, source ? *source : std::string_view{}, *name);
    if (!path) return path.error();
    if (status s = write_file_atomically(*path, context); !s) return s;
    file = path->substr(folder_of(*path).size()), written = file;
  }
  attribute_list attributes{h};
  const std::pair<const char*, std::string_view> texts[] = {
      {"ep_cache_context", written},
      {"source", source_of(p)},
      {"partition_name", is_compiled() ? std::string_view{partition} : *name},
      {"ep_sdk_version", sdk},
      {"hardware_architecture", architecture},
      {"notes", notes}};
  const std::pair<const char*, std::int64_t> numbers[] = {
      {"main_context", 1}, {"embed_mode", is_embedded ? 1 : 0}, {"max_size", max_size}};
  for (const auto& [key, text] : texts)
    if (status s = attributes.add(key, text); !s) return s;
  for (const auto& [key, number] : numbers)
    if (status s = attributes.add(key, number); !s) return s;
  const auto inputs = names_of(h, io.inputs), outputs = names_of(h, io.outputs);
  if (!inputs) return inputs.error();
  if (!outputs) return outputs.error();
  ort_node* made = nullptr;
  std::vector<ort_attribute*> given = std::exchange(attributes.all(), {});  // the call takes them
  if (status s = h.ask<editor_api::CreateNode>(
          std::string{compiled_operator().name}.c_str(), std::string{compiled_operator().domain}.c_str(), name->data(),
          inputs->data(), inputs->size(), outputs->data(), outputs->size(), given.data(), given.size(), &made);
      !s)
    return s;
  return made;
}

result<std::optional<std::vector<std::byte>>> stored_model(const model& m, const host_options& options) {
  graph& g = m.main();
  if (g.order().size() != 1) return std::optional<std::vector<std::byte>>{};
  const result<context_record> record = read_context_node({g, g.order()[0]});
  if (!record) return record.error();
  if (record->facts.notes != model_notes) return std::optional<std::vector<std::byte>>{};
  std::span<const std::byte> bytes = bytes_of(record->context);
  std::shared_ptr<const file_bytes> file;
  if (!record->is_embedded) {
    const std::string wanted{options["ep.context_file_path"]};
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
