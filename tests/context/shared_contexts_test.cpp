// Tests models that share a context, and threads that load them at once.
#include <cameo/context/workspace.hpp>

#include "context/compiled.hpp"

#include <barrier>
#include <thread>

namespace cameo::test {
namespace {

using config = std::vector<std::pair<std::string, std::string>>;
const config sharing{{"ep.share_ep_contexts", "1"}};
const config making{{"ep.context_enable", "1"}, {"ep.share_ep_contexts", "1"}};
const config finishing{{"ep.context_enable", "1"}, {"ep.share_ep_contexts", "1"}, {"ep.stop_share_ep_contexts", "1"}};

/// A folder with m1.onnx and m2.onnx, and the models that were compiled from them into one context.
struct shared_folder {
  scratch_folder folder;
  ref_runtime ref;
  shared_folder() {
    saved(folder, "m1.onnx"), saved(folder, "m2.onnx", true);
    REQUIRE(verdict(ref.load(folder / "m1.onnx", keys(making))) == "OK");
    CHECK(!folder.has("m1_RefA.bin"));
    REQUIRE(verdict(ref.load(folder / "m2.onnx", keys(finishing))) == "OK");
    ref.a.opened = 0;
  }
  session loaded(const char* name, const config& with = sharing) {
    auto s = ref.load(folder / name, keys(with));
    REQUIRE(verdict(s) == "OK");
    CHECK(near(outputs_of(*s), expected(name[1] == '2')));
    return std::move(*s);
  }
  std::size_t waiting() const { return ref.loader.workspace()->waiting_graphs(); }
};

TEST_CASE("33: two models that share a context give three files; the context is written after the last") {
  shared_folder s;
  CHECK(s.folder.files() ==
        std::vector<std::string>{"m1.onnx", "m1_RefA.bin", "m1_ctx.onnx", "m2.onnx", "m2_ctx.onnx"});
  std::vector<std::string> names;
  for (const char* name : {"m1_ctx.onnx", "m2_ctx.onnx"}) {
    const auto m = read(s.folder / name);
    for (node_view node : context_nodes(*m)) {
      CHECK(text_of(node, "ep_cache_context") == "m1_RefA.bin");
      names.push_back(text_of(node, "partition_name"));
    }
  }
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"RefA_part_0", "RefA_part_1", "RefA_part_2"});
  CHECK(slurp(s.folder / "m1_RefA.bin").starts_with("REFCTX 3.2.0 3\n"));
}

TEST_CASE("34: sessions that share open the context once, others once each") {
  shared_folder s;
  {
    const session first = s.loaded("m1_ctx.onnx"), second = s.loaded("m2_ctx.onnx");
    CHECK(s.ref.a.opened == 1);
  }
  s.ref.a.opened = 0;
  const session first = s.loaded("m1_ctx.onnx", {}), second = s.loaded("m2_ctx.onnx", {});
  CHECK(s.ref.a.opened == 2);
}

TEST_CASE("35: graphs that a session takes are removed from the pool; a later session opens the file again") {
  shared_folder s;
  const session first = s.loaded("m1_ctx.onnx");
  CHECK(s.waiting() == 2);
  const session second = s.loaded("m2_ctx.onnx");
  CHECK(s.waiting() == 0);
  CHECK(s.ref.a.opened == 1);
  const session third = s.loaded("m2_ctx.onnx");
  CHECK(s.ref.a.opened == 2);
  CHECK(s.waiting() == 1);  // the graph of m1 waits
  const session fourth = s.loaded("m1_ctx.onnx");
  CHECK(s.ref.a.opened == 2);
  CHECK(s.waiting() == 0);
}

TEST_CASE("35: a session that finds only some of its graphs opens the file, and takes none") {
  shared_folder s;
  edited(s.folder / "m2_ctx.onnx", s.folder / "one.onnx", [](attributes& all, std::size_t n) {
    if (n) drop(all, "partition_name"), set(all, text_attribute("partition_name", "RefA_part_0"));
  });
  const session first = s.loaded("m1_ctx.onnx");  // the graphs of m2 wait
  CHECK(verdict(s.ref.load(s.folder / "one.onnx", keys(sharing))) == "OK");
  CHECK(s.ref.a.opened == 2);
}

