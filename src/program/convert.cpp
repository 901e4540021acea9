#include "build/runtime.hpp"
#include "core/config_keys.hpp"
#include "program/options.hpp"
#include "program/say.hpp"

#include <cameo/context/compiled_nodes.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/partition/partition.hpp>
#include <cameo/transform/rules/definitions.hpp>
#include <cameo/transform/transform.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace cameo::program {

op_table known_ops() {
  op_table ops;
  for (const provider& p : build::runtime{}.providers()) {
    ops.more.push_back(p.row->kernels().ops);
    ops.more.push_back(p.row->own_ops);
  }
  return ops;
}

result<std::unique_ptr<model>> read_checked(const std::string& path, bool for_ort, std::string_view without,
                                            const std::string& external_data_folder) {
  read_options how;
  how.external_data_folder = external_data_folder;
  result<std::unique_ptr<model>> read = ort_format::recognizes({}, path) ? read_ort(path) : read_onnx(path, how);
  if (!read) return read;
  const op_table ops = known_ops();
  if (status s = check_model(**read, ops); !s) return s;
  if (!for_ort) return read;
  const auto body = [](model&, const detail::graph_node& node) -> result<const function*> { return node.callee; };
  const auto canceled = [] { return false; };
  if (status s = inline_functions(**read, {}, ops, {body, canceled}); !s) return std::move(s).in(path);
  const auto no_kernels = [](const node_view&, arena&) -> result<std::span<const value>> {
    return status_code::not_implemented;
  };
  const auto any = [](const node_view&) { return true; };
  std::vector<std::string_view> disabled;
  for (std::size_t at = 0, end; at < without.size(); at = end + 1) {
    end = std::min(without.find_first_of(",;", at), without.size());
    disabled.push_back(without.substr(at, end - at));
  }
  const result<bool> written_out =
      apply_transforms((*read)->main(), rules::kernels_only::tables(), {ops, no_kernels, any}, {disabled});
  if (!written_out) return status{written_out.error()}.in(path);
  return read;
}

namespace {

struct convert_options {
  common_options common;
  std::string input, output;
  bool for_this_machine = false;
};

bool is_ort(const std::string& path) { return ort_format::recognizes({}, path); }
bool is_onnx(const std::string& path) { return std::filesystem::path{path}.extension() == ".onnx"; }

/// Names of the transforms that --config disables, each after a comma.
std::string disabled_in(const convert_options& o) {
  std::string names;
  for (const auto& [key, text] : o.common.config)
    if (key == config_key<"optimization.disable_specified_optimizers">.key) names += "," + text;
  return names;
}

/// Writes the model as a session optimizes it. Layouts that depend on this processor are not used without --native.
status convert_optimized(const convert_options& o, std::unique_ptr<model> net) {
  session_options how = o.common.session();
  if (!o.for_this_machine)
    how.config.emplace_back(config_key<"optimization.disable_specified_optimizers">.key,
                            "NchwcTransformer" + disabled_in(o));
  how.config.emplace_back(config_key<"session.optimized_model_filepath">.key, o.output);
  how.config.emplace_back(config_key<"session.save_model_format">.key, is_ort(o.output) ? "ORT" : "ONNX");
  how.config.emplace_back(config_key<"session.disable_prepacking">.key, "1");  // nothing is run
  const result<session> loaded = build::runtime{}.load(std::move(net), how);
  return loaded ? status{} : loaded.error();
}

/// Records in the model which operators a session's transforms may add to it later; the ORT format stores their
/// versions.
void note_operators(model& net, bool for_this_machine) {
  std::vector<const transform_table*> tables{default_transforms::tables().begin(), default_transforms::tables().end()};
  op_table ops;
  for (const provider& p : build::runtime{}.providers()) {
    tables.insert(tables.end(), p.row->transforms().begin(), p.row->transforms().end());
    ops.more.push_back(p.row->own_ops);
  }
  const std::string_view disabled[] = {"NchwcTransformer"};
  note_operators_to_come(net, tables, ops, std::span{disabled}.first(for_this_machine ? 0 : 1));
}

status convert_model(const convert_options& o) {
  result<std::unique_ptr<model>> read =
      read_checked(o.input, is_ort(o.output), disabled_in(o), o.common.external_data_folder);
  if (!read) return std::move(read).error();
  if (status s = require_contexts_beside(**read, o.output); !s) return s;
  if (o.common.optimize != optimization_level::none) return convert_optimized(o, std::move(*read));
  note_operators(**read, o.for_this_machine);
  if (!is_ort(o.output)) return write_onnx(**read, o.output);
  write_options how;
  how.report = [&](std::string_view words) { warn(fmt::format("{}: {}", o.output, words)); };
  return ort_format::write(**read, o.output, how);
}

int convert(const convert_options& o) {
  for (const std::string& path : {o.input, o.output})
    if (!is_ort(path) && !is_onnx(path))
      return fail({status_code::invalid_argument, fmt::format("{}: needs a name that ends in .onnx or .ort", path)});
  if (const status s = require_other_file(o.input, o.output); !s) return fail(s);
  const status done = convert_model(o);
  if (!done) return fail(done);
  if (o.common.json)
    print_json({{"from", o.input},
                {"to", o.output},
                {"format", is_ort(o.output) ? "ort" : "onnx"},
                {"bytes", bytes_written(o.output)}});
  else if (!o.common.quiet) say("{}: {}\n", o.output, size_written(o.output));
  return 0;
}

}  // namespace

void add_convert(command_line& app) {
  auto o = std::make_shared<convert_options>();
  o->common.optimize = optimization_level::none;
  const command it = app.add_command(
      "convert",
      "Converts a model between .onnx and .ort, by the names' extensions; unless --optimize says otherwise, "
      "nothing else changes");
  it.add("IN", o->input, "Model, .onnx or .ort").required();
  it.add("OUT", o->output, "File to write, .onnx or .ort").required();
  it.add_flag("--native", o->for_this_machine,
              "With --optimize layout or all: layouts that suit this processor may be written");
  add_common_options(it, o->common, json_output::flag);
  it["--optimize"].description(
      "Graph optimization: none (default), basic, extended, layout or all; then the providers must take "
      "every node");
  it.does([o] { return convert(*o); });
}

}  // namespace cameo::program
