// What is rewritten when: before providers choose their nodes, and among the nodes of each afterwards.
#include <cameo/transform/rules/definitions.hpp>
#include <cameo/transform/rules/standard.hpp>

#include "session/evaluate.hpp"
#include "session/session_impl.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cameo::inline CAMEO_ABI {
namespace {

/// Bytes that one node may take while it is folded to a constant.
constexpr std::size_t evaluation_limit = std::size_t{1} << 30;
/// How often levels 2 to 4 are gone through in all (session.graph_optimizations_loop_level).
constexpr std::size_t most_rounds = 10;
constexpr std::string_view group_key = "optimization.minimal_build_optimizations";

/// "a,b" and "a;b" name transforms.
std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find_first_of(",;"), list.size());
    if (const std::string_view name = list.substr(0, end); !name.empty()) names.push_back(name);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return names;
}

void forget_saved(graph& g) {
  g.saved_optimizations = {};
  for (node_id n : g.order())
    for (graph* body : g[n].subgraphs) forget_saved(*body);
}

std::vector<const transform_table*> of_level(std::span<const transform_table* const> tables, optimization_level level) {
  std::vector<const transform_table*> found;
  for (const transform_table* each : tables)
    if (each->level == level) found.push_back(each);
  return found;
}

}  // namespace

status session::impl::check_groups() {
  const std::string_view mode = config[group_key];
  if (!mode.empty() && mode != "save" && mode != "apply")
    return {status_code::invalid_argument,
            fmt::format("{} is '{}'; it can be 'save', 'apply' or nothing", group_key, mode)};
  if (mode != "save") return {};
  const result<const format_row*> to = saved_format();
  if (!to) return to.error();
  const result<const format_row*> needed = format_named("ORT");
  if (*to && needed && *to == *needed) return {};
  return {status_code::invalid_argument,
          fmt::format("{} is 'save', which needs a file in the ORT format: session.optimized_model_filepath with a "
                      "name that ends in .ort, or session.save_model_format ORT",
                      group_key)};
}

/// Before anything else changes the nodes that the records name.
status session::impl::replay_saved() {
  if (options.optimize < optimization_level::extended || !config.is_on("session.enable_saved_runtime_optimizations"))
    return {};
  const std::vector<std::string_view> disabled = names_in(config["optimization.disable_specified_optimizers"]);
  const kernel_evaluator kernels{providers, evaluation_limit};
  const auto evaluate = [&](const node_view& n, arena& memory) { return kernels.evaluate(n, memory); };
  std::vector<const transform_table*> tables;
  for (const provider& p : providers)
    for (const transform_table* each : of_level(p.row->transforms(), optimization_level::extended))
      if (std::find(tables.begin(), tables.end(), each) == tables.end()) tables.push_back(each);
  const auto takes = [&](const node_view& n) {
    return std::any_of(providers.begin(), providers.end(),
                       [&](const provider& p) { return p.row->takes(p.self.get(), n); });
  };
  const result<bool> done = replay_groups(net->main(), tables, {ops, evaluate, takes}, {disabled, 1, &log});
  return done ? status{} : done.error();
}

/// What a build without schemas could do as well, among the nodes of each provider: saved, or done in place of all
/// else.
status session::impl::apply_groups_of_providers(group_mode mode) {
  const std::vector<std::string_view> disabled = names_in(config["optimization.disable_specified_optimizers"]);
  const kernel_evaluator kernels{providers, evaluation_limit};
  const auto evaluate = [&](const node_view& n, arena& memory) { return kernels.evaluate(n, memory); };
  const group_policy policy{config.is_on("session.qdqisint8allowed")};
  const bool folds = mode == group_mode::replace && !config.is_on("session.disable_qdq_constant_folding") &&
                     std::find(transforms.begin(), transforms.end(), &constant_folding::table()) != transforms.end();
  const transform_table* const folding[] = {&constant_folding::table()};
  if (mode == group_mode::record) forget_saved(net->main());
  for (std::size_t p = 0; p < providers.size(); ++p) {
    const provider_row& row = *providers[p].row;
    const auto takes = [&](const node_view& n) { return row.takes(providers[p].self.get(), n); };
    const rewriter::surroundings around{ops, evaluate, takes, std::int32_t(p)};
    const std::vector<const transform_table*> tables = of_level(row.transforms(), optimization_level::extended);
    result<bool> done = apply_groups(net->main(), tables, around, {disabled, 1, &log}, policy, mode);
    if (done && folds) done = apply_transforms(net->main(), folding, around, {disabled, 10, &log});
    if (!done) return done.error();
  }
  return {};
}

