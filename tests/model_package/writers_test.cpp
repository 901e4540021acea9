// Tests several processes, or objects, that change one package.
#include "packages.hpp"

#include <sys/wait.h>
#include <algorithm>
#include <chrono>
#include <thread>

using namespace cameo;
using namespace cameo::test;

namespace {

/// Writes a package with a component in the manifest and one in a separate file.
void write_pair(const package_folder& at) {
  at.write("manifest.json", R"({"schema_version": "1.0", "components": {"d": "decoder", "e": {"variants": {
    "cpu": {"ep": "CPUExecutionProvider", "executor_info": {"ort": {"model_file": "m.onnx"}}}}}}})");
  at.write("decoder/component.json", R"({"variants": {"cpu": {"ep": "CPUExecutionProvider",
    "executor_info": {"ort": {"model_file": "m.onnx"}}}}})");
  at.write("decoder/cpu/m.onnx", "decoder model").write("cpu/m.onnx", "encoder model");
}

std::vector<std::string> variants_of(const std::string& folder, const std::string& component) {
  const package p = opened(folder);
  std::vector<std::string> made;
  const package_component* const c = p.find(component);
  REQUIRE(c);
  for (const package_variant& v : c->variants) {
    const auto bytes = p.read(v, *v.model_file);
    CHECK_MESSAGE(bytes, bytes.error().words());
    made.push_back(v.name);
  }
  std::sort(made.begin(), made.end());
  return made;
}

package opened_to_wait(const std::string& folder, std::chrono::milliseconds wait) {
  package_open_options how;
  how.wait = wait;
  return opened(folder, how);
}

}  // namespace

