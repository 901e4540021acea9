// Models and contexts that were not written together are refused, and compiling never produces such a mixture or
// replaces a file that another model needs.
#include "frozen_models.hpp"

#include <cameo/context/compatibility.hpp>
#include <cameo/context/compiled_nodes.hpp>

namespace cameo::test {
namespace {

/// One of several models with the same names and shapes, and different numbers.
std::unique_ptr<model> product(float scale, std::int64_t rows = -1, const char* op = "Relu") {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {rows < 0 ? b.symbol("rows") : dim::fixed(rows), dim::fixed(64)});
  const value_id w = b.constant("w", {64, 256}, ramp(64 * 256, scale));
  const value_id v = b.constant("v", {256, 64}, ramp(256 * 64, scale / 2));
  b.output(b.node(op, {b.node("MatMul", {b.node("Tanh", {b.node("MatMul", {x, w})}), v})}));
  return b.take();
}

std::string bits(const session& s, std::int64_t rows = 3) {
  const std::vector<float> x = ramp(std::size_t(rows) * 64, 0.001f);
  const std::vector<named_input> inputs{{"x", x, extents{rows, 64}}};
  return bits_of(s, inputs);
}

status compile_to(const std::string& path, std::unique_ptr<model> m, file_batch* files = nullptr) {
  compile_options options;
  options.input = std::move(m), options.output = path, options.files = files;
  const auto done = frozen_runtime{}.compile(std::move(options));
  return done ? status{} : status{done.error()};
}

std::string id_in(const std::string& path) {
  const auto nodes = compiled_nodes_of(*read(path));
  REQUIRE(nodes);
  REQUIRE(!nodes->empty());
  return nodes->front().id;
}

TEST_CASE("a context that was written with another model is refused with an error that names both files") {
  const scratch_folder folder;
  const std::string a = folder / "a.onnx", a_bin = folder / "a_FrozenExecutionProvider.bin", b = folder / "b.onnx",
                    b_bin = folder / "b_FrozenExecutionProvider.bin";
  REQUIRE(verdict(compile_to(a, product(0.001f))) == "OK");
  REQUIRE(verdict(compile_to(b, product(0.003f))) == "OK");
  CHECK(id_in(a).size() == 32);
  CHECK(id_in(a) != id_in(b));
  CHECK(text_of(context_nodes(*read(a))[0], "notes") == "context id " + id_in(a));
  fs::copy_file(b_bin, a_bin, fs::copy_options::overwrite_existing);
  for (const auto& config : std::vector<std::vector<std::pair<std::string, std::string>>>{
           {}, {{"ep.frozen.verify", "1"}}, {{"ep.share_ep_contexts", "1"}}}) {
    const std::string said = verdict(frozen_runtime{}.load(a, keys(config)));
    CHECK_MESSAGE(said.starts_with("INVALID_GRAPH: " + a), said);
    CHECK_MESSAGE(says(said, a_bin), said);
    CHECK_MESSAGE(says(said, id_in(a)), said);
    CHECK_MESSAGE(says(said, id_in(b)), said);
  }
  // The id is also checked for a model in memory.
  const frozen_runtime with;
  const auto first = with.load(b, keys({{"ep.share_ep_contexts", "1"}}));
  REQUIRE(verdict(first) == "OK");
  edited(a, folder / "c.onnx", [](attributes& all, std::size_t) {
    set(all, text_attribute("ep_cache_context", "b_FrozenExecutionProvider.bin"));
  });
  CHECK(verdict(with.load(folder / "c.onnx", keys({{"ep.share_ep_contexts", "1"}}))).starts_with("INVALID_GRAPH: "));
  session_options given;
  given.read_context = [&](std::string_view) -> result<std::vector<std::byte>> {
    const std::string bytes = slurp(b_bin);
    const auto all = std::as_bytes(std::span{bytes});
    return std::vector<std::byte>{all.begin(), all.end()};
  };
  CHECK(verdict(frozen_runtime{}.load(a, given)).starts_with("INVALID_GRAPH: "));
}

TEST_CASE("a model or a context without an id, as other programs write them, is accepted, and so are other notes") {
  const compiled_files files;
  compile(files, small_network());
  const std::vector<named_input> inputs{{"x", image()}};
  const std::string want = bits_of(loaded(small_network()), inputs);
  const auto check = [&](const std::string& path) {
    const auto s = frozen_runtime{}.load(path);
    REQUIRE(verdict(s) == "OK");
    CHECK(bits_of(*s, inputs) == want);
  };
  check(edited(files.model, files.folder / "e.onnx", [](attributes& all, std::size_t) { drop(all, "notes"); }));
  for (const char* notes :
       {"context id", "context id 0123", "made by hand", "context id 0123456789ABCDEF0123456789ABCDEF"})
    check(edited(files.model, files.folder / "e.onnx",
                 [&](attributes& all, std::size_t) { set(all, text_attribute("notes", notes)); }));
  std::string bytes = slurp(files.context);
  eps::frozen_file::header head;
  std::memcpy(&head, bytes.data(), sizeof head);
  std::memset(head.id, 0, sizeof head.id);
  std::memcpy(bytes.data(), &head, sizeof head);
  reseal(bytes_of(bytes));
  fs::remove(files.context);
  spill(files.context, bytes);
  check(files.model);
}

TEST_CASE("the ranks and sizes of a compiled node must be those of its graph, also in a run") {
  const compiled_files files;
  compile(files, small_network());
  const auto declare = [&](std::vector<dim> shape) {
    const auto m = read(files.model);
    graph& g = m->main();
    g[g.inputs()[0]].type = m->keep(value_type::tensor(dtype::f32, std::move(shape)));
    save(*m, files.folder / "e.onnx");
    return frozen_runtime{}.load(files.folder / "e.onnx");
  };
  std::string said = verdict(declare({dim::fixed(1), dim::fixed(3), dim::fixed(8), dim::fixed(9)}));
  CHECK_MESSAGE(said.starts_with("INVALID_GRAPH: "), said);
  CHECK_MESSAGE(says(said, "the graph has 8 along its axis 3, the node 9"), said);
  said = verdict(declare({dim::fixed(1), dim::fixed(3), dim::fixed(64)}));
  CHECK_MESSAGE(said.starts_with("INVALID_GRAPH: "), said);
  CHECK_MESSAGE(says(said, "of rank 4, the node of rank 3"), said);
  const auto open = declare({dim::fixed(1), dim::fixed(3), dim{}, dim{}});
  REQUIRE(verdict(open) == "OK");
  CHECK(verdict(open->run({{"x", image(), extents{1, 3, 8, 8}}})) == "OK");
  CHECK(verdict(open->run({{"x", image(), extents{1, 3, 4, 16}}})).starts_with("INVALID_ARGUMENT: "));
}

TEST_CASE("two compilers of one output leave the files of one of them, or a mixture that is refused") {
  const scratch_folder folder;
  const std::string path = folder / "net.onnx", context = folder / "net_FrozenExecutionProvider.bin";
  file_batch first, second;
  REQUIRE(verdict(compile_to(path, product(0.001f), &first)) == "OK");
  REQUIRE(verdict(compile_to(path, product(0.003f), &second)) == "OK");
  CHECK(!fs::exists(path));
  REQUIRE(first.commit());
  const std::string model_of_first = slurp(path);
  CHECK(bits(*frozen_runtime{}.load(path)) == bits(loaded(product(0.001f))));
  REQUIRE(second.commit());
  CHECK(bits(*frozen_runtime{}.load(path)) == bits(loaded(product(0.003f))));
  fs::remove(path), spill(path, model_of_first);  // as if the first compiler had renamed its model last
  const std::string said = verdict(frozen_runtime{}.load(path));
  CHECK_MESSAGE(said.starts_with("INVALID_GRAPH: " + path), said);
  CHECK_MESSAGE(says(said, context), said);
}

TEST_CASE("if two compilers write one output that must be new, one succeeds, and its files remain") {
  const scratch_folder folder;
  const std::string path = folder / "net.onnx";
  const auto compile = [&](float scale, file_batch& files) {
    compile_options options;
    options.input = product(scale), options.output = path, options.files = &files;
    options.fail_if_output_exists = true;
    return verdict(frozen_runtime{}.compile(std::move(options)));
  };
  {
    file_batch first, second;
    REQUIRE(compile(0.001f, first) == "OK");
    REQUIRE(compile(0.003f, second) == "OK");  // both have checked that the output does not exist
    REQUIRE(verdict(first.commit()) == "OK");
    const std::string said = verdict(second.commit());
    CHECK_MESSAGE(said.starts_with("FAIL: " + path + ": exists already"), said);
    CHECK_MESSAGE(says(said, "--force"), said);
  }
  CHECK(bits(*frozen_runtime{}.load(path)) == bits(loaded(product(0.001f))));
  CHECK(folder.files() == std::vector<std::string>{"net.onnx", "net_FrozenExecutionProvider.bin"});
}

TEST_CASE("if two compilers write contexts of one name, the second does not replace the context of the first") {
  const scratch_folder folder;
  file_batch first, second;
  REQUIRE(verdict(compile_to(folder / "net.onnx", product(0.001f), &first)) == "OK");
  REQUIRE(verdict(compile_to(folder / "net.model", product(0.003f), &second)) == "OK");
  REQUIRE(verdict(first.commit()) == "OK");
  const std::string said = verdict(second.commit());
  CHECK_MESSAGE(says(said, "exists already, and belongs to " + (folder / "net.onnx")), said);
  CHECK(!folder.has("net.model"));
  CHECK(bits(*frozen_runtime{}.load(folder / "net.onnx")) == bits(loaded(product(0.001f))));
}

TEST_CASE(
    "a context file is not replaced by another output with a context of that name, unless no model uses it any more") {
  const scratch_folder folder;
  const std::string context = folder / "net_FrozenExecutionProvider.bin";
  REQUIRE(verdict(compile_to(folder / "net.onnx", product(0.001f))) == "OK");
  const std::string before = slurp(context);
  const std::string said = verdict(compile_to(folder / "net.model", product(0.003f)));
  CHECK_MESSAGE(said.starts_with("FAIL: "), said);
  CHECK_MESSAGE(says(said, context + ": exists already, and belongs to " + (folder / "net.onnx")), said);
  CHECK(slurp(context) == before);
  CHECK(!folder.has("net.model"));
  CHECK(bits(*frozen_runtime{}.load(folder / "net.onnx")) == bits(loaded(product(0.001f))));
  REQUIRE(verdict(compile_to(folder / "net.onnx", product(0.002f))) == "OK");  // its own context is replaced
  CHECK(bits(*frozen_runtime{}.load(folder / "net.onnx")) == bits(loaded(product(0.002f))));
  fs::rename(folder / "net.onnx", folder / "kept.onnx");
  CHECK(says(verdict(compile_to(folder / "net.onnx", product(0.003f))), "belongs to " + (folder / "kept.onnx")));
  fs::remove(folder / "kept.onnx");
  CHECK(verdict(compile_to(folder / "net.model", product(0.003f))) == "OK");  // no model uses the context any more
  fs::remove(folder / "net.model"), fs::remove(context);
  spill(context, "precious");
  CHECK(
      says(verdict(compile_to(folder / "net.onnx", product(0.003f))), "is not a context that FrozenExecutionProvider"));
  CHECK(slurp(context) == "precious");
}

TEST_CASE("initializers are not written over those of another model") {
  const scratch_folder folder;
  const auto compile = [&](const char* name, std::unique_ptr<model> m) {
    compile_options options;
    options.input = std::move(m), options.output = folder / name, options.external_initializers = "w.bin";
    options.session.providers = {"cpu"};
    const auto done = frozen_runtime{}.compile(std::move(options));
    return verdict(done);
  };
  REQUIRE(compile("a.onnx", product(0.001f)) == "OK");
  const std::string before = slurp(folder / "w.bin");
  const std::string said = compile("b.onnx", product(0.003f));
  CHECK_MESSAGE(says(said, "w.bin: exists already, and belongs to " + (folder / "a.onnx")), said);
  CHECK(slurp(folder / "w.bin") == before);
  CHECK(compile("a.onnx", product(0.002f)) == "OK");
}

TEST_CASE("a compiled model is not written if the relative path of its context would be wrong there") {
  const scratch_folder folder;
  fs::create_directories(folder / "other");
  REQUIRE(verdict(compile_to(folder / "net.onnx", product(0.001f))) == "OK");
  const auto compile = [&](const char* name) {
    compile_options options;
    options.input = folder / "net.onnx", options.output = folder / name;
    options.session.providers = {"cpu"};
    return verdict(frozen_runtime{}.compile(std::move(options)));
  };
  const std::string said = compile("other/net.onnx");
  CHECK_MESSAGE(said.starts_with("INVALID_ARGUMENT: "), said);
  CHECK_MESSAGE(says(said, "'net_FrozenExecutionProvider.bin' lies beside '" + (folder / "net.onnx")), said);
  CHECK(!folder.has("other/net.onnx"));
  CHECK(compile("copy.onnx") == "OK");
  CHECK(bits(*frozen_runtime{}.load(folder / "copy.onnx")) == bits(loaded(product(0.001f))));
  fs::copy_file(folder / "net_FrozenExecutionProvider.bin", folder / "other/net_FrozenExecutionProvider.bin");
  CHECK(compile("other/net.onnx") == "OK");
  CHECK(verdict(frozen_runtime{}.load(folder / "other/net.onnx")) == "OK");
}

TEST_CASE("without its provider, a compiled model is an error that names the provider; so is an .ort output") {
  const scratch_folder folder;
  REQUIRE(verdict(compile_to(folder / "net.onnx", product(0.001f))) == "OK");
  session_options alone;
  alone.providers = {"cpu"};
  const std::string said = verdict(frozen_runtime{}.load(folder / "net.onnx", alone));
  CHECK_MESSAGE(said.starts_with("NOT_IMPLEMENTED: "), said);
  CHECK_MESSAGE(says(said, "add the provider 'frozen', which does (--ep frozen)"), said);
  const std::string ort = verdict(compile_to(folder / "net.ort", product(0.001f)));
  CHECK_MESSAGE(ort.starts_with("INVALID_ARGUMENT: "), ort);
  CHECK_MESSAGE(says(ort, "a compiled model is an ONNX file"), ort);
  CHECK(folder.files() == std::vector<std::string>{"net.onnx", "net_FrozenExecutionProvider.bin"});
}

TEST_CASE("a model that was compiled for another processor is INVALID_GRAPH, which names both") {
  const scratch_folder folder;
  REQUIRE(verdict(compile_to(folder / "net.onnx", product(0.001f))) == "OK");
  const auto m = read(folder / "net.onnx");
  for (detail::property& each : m->metadata)
    if (each.first.starts_with(compatibility_key)) each.second = "cameo 9.9.9 for z80, packing 7";
  save(*m, folder / "e.onnx");
  const std::string said = verdict(frozen_runtime{}.load(folder / "e.onnx"));
  CHECK_MESSAGE(said.starts_with("INVALID_GRAPH: "), said);
  CHECK_MESSAGE(says(said, "cameo 9.9.9 for z80, packing 7"), said);
  CHECK_MESSAGE(says(said, eps::cpu::packing()), said);
}

TEST_CASE(
    "a decode step and its prefill with static shapes share their weights, with the same bits as separately compiled") {
  for (const std::int64_t step : {1, 4}) {
    const scratch_folder folder;
    const frozen_runtime with;
    file_batch files;
    for (const bool last : {false, true}) {
      compile_options options;
      options.input = product(0.001f, last ? 128 : step, last ? "Sigmoid" : "Relu");
      options.output = folder / (last ? "prefill.onnx" : "step.onnx");
      options.files = &files;
      options.session.config = {{"ep.share_ep_contexts", "1"}};
      if (last) options.session.config.emplace_back("ep.stop_share_ep_contexts", "1");
      REQUIRE(verdict(with.compile(std::move(options))) == "OK");
    }
    REQUIRE(files.commit());
    const std::size_t weights = 2 * 64 * 256 * sizeof(float);
    CHECK(fs::file_size(folder / "step_FrozenExecutionProvider.bin") < weights * 11 / 10);
    for (const bool last : {false, true}) {
      const std::int64_t rows = last ? 128 : step;
      const auto s = with.load(folder / (last ? "prefill.onnx" : "step.onnx"));
      REQUIRE(verdict(s) == "OK");
      CHECK(bits(*s, rows) == bits(loaded(product(0.001f, rows, last ? "Sigmoid" : "Relu")), rows));
    }
  }
}

TEST_CASE("models that share a context are replaced together: until then the old files are complete") {
  const scratch_folder folder;
  const frozen_runtime with;
  const auto share = [&](float scale, file_batch& files) {
    for (const bool last : {false, true}) {
      compile_options options;
      options.input = product(scale, -1, last ? "Sigmoid" : "Relu");
      options.output = folder / (last ? "b.onnx" : "a.onnx");
      options.files = &files;
      options.session.config = {{"ep.share_ep_contexts", "1"}};
      if (last) options.session.config.emplace_back("ep.stop_share_ep_contexts", "1");
      REQUIRE(verdict(with.compile(std::move(options))) == "OK");
    }
  };
  const auto check = [&](float scale) {
    CHECK(bits(*with.load(folder / "a.onnx")) == bits(loaded(product(scale, -1, "Relu"))));
    CHECK(bits(*with.load(folder / "b.onnx")) == bits(loaded(product(scale, -1, "Sigmoid"))));
  };
  file_batch old;
  share(0.001f, old);
  REQUIRE(old.commit());
  check(0.001f);
  {
    file_batch given_up;
    share(0.003f, given_up);
    check(0.001f);
  }
  check(0.001f);
  CHECK(folder.files() == std::vector<std::string>{"a.onnx", "a_FrozenExecutionProvider.bin", "b.onnx"});
  file_batch now;
  share(0.003f, now);
  REQUIRE(now.commit());
  check(0.003f);
}

}  // namespace
}  // namespace cameo::test
