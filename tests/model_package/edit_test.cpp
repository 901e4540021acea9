#include <cameo/packages.hpp>

#include "packages.hpp"

#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <algorithm>
#include <csignal>

#include <iterator>

using namespace cameo;
using namespace cameo::test;

namespace {

/// Writes a package with an external and an inline component.
void write_two(const package_folder& at) {
  at.write("manifest.json", R"({"schema_version": "1.0", "package_name": "two", "components": {"d": "decoder",
    "e": {"variants": {"cpu": {"ep": "CPUExecutionProvider", "executor_info": {"ort": {"model_file": "m.onnx"}}}}}}})");
  at.write("decoder/component.json",
           R"({"variants": {"cpu": {"ep": "CPUExecutionProvider", "executor_info": {"ort": "info.json"}}}})");
  at.write("decoder/cpu/info.json", R"({"model_file": "m.onnx"})");
  at.write("decoder/cpu/m.onnx", "decoder model").write("cpu/m.onnx", "encoder model").write("README.md", "words");
}

std::string model_text(const package& p, const std::string& component, const std::string& variant) {
  const result<const package_variant*> v = p.variant(component, variant);
  REQUIRE_MESSAGE(v, v.error().words());
  const auto bytes = p.read(**v, (*v)->model_file.value_or("none"));
  REQUIRE_MESSAGE(bytes, bytes.error().words());
  return {reinterpret_cast<const char*>((*bytes)->bytes().data()), (*bytes)->bytes().size()};
}

std::string words_of(const status& s) { return std::string{s.words()}; }

}  // namespace

TEST_CASE("28: a package is made, saved, opened again and is the same") {
  const package_folder at;
  at.write("from/m.onnx", "model").write("from/sub/weights", "w");
  package p = *package::make("fresh");
  p.set_version("2");
  CHECK(p.set_metadata(R"({"io": []})"));
  CHECK(p.add_component("main"));
  package_variant v = plain_variant("cpu");
  v.session_options = {{"session.intra_op_num_threads", "1"}};
  v.executors.push_back({"other", {}, R"({"x": [1]})"});
  CHECK(p.commit().code() == status_code::invalid_argument);
  const status added = p.add_variant("main", v, at / "from");
  CHECK_MESSAGE(added, words_of(added));
  const status saved = p.save_as(at / "pkg");
  REQUIRE_MESSAGE(saved, words_of(saved));
  CHECK(p.folder() == at / "pkg");
  const package read = opened(at / "pkg");
  CHECK(read.name() == "fresh");
  CHECK(read.version() == "2");
  CHECK(read.metadata() == R"({"io":[]})");
  CHECK(model_text(read, "main", "cpu") == "model");
  CHECK(text_of_file(at / "pkg/cpu/sub/weights") == "w");
  const package_variant& back = read.components()[0].variants[0];
  CHECK(back.session_options == v.session_options);
  REQUIRE(back.executors.size() == 2);
  CHECK(back.executors[1].json == R"({"x":[1]})");
  CHECK(p.save_as(at / "pkg").code() == status_code::fail);
  CHECK(files_below(at / "pkg").size() == 3);
}

TEST_CASE("edits with data that a reader would refuse are refused, and change nothing") {
  const package_folder at;
  write_two(at);
  package p = opened(at.path());
  const auto refused = [&](const package_variant& v, const std::string& words) {
    const status s = p.add_variant("e", v, {});
    CHECK(s.code() == status_code::invalid_argument);
    CHECK_MESSAGE(has(s.words(), words), words_of(s));
  };
  refused(plain_variant(""), "name");
  refused(plain_variant("a/b"), "slash");
  refused(plain_variant(".."), "'..'");
  refused(plain_variant("nul"), "device");
  refused(plain_variant("cpu"), "already");
  package_variant v = plain_variant("new");
  v.model_file = "../cpu/m.onnx";
  refused(v, "'..'");
  v = plain_variant("new");
  v.session_options = {{"session.enable_profiling", "1"}};
  refused(v, "session.enable_profiling");
  v = plain_variant("new");
  v.metadata = "{";
  refused(v, "new");
  CHECK(p.add_variant("e", plain_variant("new"), at / "nowhere").code() == status_code::invalid_argument);
  CHECK(p.add_variant("f", plain_variant("new"), {}).code() == status_code::invalid_argument);
  CHECK(p.remove_variant("e", "new").code() == status_code::invalid_argument);
  CHECK(p.remove_component("f").code() == status_code::invalid_argument);
  CHECK(p.add_component("e").code() == status_code::invalid_argument);
  CHECK(p.set_metadata("{").code() == status_code::invalid_argument);
  CHECK(p.remove_asset("sha256:" + std::string(64, 'a')).code() == status_code::invalid_argument);
  const auto before = files_below(at.path());
  CHECK(p.commit());
  CHECK(files_below(at.path()) == before);
}

