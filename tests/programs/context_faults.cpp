// Makes each system call that writes or reads compiled models fail, one after the other, and checks that no file is
// written partially, that files that existed before are complete, and that the status names the file. The program
// defines the functions of the C library for these calls itself; they make the real call unless it is to fail.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include "../../eps/frozen/tests/frozen_models.hpp"

#include <cerrno>
#include <cstdarg>
#include <set>

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

enum class call : int { open, make, write, sync, close, rename, link, facts, map, count };
constexpr const char* names[] = {"open", "make", "write", "sync", "close", "rename", "link", "facts", "map"};

constexpr int killed = 99;  // the exit status of a process that was to be killed

/// The call that is to fail, and how. Only one thread may run while it is armed.
struct fault {
  bool armed = false;
  call which = call::count;
  int at = 0;               // the number of the call
  int error = 0;            // the errno of the failure; 0: the call does not fail
  bool lasts = false;       // later calls fail, too
  bool kills = false;       // the process ends before the call
  bool shortens = false;    // write: half of the bytes are written; facts: the file is truncated after the call
  std::string folder = {};  // only files whose paths contain this
  int seen[int(call::count)] = {};
  std::array<bool, 1024> ours = {}, made = {};  // descriptors of files in the folder; of those that were created

  bool covers(const char* path) const { return armed && std::strstr(path, folder.c_str()); }
  bool covers(int descriptor) const {
    return armed && descriptor >= 0 && descriptor < int(ours.size()) && ours[std::size_t(descriptor)];
  }
  bool hits(call c) {
    const int number = seen[int(c)]++;
    const bool hit = c == which && (number == at || (lasts && number > at));
    if (hit && kills) ::_exit(killed);
    return hit;
  }
};
fault plan;

long failed(int error) {
  errno = error;
  return -1;
}

}  // namespace

namespace {

/// The path of a name relative to an open folder.
std::string path_in(int folder, const char* name) {
  if (folder == AT_FDCWD || *name == '/') return name;
  char real[4096];
  const ssize_t size = ::readlink(("/proc/self/fd/" + std::to_string(folder)).c_str(), real, sizeof real);
  return std::string(real, size > 0 ? std::size_t(size) : 0) + "/" + name;
}

/// Opens a file unless the call is to fail. Opening folders, and files with O_PATH, does not count.
template <class Open>
int open_unless_hit(int folder, const char* path, int flags, Open&& really) {
  const bool known = plan.armed && !(flags & (O_DIRECTORY | O_PATH)) && plan.covers(path_in(folder, path).c_str());
  if (known && plan.hits(flags & O_CREAT ? call::make : call::open) && plan.error) return int(failed(plan.error));
  const long descriptor = really();
  if (known && descriptor >= 0 && descriptor < long(plan.ours.size())) {
    plan.ours[std::size_t(descriptor)] = true;
    plan.made[std::size_t(descriptor)] = flags & O_CREAT;
  }
  return int(descriptor);
}

}  // namespace

