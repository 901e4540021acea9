// An execution provider of ONNX Runtime's session, with a provider of cameo's behind it.
#include "core/guarded.hpp"
#include "file/messages.hpp"
#include "ort_plugin/context_node.hpp"

#include <algorithm>

namespace cameo::inline CAMEO_ABI::detail::ort {
namespace {

execution_provider_object& self(ort_ep* of) { return static_cast<execution_provider_object&>(*of); }
const execution_provider_object& self(const ort_ep* of) { return static_cast<const execution_provider_object&>(*of); }

struct compute_object : ort_node_compute_info {
  compute_object(std::shared_ptr<const plugin> by, cameo::session made)
      : shared{std::move(by)}, runs{shared->side, std::move(made)} {
    version = shared->side.version();
    CreateState = [](ort_node_compute_info* of, ort_compute_context*, void** state) -> ort_status* {
      return *state = of, nullptr;
    };
    Compute = [](ort_node_compute_info* of, void*, ort_kernel_context* context) -> ort_status* {
      const compute_object& me = static_cast<const compute_object&>(*of);
      return me.shared->side.give(
          guarded_as<status_code::runtime_exception>([&]() -> status { return me.runs.run(*context); }));
    };
    ReleaseState = [](ort_node_compute_info*, void*) {};
  }
  std::shared_ptr<const plugin> shared;
  program runs;
};

/// Inputs and outputs of a fused node; constants are not among its inputs.
result<boundary> boundary_of(const host& h, const ort_node& fused) {
  auto inputs = h.list<api::Node_GetNumInputs, api::Node_GetInputs, ort_value_info>(fused);
  auto outputs = h.list<api::Node_GetNumOutputs, api::Node_GetOutputs, ort_value_info>(fused);
  if (!inputs) return std::move(inputs).error();
  if (!outputs) return std::move(outputs).error();
  std::erase(*inputs, nullptr), std::erase(*outputs, nullptr);
  return boundary{std::move(*inputs), std::move(*outputs)};
}

}  // namespace

std::string_view host_options::operator[](std::string_view key) const {
  const auto found = std::find_if(all_.rbegin(), all_.rend(), [&](const auto& pair) { return pair.first == key; });
  return found == all_.rend() ? std::string_view{} : found->second;
}

text_pairs host_options::below(std::string_view prefix) const {
  text_pairs made;
  std::copy_if(all_.begin(), all_.end(), std::back_inserter(made),
               [&](const auto& pair) { return pair.first.starts_with(prefix); });
  return made;
}

execution_provider_object::execution_provider_object(std::shared_ptr<const plugin> by,
                                                     std::shared_ptr<const ort_ep_factory> made_by,
                                                     const ort_logger* to, host_options of_host,
                                                     session_options of_sessions)
    : shared{std::move(by)},
      factory{std::move(made_by)},
      log{to},
      options{std::move(of_host)},
      session{std::move(of_sessions)} {
  version = shared->side.version();
  GetName = [](const ort_ep* of) { return self(of).shared->name.c_str(); };
  GetCapability = [](ort_ep* of, const ort_graph* in, ort_support_info* to_add) -> ort_status* {
    return self(of).shared->side.give(guarded_hook([&]() -> status { return self(of).claim(*in, *to_add); }));
  };
  Compile = [](ort_ep* of, const ort_graph** graphs, const ort_node** fused, std::size_t count,
               ort_node_compute_info** made, ort_node** contexts) -> ort_status* {
    const auto all = [&]() -> status {
      for (std::size_t i = 0; i < count; ++i)
        if (status s = self(of).compile(*graphs[i], *fused[i], made + i, contexts ? contexts + i : nullptr); !s)
          return s;
      return {};
    };
    std::fill_n(made, count, nullptr);
    const status done = guarded_hook(all);
    if (!done) of->ReleaseNodeComputeInfos(of, made, count);
    return self(of).shared->side.give(done);
  };
  ReleaseNodeComputeInfos = [](ort_ep*, ort_node_compute_info** made, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      if (made[i]) delete static_cast<compute_object*>(std::exchange(made[i], nullptr));
  };
  GetCompiledModelCompatibilityInfo = [](ort_ep* of, const ort_graph*) { return self(of).fit.c_str(); };
  if (version >= 24) IsConcurrentRunSupported = [](ort_ep*, bool* is) -> ort_status* { return *is = true, nullptr; };
}

status execution_provider_object::compile(const ort_graph& from, const ort_node& fused, ort_node_compute_info** made,
                                          ort_node** context) {
  const host& h = shared->side;
  const result<boundary> io = boundary_of(h, fused);
  if (!io) return io.error();
  const auto nodes = h.list<api::Graph_GetNumNodes, api::Graph_GetNodes, ort_node>(from);
  if (!nodes) return nodes.error();
  result<read_graph> body = read_nodes(h, shared->ops, from, *nodes, &*io, constants::copied);
  if (!body) return std::move(body).error();
  for (const std::string& why : body->declined)
    if (!why.empty()) return failed(status_code::ep_fail, "{} took a node that can't cross: {}", shared->name, why);
  model& m = *body->net;
  if (status s = check_model(m, shared->ops); !s) return s;
  const bool is_restored = m.main().order().size() == 1 && is_context_of(*shared, m.main()[m.main().order()[0]]);
  result<cameo::session> runs =
      is_restored ? restored(std::move(body->net))
                  : compiled(std::move(body->net), fused, *io, options.is_on("ep.context_enable") ? context : nullptr);
  if (!runs) return std::move(runs).error();
  *made = new compute_object{shared, std::move(*runs)};
  return {};
}

result<cameo::session> execution_provider_object::restored(std::unique_ptr<model> m) const {
  result<std::optional<std::vector<std::byte>>> bytes = stored_model(*m, options);
  if (!bytes) return std::move(bytes).error().in(m->main()[m->main().order()[0]].name);
  if (*bytes) return cameo::session::load(parts_of(*shared), **std::move(bytes), "context", session);
  session_options how = session;
  if (const std::string_view path = options["ep.context_file_path"]; !path.empty())
    how.config.emplace_back("ep.context_file_path", path);
  return cameo::session::load(parts_of(*shared), std::move(m), how);
}

result<cameo::session> execution_provider_object::compiled(std::unique_ptr<model> m, const ort_node& fused,
                                                           const boundary& io, ort_node** context) {
  m->path.clear();
  if (!context) return cameo::session::load(parts_of(*shared), std::move(m), session);
  std::unique_ptr<model> shell = shell_of(*m);
  const result<stored_group> stored = stored_group::of(*shared, session, std::move(m));
  if (!stored) return stored.error();
  if (!stored->fit.empty()) fit = stored->fit;
  const result<ort_node*> node = stored->node(*shared, fused, io, options);
  if (!node) return node.error();
  *context = *node;
  if (!stored->is_compiled()) {
    const auto bytes = std::as_bytes(std::span{stored->context});
    return cameo::session::load(parts_of(*shared), std::vector<std::byte>{bytes.begin(), bytes.end()}, "group",
                                session);
  }
  result<std::unique_ptr<model>> one = stored->as_model(std::move(shell), source_of(*shared));
  if (!one) return std::move(one).error();
  return cameo::session::load(parts_of(*shared), *std::move(one), session);
}

}  // namespace cameo::inline CAMEO_ABI::detail::ort
