// What a caller is told of loading: progress, and the log.
#include <cameo/op/op.hpp>

#include "core/node_words.hpp"
#include "graph/oddities.hpp"
#include "session/session_impl.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace cameo::inline CAMEO_ABI {
namespace {

/// Whether a value has the rank and the known dims of a type.
bool has_declared_shape(const value& v, const value_type& type) {
  if (v.kind != value_kind::tensor || !type.is_tensor() || !type.shape) return true;
  if (v.shape.rank() != type.shape->size()) return false;
  for (std::size_t i = 0; i < type.shape->size(); ++i)
    if ((*type.shape)[i].known() && (*type.shape)[i].size != v.shape[i]) return false;
  return true;
}
constexpr std::int64_t newest_ir_version = 14;  // of ONNX 1.23, which the tables of operators are from

/// With the model's file in front, if it has one.
std::string of_model(const model& m, std::string_view words) {
  return m.path.empty() ? std::string{words} : fmt::format("{}: {}", m.path, words);
}

}  // namespace

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

/// Warnings that the model has got since the last time. Oddities that every model of an exporter has are no news.
void session::impl::tell_warnings() {
  for (; net && warnings_told < net->warnings.size(); ++warnings_told) {
    const std::string& each = net->warnings[warnings_told];
    const oddity_row* const odd = oddity_of(each);
    const log_level level = odd && !odd->is_told ? log_level::info : log_level::warning;
    if (logs(level)) options.log(level, of_model(*net, each));
  }
}

/// Once for each output: what a run makes of it may differ from what the model declares, every time.
void session::impl::tell_shapes(std::span<const value> made) const {
  for (std::size_t i = 0; i < made.size(); ++i) {
    if (has_declared_shape(made[i], outputs[i].type) || other_shape_told[i].exchange(true) || !logs(log_level::warning))
      continue;
    const std::string words =
        warning_of(oddity::other_shape_in_run, "output '{}' is declared as {}, and this run made [{}] of it",
                   outputs[i].name, outputs[i].type_text, fmt::join(made[i].shape.dims(), ","));
    options.log(log_level::warning, of_model(*net, words));
  }
}

void session::impl::log_model() const {
  if (logs(log_level::warning))
    for (const opset_import& import : net->imports)
      for (const domain_row& known : standard_domains())
        if (known.name == import.domain && import.version > known.newest_opset)
          options.log(log_level::warning,
                      of_model(*net, fmt::format("opset {} of '{}' is newer than {}, the last that is known; its "
                                                 "operators are taken as they were then",
                                                 import.version, domain_name(import.domain), known.newest_opset)));
  if (net->ir_version > newest_ir_version && logs(log_level::warning))
    options.log(log_level::warning,
                of_model(*net, fmt::format("IR version {} is newer than {}, the last that is known; what it brings is "
                                           "not seen",
                                           net->ir_version, newest_ir_version)));
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
    options.log(log_level::verbose,
                fmt::format("{} on {}{}{}", node_words{node.node, node.domain, node.op_type, node.output}.text(),
                            node.provider, node.refusals.empty() ? "" : "; ", fmt::join(node.refusals, "; ")));
}

void session::impl::log_plan() const {
  if (!logs(log_level::info)) return;
  options.log(
      log_level::info,
      fmt::format("planned {} steps, {} bytes for values of known shape{}, {} threads", plan->steps.size(),
                  fixed_bytes(), plan->has_dynamic ? " (others take theirs in a run)" : "", pool.concurrency()));
}

}  // namespace cameo::inline CAMEO_ABI
