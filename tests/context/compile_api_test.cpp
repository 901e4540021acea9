// Tests the compile API, runtime::compile.
#include <cameo/graph/model.hpp>
#include <cameo/session/compile.hpp>

#include "context/compiled.hpp"

namespace cameo::test {
namespace {

/// For each initializer, the number of its bytes in the model's file, or "in FILE".
std::vector<std::string> places_of_initializers(const std::string& path) {
  std::vector<std::string> places;
  const auto m = read(path);
  const std::string bytes = slurp(path);
  for (value_id v : m->main().initializers()) {
    const value& c = *m->main()[v].constant;
    const std::string_view data{static_cast<const char*>(c.data), c.bytes()};
    places.push_back(std::string{m->main()[v].name} + (bytes.find(data) == bytes.npos ? " outside" : " inside"));
  }
  return places;
}

/// x[1,64] -> Sigmoid -> MatMul with 16 KiB -> Add of 256 bytes, all run by cpu.
std::unique_ptr<model> two_sizes() {
  model_builder b;
  const value_id x = b.node("Sigmoid", {b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(64)})});
  const value_id y = b.node("MatMul", {x, b.constant("large", {64, 64}, ramp(4096, 0.001f))});
  b.output(b.node("Add", {y, b.constant("small", {64}, ramp(64, 0.0005f))}));
  return b.take();
}

/// Nodes that RefA compiles, followed by a Sigmoid, a Mul and a Sub of cpu; the last two have initializers.
std::unique_ptr<model> scaled() {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4)});
  const value_id y = b.node("Sigmoid", {b.node("MatMul", {x, b.constant("w", {4, 3}, ramp(12, 0.001f))})});
  const value_id z = b.node("Mul", {y, b.constant("scale", {3}, ramp(3, 0.0005f))});
  b.output(b.node("Sub", {z, b.constant<float>("shift", {}, {0.25f})}));
  return b.take();
}

compile_options input_of(std::string input) {
  compile_options options;
  options.input = std::move(input);
  return options;
}
compile_options for_cpu(std::string input) {
  compile_options options = input_of(std::move(input));
  options.session.providers = {"cpu"};
  return options;
}

TEST_CASE("10: initializers outside contexts are in the compiled model, also those that were external in the source") {
  const scratch_folder folder;
  ref_runtime ref;
  REQUIRE(write_onnx(*plain(true), folder / "m.onnx", {"weights.bin", 0}));
  CHECK(folder.has("weights.bin"));
  REQUIRE(verdict(ref.load(folder / "m.onnx", keys({{"ep.context_enable", "1"}}))) == "OK");
  fs::remove(folder / "weights.bin");
  fs::remove(folder / "m.onnx");
  const auto s = ref.load(folder / "m_ctx.onnx");
  REQUIRE(verdict(s) == "OK");
  CHECK(near(outputs_of(*s), expected(true)));
}

TEST_CASE("11: initializers outside contexts are in a separate file if its name is relative to the model") {
  const scratch_folder folder;
  ref_runtime ref;
  save(*scaled(), folder / "m.onnx");
  const auto with = [&](const std::string& name) {
    return verdict(ref.load(folder / "m.onnx", keys({{"ep.context_enable", "1"},
                                                     {"ep.context_model_external_initializers_file_name", name}})));
  };
  CHECK(with(folder / "ini.bin").find("FAIL: ") == 0);
  CHECK(folder.files() == std::vector<std::string>{"m.onnx"});
  CHECK(ref.a.compiled == 0);
  REQUIRE(with("ini.bin") == "OK");
  CHECK(folder.files() == std::vector<std::string>{"ini.bin", "m.onnx", "m_RefA.bin", "m_ctx.onnx"});
  CHECK(places_of_initializers(folder / "m_ctx.onnx") == std::vector<std::string>{"scale outside", "shift outside"});
  const auto s = ref.load(folder / "m_ctx.onnx");
  REQUIRE(verdict(s) == "OK");
  CHECK(near(outputs_of(*s), outputs_of(loaded(scaled()))));
}

