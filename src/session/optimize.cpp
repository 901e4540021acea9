// Applies the rewrites: those before providers choose their nodes, and afterwards those of each provider to its nodes.
#include "file/messages.hpp"
#include "session/evaluate.hpp"
#include "session/stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace CAMEO_NAMESPACE {
namespace {

using tables = std::vector<const transform_table*>;
using table_span = std::span<const transform_table* const>;

/// The limit in bytes for the outputs and the scratch memory of one node while it is folded to a constant.
constexpr std::size_t evaluation_limit = std::size_t{1} << 30;
/// The greatest number of rounds over the levels above basic (session.graph_optimizations_loop_level).
constexpr std::size_t most_rounds = 10;
constexpr const config_key_row &groups_key = config_key<"optimization.minimal_build_optimizations">,
                               &path_key = config_key<"session.optimized_model_filepath">,
                               &saved_weights_key =
                                   config_key<"session.optimized_model_external_initializers_file_name">,
                               &saved_weights_size_key =
                                   config_key<"session.optimized_model_external_initializers_min_size_in_bytes">,
                               &format_key = config_key<"session.save_model_format">;

bool holds(const transform_condition& when, const session_config& config) {
  const auto has = [&](const key_condition& each) { return config.text_of(each.key) == each.value; };
  return std::ranges::all_of(when.required, has) && std::ranges::none_of(when.excluded, has);
}

tables of_level(table_span all, optimization_level level, const session_config& config) {
  tables found;
  for (const transform_table* each : all)
    if ((each->level == level || (each->takes && each->level < level)) &&
        each->when.phase <= transform_phase::at_level_and_after_groups && holds(each->when, config))
      found.push_back(each);
  return found;
}

/// The tables of a phase, whatever their level.
tables of_phase(table_span all, transform_phase phase, const session_config& config) {
  tables found;
  for (const transform_table* each : all)
    if (each->when.phase == phase && holds(each->when, config)) found.push_back(each);
  return found;
}

/// Applies tables of transforms to a model, except disabled ones, with kernels that fold constants.
class application {
 public:
  explicit application(const rewriting& r)
      : r_{r}, disabled_{r.how.disabled_transforms()}, kernels_{r.providers, evaluation_limit} {}

  /// Applies tables to all nodes, before they have providers.
  result<bool> to_all(table_span which, bool keeps_quantized, std::size_t steps) {
    const auto any = [](const node_view&) { return true; };
    return apply_transforms(r_.net.main(), which, {r_.ops, evaluate_, any, -1, keeps_quantized}, options(steps));
  }
  /// Applies tables to the nodes of one provider.
  result<bool> to_nodes_of(std::size_t p, table_span which) {
    if (which.empty()) return false;
    return with_takes(p, [&](const rewriter::surroundings& around) {
      return apply_transforms(r_.net.main(), which, around, options(10));
    });
  }
  result<bool> groups(std::size_t p, table_span which, const group_policy& policy, group_mode mode) {
    return with_takes(p, [&](const rewriter::surroundings& around) {
      return apply_groups(r_.net.main(), which, around, options(1), policy, mode);
    });
  }
  result<bool> replay(table_span which) {
    const auto takes = [&](const node_view& n) {
      return std::any_of(r_.providers.begin(), r_.providers.end(),
                         [&](const provider& p) { return p.row->takes(p.self.get(), n); });
    };
    return replay_groups(r_.net.main(), which, {r_.ops, evaluate_, takes}, options(1));
  }

 private:
  transform_options options(std::size_t steps) const { return {disabled_, steps, &r_.log}; }
  template <class Work>
  result<bool> with_takes(std::size_t p, const Work& work) {
    const provider& by = r_.providers[p];
    const auto takes = [&](const node_view& n) { return by.row->takes(by.self.get(), n); };
    return work(rewriter::surroundings{r_.ops, evaluate_, takes, std::int32_t(p)});
  }