extern "C" {
int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = flags & O_CREAT ? va_arg(more, int) : 0;
  va_end(more);
  return open_unless_hit(AT_FDCWD, path, flags, [&] { return ::syscall(SYS_openat, AT_FDCWD, path, flags, mode); });
}
int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = flags & O_CREAT ? va_arg(more, int) : 0;
  va_end(more);
  return open_unless_hit(folder, path, flags, [&] { return ::syscall(SYS_openat, folder, path, flags, mode); });
}
/// The library calls openat2 by syscall(), because the C library has no function for it. The number of arguments is
/// unknown, so six, the largest number, are passed on.
__attribute__((no_sanitize("address"))) long syscall(long number, ...) noexcept {
  static const auto really = reinterpret_cast<long (*)(long, ...)>(::dlsym(RTLD_NEXT, "syscall"));
  long a[6];
  va_list more;
  va_start(more, number);
  for (long& each : a) each = va_arg(more, long);
  va_end(more);
  const auto pass_on = [&] { return really(number, a[0], a[1], a[2], a[3], a[4], a[5]); };
  if (number != SYS_openat2) return pass_on();
  const auto* const how = reinterpret_cast<const open_how*>(a[2]);
  return open_unless_hit(int(a[0]), reinterpret_cast<const char*>(a[1]), int(how->flags), pass_on);
}
ssize_t write(int descriptor, const void* bytes, std::size_t count) {
  if (plan.covers(descriptor) && plan.hits(call::write)) {
    if (plan.error) return failed(plan.error);
    if (plan.shortens) count = (count + 1) / 2;
  }
  return ::syscall(SYS_write, descriptor, bytes, count);
}
int fsync(int descriptor) {
  if (plan.covers(descriptor) && plan.hits(call::sync)) return int(failed(plan.error));
  return 0;  // the test does not need the bytes on the disk
}
int close(int descriptor) {
  const bool known = plan.covers(descriptor) && plan.made[std::size_t(descriptor)];
  if (plan.covers(descriptor)) plan.ours[std::size_t(descriptor)] = plan.made[std::size_t(descriptor)] = false;
  const int done = int(::syscall(SYS_close, descriptor));
  return known && plan.hits(call::close) ? int(failed(plan.error)) : done;
}
int rename(const char* from, const char* to) noexcept {
  if (plan.covers(to) && plan.hits(call::rename)) return int(failed(plan.error));
  return int(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  if (plan.covers(to) && plan.hits(call::rename)) return int(failed(plan.error));
  return int(::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags));
}
int link(const char* from, const char* to) noexcept {
  if (plan.covers(to) && plan.hits(call::link)) return int(failed(plan.error));
  return int(::syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int fstat(int descriptor, struct stat* facts) noexcept {
  const bool hit = plan.covers(descriptor) && plan.hits(call::facts);
  if (hit && plan.error) return int(failed(plan.error));
  const int done = int(::syscall(SYS_newfstatat, descriptor, "", facts, AT_EMPTY_PATH));
  if (hit && plan.shortens) {
    // The descriptor is open for reading only, so the file is truncated by its path.
    const std::string self = "/proc/self/fd/" + std::to_string(descriptor);
    (void)::truncate(self.c_str(), facts->st_size / 2);
  }
  return done;
}
void* mmap(void* where, std::size_t bytes, int protection, int flags, int descriptor, off_t offset) noexcept {
  if (plan.covers(descriptor) && plan.hits(call::map)) return failed(plan.error), MAP_FAILED;
  return reinterpret_cast<void*>(::syscall(SYS_mmap, where, bytes, protection, flags, descriptor, offset));
}
}

namespace cameo::test {
namespace {

/// The files of a folder with their bytes.
std::map<std::string, std::string> contents(const scratch_folder& folder) {
  std::map<std::string, std::string> all;
  for (const std::string& name : folder.files()) all[name] = slurp(folder / name);
  return all;
}

/// Compiles a model into four files: the contexts of two providers, a file of initializers, and the model.
result<compile_report> compile(ref_runtime& ref, const std::string& input, const std::string& output) {
  compile_options options;
  options.input = input, options.output = output;
  options.session.providers = {"RefA", "RefB", "cpu"};
  options.external_initializers = "ini.bin";
  return ref.compile(std::move(options));
}

/// The model plain(), followed by a Sigmoid and a product, which run on cpu.
std::unique_ptr<model> with_a_tail(float scale) {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4)});
  const value_id y = b.node("Relu", {b.node("MatMul", {x, b.constant("w", {4, 3}, ramp(12, scale))})});
  b.output(b.node("Mul", {b.node("Sigmoid", {y}), b.constant("c", {3}, ramp(3, scale))}));
  return b.take();
}

struct outcome {
  status_code code;
  std::string words;
};

