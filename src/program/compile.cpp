#include "program/options.hpp"
#include "program/runtime.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace cameo::program {
namespace {

struct compile_command {
  common_options common;
  std::string from, to, external;
  std::size_t threshold = 0;
  bool embed = false, force = false;
};

int compile(const compile_command& o) {
  compile_options how;
  how.input = o.from, how.output = o.to;
  how.session = o.common.session();
  how.optimize = o.common.optimize;
  how.embed = o.embed;
  how.fail_if_output_exists = !o.force;
  how.external_initializers = o.external, how.external_threshold = o.threshold;
  const result<compile_report> done = program_runtime{}.compile(std::move(how));
  if (!done) return fail(done.error());
  std::error_code ignored;
  const auto bytes = std::filesystem::file_size(done->path, ignored);
  if (o.common.json)
    print_json({{"from", o.from}, {"to", done->path}, {"bytes", bytes}, {"compiled_nodes", done->compiled_nodes}});
  else if (!o.common.quiet)
    fmt::print("{}: {} bytes, {}\n", done->path, bytes,
               done->compiled_nodes ? fmt::format("compiled nodes: {}", done->compiled_nodes)
                                    : std::string{"nothing of it was compiled"});
  return 0;
}

}  // namespace

void add_compile(CLI::App& app, action& chosen) {
  auto o = std::make_shared<compile_command>();
  o->common.optimize = optimization_level::none;
  CLI::App& command = *app.add_subcommand(
      "compile",
      "Compiles a model for the providers of --ep: nodes of operator EPContext, with what the providers made in a file "
      "of each provider beside OUT");
  command.add_option("IN", o->from, "Model, .onnx or .ort")->required();
  command.add_option("-o,--output", o->to, "Compiled model to write")->required();
  command.add_flag("--embed", o->embed, "What the providers made goes into OUT itself");
  command.add_option("--external-initializers", o->external,
                     "File beside OUT for the initializers of nodes that nobody compiled (default: in OUT)");
  command.add_option("--external-threshold", o->threshold, "Bytes from which an initializer goes there (0)");
  command.add_flag("--force", o->force, "Replaces OUT if it exists; otherwise that is an error");
  add_common_options(command, o->common, json_output::flag);
  add_policy_option(command, o->common);
  command.get_option("--optimize")
      ->description(
          "Graph optimization of nodes that nobody compiles: none (default), basic, extended, layout or all; from "
          "extended on the model may suit this machine alone");
  command.callback([o, &chosen] { chosen = [o] { return compile(*o); }; });
}

}  // namespace cameo::program