  const rewriting& r_;
  std::vector<std::string_view> disabled_;
  kernel_evaluator kernels_;
  struct {
    const kernel_evaluator& kernels;
    result<std::span<const value>> operator()(const node_view& n, arena& memory) const {
      return kernels.evaluate(n, memory);
    }
  } evaluate_{kernels_};
};

status done(const result<bool>& applied) { return applied.error(); }

/// The format in which the model is to be saved; null: it is not to be saved.
result<const detail::format_row*> saved_format(const load_settings& how) {
  const std::string_view path = how.config[path_key], wanted = how.config[format_key];
  if (path.empty()) return static_cast<const detail::format_row*>(nullptr);
  if (wanted.empty()) return &format_of(how.formats, {}, path);
  result<const detail::format_row*> row = how.format_named(wanted);
  if (!row) return std::move(row).error().in(format_key.key);
  return row;
}

/// Applies the rewrites that an ORT file has recorded. This comes first, because the records name nodes of the file.
status replay_saved(const rewriting& r) {
  if (r.how.options.optimize < optimization_level::extended ||
      !r.how.config.is_on(config_key<"session.enable_saved_runtime_optimizations">))
    return {};
  tables which;
  for (const provider& p : r.providers)
    for (const transform_table* each : of_level(p.row->transforms(), optimization_level::extended, r.how.config))
      if (std::find(which.begin(), which.end(), each) == which.end()) which.push_back(each);
  return done(application{r}.replay(which));
}

void forget_saved(graph& g) {
  g.saved_optimizations = {};
  for (node_id n : g.order())
    for (graph* body : g[n].subgraphs) forget_saved(*body);
}

/// True if a provider has rewrites of groups of nodes, for which constants stay quantized until then. With
/// session.enable_saved_runtime_optimizations, the file has recorded the groups, so that none are searched for.
bool has_groups(const rewriting& r) {
  if (r.how.options.optimize < optimization_level::extended ||
      (r.how.config[groups_key].empty() &&
       r.how.config.is_on(config_key<"session.enable_saved_runtime_optimizations">)))
    return false;
  return std::any_of(r.providers.begin(), r.providers.end(), [&](const provider& p) {
    const tables extended = of_level(p.row->transforms(), optimization_level::extended, r.how.config);
    return std::any_of(extended.begin(), extended.end(), [](const transform_table* t) { return !t->groups.empty(); });
  });
}

/// Applies, or records in the model, the rewrites of groups among each provider's nodes: those rewrites that also a
/// build without operator schemas can apply.
status apply_groups_of_providers(const rewriting& r, group_mode mode) {
  const session_config& config = r.how.config;
  // A file is for other programs, so it has the groups that ONNX Runtime would choose on this processor; cameo's
  // kernels accept int8 as well as uint8.
  const config_key_row& signed_key = config_key<"session.qdqisint8allowed">;
  const bool is_saved = !config[groups_key].empty();
  const group_policy policy{is_saved ? config[signed_key] == "1" : config.set_to(signed_key) != "0"};
  application to{r};
  const bool folds = mode == group_mode::replace && !config.is_on(config_key<"session.disable_qdq_constant_folding">);
  if (mode == group_mode::record) forget_saved(r.net.main());
  for (std::size_t p = 0; p < r.providers.size(); ++p) {
    const tables which = of_level(r.providers[p].row->transforms(), optimization_level::extended, config);
    if (status s = done(to.groups(p, which, policy, mode)); !s) return s;
    // Rewrites of nodes whose constants stayed quantized have to precede the folding of these constants.
    for (const table_span all : {table_span{which}, table_span{r.how.transforms}}) {
      tables afterwards;
      for (const transform_table* each : all)
        if (folds && each->when.phase == transform_phase::at_level_and_after_groups) afterwards.push_back(each);
      if (status s = done(to.to_nodes_of(p, afterwards)); !s) return s;
    }
  }
  return {};
}

/// Replaces operators for which the reader of the saved file has no kernel. This precedes fusions, which would replace
/// them by other operators.
status rewrite_for_file(const rewriting& r) {
  const result<const detail::format_row*> row = saved_format(r.how);
  if (!row || !*row || !(*row)->needs_kernels) return {};
  const tables which = of_phase(r.how.transforms, transform_phase::before_saving, r.how.config);
  application to{r};
  for (std::size_t p = 0; p < r.providers.size(); ++p)
    if (status s = done(to.to_nodes_of(p, which)); !s) return s;
  return {};
}

}  // namespace

status require_file_for_groups(const load_settings& how) {
  const std::string_view mode = how.config[groups_key];
  if (!mode.empty() && mode != "save" && mode != "apply")
    return failed(status_code::invalid_argument, "{} is '{}'; it can be 'save', 'apply' or nothing", groups_key.key,
                  mode);
  if (mode != "save") return {};
  const result<const detail::format_row*> to = saved_format(how);
  if (!to) return to.error();
  const result<const detail::format_row*> needed = how.format_named("ORT");
  if (*to && needed && *to == *needed) return {};
  return failed(status_code::invalid_argument,
                "{} is 'save', which needs a file in the ORT format: {} with a name that ends in .ort, or {} ORT",
                groups_key.key, path_key.key, format_key.key);
}

status rewrite_ahead(const rewriting& r, const chosen_providers& by) {
  const session_config& config = r.how.config;
  if (status s = replay_saved(r); !s) return s;
  const bool basic = r.how.options.optimize >= optimization_level::basic;
  if (basic && !config.is_on(config_key<"session.disable_aot_function_inlining">))
    if (status s = inline_calls(r.how, by, r.ops, r.net); !s) return s;
  const bool keeps_quantized = has_groups(r) || config.is_on(config_key<"session.disable_qdq_constant_folding">);
  application to{r};
  const tables required = of_level(r.how.transforms, optimization_level::none, config);
  if (status s = done(to.to_all(required, keeps_quantized, 1)); !s || !basic) return s;
  return done(to.to_all(of_level(r.how.transforms, optimization_level::basic, config), keeps_quantized, 10));
}

