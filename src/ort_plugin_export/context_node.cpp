// Makes the nodes with contexts in the compiled models that ONNX Runtime writes.
#include "ort_plugin_export/context_node.hpp"

#include <cameo/context/compatibility.hpp>
#include <cameo/core/version.hpp>
#include <cameo/file/atomic_file.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/op/compiled_context.hpp>
#include <cameo/session/compile.hpp>
#include <cameo/session/runtime.hpp>

#include "context/node.hpp"
#include "context/output_path.hpp"
#include "context/stored_model.hpp"
#include "file/messages.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::detail::ort {
namespace {

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span{text}); }

template <class Values>
std::vector<std::string> names_of(const Values& values) {
  std::vector<std::string> names;
  for (value_view v : values) names.emplace_back(v ? v.name() : "");
  return names;
}

/// The group that receives the context of the compilation on this thread.
thread_local stored_group* storing = nullptr;
thread_local std::string_view storing_for;  // the provider's long name

/// Stores the context of a model that is a single compiled node, and writes the model to `to`. Other models are not
/// stored.
status take_stored(const model& m, byte_sink to) {
  const node_view node = only_node(m);
  const op_row& op = compiled_operator();
  if (!node || node.domain() != op.domain || node.op_type() != op.name) return {};
  graph_node& only = m.main()[node.id()];
  storing->compatibility = compatibility_of(m, storing_for).value_or("");
  storing->is_compiled = true;
  for (const attribute& a : only.attributes) {
    if (a.name == "ep_cache_context") storing->context = a.s;
    else if (a.name == "embed_mode") storing->is_file = a.i == 0;
    else if (a.kind == attribute_kind::s) storing->texts.emplace_back(a.name, a.s);
    else storing->numbers.emplace_back(a.name, a.i);
  }
  storing->inputs = names_of(node.inputs()), storing->outputs = names_of(node.outputs());
  const graph_node before = only;  // in the file it must be an ordinary node
  only.fused = -1, only.op = &op, only.version = &op.versions.back();
  only.opset = only.version->since;
  const result<std::string> bytes = write_ort(m);
  only = before;
  return bytes ? to(bytes_of(*bytes)) : bytes.error();
}

/// The format of compiled groups: it reads ORT files, and its writer takes the context out of the compiled node.
constexpr format_row group_formats[] = {[] {
  format_row row = format_row_of<ort_format>;
  row.needs_kernels = false;
  row.write_to = [](const model& m, byte_sink to, const std::string&, const write_options&) {
    return take_stored(m, to);
  };
  return row;
}()};

}  // namespace

bool is_context_of(const plugin& p, const node_view& node) {
  if (!node || !node.has_role(role::is_compiled_context)) return false;
  const std::string_view source = compiled_context_attributes{node.raw().attributes}.source;
  const std::span<const context_source> sources = p.ep.row->contexts.sources;
  return source == p.ep.row->long_name ||
         std::any_of(sources.begin(), sources.end(), [&](const context_source& each) { return each.matches(source); });
}

loader loader_of(const plugin& p) {
  return {std::span<const provider>{&p.ep, 1}, group_formats, default_transforms::tables()};
}

result<stored_group> stored_group::make(const plugin& p, const session_options& session, const context_place& to,
                                        std::unique_ptr<model> m) {
  stored_group made;
  const graph_view whole{m->main()};
  made.inputs = names_of(whole.inputs()), made.outputs = names_of(whole.outputs());
  result<std::string> graph_bytes = write_ort(*m);
  if (!p.ep.row->contexts.sources.empty()) {
    compile_options how;
    how.input = std::move(m), how.output = &made.program;
    how.session = session;
    how.embed = to.is_embedded || !to.is_shared;
    if (to.is_shared) {
      how.binary_folder = to.folder.empty() ? "./" : to.folder, how.binary_model = to.stem;
      how.session.config.emplace_back("ep.share_ep_contexts", "1");
      how.session.config.emplace_back("ep.stop_share_ep_contexts", to.is_last ? "1" : "0");
    }
    storing = &made, storing_for = p.ep.row->long_name;
    const result<compile_report> report = loader_of(p).compile(std::move(how));
    storing = nullptr;
    if (!report) return report.error();
  }
  if (made.is_compiled && !made.is_file) return made;
  if (!graph_bytes) return std::move(graph_bytes).error();
  if (!made.is_compiled) {
    made.context = *graph_bytes, made.numbers = {{"main_context", 1}};
    const std::span<const context_source> sources = p.ep.row->contexts.sources;
    made.texts = {{"source", std::string{sources.empty() ? p.ep.row->long_name : sources.front().key}},
                  {"ep_sdk_version", CAMEO_VERSION},
                  {"notes", std::string{model_notes}}};
  }
  made.program = *std::move(graph_bytes);  // the program cannot use a shared file, which may not be complete yet
  return made;
}

result<ort_node*> stored_group::make_node(const plugin& p, const ort_node& fused, const context_place& to) const {
  const host& h = p.ort;
  call_sequence calls{h};
  const std::string name{calls.text<api::Node_GetName>(fused)};
  std::string_view written = context;
  std::string file;
  if (!to.is_embedded && !is_file) {
    const std::string path = context_path_beside(to.folder, to.stem, name);
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
    calls.call<api::CreateOpAttr>(key.c_str(), data, int(count), std::int32_t(kind), &made);
    attributes.emplace_back(made, release);
  };
  const std::int64_t embedded = to.is_embedded;
  add("ep_cache_context", ort_attribute_kind::s, written.data(), written.size());
  add("embed_mode", ort_attribute_kind::i, &embedded, 1);
  for (const auto& [key, text] : texts) add(key, ort_attribute_kind::s, text.data(), text.size());
  for (const auto& [key, number] : numbers) add(key, ort_attribute_kind::i, &number, 1);
  if (!calls.outcome()) return calls.outcome();
  std::vector<ort_attribute*> given;
  for (auto& each : attributes) given.push_back(each.release());  // CreateNode takes ownership
  std::vector<const char*> from, into;
  for (const std::string& each : inputs) from.push_back(each.c_str());
  for (const std::string& each : outputs) into.push_back(each.c_str());
  ort_node* made = nullptr;
  const std::string type{compiled_operator().name}, domain{compiled_operator().domain};
  calls.call<editor_api::CreateNode>(type.c_str(), domain.c_str(), name.c_str(), from.data(), from.size(), into.data(),
                                     into.size(), given.data(), given.size(), &made);
  if (!calls.outcome()) return calls.outcome();
  return made;
}

}  // namespace CAMEO_NAMESPACE::detail::ort