/// Runs `work` with the n-th call of a kind failing, for n from 0 until there is no such call. Returns the outcomes.
template <class Work>
std::vector<outcome> with_each(fault kind, const scratch_folder& folder, Work&& work) {
  std::vector<outcome> all;
  for (int n = 0; n < 1000; ++n) {
    fault next = kind;
    next.at = n, next.folder = folder / "", next.armed = true;
    plan = next;
    const status done = work();
    const bool came = plan.seen[int(kind.which)] > n;
    plan = {};
    if (!came) return all;
    all.push_back({done.code(), std::string{done.words()}});
  }
  FAIL("no end");
  return all;
}

struct row {
  call which;
  int error;
  bool shortens, may_pass;  // may_pass: `work` must succeed
  const char* words;        // words in the message of the status
};
const row writing[] = {{call::make, EACCES, false, false, "Permission denied"},
                       {call::make, ENOSPC, false, false, "No space left"},
                       {call::make, EINTR, false, true, ""},
                       {call::write, ENOSPC, false, false, "No space left"},
                       {call::write, EIO, false, false, "Input/output error"},
                       {call::write, EINTR, false, true, ""},
                       {call::write, 0, true, true, ""},
                       {call::sync, EIO, false, false, "Input/output error"},
                       {call::sync, EINTR, false, true, ""},
                       {call::close, EIO, false, false, "Input/output error"},
                       {call::close, EINTR, false, true, ""},
                       {call::rename, EACCES, false, false, "Permission denied"},
                       {call::link, EPERM, false, true, ""}};

/// Checks that each failure of a kind leaves all files as before, or complete. `at_least`: the least number of calls
/// that there must be, so that something is tested.
template <class Prepare, class Work>
void check_writing(const row& r, int at_least, const scratch_folder& folder, Prepare&& prepare, Work&& work) {
  CAPTURE(std::string{names[int(r.which)]});
  CAPTURE(r.error);
  fault kind;
  kind.which = r.which, kind.error = r.error, kind.shortens = r.shortens;
  std::map<std::string, std::string> before, complete;
  prepare();
  REQUIRE(verdict(work()) == "OK");
  complete = contents(folder);
  const auto outcomes = with_each(kind, folder, [&] {
    fault armed = std::exchange(plan, {});
    prepare();
    before = contents(folder);
    plan = std::move(armed);
    const status done = work();
    plan.armed = false;
    const auto after = contents(folder);
    if (done) CHECK(after == complete);
    else CHECK(after == before);
    return done;
  });
  CHECK(int(outcomes.size()) >= at_least);
  for (const outcome& o : outcomes) {
    CAPTURE(o.words);
    CHECK((o.code == status_code::ok) == r.may_pass);
    if (r.may_pass) continue;
    CHECK(o.code == status_code::fail);
    CHECK(o.words.find(folder / "") != std::string::npos);
    CHECK(o.words.find(r.words) != std::string::npos);
  }
}

TEST_CASE("a compiled model is there with all its files or not at all, whichever call fails") {
  for (const row& r : writing) {
    const scratch_folder folder;
    ref_runtime ref;
    ref.a.declines = "Relu";
    save(*with_a_tail(0.001f), folder / "m.onnx");
    const auto nothing = [&] {
      for (const char* name : {"c.onnx", "c_RefA.bin", "c_RefB.bin", "ini.bin"}) fs::remove(folder / name);
    };
    const auto work = [&]() -> status {
      const auto report = compile(ref, folder / "m.onnx", folder / "c.onnx");
      return report ? status{} : status{report.error()};
    };
    const bool once_each = r.which != call::link;  // link is called only to restore files that existed before
    check_writing(r, once_each ? 4 : 0, folder, nothing, work);
  }
}

