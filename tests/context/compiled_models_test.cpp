// Tests what compiling writes, and what a session reads of it. The numbers in the names of test cases are those of the
// specification of compiled models.
#include "context/compiled.hpp"

namespace cameo::test {
namespace {

TEST_CASE("1: a compiled model and its context appear beside the source, and the session runs") {
  const scratch_folder folder;
  ref_runtime ref;
  const auto s = ref.load(saved(folder, "m.onnx"), keys({{"ep.context_enable", "1"}}));
  REQUIRE(verdict(s) == "OK");
  CHECK(near(outputs_of(*s), expected()));
  CHECK(folder.files() == std::vector<std::string>{"m.onnx", "m_RefA.bin", "m_ctx.onnx"});
  const auto m = read(folder / "m_ctx.onnx");
  const auto nodes = context_nodes(*m);
  REQUIRE(nodes.size() == 1);
  CHECK(m->main().order().size() == 1);
  CHECK(m->opset("com.microsoft") == 1);
  CHECK(m->main().initializers().empty());
  CHECK(nodes[0].name() == "RefA_part_0");
  CHECK(number_of(nodes[0], "embed_mode") == 0);
  CHECK(number_of(nodes[0], "main_context") == 1);
  CHECK(text_of(nodes[0], "ep_cache_context") == "m_RefA.bin");
  CHECK(text_of(nodes[0], "partition_name") == "RefA_part_0");
  CHECK(text_of(nodes[0], "source") == "RefA");
  CHECK(text_of(nodes[0], "ep_sdk_version") == "3.2.0");
  CHECK(text_of(nodes[0], "hardware_architecture") == "gen2");
  CHECK(number_of(nodes[0], "max_size") == 0);
}

TEST_CASE("2: an embedded context is the same bytes, and the only file is the model") {
  const scratch_folder apart, inside;
  ref_runtime ref;
  REQUIRE(verdict(ref.load(saved(apart, "m.onnx"), keys({{"ep.context_enable", "1"}}))) == "OK");
  REQUIRE(verdict(ref.load(saved(inside, "m.onnx"),
                           keys({{"ep.context_enable", "1"}, {"ep.context_embed_mode", "1"}}))) == "OK");
  CHECK(inside.files() == std::vector<std::string>{"m.onnx", "m_ctx.onnx"});
  const auto m = read(inside / "m_ctx.onnx");
  CHECK(text_of(context_nodes(*m).at(0), "ep_cache_context") == slurp(apart / "m_RefA.bin"));
  CHECK(number_of(context_nodes(*m).at(0), "embed_mode") == 1);
  const auto s = ref.load(inside / "m_ctx.onnx");
  REQUIRE(verdict(s) == "OK");
  CHECK(near(outputs_of(*s), expected()));
}

TEST_CASE("3: only the exact text 1 turns writing on") {
  for (const char* text : {"true", "2", "0", ""}) {
    const scratch_folder folder;
    ref_runtime ref;
    CHECK(verdict(ref.load(saved(folder, "m.onnx"), keys({{"ep.context_enable", text}}))) == "OK");
    CHECK(folder.files() == std::vector<std::string>{"m.onnx"});
  }
}

TEST_CASE("4: nothing compiled: a warning and no file, or the model as it is, or an error") {
  const scratch_folder folder;
  ref_runtime ref;
  session_options options = keys({{"ep.context_enable", "1"}});
  options.providers = {"cpu"};
  std::vector<std::string> warnings;
  options.log = [&](log_level, std::string_view words) { warnings.emplace_back(words); };
  options.log_from = log_level::warning;
  CHECK(verdict(ref.load(saved(folder, "m.onnx"), options)) == "OK");
  CHECK(folder.files() == std::vector<std::string>{"m.onnx"});
  CHECK(warnings ==
        std::vector<std::string>{"no provider compiled anything of the model: no compiled model is written"});
  compile_options compile;
  compile.input = folder / "m.onnx";
  compile.session.providers = {"cpu"};
  compile.fail_if_nothing_compiled = true;
  CHECK(verdict(ref.compile(std::move(compile))).starts_with("FAIL: "));
  CHECK(!folder.has("m_ctx.onnx"));
  compile = {};
  compile.input = folder / "m.onnx";
  compile.session.providers = {"cpu"};
  CHECK(verdict(ref.compile(std::move(compile))) == "OK");
  CHECK(read(folder / "m_ctx.onnx")->main().order().size() == 3);
}

TEST_CASE("5: an output path that is a folder or has no extension is refused before a provider compiles") {
  for (const char* name : {"out/", "outfile"}) {
    const scratch_folder folder;
    ref_runtime ref;
    const auto s =
        ref.load(saved(folder, "m.onnx"), keys({{"ep.context_enable", "1"}, {"ep.context_file_path", folder / name}}));
    CHECK(verdict(s).find("INVALID_ARGUMENT: ") == 0);
    CHECK(ref.a.compiled == 0);
    CHECK(folder.files() == std::vector<std::string>{"m.onnx"});
  }
}

TEST_CASE("6: an output that exists is not replaced by a session, and no provider compiles") {
  const scratch_folder folder;
  ref_runtime ref;
  const std::string path = saved(folder, "m.onnx");
  spill(folder / "m_ctx.onnx", "old");
  CHECK(verdict(ref.load(path, keys({{"ep.context_enable", "1"}}))).starts_with("FAIL: "));
  CHECK(ref.a.compiled == 0);
  CHECK(slurp(folder / "m_ctx.onnx") == "old");
  CHECK(!folder.has("m_RefA.bin"));
}

TEST_CASE("7: a model from memory needs a path for the compiled model") {
  const scratch_folder folder;
  ref_runtime ref;
  const std::string bytes = slurp(saved(folder, "m.onnx"));
  session_options options = keys({{"ep.context_enable", "1"}});
  options.providers = {"RefA", "cpu"};
  const auto span = std::as_bytes(std::span{bytes});
  CHECK(verdict(ref.loader.load(span, options)).starts_with("INVALID_ARGUMENT: "));
  fs::create_directories(folder / "out");
  options.config.emplace_back("ep.context_file_path", folder / "out/c.onnx");
  CHECK(verdict(ref.loader.load(span, options)) == "OK");
  CHECK(folder.files() == std::vector<std::string>{"m.onnx", "out/c.onnx", "out/c_RefA.bin"});
}

TEST_CASE("8: the output's name comes from the source's, to the last dot of the file name") {
  const auto written = [](std::string_view name) {
    const scratch_folder folder;
    ref_runtime ref;
    fs::create_directories(fs::path{folder / name}.parent_path());
    REQUIRE(verdict(ref.load(saved(folder, name), keys({{"ep.context_enable", "1"}}))) == "OK");
    return folder.files();
  };
  CHECK(written("a.b.model") == std::vector<std::string>{"a.b.model", "a.b_RefA.bin", "a.b_ctx.onnx"});
  CHECK(written("noext") == std::vector<std::string>{"noext", "noext_RefA.bin", "noext_ctx.onnx"});
  CHECK(written("d.1/x") == std::vector<std::string>{"d.1/x", "d.1/x_RefA.bin", "d.1/x_ctx.onnx"});
}

TEST_CASE("9: two groups with a node of cpu between them share one file; other nodes are unchanged") {
  const scratch_folder folder;
  ref_runtime ref;
  REQUIRE(verdict(ref.load(saved(folder, "m.onnx", true), keys({{"ep.context_enable", "1"}}))) == "OK");
  CHECK(folder.files() == std::vector<std::string>{"m.onnx", "m_RefA.bin", "m_ctx.onnx"});
  const auto m = read(folder / "m_ctx.onnx");
  const auto nodes = context_nodes(*m);
  REQUIRE(nodes.size() == 2);
  CHECK(nodes[0].name() == "RefA_part_0");
  CHECK(nodes[1].name() == "RefA_part_1");
  CHECK(text_of(nodes[1], "ep_cache_context") == "m_RefA.bin");
  CHECK(m->main().order().size() == 3);
  const auto s = ref.load(folder / "m_ctx.onnx");
  REQUIRE(verdict(s) == "OK");
  CHECK(ref.a.opened == 1);
  CHECK(near(outputs_of(*s), expected(true)));
}

TEST_CASE("20, 21: contexts are found beside the model; for a model from memory, in the option's folder") {
  const scratch_folder folder;
  ref_runtime ref;
  REQUIRE(verdict(ref.load(saved(folder, "m.onnx"), keys({{"ep.context_enable", "1"}}))) == "OK");
  const auto s = ref.load(folder / "m_ctx.onnx");
  REQUIRE(verdict(s) == "OK");
  CHECK(near(outputs_of(*s), expected()));
  const std::string bytes = slurp(folder / "m_ctx.onnx");
  session_options options;
  options.providers = {"RefA", "cpu"};
  CHECK(verdict(ref.loader.load(std::as_bytes(std::span{bytes}), options)).find("ep.context_file_path") !=
        std::string::npos);
  options.config = {{"ep.context_file_path", folder / "m_ctx.onnx"}};
  const auto again = ref.loader.load(std::as_bytes(std::span{bytes}), options);
  REQUIRE(verdict(again) == "OK");
  CHECK(near(outputs_of(*again), expected()));
}

}  // namespace
}  // namespace cameo::test
