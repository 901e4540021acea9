// Tests reading compiled models, and the errors for invalid ones.
#include "context/compiled.hpp"

namespace cameo::test {
namespace {

/// A folder with m.onnx and the model that RefA compiled from it.
struct compiled_folder {
  scratch_folder folder;
  ref_runtime ref;
  explicit compiled_folder(bool island = false, std::vector<std::pair<std::string, std::string>> more = {}) {
    more.emplace_back("ep.context_enable", "1");
    REQUIRE(verdict(ref.load(saved(folder, "m.onnx", island), keys(more))) == "OK");
    ref.a.opened = 0;
  }
  /// Writes the compiled model with changed attributes, and returns its path.
  template <class Change>
  std::string changed(Change&& change) {
    return edited(folder / "m_ctx.onnx", folder / "e_ctx.onnx", change);
  }
  std::string with_context(std::string_view name) {
    return changed([&](attributes& all, std::size_t) { set(all, text_attribute("ep_cache_context", name)); });
  }
  void check_refused(const std::string& path, std::string_view code, std::string_view part) {
    CAPTURE(part);
    const std::string said = verdict(ref.load(path));
    CAPTURE(said);
    CHECK(said.starts_with(std::string{code} + ": " + path));
    CHECK(said.find(part) != std::string::npos);
  }
  void check_runs(const std::string& path, bool island = false) {
    const auto s = ref.load(path);
    REQUIRE(verdict(s) == "OK");
    CHECK(near(outputs_of(*s), expected(island)));
  }
};

TEST_CASE("20: contexts are read from the model's folder, not from the current one") {
  compiled_folder c;
  const fs::path before = fs::current_path();
  fs::create_directories(c.folder / "elsewhere");
  fs::current_path(c.folder / "elsewhere");
  const auto s = c.ref.load(std::string{"../m_ctx.onnx"});
  fs::current_path(before);
  REQUIRE(verdict(s) == "OK");
  CHECK(near(outputs_of(*s), expected()));
}

TEST_CASE("21: contexts are in the folder for external data if it is set, unless their option names another") {
  compiled_folder c;
  fs::create_directories(c.folder / "there");
  fs::rename(c.folder / "m_RefA.bin", c.folder / "there/m_RefA.bin");
  c.check_refused(c.folder / "m_ctx.onnx", "INVALID_GRAPH", "m_RefA.bin");
  auto options = keys({{"session.model_external_initializers_file_folder_path", c.folder / "there"}});
  CHECK(verdict(c.ref.load(c.folder / "m_ctx.onnx", options)) == "OK");
  options.config.emplace_back("ep.context_file_path", c.folder / "m_ctx.onnx");
  CHECK(verdict(c.ref.load(c.folder / "m_ctx.onnx", options)).find("INVALID_GRAPH: ") == 0);
  options.config.emplace_back("ep.context_file_path", c.folder / "there/m_ctx.onnx");
  CHECK(verdict(c.ref.load(c.folder / "m_ctx.onnx", options)) == "OK");
}

TEST_CASE("22: a path that is absolute, leads out, or is not a regular file is refused, and nothing is opened") {
  compiled_folder c;
  const scratch_folder outside;
  fs::copy_file(c.folder / "m_RefA.bin", outside / "x.bin");
  fs::copy_file(c.folder / "m_RefA.bin", c.folder / "NUL.bin");
  fs::create_directories(c.folder / "sub");
  fs::create_symlink(outside / "x.bin", c.folder / "link.bin");
  fs::create_symlink(outside / "", c.folder / "linked");
  const std::string beside = "../" + fs::path{outside / ""}.parent_path().filename().string() + "/x.bin";
  c.check_refused(c.with_context(outside / "x.bin"), "INVALID_GRAPH", "is absolute");
  c.check_refused(c.with_context(c.folder / "m_RefA.bin"), "INVALID_GRAPH", "is absolute");
  c.check_refused(c.with_context("\\m_RefA.bin"), "INVALID_GRAPH", "is absolute");
  c.check_refused(c.with_context("C:m_RefA.bin"), "INVALID_GRAPH", "names a drive");
  c.check_refused(c.with_context("C:\\m_RefA.bin"), "INVALID_GRAPH", "names a drive");
  c.check_refused(c.with_context(beside), "INVALID_GRAPH", "leads out of the folder");
  c.check_refused(c.with_context("sub/../../x.bin"), "INVALID_GRAPH", "leads out of the folder");
  c.check_refused(c.with_context(""), "INVALID_GRAPH", "names no file");
  c.check_refused(c.with_context("link.bin"), "INVALID_GRAPH", "symbolic link");
  c.check_refused(c.with_context("linked/x.bin"), "INVALID_GRAPH", "symbolic link");
  c.check_refused(c.with_context("sub"), "INVALID_GRAPH", "sub");
  c.check_refused(c.with_context(std::string_view{"m_RefA.bin\0.txt", 15}), "INVALID_GRAPH", "RefA_part_0");
  for (const char* device : {"NUL", "nul.bin", "NUL.bin", "COM1", "com9.x", "sub/LPT1", "CON", "aux", "CONIN$"})
    c.check_refused(c.with_context(device), "INVALID_GRAPH", "names a device");
  CHECK(c.ref.a.opened == 0);
}

TEST_CASE("22: a model that is a symlink has its contexts beside the link; they may be links into the model's folder") {
  compiled_folder c;
  const scratch_folder links;
  fs::create_symlink(c.folder / "m_ctx.onnx", links / "model.onnx");
  c.check_refused(links / "model.onnx", "INVALID_GRAPH", "m_RefA.bin");
  fs::create_symlink(c.folder / "m_RefA.bin", links / "m_RefA.bin");
  c.check_runs(links / "model.onnx");
}

TEST_CASE("23: a path that goes down and up again is fine while it stays inside") {
  compiled_folder c;
  fs::create_directories(c.folder / "sub");
  c.check_runs(c.with_context("sub/../m_RefA.bin"));
  fs::copy_file(c.folder / "m_RefA.bin", c.folder / "sub/x.bin");
  c.check_runs(c.with_context("sub/x.bin"));
}

TEST_CASE("24: a context that is missing, empty, garbage or of another SDK is INVALID_GRAPH naming file and node") {
  compiled_folder c;
  const std::string path = c.folder / "m_ctx.onnx", bin = c.folder / "m_RefA.bin", bytes = slurp(bin);
  fs::remove(bin);
  c.check_refused(path, "INVALID_GRAPH", "'m_RefA.bin'");
  c.check_refused(path, "INVALID_GRAPH", "'RefA_part_0'");
  spill(bin, "");
  c.check_refused(path, "INVALID_GRAPH", "empty file");
  spill(bin, "\xff\xfe garbage");
  c.check_refused(path, "INVALID_GRAPH", bin);
  c.check_refused(path, "INVALID_GRAPH", "no context");
  for (std::size_t half : {bytes.size() / 4, bytes.size() / 2, bytes.size() * 3 / 4}) {
    spill(bin, bytes.substr(0, half));
    c.check_refused(path, "INVALID_GRAPH", "RefA");
  }
  spill(bin, bytes);
  c.ref.a.sdk_version = "3.3.0";
  c.check_refused(path, "INVALID_GRAPH", "made by SDK 3.2.0, this is 3.3.0");
  c.ref.a.sdk_version = "3.2.0";
  c.check_runs(path);
}

TEST_CASE("25: a node without embed_mode has an embedded context") {
  compiled_folder c;
  c.check_refused(c.changed([](attributes& all, std::size_t) { drop(all, "embed_mode"); }), "INVALID_GRAPH",
                  "no context");
  compiled_folder inside{false, {{"ep.context_embed_mode", "1"}}};
  inside.check_runs(inside.changed([](attributes& all, std::size_t) { drop(all, "embed_mode"); }));
  inside.check_runs(inside.changed([](attributes& all, std::size_t) { drop(all, "main_context"); }));
  inside.check_refused(inside.changed([](attributes& all, std::size_t) { drop(all, "ep_cache_context"); }),
                       "INVALID_GRAPH", "no bytes of a context");
}

TEST_CASE("26: a node is claimed only by the provider that has its source") {
  compiled_folder c;
  const auto from = [&](const char* source, std::vector<std::string> providers) {
    const std::string path = c.changed([&](attributes& all, std::size_t) {
      if (source) set(all, text_attribute("source", source));
      else drop(all, "source");
    });
    session_options options;
    options.providers = std::move(providers);
    return verdict(c.ref.load(path, options));
  };
  const std::string refused = from("RefB", {"RefA", "cpu"});
  CHECK(refused.find("NOT_IMPLEMENTED: ") == 0);
  CHECK(refused.find("'RefB'") != std::string::npos);
  CHECK(refused.find("'RefA_part_0'") != std::string::npos);
  CHECK(refused.find("RefA, CPUExecutionProvider") != std::string::npos);
  CHECK(from("RefB", {"RefA", "RefB", "cpu"}) == "OK");
  CHECK(c.ref.b.opened == 1);
  CHECK(c.ref.a.opened == 0);
  CHECK(from("refa", {"RefA", "cpu"}).find("NOT_IMPLEMENTED: ") ==
        0);  // the provider compares keys with regard to case
  CHECK(from(nullptr, {"RefA", "cpu"}).find("'unknown'") != std::string::npos);
  CHECK(from("RefA", {"cpu"}).find("NOT_IMPLEMENTED: ") == 0);
}

TEST_CASE("27: an attribute of the wrong type is an error, an unknown one is not") {
  compiled_folder c;
  const auto of_type = [&](attribute a) { return c.changed([&](attributes& all, std::size_t) { set(all, a); }); };
  c.check_refused(of_type(text_attribute("embed_mode", "0")), "INVALID_GRAPH", "embed_mode");
  c.check_refused(of_type(number_attribute("ep_cache_context", 0)), "INVALID_GRAPH", "ep_cache_context");
  c.check_refused(of_type(number_attribute("source", 0)), "INVALID_GRAPH", "source");
  c.check_refused(of_type(number_attribute("embed_mode", 7)), "INVALID_GRAPH", "embed_mode is 7");
  c.check_refused(of_type(number_attribute("main_context", -1)), "INVALID_GRAPH", "main_context is -1");
  c.check_runs(of_type(text_attribute("color", "green")));
}

TEST_CASE("29: a secondary node's graph is found in a main node at any position") {
  for (const char* embed : {"0", "1"})
    for (std::size_t secondary : {std::size_t{0}, std::size_t{1}}) {
      CAPTURE(embed);
      CAPTURE(secondary);
      compiled_folder c{true, {{"ep.context_embed_mode", embed}}};
      const std::string bytes = text_of(context_nodes(*read(c.folder / "m_ctx.onnx"))[0], "ep_cache_context");
      const std::string path = c.changed([&](attributes& all, std::size_t n) {
        set(all, number_attribute("main_context", n != secondary));
        if (n == secondary) drop(all, "ep_cache_context");
        else set(all, text_attribute("ep_cache_context", bytes));
      });
      c.check_runs(path, true);
      CHECK(c.ref.a.opened == 1);
      c.check_refused(c.changed([&](attributes& all, std::size_t) {
        set(all, number_attribute("main_context", 0));
        drop(all, "ep_cache_context");
      }),
                      "INVALID_GRAPH", "no main node of RefA");
      c.check_refused(c.changed([&](attributes& all, std::size_t n) {
        set(all, number_attribute("main_context", n != secondary));
        set(all, text_attribute("ep_cache_context", bytes));
      }),
                      "INVALID_GRAPH", "not the main node");
      c.check_refused(c.changed([&](attributes& all, std::size_t n) {
        set(all, number_attribute("main_context", n != secondary));
        set(all, text_attribute("partition_name", n == secondary ? "strange" : n ? "RefA_part_1" : "RefA_part_0"));
        set(all, text_attribute("ep_cache_context", n == secondary ? std::string_view{} : bytes));
      }),
                      "INVALID_GRAPH", "no graph 'strange'");
    }
}

TEST_CASE("a main node whose context has no graph of its name is INVALID_GRAPH, also if another context has one") {
  compiled_folder c{true};
  spill(c.folder / "empty.bin", "REFCTX 3.2.0 0\n");
  c.check_refused(c.changed([](attributes& all, std::size_t n) {
    if (n) set(all, text_attribute("ep_cache_context", "empty.bin"));
  }),
                  "INVALID_GRAPH", "no graph 'RefA_part_1'");
}

TEST_CASE("a node without partition name uses the graph with the node's name") {
  compiled_folder c{true};
  c.check_runs(c.changed([](attributes& all, std::size_t) { drop(all, "partition_name"); }), true);
}

TEST_CASE("37: with a prefix, names of nodes, partitions and graphs start with it, and two models merge into one") {
  for (const char* embed : {"0", "1"})
    for (const char* prefix : {"p_", ""}) {
      CAPTURE(embed);
      CAPTURE(prefix);
      scratch_folder folder;
      ref_runtime ref;
      save(*plain(), folder / "first.onnx");
      save(*plain_behind(), folder / "second.onnx");
      const auto compile = [&](const char* name, const char* p) {
        REQUIRE(verdict(ref.load(folder / (std::string{name} + ".onnx"), keys({{"ep.context_enable", "1"},
                                                                               {"ep.context_embed_mode", embed},
                                                                               {"ep.context_node_name_prefix", p}}))) ==
                "OK");
      };
      compile("first", prefix);
      compile("second", *prefix ? "q_" : "");
      const auto m = read(folder / "first_ctx.onnx");
      const node_view node = context_nodes(*m).at(0);
      CHECK(node.name() == std::string{prefix} + "RefA_part_0");
      CHECK(text_of(node, "partition_name") == node.name());
      const std::string bytes = *embed == '1' ? text_of(node, "ep_cache_context") : slurp(folder / "first_RefA.bin");
      CHECK(bytes.find("\n" + std::string{prefix} + "RefA_part_0 ") != bytes.npos);
      merged(folder / "first_ctx.onnx", folder / "second_ctx.onnx", folder / "both.onnx");
      const auto s = ref.load(folder / "both.onnx");
      REQUIRE(verdict(s) == "OK");
      const auto out = s->run({{"x", ramp(8, 0.002f)}});
      REQUIRE(verdict(out) == "OK");
      const std::vector<float> between = expected();
      CHECK(near(floats_of((*out)[0].value), between));
      const auto behind = loaded(plain_behind()).run({{"x", between}});
      CHECK(near(floats_of((*out)[1].value), floats_of((*behind)[0].value)));
      // With sharing, each model's graphs are used, though they may have the same names.
      CHECK(verdict(ref.load(folder / "both.onnx", keys({{"ep.share_ep_contexts", "1"}}))) == "OK");
    }
}

TEST_CASE("38: a function receives contexts and another returns them, and there are no files") {
  scratch_folder folder;
  ref_runtime ref;
  std::map<std::string, std::vector<std::byte>> store;
  session_options options = keys({{"ep.context_enable", "1"}});
  options.write_context = [&](std::string_view name, std::span<const std::byte> bytes) -> status {
    store[std::string{name}] = {bytes.begin(), bytes.end()};
    return {};
  };
  REQUIRE(verdict(ref.load(saved(folder, "m.onnx", true), options)) == "OK");
  CHECK(folder.files() == std::vector<std::string>{"m.onnx", "m_ctx.onnx"});
  REQUIRE(store.size() == 1);
  CHECK(store.begin()->first == "m_RefA.bin");
  options = {};
  int calls = 0;
  options.read_context = [&](std::string_view name) -> result<std::vector<std::byte>> {
    ++calls;
    return store.at(std::string{name});
  };
  const auto s = ref.load(folder / "m_ctx.onnx", options);
  REQUIRE(verdict(s) == "OK");
  CHECK(calls == 1);
  CHECK(near(outputs_of(*s), expected(true)));
  // The function may use any name as a key, even one that would be a path outside.
  edited(folder / "m_ctx.onnx", folder / "e_ctx.onnx",
         [](attributes& all, std::size_t) { set(all, text_attribute("ep_cache_context", "/vault/7")); });
  store["/vault/7"] = store.begin()->second;
  CHECK(verdict(ref.load(folder / "e_ctx.onnx", options)) == "OK");
  // A model from memory needs no folder.
  const std::string bytes = slurp(folder / "m_ctx.onnx");
  CHECK(verdict(ref.load(std::span{bytes}, options)) == "OK");
}

TEST_CASE("38: an error of such a function is returned, even if there is a file") {
  compiled_folder c;
  session_options options;
  options.read_context = [](std::string_view) -> result<std::vector<std::byte>> {
    return status{status_code::ep_fail, "the vault is closed"};
  };
  std::string said = verdict(c.ref.load(c.folder / "m_ctx.onnx", options));
  CHECK(said.find("EP_FAIL: ") == 0);
  CHECK(said.find("the vault is closed") != std::string::npos);
  options.read_context = [](std::string_view) -> result<std::vector<std::byte>> { throw std::runtime_error{"oh"}; };
  CHECK(verdict(c.ref.load(c.folder / "m_ctx.onnx", options)) != "OK");
  CHECK(c.ref.a.opened == 0);
  options = keys({{"ep.context_enable", "1"}, {"ep.context_file_path", c.folder / "n.onnx"}});
  options.write_context = [](std::string_view, std::span<const std::byte>) {
    return status{status_code::engine_error, "the vault is full"};
  };
  said = verdict(c.ref.load(c.folder / "m.onnx", options));
  CHECK(said.find("ENGINE_ERROR: ") == 0);
  CHECK(said.find("the vault is full") != std::string::npos);
  CHECK(c.folder.files() == std::vector<std::string>{"m.onnx", "m_RefA.bin", "m_ctx.onnx"});
}

/// A provider that compiles but stores no contexts.
struct forgetful {
  static constexpr std::string_view name = "forgetful", long_name = "ForgetfulExecutionProvider";
  ref_counters* counters = nullptr;
  result<std::vector<node_group>> groups(const graph_view& g) const { return ref_a{counters}.groups(g); }
  result<std::vector<compiled_node>> compile(std::span<const fused_view> all) const {
    return ref_a{counters}.compile(all);
  }
};

TEST_CASE("39: a provider that stores no contexts is refused before it compiles, with functions for contexts or not") {
  const scratch_folder folder;
  ref_counters counters;
  const runtime<forgetful, eps::cpu> with{forgetful{&counters}, eps::cpu{}};
  session_options options = keys({{"ep.context_enable", "1"}});
  for (bool functions : {false, true}) {
    if (functions) options.write_context = [](std::string_view, std::span<const std::byte>) { return status{}; };
    const std::string said = verdict(with.load(saved(folder, "m.onnx"), options));
    CHECK(said.find("NOT_IMPLEMENTED: ") == 0);
    CHECK(said.find("ForgetfulExecutionProvider") != std::string::npos);
    CHECK(counters.compiled == 0);
    CHECK(folder.files() == std::vector<std::string>{"m.onnx"});
  }
  CHECK(verdict(with.load(folder / "m.onnx")) == "OK");
}

}  // namespace
}  // namespace cameo::test