TEST_CASE("12: initializers of at least a given size are in the file, and without a size all of them") {
  const scratch_folder folder;
  ref_runtime ref;
  save(*two_sizes(), folder / "m.onnx");
  const auto from = [&](std::size_t threshold) {
    compile_options options = for_cpu(folder / "m.onnx");
    options.external_initializers = "ini.bin", options.external_threshold = threshold;
    return verdict(ref.compile(std::move(options)));
  };
  REQUIRE(from(1024) == "OK");
  CHECK(places_of_initializers(folder / "m_ctx.onnx") == std::vector<std::string>{"large outside", "small inside"});
  CHECK(fs::file_size(folder / "ini.bin") == 16384);
  REQUIRE(from(0) == "OK");
  CHECK(places_of_initializers(folder / "m_ctx.onnx") == std::vector<std::string>{"large outside", "small outside"});
}

TEST_CASE("13: nodes outside contexts are rewritten by the given level, which is basic by default") {
  const scratch_folder folder;
  ref_runtime ref;
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(2), dim::fixed(4), dim::fixed(4)});
  const value_id conv = b.node("Conv", {x, b.constant("w", {3, 2, 2, 2}, ramp(24, 0.001f))});
  b.output(b.node("Relu", {b.node("Identity", {conv})}));
  save(*b.take(), folder / "m.onnx");
  const auto ops = [&](std::optional<optimization_level> level) {
    compile_options options = for_cpu(folder / "m.onnx");
    if (level) options.optimize = *level;
    REQUIRE(verdict(ref.compile(std::move(options))) == "OK");
    std::vector<std::string> names;
    const auto m = read(folder / "m_ctx.onnx");
    for (node_view node : graph_view{m->main()}.nodes()) names.emplace_back(node.op_type());
    return names;
  };
  CHECK(ops(optimization_level::none) == std::vector<std::string>{"Conv", "Identity", "Relu"});
  CHECK(ops(optimization_level::basic) == std::vector<std::string>{"Conv", "Relu"});
  CHECK(ops(std::nullopt) == std::vector<std::string>{"Conv", "Relu"});
}

/// A provider that takes no node, and records the operators of every graph that it is given.
struct onlooker {
  static constexpr std::string_view name = "onlooker", long_name = "OnlookerExecutionProvider";
  std::vector<std::string>* seen;

  result<std::vector<node_group>> groups(const graph_view& graph) const {
    seen->clear();
    for (const node_view node : graph.nodes()) seen->emplace_back(node.op_type());
    return std::vector<node_group>{};
  }
  status execute(const step_view&, run_context&) const { return status_code::fail; }
};

TEST_CASE(
    "a provider's groups() is given the same graph in loading and compiling: that of level basic, or the file's") {
  const scratch_folder folder;
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4)});
  const value_id y = b.node("MatMul", {x, b.constant("w", {4, 3}, ramp(12, 0.001f))});
  b.output(b.node("Add", {y, b.constant("b", {3}, ramp(3, 0.0005f))}));
  save(*b.take(), folder / "m.onnx");
  std::vector<std::string> seen;
  const cameo::runtime<onlooker, eps::cpu> watched{onlooker{&seen}, {}};
  using names = std::vector<std::string>;
  const auto loaded = [&](std::optional<optimization_level> level) {
    session_options options;
    if (level) options.optimize = *level;
    REQUIRE(verdict(watched.load(folder / "m.onnx", options)) == "OK");
    return seen;
  };
  const auto compiled = [&](std::optional<optimization_level> level) {
    compile_options options = input_of(folder / "m.onnx");
    if (level) options.optimize = *level;
    REQUIRE(verdict(watched.compile(std::move(options))) == "OK");
    return seen;
  };
  CHECK(loaded(std::nullopt) == names{"Gemm"});
  CHECK(compiled(std::nullopt) == names{"Gemm"});
  for (const optimization_level level :
       {optimization_level::none, optimization_level::basic, optimization_level::extended, optimization_level::layout,
        optimization_level::all}) {
    CHECK(loaded(level) == (level == optimization_level::none ? names{"MatMul", "Add"} : names{"Gemm"}));
    CHECK(compiled(level) == loaded(level));
  }
}