TEST_CASE("a variant of an external component is added and removed without a change of the manifest") {
  const package_folder at;
  write_two(at);
  at.write("from/m.onnx", "new model");
  const std::string manifest = text_of_file(at / "manifest.json");
  package p = opened(at.path());
  CHECK(p.add_variant("d", plain_variant("fast"), at / "from"));
  const status committed = p.commit();
  REQUIRE_MESSAGE(committed, words_of(committed));
  CHECK(text_of_file(at / "manifest.json") == manifest);
  CHECK(model_text(opened(at.path()), "d", "fast") == "new model");
  CHECK(model_text(p, "d", "fast") == "new model");
  CHECK(p.remove_variant("d", "fast"));
  CHECK(p.commit());
  CHECK(text_of_file(at / "manifest.json") == manifest);
  CHECK(opened(at.path()).components()[0].variants.size() == 1);
  CHECK(std::filesystem::exists(at / "decoder/fast/m.onnx"));  // until it is pruned
  const auto pruned = p.prune();
  REQUIRE_MESSAGE(pruned, pruned.error().words());
  CHECK(*pruned == std::vector<std::string>{"decoder/fast", "from"});
  CHECK(!std::filesystem::exists(at / "decoder/fast"));
  CHECK(std::filesystem::exists(at / "README.md"));
  CHECK(problem_of(at.path()).fault == package_fault::none);
}

TEST_CASE("a variant that is replaced gets a folder beside the old one's") {
  const package_folder at, from;
  write_two(at);
  from.write("m.onnx", "other model");
  package p = opened(at.path());
  CHECK(p.remove_variant("e", "cpu"));
  CHECK(p.add_variant("e", plain_variant("cpu"), from.path()));
  CHECK(p.commit());
  CHECK(text_of_file(at / "cpu/m.onnx") == "encoder model");
  CHECK(model_text(opened(at.path()), "e", "cpu") == "other model");
  CHECK(opened(at.path()).components()[1].variants[0].folder == "cpu-2");
  CHECK(p.prune());
  CHECK(!std::filesystem::exists(at / "cpu"));
  CHECK(model_text(opened(at.path()), "e", "cpu") == "other model");
}

TEST_CASE("28: the dense form has every component in the manifest; the same variant is chosen") {
  const package_folder at, out;
  write_two(at);
  package p = opened(at.path());
  CHECK(p.save_as(out / "new", package_form::dense));
  const package dense = opened(out / "new");
  CHECK(!dense.components()[0].file);
  CHECK(dense.components()[0].variants[0].folder == "decoder/cpu");
  CHECK(chosen_in(dense, "d") == "cpu");
  CHECK(model_text(dense, "d", "cpu") == "decoder model");
  CHECK(!std::filesystem::exists(out / "new/decoder/component.json"));
  CHECK(std::filesystem::exists(out / "new/README.md"));
  package again = opened(at.path());
  CHECK(again.commit(package_form::dense));
  CHECK(model_text(opened(at.path()), "d", "cpu") == "decoder model");
  CHECK(!std::filesystem::exists(at / "decoder/component.json"));
  CHECK(opened(at.path()).save_as(at.path()).code() == status_code::fail);
}

