// Tests of the functions of src/os for processes, libraries and the machine.
#include "os/processes.hpp"

#include <doctest/doctest.h>

#include "os/files.hpp"
#include "os/libraries.hpp"
#include "os/processors.hpp"
#include "os/workers.hpp"

#include <climits>
#include <filesystem>
#include <thread>

namespace cameo::test {
namespace {

/// Answers each byte by its value minus 1, until the pipe is closed. Returns the exit status of the worker, 5.
int count_down(const os::handle& from, const os::handle& to) {
  std::byte each{};
  while (os::read(from, {&each, 1}).value_or(0u) == 1) {
    each = std::byte(std::to_integer<int>(each) - 1);
    if (!os::write(to, {&each, 1})) return 1;
  }
  return 5;
}

os::worker started(std::span<const os::worker* const> others = {}) {
  const auto work = [](const os::handle& from, const os::handle& to) { return count_down(from, to); };
  result<os::worker> made = os::worker::start(work, others);
  REQUIRE_MESSAGE(made, std::string{made.error().words()});
  return *std::move(made);
}

}  // namespace

TEST_CASE("os: a worker answers by its pipe and ends with its exit status when it gets no more") {
  os::worker one = started();
  const os::worker* const first[] = {&one};
  os::worker two = started(first);
  const os::worker* const all[] = {&one, &two};
  const std::byte sent{9};
  CHECK(os::write(two.input(), {&sent, 1}));
  const std::vector<bool> ready = os::wait_for_any(all, std::chrono::seconds{60});
  CHECK(ready == std::vector<bool>{false, true});
  std::byte got{};
  CHECK(os::read(two.output(), {&got, 1}).value_or(0u) == 1);
  CHECK(got == std::byte{8});
  CHECK(os::wait_for_any(all, std::chrono::milliseconds{1}) == std::vector<bool>{false, false});
  const os::process_end end = one.wait();  // although the other one still runs
  CHECK(end.signal.empty());
  CHECK(end.exit_status == 5);
  CHECK(two.wait().exit_status == 5);
}

TEST_CASE("os: a worker that is ended says by what; writing to it is an error then, and no signal") {
  os::worker one = started();
  one.kill();
  const os::worker* const all[] = {&one};
  CHECK(os::wait_for_any(all, std::chrono::seconds{60}) == std::vector<bool>{true});
  std::byte got{};
  CHECK(os::read(one.output(), {&got, 1}).value_or(1u) == 0);
  // When the system ends a process, it closes its pipes one after the other, so a write may succeed for a while.
  bool is_refused = false;
  for (int i = 0; i < 5000 && !is_refused; ++i) {
    is_refused = !os::write(one.input(), {&got, 1});
    if (!is_refused) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  CHECK(is_refused);
  CHECK_FALSE(one.wait().signal.empty());
}

TEST_CASE("os: a process that runs is known, and one that can't be judged counts as running") {
  CHECK(os::is_running(os::process_number()));
  CHECK(os::is_running(0));
  CHECK(os::is_running(UINT_MAX));
  CHECK_FALSE(os::is_running(INT_MAX));  // more than Linux has
  CHECK_FALSE(os::process_name().empty());
  CHECK(os::resident_bytes() > 0);
  CHECK(os::peak_resident_bytes() >= os::resident_bytes() / 2);
  CHECK(os::available_processors() >= 1);
  CHECK(os::machine_memory() > os::resident_bytes());
}

TEST_CASE("os: a library is loaded by its name, and its functions are found") {
  const std::string name = "libm.so.6";
  const result<os::library> loaded = os::library::load(name);
  REQUIRE_MESSAGE(loaded, std::string{loaded.error().words()});
  CHECK(os::library::is_loaded(name));
  auto* const root = loaded->find<double(double)>("sqrt");
  REQUIRE(bool(root));
  CHECK(root(4) == 2);
  CHECK_FALSE(bool(loaded->find<double(double)>("no_such_function")));
  CHECK_FALSE(os::library::is_loaded("libnone.so"));
  const status refused = os::library::load("libnone.so").error();
  CHECK(refused.code() == status_code::fail);
  CHECK(refused.words().find("libnone.so") != std::string_view::npos);
}

TEST_CASE("os: code is found in the file of this program") {
  const std::string file = os::file_of_code(reinterpret_cast<const void*>(&count_down));
  CHECK(file == std::filesystem::canonical("/proc/self/exe").string());
  CHECK(os::file_of_code(nullptr).empty());
}

}  // namespace cameo::test