TEST_CASE("14: an output that exists is replaced, or refused and left alone") {
  const scratch_folder folder;
  ref_runtime ref;
  saved(folder, "m.onnx");
  spill(folder / "m_ctx.onnx", "old");
  compile_options options = input_of(folder / "m.onnx");
  options.fail_if_output_exists = true;
  CHECK(verdict(ref.compile(std::move(options))).starts_with("FAIL: "));
  CHECK(ref.a.compiled == 0);
  CHECK(folder.files() == std::vector<std::string>{"m.onnx", "m_ctx.onnx"});
  CHECK(slurp(folder / "m_ctx.onnx") == "old");
  REQUIRE(verdict(ref.compile(folder / "m.onnx")) == "OK");
  CHECK(context_nodes(*read(folder / "m_ctx.onnx")).size() == 1);
}

TEST_CASE("15: a missing input or output is an error that names it") {
  const scratch_folder folder;
  ref_runtime ref;
  CHECK(verdict(ref.compile(compile_options{})).starts_with("INVALID_ARGUMENT: "));
  CHECK(verdict(ref.compile(std::string{})).starts_with("INVALID_ARGUMENT: "));
  CHECK(verdict(ref.compile(folder / "none.onnx")).starts_with("INVALID_ARGUMENT: "));
  compile_options options;
  options.input = std::span<const std::byte>{};
  CHECK(verdict(ref.compile(std::move(options))).starts_with("INVALID_ARGUMENT: "));
  options = {};
  options.input = std::unique_ptr<model>{};
  CHECK(verdict(ref.compile(std::move(options))).starts_with("INVALID_ARGUMENT: "));
  const std::string bytes = slurp(saved(folder, "m.onnx"));
  options = {};
  options.input = std::as_bytes(std::span{bytes});
  CHECK(verdict(ref.compile(std::move(options))).find("FAIL: ") == 0);
  options = {};
  options.input = plain();
  CHECK(verdict(ref.compile(std::move(options))).find("FAIL: ") == 0);
  options = input_of(folder / "m.onnx");
  options.output = std::string{};
  CHECK(verdict(ref.compile(std::move(options))).find("INVALID_ARGUMENT: ") == 0);
  CHECK(ref.a.compiled == 0);
  CHECK(folder.files() == std::vector<std::string>{"m.onnx"});
}

TEST_CASE("16: what was set last is the input and the output") {
  const scratch_folder folder;
  ref_runtime ref;
  const std::string bytes = slurp(saved(folder, "m.onnx"));
  compile_options options;
  options.input = folder / "none.onnx";
  options.input = std::as_bytes(std::span{bytes});
  options.output = folder / "out.onnx";
  std::string taken;
  std::vector<std::size_t> sizes;
  options.output = [&](std::span<const std::byte> piece) -> status {
    taken.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    sizes.push_back(piece.size());
    return {};
  };
  options.embed = true;
  REQUIRE(verdict(ref.compile(std::move(options))) == "OK");
  CHECK(folder.files() == std::vector<std::string>{"m.onnx"});
  CHECK(sizes.size() == 1);
  CHECK(near(outputs_of(*ref.load(std::span{taken})), expected()));
}

TEST_CASE("a context of 2 GB is not embedded: it is only counted, and the message has a remedy") {
  const scratch_folder folder;
  ref_runtime ref;
  ref.a.padding = std::size_t{1} << 31;
  compile_options options = input_of(saved(folder, "m.onnx"));
  options.output = folder / "out.onnx";
  options.embed = true;
  const std::string words = verdict(ref.compile(std::move(options)));
  CHECK_MESSAGE(words.find("INVALID_ARGUMENT: ") == 0, words);
  for (const char* each : {"its context has 2147483", "a model of ONNX has at most 2147483647", "it can't be embedded",
                           "without --embed, or ep.context_embed_mode=0"})
    CHECK_MESSAGE(words.find(each) != words.npos, words);
  CHECK(ref.a.written == 1);
  CHECK(folder.files() == std::vector<std::string>{"m.onnx"});
}

