// An execution provider of ONNX Runtime's session, with a provider of cameo's behind it.
#include "context/node.hpp"
#include "context/output_path.hpp"
#include "context/workspace.hpp"
#include "core/guarded.hpp"
#include "file/messages.hpp"
#include "ort_plugin/context_node.hpp"
#include "ort_plugin/program.hpp"

#include <algorithm>
#include <mutex>

namespace cameo::inline CAMEO_ABI::detail::ort {
namespace {

execution_provider_object& self(ort_ep* of) { return static_cast<execution_provider_object&>(*of); }
const execution_provider_object& self(const ort_ep* of) { return static_cast<const execution_provider_object&>(*of); }

}  // namespace

execution_provider_object::execution_provider_object(std::shared_ptr<const plugin> by,
                                                     std::shared_ptr<const ort_ep_factory> made_by,
                                                     const ort_logger* to, text_pairs of_host,
                                                     session_options of_sessions)
    : shared{std::move(by)},
      factory{std::move(made_by)},
      log{to},
      options{std::move(of_host)},
      session{std::move(of_sessions)} {
  version = shared->side.version();
  GetName = [](const ort_ep* of) { return self(of).shared->name.c_str(); };
  GetCapability = [](ort_ep* of, const ort_graph* in, ort_support_info* to_add) -> ort_status* {
    return self(of).shared->side.answer([&] { return self(of).claim(*in, *to_add); });
  };
  Compile = [](ort_ep* of, const ort_graph** graphs, const ort_node** fused, std::size_t count,
               ort_node_compute_info** made, ort_node** contexts) -> ort_status* {
    const auto all = [&]() -> status {
      std::vector<fused_group> groups;
      for (std::size_t i = 0; i < count; ++i) groups.push_back({graphs[i], fused[i]});
      for (std::size_t i = 0; i < count; ++i)
        if (status s = self(of).compile(groups, i, made + i, contexts ? contexts + i : nullptr); !s) return s;
      return {};
    };
    std::fill_n(made, count, nullptr);
    const status done = guarded_hook(all);
    if (!done) of->ReleaseNodeComputeInfos(of, made, count);
    return self(of).shared->side.give(done);
  };
  ReleaseNodeComputeInfos = [](ort_ep*, ort_node_compute_info** made, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if (made[i]) delete static_cast<program*>(std::exchange(made[i], nullptr));
  };
  GetCompiledModelCompatibilityInfo = [](ort_ep* of, const ort_graph*) { return self(of).fit.c_str(); };
  if (version >= 27)
    OnSessionInitializationEnd = [](ort_ep* of) -> ort_status* {
      return self(of).shared->side.answer([&] { return self(of).finish(); });
    };
  if (version >= 24) IsConcurrentRunSupported = [](ort_ep*, bool* is) -> ort_status* { return *is = true, nullptr; };
}

result<std::unique_ptr<model>> execution_provider_object::read(const fused_group& group) const {
  questions ask{shared->side};
  boundary io{ask.list<api::Node_GetNumInputs, api::Node_GetInputs, ort_value_info>(*group.node),
              ask.list<api::Node_GetNumOutputs, api::Node_GetOutputs, ort_value_info>(*group.node)};
  std::erase(io.inputs, nullptr), std::erase(io.outputs, nullptr);
  const auto nodes = ask.list<api::Graph_GetNumNodes, api::Graph_GetNodes, ort_node>(*group.body);
  if (!ask.outcome()) return ask.outcome();
  result<read_graph> made = read_nodes(shared->side, shared->ops, *group.body, nodes, &io, constants::copied);
  if (!made) return std::move(made).error();
  for (const std::string& why : made->declined)
    if (!why.empty()) return failed(status_code::ep_fail, "{} took a node that can't cross: {}", shared->name, why);
  if (status s = check_model(*made->net, shared->ops); !s) return s;
  return std::move(made->net);
}

status execution_provider_object::compile(std::span<const fused_group> all, std::size_t i, ort_node_compute_info** made,
                                          ort_node** context) {
  result<std::unique_ptr<model>> body = read(all[i]);
  if (!body) return std::move(body).error();
  result<cameo::session> runs =
      is_context_of(*shared, **body)
          ? restored(all, i, *std::move(body))
          : compiled(*std::move(body), all[i], i + 1 == all.size(), is_on("ep.context_enable") ? context : nullptr);
  if (!runs) return std::move(runs).error();
  *made = new program{shared, std::move(*runs)};
  return {};
}

/// A node without a context of its own has its graph in that of another node.
result<cameo::session> execution_provider_object::restored(std::span<const fused_group> all, std::size_t i,
                                                           std::unique_ptr<model> m) const {
  const result<context_record> record = read_context_node({m->main(), m->main().order()[0]});
  if (!record) return record.error();
  for (std::size_t k = 0; k < all.size() && !record->is_main; ++k) {
    const result<std::unique_ptr<model>> other = read(all[k]);
    if (!other) return other.error();
    if (k == i || !is_context_of(*shared, **other)) continue;
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
  if (!bytes) return std::move(bytes).error().in(m->main()[m->main().order()[0]].name);
  if (*bytes) return cameo::session::load(parts_of(*shared), **std::move(bytes), "context", session);
  session_options how = session;
  for (const char* key : {"ep.context_file_path", "ep.share_ep_contexts"})
    if (const std::string_view text = option(key); !text.empty()) how.config.emplace_back(key, text);
  return cameo::session::load(parts_of(*shared), std::move(m), how);
}

result<context_place> execution_provider_object::place(const fused_group& group, bool is_last) const {
  context_place made;
  made.is_embedded = is_on("ep.context_embed_mode"), made.is_shared = is_on("ep.share_ep_contexts");
  made.is_last = is_last && is_on("ep.stop_share_ep_contexts");
  if (made.is_embedded && !made.is_shared) return made;
  questions ask{shared->side};
  const ort_graph* const in = ask.get<api::Node_GetGraph, const ort_graph*>(*group.node);
  const std::string_view source = in ? ask.text<api::Graph_GetModelPath>(*in) : "";
  if (!ask.outcome()) return ask.outcome();
  const result<std::string> model = compiled_model_path(option("ep.context_file_path"), source);
  if (!model) return model.error();
  made.folder = folder_of(*model), made.stem = stem_of(*model);
  return made;
}

/// The last of the models that share a context may have nothing in it: a model without nodes completes it.
status execution_provider_object::finish() {
  if (!is_on("ep.context_enable") || !is_on("ep.stop_share_ep_contexts")) return {};
  std::string path;
  {
    const std::lock_guard lock{shared->workspace->inside().guard};
    const auto& all = shared->workspace->inside().under_way;
    const auto found = all.find(shared->of.row->long_name);
    if (found == all.end()) return {};
    path = found->second->path;
  }
  auto nothing = std::make_unique<model>();
  nothing->ir_version = 10, nothing->imports = {{"", 21}};
  const value_id x = nothing->main().add_value("x", nothing->keep(value_type::tensor(dtype::f32)));
  nothing->main().add_input(x), nothing->main().add_output(x);
  const context_place to{false, true, true, folder_of(path), stem_of(path)};
  return stored_group::of(*shared, session, to, std::move(nothing)).error();
}

result<cameo::session> execution_provider_object::compiled(std::unique_ptr<model> m, const fused_group& group,
                                                           bool is_last, ort_node** context) {
  m->path.clear();
  if (!context) return cameo::session::load(parts_of(*shared), std::move(m), session);
  const result<context_place> to = place(group, is_last);
  if (!to) return to.error();
  const result<stored_group> stored = stored_group::of(*shared, session, *to, std::move(m));
  if (!stored) return stored.error();
  if (!stored->fit.empty()) fit = stored->fit;
  const result<ort_node*> node = stored->node(*shared, *group.node, *to);
  if (!node) return node.error();
  *context = *node;
  const auto bytes = std::as_bytes(std::span{stored->program});
  return cameo::session::load(parts_of(*shared), std::vector<std::byte>{bytes.begin(), bytes.end()}, "group", session);
}

}  // namespace cameo::inline CAMEO_ABI::detail::ort
