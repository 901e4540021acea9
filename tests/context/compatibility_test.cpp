// Tests the compatibility texts of compiled models.
#include <cameo/graph/model.hpp>
#include <cameo/session/compile.hpp>

#include "context/compiled.hpp"

namespace cameo::test {
namespace {

TEST_CASE("28: if providers must not compile, a compiled model runs, and another one is refused") {
  const scratch_folder folder;
  ref_runtime ref;
  REQUIRE(verdict(ref.load(saved(folder, "m.onnx"), keys({{"ep.context_enable", "1"}}))) == "OK");
  const int compiled = ref.a.compiled;
  session_options options = keys({{"session.disable_model_compile", "1"}});
  const std::string said = verdict(ref.load(folder / "m.onnx", options));
  CHECK(said.find("MODEL_REQUIRES_COMPILATION: ") == 0);
  CHECK(said.find("RefA") != said.npos);
  const auto s = ref.load(folder / "m_ctx.onnx", options);
  REQUIRE(verdict(s) == "OK");
  CHECK(near(outputs_of(*s), expected()));
  options.providers = {"cpu"};
  CHECK(verdict(ref.load(folder / "m.onnx", options)) == "OK");
  CHECK(ref.a.compiled == compiled);
  // The compile API ignores the key.
  compile_options compile;
  compile.input = folder / "m.onnx";
  compile.session.config = options.config;
  CHECK(verdict(ref.compile(std::move(compile))) == "OK");
}

TEST_CASE("30: a provider's compatibility text is in the model's metadata, unless it is empty") {
  const scratch_folder folder;
  ref_runtime ref;
  REQUIRE(verdict(ref.compile(saved(folder, "m.onnx"))) == "OK");
  CHECK(read(folder / "m_ctx.onnx")->metadata ==
        std::vector<detail::property>{detail::property{"ep_compatibility_info.RefA", "gen2"}});
  const auto text = ref.loader.compatibility(folder / "m_ctx.onnx", "RefA");
  REQUIRE(verdict(text) == "OK");
  CHECK(*text == "gen2");
  CHECK(!*ref.loader.compatibility(folder / "m_ctx.onnx", "RefB"));
  ref.a.fit = "";
  REQUIRE(verdict(ref.compile(saved(folder, "m.onnx"))) == "OK");
  CHECK(read(folder / "m_ctx.onnx")->metadata.empty());
  CHECK(!*ref.loader.compatibility(folder / "m_ctx.onnx", "RefA"));
}

TEST_CASE("30: other metadata, names, texts and the order of inputs and outputs are kept") {
  const scratch_folder folder;
  ref_runtime ref;
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4)});
  const value_id unused = b.input("unused", dtype::i64, {dim::fixed(1)});
  const value_id y = b.node("MatMul", {x, b.constant("w", {4, 3}, ramp(12, 0.001f))});
  b.output(b.node("Sigmoid", {y}));
  b.output(y);
  b.output(b.node("Identity", {unused}));
  b.whole().metadata = {{"author", "somebody"}, {"ep_compatibility_info.RefA", "other"}};
  b.whole().doc_string = "about it", b.main().name = "the graph";
  b.whole().imports.push_back({"com.example", 3});
  save(*b.take(), folder / "m.onnx");
  REQUIRE(verdict(ref.compile(folder / "m.onnx")) == "OK");
  const auto from = read(folder / "m.onnx"), to = read(folder / "m_ctx.onnx");
  const auto names = [](const model& m, std::span<const value_id> values) {
    std::string all;
    for (value_id v : values) all += std::string{m.main()[v].name} + " ";
    return all;
  };
  CHECK(names(*to, to->main().inputs()) == names(*from, from->main().inputs()));
  CHECK(names(*to, to->main().outputs()) == names(*from, from->main().outputs()));
  CHECK(to->doc_string == "about it");
  CHECK(to->main().name == "the graph");
  CHECK(to->opset("com.example") == 3);
  CHECK(to->opset("") == 17);
  CHECK(to->metadata == std::vector<detail::property>{detail::property{"author", "somebody"},
                                                      detail::property{"ep_compatibility_info.RefA", "gen2"}});
}