TEST_CASE("eight processes that add a variant each leave a package with all of them, and prune deletes none") {
  for (const char* component : {"e", "d"}) {
    const package_folder at, from;
    write_pair(at);
    from.write("m.onnx", "new model");
    int gate[2];
    REQUIRE(::pipe(gate) == 0);
    std::vector<pid_t> children;
    for (int i = 0; i < 8; ++i) {
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        ::close(gate[1]);
        result<package> p = package::open(at.path());
        char any = 0;
        (void)!::read(gate[0], &any, 1);  // all processes have opened the package when the first one commits
        const bool done =
            p && p->add_variant(component, plain_variant("v" + std::to_string(i)), from.path()) && p->commit();
        ::_exit(done ? 0 : 1);
      }
      children.push_back(child);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    ::close(gate[1]);
    for (const pid_t child : children) {
      int state = 0;
      REQUIRE(::waitpid(child, &state, 0) == child);
      CHECK(WIFEXITED(state));
      CHECK(WEXITSTATUS(state) == 0);
    }
    ::close(gate[0]);
    const std::vector<std::string> all{"cpu", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"};
    CHECK(variants_of(at.path(), component) == all);
    package p = opened(at.path());
    const auto pruned = p.prune();
    REQUIRE(pruned);
    CHECK(pruned->empty());
    CHECK(variants_of(at.path(), component) == all);
    CHECK(!std::filesystem::exists(at / ".cameo.lock"));
  }
}

TEST_CASE("a commit of a package that others have changed applies its edits to the present contents") {
  const package_folder at, from;
  write_pair(at);
  from.write("m.onnx", "new model");
  package stale = opened(at.path()), other = opened(at.path());
  REQUIRE(stale.add_variant("e", plain_variant("fast"), from.path()));
  stale.set_version("2");
  REQUIRE(other.remove_variant("e", "cpu"));
  REQUIRE(other.add_variant("d", plain_variant("fast"), from.path()));
  other.set_description("changed");
  REQUIRE(other.commit());
  REQUIRE(other.prune());
  const status committed = stale.commit();
  REQUIRE_MESSAGE(committed, committed.words());
  CHECK(variants_of(at.path(), "e") == std::vector<std::string>{"fast"});
  CHECK(variants_of(at.path(), "d") == std::vector<std::string>{"cpu", "fast"});
  CHECK(stale.find("e")->variants.size() == 1);
  const package now = opened(at.path());
  CHECK(now.version() == "2");
  CHECK(now.description() == "changed");
}

TEST_CASE("edits that conflict with changes of others are refused, and nothing is written") {
  const package_folder from;
  from.write("m.onnx", "new model");
  const auto refused = [&](auto first, auto second, const std::string& words) {
    const package_folder at;
    write_pair(at);
    package mine = opened(at.path()), other = opened(at.path());
    REQUIRE(second(mine));
    REQUIRE(first(other));
    REQUIRE(other.commit());
    const auto before = files_below(at.path());
    const status s = mine.commit();
    CHECK(s.code() == status_code::fail);
    CHECK_MESSAGE(has(s.words(), words), s.words());
    CHECK_MESSAGE(has(s.words(), "open it again"), s.words());
    CHECK(files_below(at.path()) == before);
  };
  const auto add = [&](package& p) { return p.add_variant("e", plain_variant("new"), from.path()); };
  const auto remove = [](package& p) { return p.remove_variant("e", "cpu"); };
  const auto replace = [&](package& p) {
    const status s = p.remove_variant("e", "cpu");
    return s ? p.add_variant("e", plain_variant("cpu"), from.path()) : s;
  };
  const auto drop = [](package& p) { return p.remove_component("e"); };
  refused(add, add, "already");
  refused(remove, remove, "no variant 'cpu'");
  refused(replace, remove, "component 'e' has changed");
  refused(add, drop, "component 'e' has changed");
  refused(drop, add, "no component 'e'");
  refused([](package& p) { return p.set_metadata("1"); }, [](package& p) { return p.set_metadata("2"); },
          "additional_metadata has another value");
}

TEST_CASE("the process that holds the lock is named when waiting takes too long") {
  const package_folder at, from;
  write_pair(at);
  from.write("m.onnx", "new model");
  package waiting = opened_to_wait(at.path(), std::chrono::milliseconds{20});
  REQUIRE(waiting.add_variant("e", plain_variant("fast"), from.path()));
  package_open_options exclusive;
  exclusive.exclusive = true;
  exclusive.wait = std::chrono::milliseconds{20};
  const auto names_holder = [&](const status& s) {
    CHECK(s.code() == status_code::fail);
    CHECK_MESSAGE(has(s.words(), "process " + std::to_string(::getpid())), s.words());
  };
  {
    package holder = opened(at.path(), exclusive);
    names_holder(waiting.commit());
    names_holder(opened_to_wait(at.path(), std::chrono::milliseconds{0}).prune().error());
    CHECK(opened(at.path()).prune(true));  // a dry run takes no lock
    package_problem why;
    const auto second = package::open(at.path(), exclusive, &why);
    REQUIRE(!second);
    names_holder(second.error());
    CHECK(why.fault == package_fault::io);
    REQUIRE(holder.add_variant("e", plain_variant("first"), from.path()));
    REQUIRE(holder.commit());
    names_holder(waiting.commit());  // the holder may do more in the meantime
  }
  REQUIRE(waiting.commit());
  CHECK(variants_of(at.path(), "e") == std::vector<std::string>{"cpu", "fast", "first"});
}

TEST_CASE("prune waits for a process that fills a folder, and leaves the files that the package then names") {
  const package_folder at;
  write_pair(at);
  at.write("e2/m.onnx", "files of a variant that is not in the manifest yet");
  package pruning = opened(at.path());
  package_open_options how;
  how.exclusive = true;
  std::optional<package> holder = opened(at.path(), how);
  std::thread other{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    (void)holder->add_variant("e", plain_variant("e2"), {});
    (void)holder->commit();
    holder.reset();
  }};
  const auto pruned = pruning.prune();
  other.join();
  REQUIRE_MESSAGE(pruned, pruned.error().words());
  CHECK(pruned->empty());
  CHECK(variants_of(at.path(), "e") == std::vector<std::string>{"cpu", "e2"});
}

TEST_CASE("a lock file that a killed process has left holds no lock, and a link with its name is not written to") {
  const package_folder at, from;
  write_pair(at);
  from.write("m.onnx", "new model");
  at.write(".cameo.lock", "process 1 of long ago");
  package p = opened_to_wait(at.path(), std::chrono::milliseconds{0});
  REQUIRE(p.add_variant("e", plain_variant("fast"), from.path()));
  CHECK(p.commit());
  CHECK(!std::filesystem::exists(at / ".cameo.lock"));
  from.write("mine", "precious");
  REQUIRE(p.remove_variant("e", "fast"));
  at.link(from / "mine", ".cameo.lock");
  CHECK(p.commit().code() == status_code::fail);
  std::filesystem::remove(at / ".cameo.lock");
  std::filesystem::create_hard_link(from / "mine", at / ".cameo.lock");
  CHECK(p.commit().code() == status_code::fail);
  CHECK(text_of_file(from / "mine") == "precious");
  std::filesystem::remove(at / ".cameo.lock");
  CHECK(p.commit());
}
