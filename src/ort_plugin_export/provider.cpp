// The execution provider in a session of ONNX Runtime: compiles fused nodes with cameo's provider.
#include "context/node.hpp"
#include "context/output_path.hpp"
#include "context/stored_model.hpp"
#include "context/workspace.hpp"
#include "file/messages.hpp"
#include "ort_plugin_export/context_node.hpp"
#include "ort_plugin_export/program.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::detail::ort {
execution_provider_object::execution_provider_object(std::shared_ptr<const plugin> by) : shared{std::move(by)} {
  version = shared->ort.version();
  GetName = [](const ort_ep* of) { return self(of).shared->name.c_str(); };
  GetCapability = callback<execution_provider_object, &execution_provider_object::claim>;
  Compile = callback<execution_provider_object, &execution_provider_object::compile>;
  ReleaseNodeComputeInfos = [](ort_ep*, ort_node_compute_info** made, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) delete static_cast<program*>(std::exchange(made[i], nullptr));
  };
  GetCompiledModelCompatibilityInfo = [](ort_ep* of, const ort_graph*) { return self(of).compatibility.c_str(); };
  if (version >= 24) IsConcurrentRunSupported = [](ort_ep*, bool* is) -> ort_status* { return *is = true, nullptr; };
  if (version >= 27)
    OnSessionInitializationEnd = callback<execution_provider_object, &execution_provider_object::finish>;
  if (version >= 29)
    GetWeightlessSupport = [](const ort_ep* of, std::int32_t* to) -> ort_status* {
      return *to = self(of).shared->ep.row->contexts.can_be_weightless ? weightless_all : weightless_none, nullptr;
    };
}

status execution_provider_object::compile(const ort_graph** bodies, const ort_node** fused, std::size_t count,
                                          ort_node_compute_info** made, ort_node** contexts) {
  std::fill_n(made, count, nullptr);
  std::vector<fused_group> groups;
  for (std::size_t i = 0; i < count; ++i) groups.push_back({bodies[i], fused[i]});
  std::vector<std::unique_ptr<program>> programs;
  for (std::size_t i = 0; i < count; ++i) {
    result<cameo::session> runs = session_of(groups, i, contexts ? contexts + i : nullptr);
    if (!runs) return std::move(runs).error();
    programs.push_back(std::make_unique<program>(shared, *bodies[i], *std::move(runs)));
  }
  for (std::size_t i = 0; i < count; ++i) made[i] = programs[i].release();
  return {};
}

result<std::unique_ptr<model>> execution_provider_object::read(const fused_group& group) const {
  result<read_graph> made = read_fused(shared->ort, shared->ops, *group.body, *group.node);
  if (!made) return std::move(made).error();
  if (const std::string_view why = made->obstacle(); !why.empty())
    return failed(status_code::ep_fail, "{} took a node that cameo cannot read: {}", shared->name, why);
  if (status s = check_model(*made->net, shared->ops); !s) return s;
  return std::move(made->net);
}

result<cameo::session> execution_provider_object::session_of(std::span<const fused_group> all, std::size_t i,
                                                             ort_node** context) {
  result<std::unique_ptr<model>> body = read(all[i]);
  if (!body) return std::move(body).error();
  if (is_context_of(*shared, only_node(**body))) return restored(all, i, *std::move(body));
  return compiled(*std::move(body), all[i], i + 1 == all.size(), is_on("ep.context_enable") ? context : nullptr);
}

/// Restores a compiled node. A node without a context has its graph in the context of another node of the model.
result<cameo::session> execution_provider_object::restored(std::span<const fused_group> all, std::size_t i,
                                                           std::unique_ptr<model> m) const {
  const result<context_record> record = read_context_node(only_node(*m));
  if (!record) return record.error();
  for (std::size_t k = 0; k < all.size() && !record->is_main; ++k) {
    const result<std::unique_ptr<model>> other = read(all[k]);
    if (!other) return other.error();
    if (k == i || !is_context_of(*shared, only_node(**other))) continue;
    result<std::unique_ptr<model>> again = read(all[i]);
    if (!again) return std::move(again).error();
    const result<bool> has_one = lend_context(**other, **again);
    if (!has_one) return has_one.error();
    if (!*has_one) continue;
    if (result<cameo::session> made = restored(*std::move(again))) return made;
  }
  return restored(std::move(m));
}

result<cameo::session> execution_provider_object::restored(std::unique_ptr<model> m) const {
  result<std::optional<std::vector<std::byte>>> bytes = stored_model(*m, option("ep.context_file_path"));
  if (!bytes) return std::move(bytes).error().in(only_node(*m).name());
  if (*bytes) return loader_of(*shared).load(**std::move(bytes), "context", session);
  session_options how = session;
  for (const char* key : {"ep.context_file_path", "ep.share_ep_contexts"})
    if (const std::string_view text = option(key); !text.empty()) how.config.emplace_back(key, text);
  return loader_of(*shared).load(std::move(m), how);
}

result<context_place> execution_provider_object::place(const fused_group& group, bool is_last) const {
  context_place made;
  made.is_embedded = is_on("ep.context_embed_mode"), made.is_shared = is_on("ep.share_ep_contexts");
  made.is_last = is_last && is_on("ep.stop_share_ep_contexts");
  if (made.is_embedded && !made.is_shared) return made;
  call_sequence calls{shared->ort};
  const ort_graph* const in = calls.get<api::Node_GetGraph>(*group.node);
  const std::string_view source = in ? calls.text<api::Graph_GetModelPath>(*in) : "";
  if (!calls.outcome()) return calls.outcome();
  const result<std::string> model = compiled_model_path(option("ep.context_file_path"), source);
  if (!model) return model.error();
  made.folder = folder_of(*model), made.stem = stem_of(*model);
  return made;
}

/// Completes a shared context if the last of the models that share it had no group to compile: compiles a model without
/// nodes as the last one.
status execution_provider_object::finish() {
  if (!is_on("ep.context_enable") || !is_on("ep.stop_share_ep_contexts")) return {};
  const std::string path = shared->workspace->inside().path_under_way(shared->ep.row->long_name);
  if (path.empty()) return {};
  auto nothing = std::make_unique<model>();
  nothing->ir_version = 10, nothing->imports = {{"", 21}};
  const value_id x = nothing->main().add_value("x", nothing->keep(value_type::tensor(dtype::f32)));
  nothing->main().add_input(x), nothing->main().add_output(x);
  const context_place to{false, true, true, folder_of(path), stem_of(path)};
  return stored_group::make(*shared, session, to, std::move(nothing)).error();
}

result<cameo::session> execution_provider_object::compiled(std::unique_ptr<model> m, const fused_group& group,
                                                           bool is_last, ort_node** context) {
  m->path.clear();
  if (!context) return loader_of(*shared).load(std::move(m), session);
  const result<context_place> to = place(group, is_last);
  if (!to) return to.error();
  const result<stored_group> stored = stored_group::make(*shared, session, *to, std::move(m));
  if (!stored) return stored.error();
  if (is_weightless() && !stored->is_compiled)
    return failed(status_code::not_implemented, "{} has no contexts without constants; set ep.enable_weightless to 0",
                  shared->name);
  if (!stored->compatibility.empty()) compatibility = stored->compatibility;
  const result<ort_node*> node = stored->make_node(*shared, *group.node, *to);
  if (!node) return node.error();
  *context = *node;
  return loader_of(*shared).load_copy(std::as_bytes(std::span{stored->program}), "group", session);
}

}  // namespace CAMEO_NAMESPACE::detail::ort
