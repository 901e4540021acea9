// Runs the stages that make a session, or a compiled model, of bytes; stages.hpp documents each of them.
#include "core/guarded.hpp"
#include "file/messages.hpp"
#include "session/loaded.hpp"

#include <istream>

namespace CAMEO_NAMESPACE {
namespace {

/// Prefixes an error with the model's name unless its words start with it already.
status at(status failed, std::string_view name) {
  if (name.empty() || failed.words().substr(0, name.size()) == name) return failed;
  return std::move(failed).in(name);
}

/// Moves a stage's result to `to`, or returns its error.
template <class T>
status take(T& to, result<T>&& made) {
  static_assert(std::is_nothrow_move_constructible_v<result<T>> && std::is_nothrow_move_assignable_v<T>,
                "the result of a stage must move without allocation: use a std::vector or a std::unique_ptr instead of "
                "a std::deque");
  if (made) to = *std::move(made);
  return std::move(made).error();
}

/// State that loading needs and the session does not.
struct loading {
  const load_settings& how;
  load_reporter reporter{how};
  op_table ops = {};
  std::optional<compilation> output = {};
};

/// The estimated shares of the total time, in percent, of the stages of rewrite_place_compile().
struct stage_shares {
  unsigned rewrite, place, compile;
};

/// Refuses an input that nodes read and that has no type: a run could pass anything to their kernels.
status check_input_types(const model& net) {
  for (value_id v : net.main().inputs()) {
    const detail::graph_value& input = net.main()[v];
    const bool has_type = input.type && input.type->kind != type_kind::unknown &&
                          !(input.type->is_tensor() && input.type->type == dtype::undefined);
    if (!has_type && input.use_count > 0)
      return failed(status_code::invalid_graph, "input '{}' has no type, which nodes that read it need", input.name);
  }
  return status_code::ok;
}

/// Runs the first stages of load() and compile(): reads the model and checks its operators.
status read_and_check(loading& now, loaded& made, model_source read) {
  const load_settings& how = now.how;
  const bool by_policy = bool(how.options.choose_devices);
  if (!by_policy)
    if (status s = take(made.chosen, choose_by_list(how)); !s) return s;
  if (status s = require_file_for_groups(how); !s) return s;
  if (status s = now.reporter.begin("read", 10); !s) return s;
  if (status s = take(made.source, read(how)); !s) return s;
  model& net = *made.source.net;
  now.reporter.follow(net);
  if (by_policy)
    if (status s = take(made.chosen, choose_by_policy(how, net)); !s) return s;
  if (status s = fix_free_dims(how.options, *made.source.format, net); !s) return s;
  if (!how.config.is_on(config_key<"session.strict">))
    separate_dims(net, how.config.is_on(config_key<"session.separate_dims">));
  if (status s = now.reporter.begin("check", 5); !s) return s;
  if (status s = take(now.ops, check_operators(made.chosen.list, net)); !s) return s;
  if (status s = check_input_types(net); !s) return s;
  now.reporter.report_model();
  return take(now.output, choose_output(how, made.chosen.list, net));
}

/// Runs the stages of load() and compile() after read_and_check(): rewrites the model, assigns nodes to providers, and
/// compiles fused nodes.
status rewrite_place_compile(loading& now, loaded& made, const rewriting& rewrite, stage_shares of) {
  model& net = rewrite.net;
  if (status s = now.reporter.begin("optimize", of.rewrite); !s) return s;
  if (status s = rewrite_ahead(rewrite, made.chosen); !s) return s;
  if (status s = now.reporter.begin("place", of.place); !s) return s;
  if (status s = take(made.placed, place_nodes(now.how, made.chosen, now.ops, now.output, net)); !s) return s;
  if (status s = now.reporter.begin("compile", of.compile); !s) return s;
  return take(made.compiled, compile_groups(now.how, made.chosen.list, now.output, made.placed, net, now.reporter));
}

rewriting rewriting_of(const loading& now, loaded& made) {
  return {now.how, made.chosen.list, now.ops, *made.source.net, made.rewrites};
}

status write_if_wanted(loading& now, loaded& made) {
  if (!now.output) return {};
  return write_compiled(now.how, made.chosen.list, made.placed, made.compiled, *made.source.net, *now.output);
}

status load(loading& now, loaded& made, model_source read) {
  if (status s = read_and_check(now, made, read); !s) return s;
  model& net = *made.source.net;
  const rewriting rewrite = rewriting_of(now, made);
  if (status s = rewrite_place_compile(now, made, rewrite, {.rewrite = 20, .place = 5, .compile = 9}); !s) return s;
  if (status s = write_if_wanted(now, made); !s) return s;
  if (status s = now.reporter.begin("optimize", 21); !s) return s;
  if (status s = rewrite_placed(rewrite); !s) return s;
  // At the level `none`, the file has the model's nodes, without the providers' last rewrites. At other levels it has
  // those rewrites, so that it computes the same bits wherever it runs.
  const bool saves_first = now.how.options.optimize == optimization_level::none;
  if (saves_first)
    if (status s = save_optimized(rewrite, made.placed.fused); !s) return s;
  if (status s = rewrite_last(rewrite); !s) return s;
  now.reporter.report_placements(made);
  if (!saves_first)
    if (status s = save_optimized(rewrite, made.placed.fused); !s) return s;
  if (status s = now.reporter.begin("plan", 30); !s) return s;
  if (status s = take(made.plan, make_session_plan(now.how, made.chosen.list, made.compiled, net, now.reporter)); !s)
    return s;
  if (status s = take(made.io, describe_io(net, made.plan)); !s) return s;
  if (status s = take(made.threads, start_threads(now.how)); !s) return s;
  now.reporter.report_plan(made);
  return now.reporter.end();
}

status compile(loading& now, loaded& made, model_source read) {
  if (status s = read_and_check(now, made, read); !s) return s;
  const rewriting rewrite = rewriting_of(now, made);
  if (status s = rewrite_place_compile(now, made, rewrite, {.rewrite = 15, .place = 5, .compile = 50}); !s) return s;
  now.reporter.report_placements(made);
  if (status s = now.reporter.begin("optimize", 5); !s) return s;
  if (status s = rewrite_placed(rewrite); !s) return s;
  if (status s = now.reporter.begin("write", 10); !s) return s;
  if (status s = write_if_wanted(now, made); !s) return s;
  return now.reporter.end();
}

/// Copies the settings that the session needs after loading.
void keep(loaded& made, const load_settings& how) {
  made.log = how.options.log, made.log_from = how.options.log_from;
  made.config = how.config, made.rules = how.rules;
  made.workspace = how.workspace, made.memory_limit = how.memory_limit;
  made.denormals_as_zero = how.config.is_on(config_key<"session.set_denormal_as_zero">);
}

result<loaded> load_all(const detail::loader& by, const session_options& options, opened_places&& places,
                        model_source read) {
  result<load_settings> how = load_settings::make(by, options);
  if (!how) return std::move(how).error();
  how->places = std::move(places);
  loading now{*how};
  loaded made;
  keep(made, *how);
  if (status s = load(now, made, read); !s) return s;
  for (const auto& [key, text] : made.chosen.options) made.config.set(key, text);
  return made;
}

/// The options for compiling, without keys that would prevent it or write another model.
session_options for_compiling(const compile_options& wanted) {
  session_options options = wanted.session;
  options.optimize = wanted.optimize;
  options.config.emplace_back(config_key<"session.disable_model_compile">.key, "0");
  options.config.emplace_back(config_key<"session.optimized_model_filepath">.key, "");
  return options;
}

/// The model to compile. INVALID_ARGUMENT if the file does not exist, as in ONNX Runtime's compile API.
result<read_model> read_input(const load_settings& how, compile_input& input) {
  if (!input.path.empty()) {
    result<read_model> read = read_path(how, input.path);
    if (read || read.error().code() != status_code::no_suchfile) return read;
    return status{status_code::invalid_argument, std::string{read.error().words()}};
  }
  if (!input.bytes.empty()) return read_bytes(how, input.bytes, "model");
  if (input.graph) return made_model(how, std::move(input.graph));
  return status{status_code::invalid_argument, "there is no model to compile: a path, bytes or a graph is needed"};
}

std::string_view input_name(const compile_input& input) {
  if (!input.path.empty()) return input.path;
  if (input.graph) return input.graph->path;
  return "model";
}

}  // namespace

result<session> session::impl::make(const detail::loader& by, const session_options& options, std::string_view name,
                                    opened_places places, model_source read) {
  result<session> made = guarded_hook([&]() -> result<session> {
    result<loaded> all = load_all(by, options, std::move(places), read);
    if (!all) return std::move(all).error();
    return session{new impl{*std::move(all)}};
  });
  if (!made) return at(std::move(made).error(), name);
  return made;
}

result<session> detail::loader::load(std::string_view path, const session_options& options) const {
  const auto read = [&](const load_settings& how) { return read_path(how, std::string{path}); };
  return session::impl::make(*this, options, path, {}, read);
}

result<session> detail::loader::load(std::span<const std::byte> bytes, std::string_view name,
                                     const session_options& options) const {
  const auto read = [&](const load_settings& how) { return read_bytes(how, bytes, name); };
  return session::impl::make(*this, options, name, {}, read);
}

result<session> detail::loader::load(std::vector<std::byte>&& bytes, std::string_view name,
                                     const session_options& options) const {
  const auto read = [&](const load_settings& how) { return read_own_bytes(how, std::move(bytes), name); };
  return session::impl::make(*this, options, name, {}, read);
}

result<session> detail::loader::load_copy(std::span<const std::byte> bytes, std::string_view name,
                                          const session_options& options) const {
  const auto read = [&](const load_settings& how) {
    return read_own_bytes(how, std::vector<std::byte>{bytes.begin(), bytes.end()}, name);
  };
  return session::impl::make(*this, options, name, {}, read);
}

result<session> detail::loader::load(std::istream& stream, std::string_view name,
                                     const session_options& options) const {
  const auto read = [&](const load_settings& how) { return read_stream(how, stream, name); };
  return session::impl::make(*this, options, name, {}, read);
}

result<session> detail::loader::load(std::unique_ptr<model> net, const session_options& options) const {
  if (!net) return status{status_code::invalid_argument, "there is no model to load: the pointer to it is null"};
  std::string name;  // a copy, because it is needed after the model is gone
  if (status s = guarded([&] { return name = net->path, status{}; }); !s) return s;
  const auto read = [&](const load_settings& how) { return made_model(how, std::move(net)); };
  return session::impl::make(*this, options, name, {}, read);
}

result<compile_report> detail::loader::compile(compile_options wanted) const {
  std::string name;  // a copy, because it is needed after the model is gone
  const auto read = [&](const load_settings& how) { return read_input(how, wanted.input); };
  const auto all = [&]() -> result<compile_report> {
    name = input_name(wanted.input);
    name_exceptions_of(wanted.output.function, "compile_options::output");
    name_exceptions_of(wanted.place_initializer, "compile_options::place_initializer");
    if (!detail::is_level(wanted.optimize))
      return failed(status_code::invalid_argument, "compile_options::optimize is {}; levels are 0 to 3, and 99",
                    int(wanted.optimize));
    result<load_settings> how = load_settings::make(*this, for_compiling(wanted));
    if (!how) return std::move(how).error();
    how->compile_only = &wanted;
    loading now{*how};
    loaded made;
    if (status s = cameo::compile(now, made, read); !s) return s;
    return compile_report{now.output->compiled_nodes, now.output->path};
  };
  result<compile_report> made = guarded_hook(all);
  if (!made) return at(std::move(made).error(), name);
  return made;
}

}  // namespace CAMEO_NAMESPACE
