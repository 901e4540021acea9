// What a caller is told of loading: progress, and the log.
#include <cameo/op/op.hpp>

#include "session/session_impl.hpp"

#include <fmt/ranges.h>

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
  const std::vector<placement_info> nodes = placements(logs(log_level::verbose));
  for (const provider& p : providers)
    options.log(log_level::info, fmt::format("{} runs {} nodes", p.row->name,
                                             std::ranges::count(nodes, p.row->name, &placement_info::provider)));
  if (!logs(log_level::verbose)) return;
  for (const placement_info& node : nodes)
    options.log(log_level::verbose, fmt::format("node '{}' ({}) on {}{}{}", node.node, node.op_type, node.provider,
                                                node.refusals.empty() ? "" : "; ", fmt::join(node.refusals, "; ")));
}

void session::impl::log_plan() const {
  if (!logs(log_level::info)) return;
  options.log(
      log_level::info,
      fmt::format("planned {} steps, {} bytes for values of known shape{}, {} threads", plan->steps.size(),
                  fixed_bytes(), plan->has_dynamic ? " (others take theirs in a run)" : "", pool.concurrency()));
}

}  // namespace cameo::inline CAMEO_ABI