TEST_CASE("16: a function receives the model in blocks of 64 KiB") {
  const scratch_folder folder;
  ref_runtime ref;
  model_builder b;
  const value_id x = b.node("Sigmoid", {b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(200)})});
  b.output(b.node("MatMul", {x, b.constant("w", {200, 200}, ramp(40'000, 0.001f))}));
  save(*b.take(), folder / "m.onnx");
  compile_options options = for_cpu(folder / "m.onnx");
  std::string taken;
  std::vector<std::size_t> sizes;
  options.output = [&](std::span<const std::byte> piece) -> status {
    taken.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    sizes.push_back(piece.size());
    return {};
  };
  REQUIRE(verdict(ref.compile(std::move(options))) == "OK");
  REQUIRE(sizes.size() == 3);
  CHECK(sizes[0] == 65536);
  CHECK(sizes[1] == 65536);
  CHECK(sizes[2] < 65536);
  CHECK(verdict(ref.load(std::span{taken})) == "OK");
}

TEST_CASE("17: an error of the function that receives the model is returned") {
  const scratch_folder folder;
  ref_runtime ref;
  compile_options options = input_of(saved(folder, "m.onnx"));
  options.binary_folder = folder / "", options.binary_model = "m.onnx";
  options.output = [](std::span<const std::byte>) { return status{status_code::engine_error, "the line is dead"}; };
  CHECK(verdict(ref.compile(std::move(options))) == "ENGINE_ERROR: " + (folder / "m.onnx") + ": the line is dead");
  CHECK(folder.files() == std::vector<std::string>{"m.onnx"});
  options = input_of(folder / "m.onnx");
  options.embed = true;
  options.output = [](std::span<const std::byte>) -> status { throw std::runtime_error{"it exploded"}; };
  CHECK(verdict(ref.compile(std::move(options))).find("it exploded") != std::string::npos);
}

TEST_CASE("18: levels of optimization are those that have a name") {
  const scratch_folder folder;
  ref_runtime ref;
  saved(folder, "m.onnx");
  const auto at = [&](optimization_level level) {
    compile_options options = input_of(folder / "m.onnx");
    options.optimize = level;
    return verdict(ref.compile(std::move(options)));
  };
  using enum optimization_level;
  for (optimization_level level : {none, basic, extended, layout, all}) CHECK(at(level) == "OK");
  const int compiled = ref.a.compiled;
  for (int level : {4, 5, 7, 98, 100, 255}) CHECK(at(optimization_level(level)).find("INVALID_ARGUMENT: ") == 0);
  CHECK(ref.a.compiled == compiled);
  CHECK(optimization_level(99) == all);  // the number in ONNX Runtime
  session_options how;
  how.optimize = optimization_level(7);
  CHECK(verdict(ref.load(folder / "m.onnx", how)).find("INVALID_ARGUMENT: ") == 0);
  how.optimize = optimization_level(99);
  CHECK(verdict(ref.load(folder / "m.onnx", how)) == "OK");
}

TEST_CASE("19: contexts of a model that is written to memory are files in the caller's folder") {
  const scratch_folder folder;
  ref_runtime ref;
  saved(folder, "m.onnx");
  fs::create_directories(folder / "out");
  std::string made;
  const auto to = [&](std::string where, std::string name) {
    compile_options options = input_of(folder / "m.onnx");
    options.output = &made;
    options.binary_folder = std::move(where), options.binary_model = std::move(name);
    return verdict(ref.compile(std::move(options)));
  };
  CHECK(to("", "m").find("INVALID_ARGUMENT: ") == 0);
  CHECK(to(folder / "out", "m").find("INVALID_ARGUMENT: ") == 0);
  CHECK(to(folder / "out/", "").find("INVALID_ARGUMENT: ") == 0);
  CHECK(to("", "").find("INVALID_ARGUMENT: ") == 0);  // a file is needed, but no folder is set
  CHECK(ref.a.compiled == 0);
  REQUIRE(to(folder / "out/", "m.onnx") == "OK");
  CHECK(folder.files() == std::vector<std::string>{"m.onnx", "out/m_RefA.bin"});
  const auto s = ref.load(std::span{made}, keys({{"ep.context_file_path", folder / "out/m.onnx"}}));
  REQUIRE(verdict(s) == "OK");
  CHECK(near(outputs_of(*s), expected()));
}

TEST_CASE("a graph in memory is compiled to a file, and the report describes the result") {
  const scratch_folder folder;
  ref_runtime ref;
  compile_options options;
  options.input = plain(true);
  options.output = folder / "c.onnx";
  const auto report = ref.compile(std::move(options));
  REQUIRE(verdict(report) == "OK");
  CHECK(report->compiled_nodes == 2);
  CHECK(report->path == folder / "c.onnx");
  CHECK(folder.files() == std::vector<std::string>{"c.onnx", "c_RefA.bin"});
  CHECK(near(outputs_of(*ref.load(folder / "c.onnx")), expected(true)));
}

}  // namespace
}  // namespace cameo::test
