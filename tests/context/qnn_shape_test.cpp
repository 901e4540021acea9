// Tests contexts like those of QNN: several graphs in one binary, which one node has.
#include <cameo/context/workspace.hpp>

#include "context/compiled.hpp"
#include "context/qnn_provider.hpp"

namespace cameo::test {
namespace {

struct qnn_runtime {
  ref_counters counters;
  runtime<qnn_shaped, eps::cpu> loader{qnn_shaped{&counters}, eps::cpu{}};
  void compile(const std::string& path, std::vector<std::pair<std::string, std::string>> config = {}) {
    config.emplace_back("ep.context_enable", "1");
    REQUIRE(verdict(loader.load(path, keys(config))) == "OK");
    counters.opened = 0;
  }
  void check_runs(const std::string& path, session_options options = {}) {
    const auto s = loader.load(path, options);
    REQUIRE(verdict(s) == "OK");
    CHECK(near(outputs_of(*s), expected(true)));
  }
};

TEST_CASE("QNN's shape: the first node has the binary, the others their names, in files and inside") {
  for (const char* embed : {"0", "1"}) {
    CAPTURE(embed);
    const scratch_folder folder;
    qnn_runtime qnn;
    qnn.compile(saved(folder, "m.onnx", true), {{"ep.context_embed_mode", embed}});
    const auto m = read(folder / "m_ctx.onnx");
    const auto nodes = context_nodes(*m);
    REQUIRE(nodes.size() == 2);
    CHECK(number_of(nodes[0], "main_context") == 1);
    CHECK(number_of(nodes[1], "main_context") == 0);
    CHECK(text_of(nodes[0], "source") == "QNNExecutionProvider");
    CHECK(text_of(nodes[1], "partition_name") == "QNNExecutionProvider_QNN_1");
    CHECK(number_of(nodes[0], "max_size") == 4096);
    const std::string context = text_of(nodes[0], "ep_cache_context");
    CHECK(text_of(nodes[1], "ep_cache_context").size() <= 6);  // the attribute is empty or missing
    if (*embed == '1') CHECK(context.starts_with("QNNCTX 2 "));
    else CHECK(context == "m_QNNExecutionProvider.bin");
    qnn.check_runs(folder / "m_ctx.onnx");
    CHECK(qnn.counters.opened == 1);
  }
}

TEST_CASE("QNN's shape: its key is either of two, in any case") {
  const scratch_folder folder;
  qnn_runtime qnn;
  qnn.compile(saved(folder, "m.onnx", true));
  const auto with = [&](const char* source) {
    return edited(folder / "m_ctx.onnx", folder / "e_ctx.onnx",
                  [&](attributes& all, std::size_t) { set(all, text_attribute("source", source)); });
  };
  for (const char* source : {"QNN", "qnn", "Qnn", "QNNEXECUTIONPROVIDER", "qnnexecutionprovider"})
    qnn.check_runs(with(source));
  for (const char* source : {"QN", "QNNN", "QNN ", ""})
    CHECK(verdict(qnn.loader.load(with(source))).find("NOT_IMPLEMENTED: ") == 0);
}

TEST_CASE("QNN's shape: nodes in any order, several main ones, and none") {
  const scratch_folder folder;
  qnn_runtime qnn;
  qnn.compile(saved(folder, "m.onnx", true));
  const auto with = [&](int first_main, int second_main) {
    return edited(folder / "m_ctx.onnx", folder / "e_ctx.onnx", [&](attributes& all, std::size_t n) {
      const int is_main = n ? second_main : first_main;
      set(all, number_attribute("main_context", is_main));
      if (is_main) set(all, text_attribute("ep_cache_context", "m_QNNExecutionProvider.bin"));
      else drop(all, "ep_cache_context");
    });
  };
  qnn.check_runs(with(0, 1));
  qnn.check_runs(with(1, 1));
  CHECK(qnn.counters.opened == 2);  // each binary was opened once
  const std::string said = verdict(qnn.loader.load(with(0, 0)));
  CHECK(said.find("INVALID_GRAPH: ") == 0);
  CHECK(said.find("no main node of QNNExecutionProvider") != said.npos);
}

TEST_CASE("QNN's shape: two models share a binary, whose nodes of the second are found in the pool") {
  const scratch_folder folder;
  qnn_runtime qnn;
  saved(folder, "m1.onnx", true), saved(folder, "m2.onnx", true);
  qnn.compile(folder / "m1.onnx", {{"ep.share_ep_contexts", "1"}});
  qnn.compile(folder / "m2.onnx", {{"ep.share_ep_contexts", "1"}, {"ep.stop_share_ep_contexts", "1"}});
  CHECK(folder.files() ==
        std::vector<std::string>{"m1.onnx", "m1_QNNExecutionProvider.bin", "m1_ctx.onnx", "m2.onnx", "m2_ctx.onnx"});
  const auto share = keys({{"ep.share_ep_contexts", "1"}});
  const auto first = qnn.loader.load(folder / "m1_ctx.onnx", share);
  REQUIRE(verdict(first) == "OK");
  CHECK(qnn.loader.workspace()->waiting_graphs() == 2);
  qnn.check_runs(folder / "m2_ctx.onnx", share);
  CHECK(qnn.counters.opened == 1);
  CHECK(qnn.loader.workspace()->waiting_graphs() == 0);
  CHECK(near(outputs_of(*first), expected(true)));
  qnn.check_runs(folder / "m2_ctx.onnx");  // without the first model
}

TEST_CASE("QNN's shape: a directory that leads outside the binary is refused") {
  const scratch_folder folder;
  qnn_runtime qnn;
  qnn.compile(saved(folder, "m.onnx", true));
  const std::string bin = folder / "m_QNNExecutionProvider.bin", bytes = slurp(bin);
  for (std::size_t cut = 0; cut < bytes.size(); cut += 7) {
    spill(bin, bytes.substr(0, cut));
    CHECK(verdict(qnn.loader.load(folder / "m_ctx.onnx")).find("INVALID_GRAPH: ") == 0);
  }
}

}  // namespace
}  // namespace cameo::test
