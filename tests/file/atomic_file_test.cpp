// Tests the destinations of files that are written, and the leftovers of killed writers.
#include <cameo/file/atomic_file.hpp>
#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cameo::test {
namespace {

namespace fs = std::filesystem;

/// A temporary folder, which the destructor removes.
struct folder {
  fs::path path;
  folder() {
    std::string name = fs::temp_directory_path() / "cameo_file_XXXXXX";
    path = ::mkdtemp(name.data());
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { fs::remove_all(path); }
  std::string operator/(std::string_view name) const { return path / name; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& each : fs::directory_iterator{path}) all.push_back(each.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }
};

std::string slurp(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}
void spill(const std::string& path, std::string_view text) { std::ofstream{path, std::ios::binary} << text; }

status write(const std::string& path, std::string_view text) { return write_file_atomically(path, text); }
std::string verdict(const status& s) { return s ? "OK" : std::string{s.name()} + ": " + std::string{s.words()}; }
bool says(const status& s, std::string_view words) { return s.words().find(words) != std::string_view::npos; }

/// The bytes that are written to a pipe until its last writer closes it.
std::future<std::string> reader_of(const std::string& fifo) {
  return std::async(std::launch::async, [fifo] { return slurp(fifo); });
}

TEST_CASE("links are followed, also several, relative ones and one whose target does not exist yet") {
  const folder at;
  fs::create_directories(at / "far/away");
  spill(at / "far/file", "old");
  fs::create_symlink("../file", at / "far/away/second");
  fs::create_symlink("far/away/second", at / "first");
  fs::create_symlink("far/new", at / "to_be");
  CHECK(verdict(write(at / "first", "new")) == "OK");
  CHECK(verdict(write(at / "to_be", "made")) == "OK");
  CHECK(slurp(at / "far/file") == "new");
  CHECK(slurp(at / "far/new") == "made");
  for (const char* link : {"first", "to_be", "far/away/second"}) CHECK(fs::is_symlink(at / link));
  CHECK(!fs::is_symlink(at / "far/file"));
}

TEST_CASE("folders are refused, also behind a link, and links in a cycle or into a missing folder are errors") {
  const folder at;
  fs::create_directory(at / "folder");
  spill(at / "folder/file", "kept");
  fs::create_symlink("folder", at / "link");
  fs::create_symlink("round", at / "about");
  fs::create_symlink("about", at / "round");
  fs::create_symlink("nowhere/file", at / "astray");
  for (const char* name : {"folder", "folder/", "link", "link/"}) {
    const status s = write(at / name, "new");
    CHECK(s.code() == status_code::fail);
    CHECK_MESSAGE(says(s, "is a folder"), verdict(s));
  }
  CHECK(says(write(at / "about", "new"), std::strerror(ELOOP)));
  CHECK(says(write(at / "astray", "new"), std::strerror(ENOENT)));
  CHECK(says(write("", "new"), "empty"));
  CHECK(at.names() == std::vector<std::string>{"about", "astray", "folder", "link", "round"});
  CHECK(slurp(at / "folder/file") == "kept");
}

/// A device node that the test may damage. If the user may not create one, the system's device is returned, which the
/// user can't replace.
std::string device_in(const folder& at, const std::string& name, unsigned minor) {
  if (::mknod((at / name).c_str(), S_IFCHR | 0600, makedev(1, minor)) == 0) return at / name;
  REQUIRE_MESSAGE(::geteuid() != 0, "root may not make a device here: ", std::strerror(errno));
  return "/dev/" + name;
}

TEST_CASE("pipes and devices are written to, also through links, and are not replaced") {
  const folder at;
  REQUIRE(::mkfifo((at / "fifo").c_str(), 0600) == 0);
  fs::create_symlink("fifo", at / "link");
  for (const char* name : {"fifo", "link"}) {
    std::future<std::string> read = reader_of(at / "fifo");
    CHECK(verdict(write(at / name, "through")) == "OK");
    CHECK(read.get() == "through");
    CHECK(fs::is_fifo(at / "fifo"));
  }
  const std::string full = device_in(at, "full", 7), null = device_in(at, "null", 3);
  fs::create_symlink(full, at / "to_full");
  fs::create_symlink(null, at / "to_null");
  for (const std::string& path : {full, at / "to_full"}) {
    const status s = write(path, "text");
    CHECK_MESSAGE(says(s, std::strerror(ENOSPC)), verdict(s));
    CHECK(fs::is_character_file(path));
  }
  for (const std::string& path : {null, at / "to_null"}) {
    CHECK(verdict(write(path, "text")) == "OK");
    CHECK(fs::is_character_file(path));
  }
  for (const std::string& name : at.names()) CHECK(name.find(".tmp") == name.npos);
}

TEST_CASE("a descriptor that a path names is written to at its position") {
  const folder at;
  spill(at / "file", "before ");
  const int opened = ::open((at / "file").c_str(), O_WRONLY | O_APPEND);
  REQUIRE(opened >= 0);
  const std::string number = std::to_string(opened);
  fs::create_symlink("/dev/fd/" + number, at / "link");
  for (const std::string& path : {"/dev/fd/" + number, "/proc/self/fd/" + number, at / "link"})
    CHECK(verdict(write(path, "more ")) == "OK");
  REQUIRE(::write(opened, "end", 3) == 3);
  ::close(opened);
  CHECK(slurp(at / "file") == "before more more more end");

  int ends[2];
  REQUIRE(::pipe(ends) == 0);  // a pipe has no path, and the target of its link in /proc is not one
  CHECK(verdict(write("/dev/fd/" + std::to_string(ends[1]), "text")) == "OK");
  char got[5] = {};
  CHECK(::read(ends[0], got, 4) == 4);
  CHECK(std::string_view{got} == "text");
  ::close(ends[0]), ::close(ends[1]);
}

TEST_CASE("a reader that closes the pipe is an error with a message, and no signal") {
  const folder at;
  REQUIRE(::mkfifo((at / "fifo").c_str(), 0600) == 0);
  const auto before = std::signal(SIGPIPE, SIG_DFL);
  const int reader = ::open((at / "fifo").c_str(), O_RDONLY | O_NONBLOCK);
  const status s = write_file_atomically(at / "fifo", [&](auto append) -> status {
    ::close(reader);
    const std::string text(100000, 'x');
    return append(std::as_bytes(std::span{text}));
  });
  CHECK_MESSAGE(says(s, std::strerror(EPIPE)), verdict(s));
  sigset_t waiting;
  sigpending(&waiting);
  CHECK(sigismember(&waiting, SIGPIPE) == 0);
  std::signal(SIGPIPE, before);
}

TEST_CASE("in a folder that all users may write to, only links of its owner or of this user are followed") {
  const folder at;
  fs::create_directory(at / "everybodys");
  REQUIRE(::chmod((at / "everybodys").c_str(), 01777) == 0);
  spill(at / "file", "kept");
  fs::create_symlink("../file", at / "everybodys/mine");
  CHECK(verdict(write(at / "everybodys/mine", "new")) == "OK");
  CHECK(slurp(at / "file") == "new");
  fs::create_symlink("../file", at / "everybodys/planted");
  if (::lchown((at / "everybodys/planted").c_str(), 12345, 12345) != 0) {
    CHECK(::geteuid() != 0);  // only root can create another user's link for the test
    return;
  }
  const status s = write(at / "everybodys/planted", "by another");
  CHECK(s.code() == status_code::fail);
  CHECK(slurp(at / "file") == "new");
}

TEST_CASE("a file that is replaced keeps its permissions") {
  const folder at;
  spill(at / "secret", "old");
  REQUIRE(::chmod((at / "secret").c_str(), 0600) == 0);
  CHECK(verdict(write(at / "secret", "new")) == "OK");
  struct stat facts{};
  REQUIRE(::stat((at / "secret").c_str(), &facts) == 0);
  CHECK((facts.st_mode & 07777) == 0600);
}

TEST_CASE("a file whose name has the greatest length is written") {
  const folder at;
  for (const std::size_t length : {228, 229, 230, 254, 255}) {
    const std::string name(length, 'n');
    CHECK(verdict(write(at / name, "text")) == "OK");
    CHECK(slurp(at / name) == "text");
  }
}

TEST_CASE("a batch refuses two names of one file") {
  const folder at;
  spill(at / "file", "old");
  fs::create_symlink("file", at / "link");
  fs::create_symlink("new", at / "to_be");
  const auto make = [](auto append) { return append(std::as_bytes(std::span{"text", 4})); };
  for (const auto& [one, other] : {std::pair{"file", "link"}, {"new", "to_be"}, {"same", "same"}}) {
    file_batch both;
    CHECK(verdict(both.add(at / one, make)) == "OK");
    const status s = both.add(at / other, make);
    CHECK_MESSAGE(says(s, "is the same file as"), verdict(s));
  }
  CHECK(slurp(at / "file") == "old");
  CHECK(at.names() == std::vector<std::string>{"file", "link", "to_be"});
}

TEST_CASE("a file of a batch that must be new replaces none, and then nothing of the batch is written") {
  const folder at;
  const auto make = [](auto append) { return append(std::as_bytes(std::span{"text", 4})); };
  for (const bool is_late : {true, false}) {
    {
      file_batch pair;
      if (!is_late) spill(at / "model", "other");
      REQUIRE(verdict(pair.add(at / "context", make)) == "OK");
      REQUIRE(verdict(pair.add_new(at / "model", make)) == "OK");
      if (is_late) spill(at / "model", "other");
      CHECK(says(pair.commit(), "was made by another program meanwhile"));
    }
    CHECK(at.names() == std::vector<std::string>{"model"});
    CHECK(slurp(at / "model") == "other");
    fs::remove(at / "model");
  }
  file_batch pair;
  REQUIRE(verdict(pair.add(at / "context", make)) == "OK");
  REQUIRE(verdict(pair.add_new(at / "model", make)) == "OK");
  CHECK(verdict(pair.commit()) == "OK");
  CHECK(at.names() == std::vector<std::string>{"context", "model"});
}

TEST_CASE("what a batch requires is checked before any of its files gets its name") {
  const folder at;
  const auto make = [](auto append) { return append(std::as_bytes(std::span{"text", 4})); };
  file_batch pair;
  bool holds = false;
  REQUIRE(verdict(pair.add(at / "one", make)) == "OK");
  REQUIRE(verdict(pair.add(at / "two", make)) == "OK");
  pair.require([&] {
    CHECK(!fs::exists(at / "one"));
    return holds ? status{} : status{status_code::fail, "not yet"};
  });
  CHECK(verdict(pair.commit()) == "FAIL: not yet");
  CHECK(!fs::exists(at / "one"));
  holds = true;
  CHECK(verdict(pair.commit()) == "OK");
  CHECK(at.names() == std::vector<std::string>{"one", "two"});
}

TEST_CASE("two threads that write one pair of files do not mix them: one batch is committed after the other") {
  const folder at;
  const auto add_pair = [&](file_batch& to, const std::string& text) {
    const auto make = [text](auto append) { return append(std::as_bytes(std::span{text})); };
    REQUIRE(verdict(to.add(at / "context", make)) == "OK");
    REQUIRE(verdict(to.add(at / "model", make)) == "OK");
  };
  file_batch first, second;
  add_pair(first, "one");
  add_pair(second, "two");
  std::atomic<bool> is_second_done = false;
  std::thread other;
  first.require([&]() -> status {
    other = std::thread{[&] {
      CHECK(verdict(second.commit()) == "OK");
      is_second_done = true;
    }};
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    CHECK(!is_second_done);
    CHECK(!fs::exists(at / "context"));
    return {};
  });
  CHECK(verdict(first.commit()) == "OK");
  other.join();
  CHECK(is_second_done);
  CHECK(slurp(at / "context") == "two");
  CHECK(slurp(at / "model") == "two");
  CHECK(at.names() == std::vector<std::string>{"context", "model"});
}

/// Starts a child process that runs `work` and then exits.
pid_t child_that(const std::function<void()>& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  return child;
}

TEST_CASE("temporary files of a killed writer are removed by the next writer of that file, and by no other") {
  const folder at;
  for (const std::string& name : {std::string{"out.html"}, std::string(255, 'n')}) {
    const pid_t child = child_that([&] {
      static_cast<void>(write_file_atomically(at / name, [](auto append) -> status {
        static_cast<void>(append(std::as_bytes(std::span{"half", 4})));
        ::raise(SIGKILL);
        return {};
      }));
    });
    int how = 0;
    REQUIRE(::waitpid(child, &how, 0) == child);
    REQUIRE(WIFSIGNALED(how));
    const auto left = at.names();
    REQUIRE(std::count_if(left.begin(), left.end(), [](const auto& each) { return each.ends_with(".tmp"); }) == 1);
    CHECK(verdict(write(at / "other", "text")) == "OK");
    CHECK(at.names().size() == left.size() + 1);
    fs::remove(at / "other");
    CHECK(verdict(write(at / name, "text")) == "OK");
    CHECK(at.names() == std::vector<std::string>{name});
    fs::remove(at / name);
  }
}

TEST_CASE("temporary files of a running writer stay, and so do files with similar names") {
  const folder at;
  int go[2], done[2];
  REQUIRE(::pipe(go) == 0);
  REQUIRE(::pipe(done) == 0);
  const pid_t child = child_that([&] {
    const status s = write_file_atomically(at / "out", [&](auto append) -> status {
      char byte = 0;
      const bool told = ::write(done[1], "x", 1) == 1 && ::read(go[0], &byte, 1) == 1;
      return told ? append(std::as_bytes(std::span{"the child's", 11})) : status{status_code::fail};
    });
    ::_exit(s ? 0 : 1);
  });
  char byte = 0;
  REQUIRE(::read(done[0], &byte, 1) == 1);
  std::vector<std::string> alike{"out.tmp", "out.x.0.tmp", "out.99999999.tmp", "out.99999999.0.tmp.txt",
                                 "out.-5.0.tmp"};
  for (const std::string& name : alike) spill(at / name, "mine");
  spill(at / "target", "mine");
  fs::create_symlink("target", at / "out.99999999.7.tmp");
  CHECK(verdict(write(at / "out", "the parent's")) == "OK");
  for (const std::string& name : alike) CHECK(fs::exists(at / name));
  CHECK(fs::is_symlink(at / "out.99999999.7.tmp"));
  REQUIRE(::write(go[1], "x", 1) == 1);
  int how = 0;
  REQUIRE(::waitpid(child, &how, 0) == child);
  CHECK(how == 0);
  CHECK(slurp(at / "out") == "the child's");
  for (const int each : {go[0], go[1], done[0], done[1]}) ::close(each);
}

TEST_CASE("a model and its data are written together or not at all") {
  const folder at;
  model m;
  m.ir_version = 8;
  m.imports.push_back({"", 17});
  static const std::vector<float> weights(1000, 1.0f);
  const value_id w = m.main().add_value("w");
  m.main().add_initializer(w, m.memory.keep(value::tensor(dtype::f32, {1000}, weights.data())));
  m.main().add_output(w);
  write_options outside;
  outside.external_data = "w.bin";
  fs::create_symlink("w.bin", at / "same.onnx");
  CHECK(says(write_onnx(m, at / "same.onnx", outside), "is the same file as"));
  fs::create_directory(at / "folder.onnx");
  CHECK(says(write_onnx(m, at / "folder.onnx", outside), "is a folder"));
  CHECK(at.names() == std::vector<std::string>{"folder.onnx", "same.onnx"});
  CHECK(verdict(write_onnx(m, at / "m.onnx", outside)) == "OK");
  CHECK(fs::file_size(at / "w.bin") == 4000);
}

}  // namespace
}  // namespace cameo::test