TEST_CASE("a compiled model that is to be replaced stays whole, whichever call fails") {
  for (const row& r : writing) {
    const scratch_folder folder;
    ref_runtime ref;
    ref.a.declines = "Relu";
    save(*with_a_tail(0.001f), folder / "m.onnx");
    save(*with_a_tail(0.002f), folder / "n.onnx");
    REQUIRE(verdict(compile(ref, folder / "n.onnx", folder / "c.onnx")) == "OK");
    const auto old = contents(folder);
    const auto put_old = [&] {
      for (const auto& [name, bytes] : old) spill(folder / name, bytes);
    };
    const auto work = [&]() -> status {
      const auto report = compile(ref, folder / "m.onnx", folder / "c.onnx");
      return report ? status{} : status{report.error()};
    };
    check_writing(r, 4, folder, put_old, work);
  }
}

TEST_CASE("the context that models share is there with the last model or not at all") {
  for (const row& r : writing) {
    const scratch_folder folder;
    std::optional<ref_runtime> ref;
    saved(folder, "c1.onnx"), saved(folder, "c2.onnx", true);
    const auto prepare = [&] {
      for (const char* name : {"c1_ctx.onnx", "c2_ctx.onnx", "c1_RefA.bin"}) fs::remove(folder / name);
      ref.emplace();
      REQUIRE(verdict(ref->load(folder / "c1.onnx",
                                keys({{"ep.context_enable", "1"}, {"ep.share_ep_contexts", "1"}}))) == "OK");
    };
    const auto work = [&]() -> status {
      const auto s = ref->load(
          folder / "c2.onnx",
          keys({{"ep.context_enable", "1"}, {"ep.share_ep_contexts", "1"}, {"ep.stop_share_ep_contexts", "1"}}));
      return s ? status{} : status{s.error()};
    };
    check_writing(r, r.which == call::link ? 0 : 2, folder, prepare, work);
  }
}

/// A product with ramps of this scale as weights, and an operator.
std::unique_ptr<model> scaled(float scale, const char* op = "Relu") {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {b.symbol("rows"), dim::fixed(8)});
  b.output(b.node(op, {b.node("MatMul", {x, b.constant("w", {8, 16}, ramp(128, scale))})}));
  return b.take();
}

using named_models = std::vector<std::pair<std::string, std::unique_ptr<model>>>;

/// Compiles one model, or several that share a context. All files appear at the end.
status compile_all(const scratch_folder& folder, named_models models) {
  const frozen_runtime with;
  file_batch files;
  for (std::size_t i = 0; i < models.size(); ++i) {
    compile_options options;
    options.input = std::move(models[i].second), options.output = folder / models[i].first, options.files = &files;
    if (models.size() > 1)
      options.session.config = {{"ep.share_ep_contexts", "1"},
                                {"ep.stop_share_ep_contexts", i + 1 == models.size() ? "1" : "0"}};
    if (const auto done = with.compile(std::move(options)); !done) return done.error();
  }
  return files.commit();
}

named_models versions(float scale, bool several) {
  named_models made;
  made.emplace_back("a.onnx", scaled(scale));
  if (several) made.emplace_back("b.onnx", scaled(scale, "Sigmoid"));
  return made;
}

/// The state of a model whose replacement may have been interrupted: "old", "new", or "refused".
std::string state_of(const std::string& path, const char* op) {
  const std::vector<float> x = ramp(24, 0.01f);
  const std::vector<named_input> inputs{{"x", x, extents{3, 8}}};
  const auto s = frozen_runtime{}.load(path);
  if (!s) {
    CHECK_MESSAGE(verdict(s).starts_with("INVALID_GRAPH: " + path), verdict(s));
    CHECK_MESSAGE(verdict(s).find("a_FrozenExecutionProvider.bin") != std::string::npos, verdict(s));
    return "refused";
  }
  const std::string got = bits_of(*s, inputs);
  if (got == bits_of(loaded(scaled(0.01f, op)), inputs)) return "old";
  CHECK(got == bits_of(loaded(scaled(0.03f, op)), inputs));
  return "new";
}