TEST_CASE("31: a model that is not for this provider fails before anything is partitioned, or warns, or is fine") {
  const scratch_folder folder;
  ref_runtime ref;
  saved(folder, "m.onnx");
  struct expectation {
    const char *fit, *optimal_only, *verdict;
    std::size_t warnings;
  };
  const expectation all[] = {{"gen2", "0", "OK", 0},   {"gen2", "1", "OK", 0},  {"other", "0", "OK", 0},
                             {"other", "1", "OK", 0},  {"gen1", "0", "OK", 1},  {"gen1", "1", "FAIL", 0},
                             {"gen9", "0", "FAIL", 0}, {"gen9", "1", "FAIL", 0}};
  for (const expectation& e : all) {
    CAPTURE(e.fit);
    CAPTURE(e.optimal_only);
    ref.a.fit = e.fit;
    REQUIRE(verdict(ref.compile(folder / "m.onnx")) == "OK");
    ref.a.opened = 0;
    session_options options = keys({{"session.fail_on_suboptimal_compiled_model", e.optimal_only}});
    std::vector<std::string> warnings;
    options.log = [&](log_level, std::string_view words) { warnings.emplace_back(words); };
    options.log_from = log_level::warning;
    const std::string said = verdict(ref.load(folder / "m_ctx.onnx", options));
    CAPTURE(said);
    CHECK(said.substr(0, said.find(':')) == e.verdict);
    CHECK(warnings.size() == e.warnings);
    for (const std::string& words : warnings) CHECK(words.find("RefA") != words.npos);
    if (said != "OK") CHECK(said.find("RefA") != said.npos);
    if (said != "OK") CHECK(ref.a.opened == 0);
    options.providers = {"RefB", "cpu"};  // RefB can't run the context, so that no provider takes the node
    CHECK(verdict(ref.load(folder / "m_ctx.onnx", options)).find("NOT_IMPLEMENTED: ") == 0);
  }
}

TEST_CASE("32: a text can be judged without a session, for the providers of one kind of device") {
  ref_runtime ref;
  const auto fit = [&](std::vector<std::string_view> names, std::string_view text) {
    const result<compiled_fit> judged = ref.loader.fit(names, text);
    return judged ? std::to_string(int(*judged)) : verdict(judged).substr(0, verdict(judged).find(':'));
  };
  CHECK(fit({}, "gen2") == "INVALID_ARGUMENT");
  CHECK(fit({"cpu"}, "gen2") == "0");
  CHECK(fit({"RefA"}, "gen2") == "1");
  CHECK(fit({"RefA", "RefA"}, "gen1") == "2");
  CHECK(fit({"RefA"}, "gen9") == "3");
  CHECK(fit({"CPUExecutionProvider", "cpu"}, "gen2") == "0");
  CHECK(fit({"RefA", "RefB"}, "gen2") == "INVALID_ARGUMENT");
  CHECK(fit({"nobody"}, "gen2") == "INVALID_ARGUMENT");
}

TEST_CASE("32: the text of a file or of bytes; a missing file is an error, bytes that are not a model have none") {
  const scratch_folder folder;
  ref_runtime ref;
  REQUIRE(verdict(ref.compile(saved(folder, "m.onnx"))) == "OK");
  const std::string bytes = slurp(folder / "m_ctx.onnx");
  CHECK(*ref.loader.compatibility(std::span{bytes}, "RefA") == "gen2");
  CHECK(!*ref.loader.compatibility(folder / "m.onnx", "RefA"));
  CHECK(verdict(ref.loader.compatibility(folder / "none.onnx", "RefA")).find("NO_SUCHFILE: ") == 0);
  compile_options apart;
  ref.a.declines = "Add";  // whose constant stays outside contexts
  apart.input = saved(folder, "apart.onnx"), apart.external_initializers = "w.data";
  apart.external_threshold = 1;
  REQUIRE(verdict(ref.compile(std::move(apart))) == "OK");
  REQUIRE(folder.has("w.data"));
  CHECK(*ref.loader.compatibility(folder / "apart_ctx.onnx", "RefA") ==
        "gen2");  // with its weights in a file beside it
  const std::string garbage = "no model at all";
  const auto none = ref.loader.compatibility(std::span{garbage}, "RefA");
  REQUIRE(verdict(none) == "OK");
  CHECK(!*none);
}

}  // namespace
}  // namespace cameo::test
