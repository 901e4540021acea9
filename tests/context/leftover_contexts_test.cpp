// Tests contexts that a removed model has left, of providers with and without the optional hooks that read contexts.
#include "context/compiled.hpp"

namespace cameo::test {
namespace {

/// A provider of Relu without optional hooks, whose contexts are the text "RELU".
struct relu_keeper {
  static constexpr std::string_view name = "relu", long_name = "ReluExecutionProvider";
  static constexpr context_source sources[] = {{"ReluExecutionProvider"}};
  using context_builder = std::string;

  struct program {
    status run(run_context& c) const { return c.forward(0, c.input(0)); }
  };
  result<std::vector<node_group>> groups(const graph_view& g) const {
    std::vector<node_group> found;
    for (node_view node : g.nodes())
      if (node.op_type() == "Relu" && node.provider() < 0) found.push_back({{node.id()}, "relu"});
    return found;
  }
  result<std::vector<compiled_node>> compile(std::span<const fused_view> all) const {
    return std::vector<compiled_node>(all.size(), compiled(program{}));
  }
  result<context_part> store(std::string&, const fused_view&, const compiled_node&) const { return context_part{}; }
  status write(const std::string& id, byte_sink to) const {
    const std::string all = "RELU" + id;
    return to(std::as_bytes(std::span{all}));
  }
  result<compiled_node> restore(const context_binary&, const context_node&) const { return compiled(program{}); }
};

/// A relu_keeper that stores ids, and can read only its own contexts.
struct relu_identifier : relu_keeper {
  static constexpr std::string_view name = "relu_id", long_name = "ReluIdExecutionProvider";
  static constexpr context_source sources[] = {{"ReluIdExecutionProvider"}};
  void identify(std::string& context, std::string_view id) const { context = id; }
  result<std::string> identity(const context_binary& binary) const {
    const std::string all{reinterpret_cast<const char*>(binary.bytes().data()), binary.bytes().size()};
    if (!all.starts_with("RELU")) return status{status_code::fail, "no context"};
    return all.substr(4);
  }
};

template <class Provider>
std::string compile_to(const std::string& path) {
  compile_options options;
  options.input = plain(), options.output = path, options.fail_if_nothing_compiled = true;
  return verdict(runtime<Provider, eps::cpu>{}.compile(std::move(options)));
}

template <class Provider>
void check_again(const std::string& context_name) {
  const scratch_folder folder;
  REQUIRE(compile_to<Provider>(folder / "net.onnx") == "OK");
  REQUIRE(folder.files() == std::vector<std::string>{"net.onnx", context_name});
  fs::remove(folder / "net.onnx");
  CHECK(compile_to<Provider>(folder / "net.onnx") == "OK");
  CHECK(verdict(runtime<Provider, eps::cpu>{}.load(folder / "net.onnx")) == "OK");
  // A context to which another model refers is not replaced.
  fs::rename(folder / "net.onnx", folder / "kept.onnx");
  const std::string said = compile_to<Provider>(folder / "net.onnx");
  CHECK_MESSAGE(said.find("belongs to " + (folder / "kept.onnx")) != said.npos, said);
}

TEST_CASE("contexts are compiled again over those of a removed model, by providers without any optional hook") {
  check_again<relu_keeper>("net_ReluExecutionProvider.bin");
  check_again<relu_identifier>("net_ReluIdExecutionProvider.bin");
  check_again<ref_a>("net_RefA.bin");
}

TEST_CASE("a file that a provider with ids does not recognize as a context is not replaced") {
  const scratch_folder folder;
  spill(folder / "net_ReluIdExecutionProvider.bin", "precious");
  const std::string said = compile_to<relu_identifier>(folder / "net.onnx");
  CHECK_MESSAGE(said.find("is not a context that ReluIdExecutionProvider can read") != said.npos, said);
  CHECK(slurp(folder / "net_ReluIdExecutionProvider.bin") == "precious");
}

}  // namespace
}  // namespace cameo::test