TEST_CASE("35: two nodes that use the same graph take it once") {
  shared_folder s;
  const session first = s.loaded("m1_ctx.onnx");
  edited(s.folder / "m2_ctx.onnx", s.folder / "same.onnx",
         [](attributes& all, std::size_t) { set(all, text_attribute("partition_name", "RefA_part_1")); });
  CHECK(verdict(s.ref.load(s.folder / "same.onnx", keys(sharing))) == "OK");
  CHECK(s.ref.a.opened == 1);
  CHECK(s.waiting() == 1);
}

TEST_CASE("35: graphs of a file that was replaced meanwhile are not taken") {
  shared_folder s;
  const session first = s.loaded("m1_ctx.onnx");
  CHECK(s.waiting() == 2);
  const std::string bytes = slurp(s.folder / "m1_RefA.bin");
  fs::remove(s.folder / "m1_RefA.bin");
  spill(s.folder / "m1_RefA.bin", bytes + " ");
  const session second = s.loaded("m2_ctx.onnx");
  CHECK(s.ref.a.opened == 2);
}

TEST_CASE("36: after the last model, the next one begins a context with another name; sessions end in any order") {
  shared_folder s;
  saved(s.folder, "n1.onnx");
  REQUIRE(verdict(s.ref.load(s.folder / "n1.onnx", keys(finishing))) == "OK");
  CHECK(s.folder.has("n1_RefA.bin"));
  const auto m = read(s.folder / "n1_ctx.onnx");
  CHECK(text_of(context_nodes(*m).at(0), "partition_name") == "RefA_part_0");
  for (const bool creation_order : {true, false}) {
    std::optional<ref_runtime> with{std::in_place};
    auto options = keys(sharing);
    std::optional<result<session>> first{with->load(s.folder / "m1_ctx.onnx", options)};
    std::optional<result<session>> second{with->load(s.folder / "m2_ctx.onnx", options)};
    REQUIRE((*first && *second));
    if (creation_order) {
      first.reset();
      CHECK(near(outputs_of(**second), expected(true)));
      second.reset();
    } else {
      second.reset();
      CHECK(near(outputs_of(**first), expected()));
      first.reset();
    }
  }
}

TEST_CASE("36: a workspace may outlive its runtimes and serve others, and sessions may outlive it") {
  shared_folder s;
  auto space = std::make_shared<context_workspace>();
  auto options = keys(sharing);
  options.workspace = space;
  ref_counters counters;
  options.providers = {"RefA", "cpu"};
  auto with = std::make_unique<runtime<ref_a, eps::cpu>>(ref_a{&counters}, eps::cpu{});
  auto first = std::make_unique<result<session>>(with->load(s.folder / "m1_ctx.onnx", options));
  REQUIRE(verdict(*first) == "OK");
  first.reset();
  with.reset();
  CHECK(space->waiting_graphs() == 2);
  const auto second = s.ref.load(s.folder / "m2_ctx.onnx", options);
  REQUIRE(verdict(second) == "OK");
  CHECK(s.ref.a.opened == 0);
  options = {}, space = nullptr;
  CHECK(near(outputs_of(*second), expected(true)));
}

TEST_CASE("models that share a context are in one folder, in files, and none may follow the last") {
  const scratch_folder folder;
  ref_runtime ref;
  fs::create_directories(folder / "other");
  saved(folder, "m1.onnx"), saved(folder, "other/m2.onnx"), saved(folder, "m3.onnx");
  auto embedded = keys(making);
  embedded.config.emplace_back("ep.context_embed_mode", "1");
  CHECK(verdict(ref.load(folder / "m1.onnx", embedded)).find("INVALID_ARGUMENT: ") == 0);
  CHECK(ref.a.compiled == 0);
  REQUIRE(verdict(ref.load(folder / "m1.onnx", keys(making))) == "OK");
  const std::string said = verdict(ref.load(folder / "other/m2.onnx", keys(making)));
  CHECK(said.find("INVALID_ARGUMENT: ") == 0);
  CHECK(said.find("one folder") != said.npos);
  CHECK(ref.a.compiled == 1);
  REQUIRE(verdict(ref.load(folder / "m3.onnx", keys(finishing))) == "OK");
  CHECK(folder.files() ==
        std::vector<std::string>{"m1.onnx", "m1_RefA.bin", "m1_ctx.onnx", "m3.onnx", "m3_ctx.onnx", "other/m2.onnx"});
}

