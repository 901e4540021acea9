#include <cameo/session/compile.hpp>

#include "build/runtime.hpp"
#include "program/options.hpp"
#include "program/say.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace cameo::program {
namespace {

struct compile_command {
  common_options common;
  std::string input, output, external;
  std::size_t threshold = 0;
  bool embed = false, force = false;
};

int compile(const compile_command& o) {
  compile_options how;
  how.input = o.input, how.output = o.output;
  how.session = o.common.session();
  how.optimize = o.common.optimize;
  how.embed = o.embed;
  how.fail_if_nothing_compiled = true;
  how.fail_if_output_exists = !o.force;
  how.external_initializers = o.external, how.external_threshold = o.threshold;
  const result<compile_report> done = build::runtime{}.compile(std::move(how));
  if (!done) return fail(done.error());
  if (o.common.json)
    print_json({{"from", o.input},
                {"to", done->path},
                {"bytes", bytes_written(done->path)},
                {"compiled_nodes", done->compiled_nodes}});
  else if (!o.common.quiet)
    say("{}: {}, compiled nodes: {}\n", done->path, size_written(done->path), done->compiled_nodes);
  return 0;
}

}  // namespace

void add_compile(command_line& app) {
  auto o = std::make_shared<compile_command>();
  o->common.optimize = compile_options{}.optimize;
  const command it = app.add_command(
      "compile",
      "Compiles a model for the providers of --ep: OUT has nodes of operator EPContext, and each provider's compiled "
      "context is in a file beside OUT");
  it.add("IN", o->input, "Model, .onnx or .ort").required();
  it.add("-o,--output", o->output, "Compiled model to write").type_name("OUT").required();
  it.add_flag("--embed", o->embed, "Stores the compiled contexts in OUT itself");
  it.add("--external-initializers", o->external,
         "File beside OUT for the initializers of nodes that no provider compiled (default: in OUT)")
      .type_name("FILE");
  it.add("--external-threshold", o->threshold, "Bytes from which an initializer goes there (0)").type_name("N");
  it.add_flag("--force", o->force, "Replaces OUT if it exists; otherwise that is an error");
  add_common_options(it, o->common, json_output::flag);
  add_policy_option(it, o->common);
  it["--optimize"].description(
      "Graph optimization: none, basic (default: providers get the graph that they get when the model is loaded), "
      "extended, layout or all; from extended on also of nodes that no provider compiles, and the model may suit this "
      "machine alone");
  it.does([o] { return compile(*o); });
}

}  // namespace cameo::program