/// Functions opened, what every level does, then standard operators only; any node.
status session::impl::optimize_before() {
  if (status s = replay_saved(); !s) return s;
  const bool basic = options.optimize >= optimization_level::basic;
  const bool quantized = !config.is_on("session.disable_quant_qdq");
  if (basic && !config.is_on("session.disable_aot_function_inlining"))
    if (status s = inline_ahead(); !s) return s;
  std::vector<std::string_view> disabled = names_in(config["optimization.disable_specified_optimizers"]);
  const kernel_evaluator kernels{providers, evaluation_limit};
  const auto evaluate = [&](const node_view& n, arena& memory) { return kernels.evaluate(n, memory); };
  const auto any = [](const node_view&) { return true; };
  const bool groups = !config[group_key].empty() && options.optimize >= optimization_level::extended;
  const rewriter::surroundings around{ops, evaluate, any, -1,
                                      groups || config.is_on("session.disable_qdq_constant_folding")};
  if (quantized) {
    const transform_table* const always[] = {&own_dequantizers::table()};
    transform_log required;  // its step is none of the level's
    if (const result<bool> done = apply_transforms(net->main(), always, around, {disabled, 1, &required}); !done)
      return done.error();
    log.transforms = std::move(required.transforms);
  }
  if (!basic) return {};
  std::vector<const transform_table*> tables = of_level(transforms, optimization_level::basic);
  if (!quantized) std::erase(tables, &qdq::table());
  if (config.is_on("session.disable_double_qdq_remover")) disabled.push_back("DoubleQDQPairsRemover");
  if (config.is_on("session.enable_quant_qdq_cleanup")) tables.push_back(&qdq_cleanup::table());
  const result<bool> done = apply_transforms(net->main(), tables, around, {disabled, 10, &log});
  return done ? status{} : done.error();
}

/// Transforms among the nodes that one provider has. Compiled groups are left alone.
result<bool> session::impl::rewrite_among(std::size_t p, std::span<const transform_table* const> tables) {
  if (tables.empty()) return false;
  const std::vector<std::string_view> disabled = names_in(config["optimization.disable_specified_optimizers"]);
  const kernel_evaluator kernels{providers, evaluation_limit};
  const auto evaluate = [&](const node_view& n, arena& memory) { return kernels.evaluate(n, memory); };
  const auto takes = [&](const node_view& n) { return providers[p].row->takes(providers[p].self.get(), n); };
  return apply_transforms(net->main(), tables, {ops, evaluate, takes, std::int32_t(p)}, {disabled, 10, &log});
}

/// The rewrites that providers brought, each among its own nodes.
result<bool> session::impl::optimize_placed(optimization_level level) {
  bool changed = false;
  for (std::size_t p = 0; p < providers.size(); ++p) {
    const result<bool> done = rewrite_among(p, of_level(providers[p].row->transforms(), level));
    if (!done) return done.error();
    changed = changed || *done;
  }
  return changed;
}

/// The format that the model is to be saved in; null: it is not to be saved.
result<const format_row*> session::impl::saved_format() const {
  const std::string_view path = config["session.optimized_model_filepath"];
  if (path.empty()) return static_cast<const format_row*>(nullptr);
  const std::string_view wanted = config["session.save_model_format"];
  if (wanted.empty()) return format_of({}, path);
  result<const format_row*> row = format_named(wanted);
  if (!row) return std::move(row).error().in("session.save_model_format");
  return row;
}

/// Replaces operators that readers of the file to be written have no kernel for, before fusions make others of them.
status session::impl::write_out_definitions() {
  const result<const format_row*> row = saved_format();
  if (!row || !*row || !(*row)->needs_kernels) return {};
  for (std::size_t p = 0; p < providers.size(); ++p)
    if (const result<bool> done = rewrite_among(p, kernels_only::tables()); !done) return done.error();
  return {};
}

status session::impl::optimize_after() {
  if (status s = write_out_definitions(); !s) return s;
  if (const std::string_view mode = config[group_key]; !mode.empty()) {
    if (options.optimize < optimization_level::extended) return {};
    return apply_groups_of_providers(mode == "save" ? group_mode::record : group_mode::replace);
  }
  const std::string_view loop = config["session.graph_optimizations_loop_level"];
  for (std::size_t round = 0; round < most_rounds; ++round) {
    bool any_changed = false, last_changed = false;
    for (const optimization_level level :
         {optimization_level::extended, optimization_level::layout, optimization_level::all}) {
      if (options.optimize < level) break;
      const result<bool> done = optimize_placed(level);
      if (!done) return done.error();
      any_changed = any_changed || *done;
      if (level == optimization_level::all) last_changed = *done;
    }
    if (!(loop == "2" ? any_changed : loop == "1" && last_changed)) break;
  }
  return {};
}

/// session.optimized_model_filepath, in that format.
status session::impl::save_optimized() {
  const std::string path{config["session.optimized_model_filepath"]};
  if (path.empty()) return {};
  if (std::any_of(fused.begin(), fused.end(), [](const fused_node& f) { return f.body; }))
    return {status_code::fail,
            "session.optimized_model_filepath: a provider has compiled nodes, which a model file "
            "can't hold; use other providers"};
  std::vector<const transform_table*> tables{transforms.begin(), transforms.end()};
  for (const provider& p : providers)
    tables.insert(tables.end(), p.row->transforms().begin(), p.row->transforms().end());
  note_operators_to_come(*net, tables, ops, names_in(config["optimization.disable_specified_optimizers"]));
  const result<const format_row*> row = saved_format();
  if (!row) return row.error();
  return (*row)->write_file(*net, path, {{}, 0});
}

}  // namespace cameo::inline CAMEO_ABI