TEST_CASE("killed between two names, a compiled model is the old one, the new one, or refused, shared or not") {
  for (const bool several : {false, true}) {
    std::set<std::string> seen;
    int kills = 0;
    for (int n = 0; n < 100; ++n) {
      const scratch_folder folder;
      REQUIRE(verdict(compile_all(folder, versions(0.01f, several))) == "OK");
      const pid_t child = ::fork();
      REQUIRE(child >= 0);
      if (child == 0) {
        plan = {};
        plan.which = call::rename, plan.at = n, plan.kills = true, plan.folder = folder / "", plan.armed = true;
        ::_exit(compile_all(folder, versions(0.03f, several)) ? 0 : 1);
      }
      int state = 0;
      REQUIRE(::waitpid(child, &state, 0) == child);
      REQUIRE(WIFEXITED(state));
      if (WEXITSTATUS(state) != killed) {
        CHECK(WEXITSTATUS(state) == 0);
        CHECK(state_of(folder / "a.onnx", "Relu") == "new");
        break;
      }
      ++kills;
      seen.insert(state_of(folder / "a.onnx", "Relu"));
      if (several) seen.insert(state_of(folder / "b.onnx", "Sigmoid"));
      // What the killed process left behind does not prevent the next attempt.
      CHECK(verdict(compile_all(folder, versions(0.03f, several))) == "OK");
      CHECK(state_of(folder / "a.onnx", "Relu") == "new");
    }
    CHECK(kills == (several ? 3 : 2));
    CHECK(seen.count("old") == 1);
    CHECK(seen.count("refused") == 1);
  }
}

TEST_CASE("a provider that throws half way, or stops, leaves nothing, and what was there before is whole") {
  for (bool was_there : {false, true})
    for (bool throws : {true, false}) {
      const scratch_folder folder;
      ref_runtime ref;
      saved(folder, "m.onnx", true), saved(folder, "n.onnx");
      if (was_there) REQUIRE(verdict(ref.compile(folder / "n.onnx", folder / "c.onnx")) == "OK");
      const auto before = contents(folder);
      (throws ? ref.a.store_throws : ref.a.store_fails) = true;
      const std::string said = verdict(ref.compile(folder / "m.onnx", folder / "c.onnx"));
      CHECK(said.find("RefA") != said.npos);
      CHECK(said.find("the compiler ") != said.npos);
      CHECK(contents(folder) == before);
      (throws ? ref.a.store_throws : ref.a.store_fails) = false;
      REQUIRE(verdict(ref.compile(folder / "m.onnx", folder / "c.onnx")) == "OK");
      CHECK(near(outputs_of(*ref.load(folder / "c.onnx")), expected(true)));
    }
}

TEST_CASE("a context that can't be read is an error with its path, whichever call fails") {
  const scratch_folder folder;
  ref_runtime ref;
  REQUIRE(verdict(ref.compile(saved(folder, "m.onnx", true), folder / "c.onnx")) == "OK");
  const std::string bytes = slurp(folder / "c_RefA.bin");
  // If one way to open a file fails, the library tries another way. So, if the load must fail, all later calls fail,
  // too.
  const row reading[] = {{call::open, EACCES, false, false, "Permission denied"},
                         {call::open, EMFILE, false, false, "Too many open files"},
                         {call::open, ENOENT, false, false, "no such file"},
                         {call::open, EINTR, false, true, ""},
                         {call::facts, EIO, false, false, "Input/output error"},
                         {call::facts, 0, true, false, "c_RefA.bin"},
                         {call::map, ENODEV, false, false, "No such device"},
                         {call::map, ENOMEM, false, false, "Cannot allocate memory"}};
  for (const row& r : reading) {
    CAPTURE(std::string{names[int(r.which)]});
    CAPTURE(r.error);
    fault kind;
    kind.which = r.which, kind.error = r.error, kind.shortens = r.shortens;
    kind.lasts = !r.may_pass;
    kind.folder = folder / "c_RefA.bin";
    const auto outcomes = with_each(kind, folder, [&] {
      plan.folder = folder / "c_RefA.bin";
      const auto s = ref.load(folder / "c.onnx");
      plan.armed = false;
      if (slurp(folder / "c_RefA.bin") != bytes) spill(folder / "c_RefA.bin", bytes);
      return s ? status{} : status{s.error()};
    });
    REQUIRE(!outcomes.empty());
    if (r.shortens) CHECK(outcomes[0].words.find("became shorter while it was opened") != std::string::npos);
    for (const outcome& o : outcomes) {
      CAPTURE(o.words);
      CHECK((o.code == status_code::ok) == r.may_pass);
      if (r.may_pass) continue;
      CHECK(o.code == (r.error == ENOMEM ? status_code::out_of_memory : status_code::invalid_graph));
      CHECK(o.words.find("c_RefA.bin") != std::string::npos);
      CHECK(o.words.find(fs::path{folder / "c.onnx"}.parent_path().string()) != std::string::npos);
      CHECK(o.words.find(r.words) != std::string::npos);
    }
  }
}