TEST_CASE("20: shared assets are named by their contents") {
  const package_folder at, from;
  from.write("weights/w.bin", "weights");
  package p = *package::make("shared");
  CHECK(p.add_component("main"));
  const result<std::string> uri = p.add_asset(from / "weights");
  REQUIRE_MESSAGE(uri, uri.error().words());
  CHECK(*uri == *hash_folder(from / "weights"));
  CHECK(*p.add_asset(from / "weights") == *uri);
  CHECK(p.add_asset(from / "weights", "sha256:" + std::string(64, '0')).error().code() ==
        status_code::invalid_argument);
  package_variant v = plain_variant("cpu");
  v.session_options = {{"session.model_external_initializers_file_folder_path", *uri}};
  CHECK(p.add_variant("main", v, {}));
  v.name = "bad";
  v.session_options[0].second = "sha256:" + std::string(64, '0');
  CHECK(p.add_variant("main", v, {}).code() == status_code::invalid_argument);
  const status saved = p.save_as(at / "pkg");
  REQUIRE_MESSAGE(saved, words_of(saved));
  package_open_options options;
  options.verify_assets = true;
  package read = opened(at / "pkg", options);
  REQUIRE(read.assets().size() == 1);
  CHECK(text_of_file(*read.resolve({}, *uri + "/w.bin", true)) == "weights");
  CHECK((*read.prune(true, true)).empty());  // the manifest names the asset
  CHECK(read.remove_variant("main", "cpu"));
  CHECK(!read.prune());
  CHECK(read.commit());
  CHECK((*read.prune()).empty());
  CHECK((*read.prune(false, true)).size() == 1);
  CHECK(!std::filesystem::exists(at / ("pkg/" + std::string{"shared_assets/sha256-"} + uri->substr(7))));
}

TEST_CASE("10: fields of a later minor version are kept by a commit") {
  const package_folder at;
  at.write("manifest.json", R"({"schema_version": "1.9", "novel": {"a": 1}, "components": {"main": {"beside": 2,
    "variants": {"v": {"later": [3], "additional_metadata": {"deep": null}}}}}})");
  package p = opened(at.path());
  p.set_description("now");
  CHECK(p.commit());
  const package read = opened(at.path());
  CHECK(read.schema_version() == std::pair{1, 9});
  CHECK(read.unknown() == R"({"novel":{"a":1}})");
  CHECK(read.components()[0].unknown == R"({"beside":2})");
  CHECK(read.components()[0].variants[0].unknown == R"({"later":[3]})");
  CHECK(read.components()[0].variants[0].metadata == R"({"deep":null})");
}

TEST_CASE("prune leaves everything that a text in the package names") {
  const package_folder at;
  at.write("manifest.json", R"({"schema_version": "1.0", "additional_metadata": {"tokenizer": "extra/tokenizer"},
    "components": {"main": {"variants": {"v": {"executor_info": {"mine": {"draft": "../draft/x.onnx", "own": "plain"}}}}}}})");
  at.make("v").write("extra/tokenizer/t.onnx", "t").write("plain/p.onnx", "p").write("docs/page.md", "d");
  at.write("gone/m.onnx", "g").write(".v.12.0.tmp/m", "left").write("manifest.json.12.0.tmp", "left");
  at.write("shared_assets/.sha256-ab.1.0.tmp/f", "left").write("notes.tmp", "mine");
  package p = opened(at.path());
  const auto found = p.prune();
  REQUIRE_MESSAGE(found, found.error().words());
  CHECK(*found ==
        std::vector<std::string>{".v.12.0.tmp", "gone", "manifest.json.12.0.tmp", "shared_assets/.sha256-ab.1.0.tmp"});
  for (const char* left : {"extra/tokenizer/t.onnx", "plain/p.onnx", "docs/page.md", "notes.tmp", "v"})
    CHECK_MESSAGE(std::filesystem::exists(at / left), left);
}

namespace {

/// True if the system call that a stopped child is about to make can change files.
bool is_about_to_write(pid_t child) {
  __ptrace_syscall_info info{};
  REQUIRE(::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof info, &info) > 0);
  if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return false;
  static constexpr std::uint64_t writing[] = {SYS_write,    SYS_fsync,  SYS_mkdirat, SYS_renameat, SYS_renameat2,
                                              SYS_unlinkat,
#ifdef SYS_mkdir
                                              SYS_mkdir,    SYS_rename, SYS_unlink,  SYS_rmdir
#endif
  };
  if (info.entry.nr == SYS_openat) return (info.entry.args[2] & O_CREAT) != 0;
  return std::find(std::begin(writing), std::end(writing), info.entry.nr) != std::end(writing);
}

