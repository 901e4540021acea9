// Reports loading to the caller: progress, and messages in the log.
#include "session/progress.hpp"

#include <cameo/op/op.hpp>

#include "core/node_words.hpp"
#include "graph/oddities.hpp"
#include "session/loaded.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::int64_t newest_ir_version = 14;  // of ONNX 1.23, as are the tables of operators

}  // namespace

std::string of_model(const model& m, std::string_view words) {
  return m.path.empty() ? std::string{words} : fmt::format("{}: {}", m.path, words);
}

status load_reporter::begin(std::string_view stage, unsigned percent) {
  if (status s = report_warnings(); !s) return s;
  if (how_.options.stop.stop_requested()) return {status_code::model_load_canceled, "a stop of loading was requested"};
  percent_before_ += percent_;
  stage_ = stage, percent_ = percent;
  part(0);
  return {};
}

/// Calls the caller's function at the beginning of a stage, and each time another hundredth of the whole is done.
void load_reporter::part(double of_stage) const {
  if (!how_.options.progress) return;
  const double fraction = (percent_before_ + of_stage * percent_) / 100;
  if (of_stage != 0 && fraction < reported_ + 0.01) return;
  reported_ = std::max(reported_, fraction);
  how_.options.progress({stage_, reported_});
}

status load_reporter::end() {
  if (status s = report_warnings(); !s) return s;
  if (how_.options.progress) how_.options.progress({"done", 1});
  return {};
}

/// Logs the model's warnings since the last call. Accepted deviations that all models of an exporter have are logged as
/// information, unless the settings make them errors.
status load_reporter::report_warnings() {
  for (; net_ && warnings_reported_ < net_->warnings.size(); ++warnings_reported_) {
    const std::string& each = net_->warnings[warnings_reported_];
    const oddity_row* const odd = oddity_of(each);
    const log_level level = odd && !odd->is_warning ? log_level::info : log_level::warning;
    if (how_.logs(level)) how_.options.log(level, of_model(*net_, each));
    if (const std::string_view key = how_.config.key_against(odd); !key.empty())
      return failed(status_code::invalid_graph, "{} ({}=1)", each, key);
  }
  return {};
}

void load_reporter::report_model() const {
  for (const opset_import& import : net_->imports)
    for (const detail::domain_row& known : detail::standard_domains())
      if (known.name == import.domain && import.version > known.newest_opset)
        how_.warn(of_model(*net_, fmt::format("opset {} of '{}' is newer than {}, the last that is known; its "
                                              "operators are taken as they were then",
                                              import.version, domain_name(import.domain), known.newest_opset)));
  if (net_->ir_version > newest_ir_version)
    how_.warn(of_model(*net_, fmt::format("IR version {} is newer than {}, the last that is known; fields that it "
                                          "added are ignored",
                                          net_->ir_version, newest_ir_version)));
  if (how_.logs(log_level::info))
    how_.options.log(log_level::info,
                     fmt::format("read {}: {} nodes, {} initializers, IR version {}", net_->path,
                                 net_->main().order().size(), net_->main().initializers().size(), net_->ir_version));
}

void load_reporter::report_placements(const loaded& made) const {
  if (!how_.logs(log_level::info)) return;
  const auto& log = how_.options.log;
  for (const transform_log::entry& each : made.rewrites.transforms)
    log(log_level::info, fmt::format("{} changed the graph {} times", each.name, each.changes));
  const std::vector<placement_info> nodes = made.placements(how_.logs(log_level::verbose));
  for (const provider& p : made.chosen.list)
    log(log_level::info, fmt::format("{} runs {} nodes", p.row->name,
                                     std::ranges::count(nodes, p.row->name, &placement_info::provider)));
  if (!how_.logs(log_level::verbose)) return;
  for (const placement_info& node : nodes)
    log(log_level::verbose,
        fmt::format("{} on {}{}{}", node_words{node.node, node.domain, node.op_type, node.output}.text(), node.provider,
                    node.refusals.empty() ? "" : "; ", fmt::join(node.refusals, "; ")));
}

void load_reporter::report_plan(const loaded& made) const {
  if (!how_.logs(log_level::info)) return;
  const plan_view& plan = *made.plan.steps;
  how_.options.log(
      log_level::info,
      fmt::format("planned {} steps, {} bytes for values of known shape{}, {} threads", plan.steps.size(),
                  made.fixed_bytes(), plan.has_dynamic ? " (others take theirs in a run)" : "", made.threads.count));
}

}  // namespace CAMEO_NAMESPACE