TEST_CASE("the last model that shares a context completes it even if it has no groups in it") {
  const scratch_folder folder;
  ref_runtime ref;
  model_builder b;
  b.output(b.node("Sigmoid", {b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4)})}));
  save(*b.take(), folder / "none.onnx");
  REQUIRE(verdict(ref.load(saved(folder, "m1.onnx"), keys(making))) == "OK");
  CHECK(!folder.has("m1_RefA.bin"));
  REQUIRE(verdict(ref.load(folder / "none.onnx", keys(finishing))) == "OK");
  CHECK(folder.files() == std::vector<std::string>{"m1.onnx", "m1_RefA.bin", "m1_ctx.onnx", "none.onnx"});
  CHECK(verdict(ref.load(folder / "m1_ctx.onnx")) == "OK");
}

TEST_CASE("the compile API shares contexts as sessions do, and a function may receive a shared context") {
  const scratch_folder folder;
  ref_runtime ref;
  std::map<std::string, std::string> store;
  const auto compile = [&](const char* name, const config& how) {
    compile_options options;
    options.input = saved(folder, name, name[1] == '2');
    options.session.config = how;
    options.session.write_context = [&](std::string_view key, std::span<const std::byte> bytes) -> status {
      store[std::string{key}] = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
      return {};
    };
    return verdict(ref.compile(std::move(options)));
  };
  REQUIRE(compile("m1.onnx", making) == "OK");
  CHECK(store.empty());
  REQUIRE(compile("m2.onnx", finishing) == "OK");
  CHECK(store.size() == 1);
  CHECK(store.count("m1_RefA.bin") == 1);
  CHECK(folder.files() == std::vector<std::string>{"m1.onnx", "m1_ctx.onnx", "m2.onnx", "m2_ctx.onnx"});
}

TEST_CASE("threads compile different models at once") {
  const scratch_folder folder;
  ref_runtime ref;
  constexpr int count = 2, rounds = 6;
  for (int t = 0; t < count; ++t) saved(folder, "m" + std::to_string(t) + ".onnx", t % 2);
  std::barrier start{count};
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      for (int r = 0; r < rounds; ++r) {
        compile_options options;
        options.input = folder / ("m" + std::to_string(t) + ".onnx");
        options.output = folder / ("c" + std::to_string(t) + ".onnx");
        failed += !ref.compile(std::move(options));
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(failed == 0);
  for (int t = 0; t < count; ++t)
    CHECK(near(outputs_of(*ref.load(folder / ("c" + std::to_string(t) + ".onnx"))), expected(t % 2)));
}

TEST_CASE("threads compile models into one context") {
  const scratch_folder folder;
  ref_runtime ref;
  constexpr int count = 4;
  for (int t = 0; t <= count; ++t) saved(folder, "m" + std::to_string(t) + ".onnx", t % 2);
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] { failed += !ref.load(folder / ("m" + std::to_string(t) + ".onnx"), keys(making)); });
  for (std::thread& t : threads) t.join();
  CHECK(failed == 0);
  REQUIRE(verdict(ref.load(folder / ("m" + std::to_string(count) + ".onnx"), keys(finishing))) == "OK");
  for (int t = 0; t <= count; ++t)
    CHECK(near(outputs_of(*ref.load(folder / ("m" + std::to_string(t) + "_ctx.onnx"))), expected(t % 2)));
}

TEST_CASE("threads load sessions with one shared workspace, and end them in any order") {
  shared_folder s;
  constexpr int count = 4, rounds = 6;
  const std::vector<float> one = expected(), two = expected(true);
  std::barrier start{count};
  std::atomic<int> failed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      std::vector<session> all;
      for (int r = 0; r < rounds; ++r) {
        const bool second = (t + r) % 2;
        auto made = s.ref.load(s.folder / (second ? "m2_ctx.onnx" : "m1_ctx.onnx"), keys(sharing));
        if (!made) {
          ++failed;
          continue;
        }
        const auto out = made->run({{"x", ramp(8, 0.002f)}});
        failed += !out || !near(floats_of((*out)[0].value), second ? two : one);
        all.push_back(std::move(*made));
        if (all.size() > 2) all.erase(all.begin() + (r + t) % 2);
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(failed == 0);
  CHECK(s.ref.a.opened <= count * rounds);
}

}  // namespace
}  // namespace cameo::test