/// Runs `work` in a child that is killed just before its n-th system call that changes files. Returns whether the child
/// made that many.
template <class Work>
bool killed_at(int n, Work work) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    work();
    ::_exit(0);
  }
  int state = 0;
  REQUIRE(::waitpid(child, &state, 0) == child);
  REQUIRE_MESSAGE(WIFSTOPPED(state), "the child cannot be traced");
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
  for (int seen = 0; seen < n;) {
    REQUIRE(::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0);
    REQUIRE(::waitpid(child, &state, 0) == child);
    if (WIFEXITED(state)) return false;
    REQUIRE(WIFSTOPPED(state));
    if (is_about_to_write(child)) ++seen;
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &state, 0);
  return true;
}

/// The contents of a package that a reader gets: components, variants and the bytes of their models.
std::string facts_of(const std::string& folder) {
  const package p = opened(folder);
  std::string made;
  for (const package_component& c : p.components())
    for (const package_variant& v : c.variants) {
      const std::string text = model_text(p, c.name, v.name);
      made += c.name + "/" + v.name + "=" + text + ";";
    }
  return made;
}

template <class Edit>
void survives_kills(Edit edit) {
  const package_folder original;
  write_two(original);
  const std::string before = facts_of(original.path());
  std::string after;
  {
    const package_folder at;
    std::filesystem::copy(original.path(), at.path(), std::filesystem::copy_options::recursive);
    edit(at.path());
    after = facts_of(at.path());
  }
  REQUIRE(before != after);
  int kills = 0, old_ones = 0;
  for (int n = 1;; ++n, ++kills) {
    const package_folder at;
    std::filesystem::copy(original.path(), at.path(), std::filesystem::copy_options::recursive);
    if (!killed_at(n, [&] { edit(at.path()); })) break;
    const std::string now = facts_of(at.path());
    CHECK((now == before || now == after));
    old_ones += now == before;
    if (now != before && now != after) break;
  }
  CHECK(old_ones > 0);
  CHECK(old_ones < kills);
  MESSAGE("killed at " << kills << " writes, " << old_ones << " of them before the new package was there");
}

}  // namespace

TEST_CASE("a commit that is killed at any write leaves the old package or the new one") {
  const package_folder from;
  from.write("m.onnx", "new model");
  survives_kills([&](const std::string& folder) {
    result<package> p = package::open(folder);
    if (!p) return;
    // Both components change, which are in two files, and one variant is replaced.
    (void)p->remove_variant("d", "cpu");
    (void)p->add_variant("d", plain_variant("cpu"), from.path());
    (void)p->add_variant("e", plain_variant("fast"), from.path());
    (void)p->commit();
  });
}

TEST_CASE("a commit of one external component that is killed leaves the old package or the new one") {
  const package_folder from;
  from.write("m.onnx", "new model");
  survives_kills([&](const std::string& folder) {
    result<package> p = package::open(folder);
    if (!p) return;
    (void)p->add_variant("d", plain_variant("fast"), from.path());
    (void)p->remove_variant("d", "cpu");
    (void)p->commit();
  });
}

TEST_CASE("a saved package is complete or absent, even if the process is killed") {
  const package_folder original;
  write_two(original);
  int kills = 0, complete = 0;
  for (int n = 1;; ++n, ++kills) {
    const package_folder at;
    const auto save = [&] {
      result<package> p = package::open(original.path());
      if (p) (void)p->save_as(at / "new");
    };
    if (!killed_at(n, save)) break;
    if (!std::filesystem::exists(at / "new")) continue;
    ++complete;
    CHECK(facts_of(at / "new") == facts_of(original.path()));
  }
  CHECK(complete > 0);
  CHECK(complete < kills);
}

TEST_CASE("a folder that contains the package is not copied into it") {
  const package_folder at;
  at.write("m.onnx", "model");
  package p = *package::make("inside");
  CHECK(p.add_component("main"));
  CHECK(p.add_variant("main", plain_variant("cpu"), at.path()));
  const status saved = p.save_as(at / "pkg");
  CHECK(saved.code() == status_code::invalid_argument);
  CHECK(files_below(at.path()).size() == 1);
  const package_folder elsewhere;
  CHECK(p.save_as(elsewhere / "pkg"));
}
