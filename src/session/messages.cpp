// What a caller is told of loading: progress, and the log.
#include <cameo/op/op.hpp>

#include "session/session_impl.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cameo::inline CAMEO_ABI {

/// Said when a stage begins, and each time a hundredth of the whole has been done.
void session::impl::tell_part(double of_stage) const {
  if (!options.progress) return;
  const double fraction = (percent_before + of_stage * at_stage->percent) / 100;
  if (of_stage != 0 && fraction < told + 0.01) return;
  told = std::max(told, fraction);
  options.progress({at_stage->name, told});
}

void session::impl::log_config() const {
  if (!logs(log_level::warning)) return;
  for (const auto& [key, value] : options.config)
    for (const config_key_row& row : config_keys())
      if (row.key == key && row.support == key_support::without_effect)
        options.log(log_level::warning, fmt::format("session key '{}' has no effect: {}", key, row.meaning));
}

void session::impl::log_model() const {
  if (logs(log_level::warning))
    for (const std::string& warning : net->warnings)
      options.log(log_level::warning, fmt::format("{}{}{}", net->path, net->path.empty() ? "" : ": ", warning));
  if (logs(log_level::warning))
    for (const opset_import& import : net->imports)
      for (const domain_row& known : standard_domains())
        if (known.name == import.domain && import.version > known.newest_opset)
          options.log(log_level::warning,
                      fmt::format("{}: opset {} of '{}' is newer than {}, the last that is known; its operators are "
                                  "taken as they were then",
                                  net->path, import.version, import.domain.empty() ? "ai.onnx" : import.domain,
                                  known.newest_opset));
  if (logs(log_level::info))
    options.log(log_level::info,
                fmt::format("read {}: {} nodes, {} initializers, IR version {}", net->path, net->main().order().size(),
                            net->main().initializers().size(), net->ir_version));
}

void session::impl::log_placements() const {
  if (!logs(log_level::info)) return;
  for (const transform_log::entry& each : log.transforms)
    options.log(log_level::info, fmt::format("{} changed the graph {} times", each.name, each.changes));
  std::vector<std::size_t> nodes(providers.size());
  for (node_id n : net->main().order())
    if (const std::int32_t p = net->main()[n].provider; p >= 0) ++nodes[std::size_t(p)];
  for (std::size_t p = 0; p < nodes.size(); ++p)
    options.log(log_level::info, fmt::format("{} runs {} nodes", providers[p].row->name, nodes[p]));
  if (!logs(log_level::verbose)) return;
  for (node_id n : net->main().order()) {
    const graph_node& node = net->main()[n];
    if (node.provider < 0) continue;
    std::string refusals;
    for (std::int32_t p = 0; p < node.provider; ++p)
      refusals +=
          fmt::format("; {}{}", providers[std::size_t(p)].row->name,
                      providers[std::size_t(p)].row->why_not(providers[std::size_t(p)].self.get(), {net->main(), n}));
    options.log(log_level::verbose, fmt::format("node '{}' ({}) on {}{}", node.name, node.op_type,
                                                providers[std::size_t(node.provider)].row->name, refusals));
  }
}

void session::impl::log_plan() const {
  if (!logs(log_level::info)) return;
  std::size_t bytes = 0;
  for (std::size_t region : plan->fixed.region_bytes) bytes += region;
  options.log(log_level::info,
              fmt::format("planned {} steps, {} bytes for values of known shape{}, {} threads", plan->steps.size(),
                          bytes, plan->has_dynamic ? " (others take theirs in a run)" : "", pool.concurrency()));
}

}  // namespace cameo::inline CAMEO_ABI