namespace {

/// Applies the providers' transforms of the last phase, which runs at every level.
status apply_closing(const rewriting& r) {
  application to{r};
  for (std::size_t p = 0; p < r.providers.size(); ++p)
    if (status s =
            done(to.to_nodes_of(p, of_phase(r.providers[p].row->transforms(), transform_phase::last, r.how.config)));
        !s)
      return s;
  return {};
}

/// Applies the levels above basic, or the part of them that optimization.minimal_build_optimizations selects.
status rewrite_by_level(const rewriting& r) {
  const session_config& config = r.how.config;
  const optimization_level wanted = r.how.options.optimize;
  if (config[groups_key] == "apply")
    return wanted < optimization_level::extended ? status{} : apply_groups_of_providers(r, group_mode::replace);
  if (has_groups(r))
    if (status s = apply_groups_of_providers(r, group_mode::replace); !s) return s;
  application to{r};
  const std::string_view loop = config[config_key<"session.graph_optimizations_loop_level">];
  for (std::size_t round = 0; round < most_rounds; ++round) {
    bool any_changed = false, last_changed = false;
    for (const optimization_level level :
         {optimization_level::extended, optimization_level::layout, optimization_level::all}) {
      if (wanted < level) break;
      last_changed = false;
      for (std::size_t p = 0; p < r.providers.size(); ++p) {
        const result<bool> changed = to.to_nodes_of(p, of_level(r.providers[p].row->transforms(), level, config));
        if (!changed) return changed.error();
        last_changed = last_changed || *changed;
      }
      any_changed = any_changed || last_changed;
    }
    last_changed = last_changed && wanted >= optimization_level::all;
    if (!(loop == "2" ? any_changed : loop == "1" && last_changed)) break;
  }
  return {};
}

}  // namespace

status rewrite_placed(const rewriting& r) {
  if (status s = rewrite_for_file(r); !s) return s;
  return r.how.config[groups_key] == "save" ? status{} : rewrite_by_level(r);
}

status rewrite_last(const rewriting& r) {
  if (status s = apply_closing(r); !s) return s;
  // Records refer to nodes by their names, so they are made last, from the nodes that are saved.
  if (r.how.config[groups_key] != "save" || r.how.options.optimize < optimization_level::extended) return {};
  return apply_groups_of_providers(r, group_mode::record);
}

namespace {

/// The options for writing the initializers of the optimized model to another file
/// (session.optimized_model_external_initializers_file_name).
result<write_options> weights_of_optimized(const rewriting& r, const std::string& path, bool is_onnx) {
  write_options how{std::string{r.how.config[saved_weights_key]}, 0};
  if (how.external_data.empty()) return how;
  if (!is_onnx)
    return failed(status_code::invalid_argument, "{}: only an ONNX file has initializers in another file; '{}' is none",
                  saved_weights_key.key, path);
  std::error_code error;
  const std::filesystem::path file = std::filesystem::path{path}.parent_path() / how.external_data;
  for (const std::shared_ptr<const detail::file_bytes>& read : r.net.files)
    if (std::filesystem::equivalent(file, read->path(), error))
      return failed(status_code::invalid_argument, "{}: '{}' is a file of the model that is read; choose another name",
                    saved_weights_key.key, how.external_data);
  const std::string_view size = r.how.config[saved_weights_size_key];
  const auto [end, wrong] = std::from_chars(size.data(), size.data() + size.size(), how.external_threshold);
  if (wrong != std::errc{} || end != size.data() + size.size())
    return failed(status_code::invalid_argument, "session key '{}' is '{}'; it can be a number of bytes",
                  saved_weights_size_key.key, size);
  return how;
}

}  // namespace

/// Saves the model to session.optimized_model_filepath.
status save_optimized(const rewriting& r, const std::vector<fused_node>& fused) {
  const std::string path{r.how.config[path_key]};
  if (path.empty()) return {};
  if (std::any_of(fused.begin(), fused.end(), [](const fused_node& f) { return f.body; }))
    return failed(status_code::fail,
                  "{}: a provider has compiled nodes, which a model file can't hold; use other "
                  "providers",
                  path_key.key);
  tables which{r.how.transforms.begin(), r.how.transforms.end()};
  for (const provider& p : r.providers)
    which.insert(which.end(), p.row->transforms().begin(), p.row->transforms().end());
  note_operators_to_come(r.net, which, r.ops, r.how.disabled_transforms());
  const result<const detail::format_row*> row = saved_format(r.how);
  if (!row) return row.error();
  const result<const detail::format_row*> onnx = r.how.format_named("ONNX");
  result<write_options> how = weights_of_optimized(r, path, onnx && *onnx == *row);
  if (!how) return how.error();
  how->report = [&](std::string_view words) { r.how.warn(fmt::format("{}: {}", path, words)); };
  return (*row)->write_file(r.net, path, *how);
}

}  // namespace CAMEO_NAMESPACE
