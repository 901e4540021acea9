#include "program/options.hpp"
#include "program/runtime.hpp"

#include <cameo/graph/check.hpp>
#include <cameo/partition/partition.hpp>
#include <cameo/transform/rules/definitions.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace cameo::program {

result<std::unique_ptr<model>> read_checked(const std::string& path, bool for_ort, std::string_view without) {
  result<std::unique_ptr<model>> read = ort_format::recognises({}, path) ? read_ort(path) : read_onnx(path);
  if (!read) return read;
  op_table ops;
  for (const provider& p : program_runtime{}.providers()) {
    ops.more.push_back(p.row->kernels().ops);
    ops.more.push_back(p.row->own_ops);
  }
  if (status s = check_model(**read, ops); !s) return s;
  if (!for_ort) return read;
  const auto body = [](model&, const graph_node& node) -> result<const function*> { return node.callee; };
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
      apply_transforms((*read)->main(), kernels_only::tables(), {ops, no_kernels, any}, {disabled});
  if (!written_out) return status{written_out.error()}.in(path);
  return read;
}

namespace {

struct convert_options {
  common_options common;
  std::string from, to;
  bool for_this_machine = false;
};

bool is_ort(const std::string& path) { return ort_format::recognises({}, path); }
bool is_onnx(const std::string& path) { return std::filesystem::path{path}.extension() == ".onnx"; }

/// Names of transforms that are left out.
std::string disabled_in(const convert_options& o) {
  std::string names;
  for (const auto& [key, text] : o.common.config)
    if (key == "optimization.disable_specified_optimizers") names += "," + text;
  return names;
}

/// What a session would run; what depends on this processor stays out unless asked for.
status convert_optimized(const convert_options& o, std::unique_ptr<model> net) {
  session_options how = o.common.session();
  if (!o.for_this_machine)
    how.config.emplace_back("optimization.disable_specified_optimizers", "NchwcTransformer" + disabled_in(o));
  how.config.emplace_back("session.optimized_model_filepath", o.to);
  how.config.emplace_back("session.save_model_format", is_ort(o.to) ? "ORT" : "ONNX");
  how.config.emplace_back("session.disable_prepacking", "1");  // nothing is run
  const result<session> loaded = program_runtime{}.load(std::move(net), how);
  return loaded ? status{} : loaded.error();
}

/// What a session may make of the model later.
void note_operators(model& net, bool for_this_machine) {
  std::vector<const transform_table*> tables{default_transforms::tables().begin(), default_transforms::tables().end()};
  op_table ops;
  for (const provider& p : program_runtime{}.providers()) {
    tables.insert(tables.end(), p.row->transforms().begin(), p.row->transforms().end());
    ops.more.push_back(p.row->own_ops);
  }
  const std::string_view disabled[] = {"NchwcTransformer"};
  note_operators_to_come(net, tables, ops, std::span{disabled}.first(for_this_machine ? 0 : 1));
}

status convert_model(const convert_options& o) {
  result<std::unique_ptr<model>> read = read_checked(o.from, is_ort(o.to), disabled_in(o));
  if (!read) return std::move(read.error());
  if (o.common.optimize != optimization_level::none) return convert_optimized(o, std::move(*read));
  note_operators(**read, o.for_this_machine);
  return is_ort(o.to) ? write_ort(**read, o.to) : write_onnx(**read, o.to);
}

int convert(const convert_options& o) {
  for (const std::string& path : {o.from, o.to})
    if (!is_ort(path) && !is_onnx(path))
      return fail({status_code::invalid_argument, fmt::format("{}: needs a name that ends in .onnx or .ort", path)});
  const status done = convert_model(o);
  if (!done) return fail(done);
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(o.to, ignored);
  if (o.common.json)
    print_json({{"from", o.from}, {"to", o.to}, {"format", is_ort(o.to) ? "ort" : "onnx"}, {"bytes", bytes}});
  else if (!o.common.quiet) fmt::print("{}: {} bytes\n", o.to, bytes);
  return 0;
}

}  // namespace

void add_convert(CLI::App& app, action& chosen) {
  auto o = std::make_shared<convert_options>();
  o->common.optimize = optimization_level::none;
  CLI::App& command = *app.add_subcommand(
      "convert",
      "Converts a model between .onnx and .ort, by the names' extensions; unless --optimize says otherwise, "
      "nothing else changes");
  command.add_option("IN", o->from, "Model, .onnx or .ort")->required();
  command.add_option("OUT", o->to, "File to write, .onnx or .ort")->required();
  command.add_flag("--native", o->for_this_machine,
                   "With --optimize layout or all: layouts that suit this processor may be written");
  add_common_options(command, o->common, json_output::flag);
  command.get_option("--optimize")
      ->description(
          "Graph optimization: none (default), basic, extended, layout or all; then the providers must take "
          "every node");
  command.callback([o, &chosen] { chosen = [o] { return convert(*o); }; });
}

}  // namespace cameo::program