TEST_CASE("22: a path that is refused is not opened") {
  const scratch_folder folder, outside;
  ref_runtime ref;
  REQUIRE(verdict(ref.compile(saved(folder, "m.onnx"), folder / "c.onnx")) == "OK");
  spill(outside / "x.bin", "REFCTX 3.2.0 0\n");
  fs::create_symlink(outside / "x.bin", folder / "link.bin");
  fs::create_directories(folder / "x.bin");
  for (const std::string& name : {outside / "x.bin", std::string{"../"} + (outside / "x.bin").substr(5), std::string{},
                                  std::string{"link.bin"}, std::string{"x.bin"}, std::string{"NUL/x.bin"}}) {
    CAPTURE(name);
    edited(folder / "c.onnx", folder / "e.onnx",
           [&](attributes& all, std::size_t) { set(all, text_attribute("ep_cache_context", name)); });
    plan = {};
    plan.folder = ".bin", plan.armed = true;
    const auto s = ref.load(folder / "e.onnx");
    plan.armed = false;
    CHECK(verdict(s).find("INVALID_GRAPH: ") == 0);
    CHECK(plan.seen[int(call::open)] == 0);
  }
  plan = {};
  plan.folder = ".bin", plan.armed = true;
  CHECK(verdict(ref.load(folder / "c.onnx")) == "OK");
  plan.armed = false;
  CHECK(plan.seen[int(call::open)] == 1);
}

TEST_CASE("34: sessions that share open the binary once; others once each") {
  const scratch_folder folder;
  ref_runtime ref;
  saved(folder, "m1.onnx"), saved(folder, "m2.onnx", true);
  auto options = keys({{"ep.context_enable", "1"}, {"ep.share_ep_contexts", "1"}});
  REQUIRE(verdict(ref.load(folder / "m1.onnx", options)) == "OK");
  options.config.emplace_back("ep.stop_share_ep_contexts", "1");
  REQUIRE(verdict(ref.load(folder / "m2.onnx", options)) == "OK");
  for (const char* share : {"1", "0"}) {
    plan = {};
    plan.folder = ".bin", plan.armed = true;
    const auto first = ref.load(folder / "m1_ctx.onnx", keys({{"ep.share_ep_contexts", share}}));
    const auto second = ref.load(folder / "m2_ctx.onnx", keys({{"ep.share_ep_contexts", share}}));
    plan.armed = false;
    CHECK(verdict(first) == "OK");
    CHECK(verdict(second) == "OK");
    CHECK(plan.seen[int(call::open)] == (*share == '1' ? 1 : 2));
    CHECK(plan.seen[int(call::map)] == (*share == '1' ? 1 : 2));
  }
}

}  // namespace
}  // namespace cameo::test
