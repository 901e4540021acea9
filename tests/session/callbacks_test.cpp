// A program's callbacks may throw, and its task pool may report wrong numbers. Neither terminates the program, and the
// session can be used afterwards.
#include "session/models.hpp"

#include <cameo/op/onnx.hpp>
#include <cameo/run/runner.hpp>
#include <cameo/session/compile.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <istream>
#include <new>
#include <sstream>
#include <stdexcept>
#include <streambuf>
#include <thread>

using namespace cameo;
using namespace cameo::test;

namespace {

[[noreturn]] void lose() { throw std::runtime_error{"it is lost"}; }

std::string said(const status& s) { return std::string{s.name()} + ": " + std::string{s.words()}; }
template <class T>
std::string said(const result<T>& r) {
  return said(r.error());
}

const std::vector<float>& rows() {
  static const std::vector<float> all = ramp(300 * 64);
  return all;
}
result<named_values> run(const session& s, const run_settings& settings = {}) {
  const named_input x{"x", rows(), {300, 64}};
  return s.run({&x, 1}, settings);
}
/// The output of four_branches() for the input rows().
const std::vector<float>& right() {
  static const std::vector<float> all = floats_of((*run(loaded(four_branches())))[0].value);
  return all;
}
bool is_right(const result<named_values>& made) { return made && floats_of((*made)[0].value) == right(); }

/// A pool of threads whose functions can be replaced by a test.
struct odd_pool {
  std::function<std::size_t()> count = [] { return std::size_t{3}; };
  std::function<void()> begin = [] {}, end = [] {}, before_work = [] {};
  std::size_t lane_offset = 0, index_offset = 0;

  std::size_t concurrency() const { return count(); }
  void begin_run() { begin(); }
  void end_run() { end(); }
  void parallel(std::size_t n, task f) {
    before_work();
    std::atomic<std::size_t> next{0};
    std::vector<std::thread> threads;
    for (std::size_t lane = 0; lane < 3; ++lane)
      threads.emplace_back([&, lane] {
        for (std::size_t i = next++; i < n; i = next++) f(i + index_offset, lane + lane_offset);
      });
    for (std::thread& each : threads) each.join();
  }
};
static_assert(scoped_task_pool<odd_pool>);

const execution_mode both_modes[] = {execution_mode::sequential, execution_mode::parallel};

session with_pool(odd_pool& pool, execution_mode mode) {
  session_options options;
  options.execution = mode;
  return loaded(four_branches(), options.use(pool));
}

/// True: the kernel below throws during parallel work, on another thread than the caller's if there is one.
bool kernel_throws = false;
template <class T>
struct throwing_piece {
  static result<throwing_piece> bind(bind_context&) { return throwing_piece{}; }
  status run(run_context& c) const {
    const auto from = c.input<T>(0);
    const result<tensor_view<T>> made = c.output<T>(0, from.shape());
    if (!made) return made.error();
    const tensor_view<T> to = *made;
    const std::thread::id caller = std::this_thread::get_id();
    std::atomic<bool> has_thrown = false;
    c.parallel(64, [&](std::size_t i) {
      if (kernel_throws && (c.lanes() == 1 || std::this_thread::get_id() != caller)) {
        has_thrown = true;
        lose();
      }
      while (kernel_throws && !has_thrown) std::this_thread::sleep_for(std::chrono::milliseconds{1});
      if (i == 0)
        for (std::int64_t k = 0; k < from.count(); ++k) to[k] = -from[k];
    });
    return {};
  }
};
struct piece_provider {
  static constexpr std::string_view name = "piece", long_name = "PieceExecutionProvider";
  using kernels = kernel_list<kernel_entry<op::Neg, since<1>, constrain<"T", float>, throwing_piece>>;
};

std::unique_ptr<model> negation() {
  model_builder b;
  b.output(b.node("Neg", {b.input("x", dtype::f32, {dim::fixed(3)})}));
  return b.take();
}

/// Device memory whose hooks throw if a test sets it so.
struct losing_memory {
  static constexpr std::string_view name = "losing", long_name = "LosingExecutionProvider";
  bool allocates = true, copies = true;
  bool claims(const node_view& n) const { return n.op_type() == "Neg"; }
  status execute(const step_view&, run_context& c) const { return c.forward(0, c.input(0)); }
  void* allocate(std::size_t bytes, std::size_t) const {
    if (!allocates) lose();
    return std::malloc(bytes);
  }
  void release(void* memory, std::size_t) const {
    std::free(memory);
    lose();
  }
  status copy_from_host(void* to, const void* from, std::size_t bytes) const {
    if (!copies) lose();
    return std::memcpy(to, from, bytes), status{};
  }
  status copy_to_host(void* to, const void* from, std::size_t bytes) const {
    return std::memcpy(to, from, bytes), status{};
  }
};

}  // namespace

TEST_CASE("a task pool of 0 lanes is INVALID_ARGUMENT, when a model is loaded and when it runs") {
  for (const execution_mode mode : both_modes) {
    odd_pool pool;
    const session s = with_pool(pool, mode);
    CHECK(is_right(run(s)));
    pool.count = [] { return std::size_t{0}; };
    const std::string words = said(run(s));
    CHECK(words.starts_with("INVALID_ARGUMENT: the task pool's concurrency() is 0"));
    CHECK(said(cpu_runtime{}.load(four_branches(), session_options{}.use(pool))).starts_with("INVALID_ARGUMENT: "));
    pool.count = [] { return std::size_t{3}; };
    CHECK(is_right(run(s)));
  }
}

TEST_CASE("a task pool that calls a task with a lane or an index that it was not given ends the run with FAIL") {
  for (const execution_mode mode : both_modes) {
    odd_pool pool;
    const session s = with_pool(pool, mode);
    for (std::size_t odd_pool::* wrong : {&odd_pool::lane_offset, &odd_pool::index_offset}) {
      pool.*wrong = 1'000'000;
      const std::string words = said(run(s));
      CHECK(words.starts_with("FAIL: the task pool called a task with"));
      pool.*wrong = 0;
      CHECK(is_right(run(s)));
    }
  }
}

TEST_CASE("what a task pool's functions throw is FAIL with the function's name") {
  for (const execution_mode mode : both_modes) {
    odd_pool pool;
    const session s = with_pool(pool, mode);
    const auto check = [&](std::function<void()>& hook, const std::string& words) {
      hook = lose;
      CHECK(said(run(s)) == words);
      hook = [] {};
      CHECK(is_right(run(s)));
    };
    check(pool.begin, "FAIL: the task pool's begin_run(): threw an exception: it is lost");
    check(pool.end, "FAIL: the task pool's end_run(): threw an exception: it is lost");
    int begun = 0, ended = 0;
    pool.begin = [&] { ++begun; }, pool.end = [&] { ++ended; };
    pool.before_work = lose;
    CHECK(said(run(s)).ends_with("the task pool's parallel(): threw an exception: it is lost"));
    CHECK(begun == 1);
    CHECK(ended == 1);
    pool.begin = [] {}, pool.end = [] {};
    pool.before_work = [] {};
    CHECK(is_right(run(s)));
    pool.count = []() -> std::size_t { lose(); };
    CHECK(said(run(s)) == "FAIL: the task pool's concurrency(): threw an exception: it is lost");
    CHECK(s.thread_count() == 3);
    CHECK(said(cpu_runtime{}.load(four_branches(), session_options{}.use(pool))) ==
          "FAIL: the task pool's concurrency(): threw an exception: it is lost");
    pool.begin = [] { throw 7; };
    pool.count = [] { return std::size_t{3}; };
    CHECK(said(run(s)) == "FAIL: the task pool's begin_run(): threw an exception: it is not a std::exception");
    pool.begin = [] { throw std::bad_alloc{}; };
    CHECK(run(s).error().code() == status_code::out_of_memory);
    pool.begin = [] {};
    CHECK(is_right(run(s)));
  }
}

TEST_CASE("what a kernel throws in its work on several threads is RUNTIME_EXCEPTION, as on one") {
  for (const std::size_t threads : {1, 4}) {
    session_options options;
    options.threads = threads;
    const result<session> s = runtime<piece_provider, eps::cpu>{}.load(negation(), options);
    REQUIRE(s);
    for (int i = 0; i < 5; ++i) {
      kernel_throws = true;
      const std::string words = said(s->run({{"x", {1.0f, 2.0f, 3.0f}}}));
      CHECK(words.starts_with("RUNTIME_EXCEPTION: "));
      CHECK(words.ends_with("it is lost"));
      CHECK(words.find("Neg") != words.npos);
      kernel_throws = false;
      const result<named_values> made = s->run({{"x", {1.0f, 2.0f, 3.0f}}});
      REQUIRE(made);
      CHECK(floats_of((*made)[0].value) == std::vector{-1.0f, -2.0f, -3.0f});
    }
  }
}

TEST_CASE("what functions of session options throw is FAIL with the member's name, and nothing is loaded") {
  const std::string rest = ": threw an exception: it is lost";
  session_options options;
  options.log = [](log_level, std::string_view) { lose(); };
  CHECK(said(cpu_runtime{}.load(four_branches(), options)) == "FAIL: session_options::log" + rest);
  options = {};
  options.progress = [](const load_progress& at) {
    if (at.stage == "plan") lose();
  };
  CHECK(said(cpu_runtime{}.load(four_branches(), options)) == "FAIL: session_options::progress" + rest);
  struct losing_token {
    bool stop_requested() const { lose(); }
  };
  options = {};
  options.stop = stop_token{losing_token{}};
  CHECK(said(cpu_runtime{}.load(four_branches(), options)) == "FAIL: session_options::stop" + rest);
  options = {};
  options.choose_devices = [](const device_request&) -> result<std::vector<std::size_t>> { lose(); };
  CHECK(said(cpu_runtime{}.load(four_branches(), options)) == "FAIL: choosing devices: it is lost");
  options.choose_devices = [](const device_request&) -> result<std::vector<std::size_t>> { throw std::bad_alloc{}; };
  CHECK(cpu_runtime{}.load(four_branches(), options).error().code() == status_code::out_of_memory);
  const auto compile = [](const auto& change) {
    compile_options wanted;
    std::string bytes;
    wanted.input = compile_input{four_branches()};
    wanted.output = &bytes;
    change(wanted);
    return said(cpu_runtime{}.compile(std::move(wanted)));
  };
  CHECK(compile([](compile_options& o) {
          o.output = compile_output{[](std::span<const std::byte>) -> status { lose(); }};
        }) == "FAIL: compile_options::output" + rest);
  CHECK(compile([](compile_options& o) {
          o.place_initializer = [](std::string_view, const value&) -> result<std::optional<external_place>> { lose(); };
        }) == "FAIL: compile_options::place_initializer" + rest);
}

TEST_CASE("what functions of a run's settings throw ends it with FAIL and the member's name") {
  struct losing_token {
    std::shared_ptr<std::atomic<int>> left;
    bool stop_requested() const { return (*left)-- <= 0 ? lose(), false : false; }
  };
  for (const execution_mode mode : both_modes)
    for (const std::size_t threads : {1, 4}) {
      session_options options;
      options.execution = mode;
      options.threads = threads;
      const session s = loaded(four_branches(), options);
      for (int calls = 0; calls < 12; ++calls) {
        run_settings settings;
        settings.stop = stop_token{losing_token{std::make_shared<std::atomic<int>>(calls)}};
        const std::string words = said(run(s, settings));
        CHECK(words.starts_with("FAIL: "));
        CHECK(words.ends_with("run_settings::stop: threw an exception: it is lost"));
        CHECK(is_right(run(s)));
      }
      step_observer observer;
      observer.now = [] { return std::int64_t{0}; };
      observer.record = [](void*, const plan_step&, std::int64_t, std::int64_t, std::size_t, const value*) { lose(); };
      run_settings settings;
      settings.observer = &observer;
      CHECK(said(run(s, settings)).ends_with("run_settings::observer: threw an exception: it is lost"));
      observer.record = [](void*, const plan_step&, std::int64_t, std::int64_t, std::size_t, const value*) {};
      observer.piece = [](void*, const plan_step&, std::int64_t, std::int64_t, std::size_t) { lose(); };
      if (const result<named_values> made = run(s, settings); !made)
        CHECK(said(made).ends_with("run_settings::observer: threw an exception: it is lost"));
      CHECK(is_right(run(s)));
    }
}

TEST_CASE("what a stream's buffer throws is an error of loading, whichever exceptions the stream itself may throw") {
  struct losing_buffer : std::streambuf {
    bool has_memory = true;
    int_type underflow() override {
      if (!has_memory) throw std::bad_alloc{};
      lose();
    }
  } buffer;
  std::istream quiet{&buffer}, loud{&buffer};
  loud.exceptions(std::ios::badbit | std::ios::failbit);
  for (std::istream* each : {&quiet, &loud}) {
    buffer.has_memory = true;
    CHECK(said(cpu_runtime{}.load(*each)) == "FAIL: model: the stream: threw an exception: it is lost");
    buffer.has_memory = false;
    CHECK(cpu_runtime{}.load(*each).error().code() == status_code::out_of_memory);
  }
}

TEST_CASE("a stream is read to its end whatever its exception mask, and one that has failed before is refused") {
  const result<std::string> bytes = write_onnx(*four_branches());
  REQUIRE(bytes);
  for (const std::ios::iostate mask : {std::ios::goodbit, std::ios::badbit | std::ios::failbit | std::ios::eofbit}) {
    std::istringstream stream{*bytes};
    stream.exceptions(mask);
    const result<session> s = cpu_runtime{}.load(stream);
    CHECK_MESSAGE(s, said(s));
  }
  std::istringstream failed{*bytes};
  failed.setstate(std::ios::failbit);
  CHECK(said(cpu_runtime{}.load(failed)) == "FAIL: model: the stream can't be read");
  std::istream none{nullptr};
  CHECK(said(cpu_runtime{}.load(none)) == "FAIL: model: the stream can't be read");
}

TEST_CASE("what a provider's memory throws is a lack of memory, or an error of its copy") {
  const auto made_with = [](losing_memory how) -> status {
    const result<session> s = runtime<losing_memory, eps::cpu>{how, {}}.load(negation());
    return s ? status{s->run({{"x", {1.0f, 2.0f, 3.0f}}}).error()} : status{s.error()};
  };
  CHECK(made_with({}));
  CHECK(made_with({.allocates = false}).code() == status_code::out_of_memory);
  CHECK(said(made_with({.copies = false})).find("it is lost") != std::string::npos);
}

TEST_CASE("an error that lacks words has some where memory is lacking") {
  CHECK(status{status_code::out_of_memory}.words() == "there is no more memory");
  CHECK(status{status_code::out_of_memory}.in("here").words() == "here: there is no more memory");
  CHECK(status{status_code::fail}.words().empty());
  CHECK(status{status_code::fail}.in("here").words() == "here: no details");
}

namespace {

/// Host memory that can be made to run out.
struct small_memory {
  bool is_full = false;
  void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
    return is_full ? nullptr : std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  }
  void release(void* memory, std::size_t) noexcept { std::free(memory); }
};

std::size_t scratch_bytes = 1;
/// A provider whose kernel requests scratch_bytes bytes of scratch memory.
struct scratching {
  static constexpr std::string_view name = "scratching", long_name = "ScratchingExecutionProvider";
  bool claims(const node_view& n) const { return n.op_type() == "Neg"; }
  status execute(const step_view&, run_context& c) const {
    const result<std::span<char>> scratch = c.scratch<char>(scratch_bytes);
    return scratch ? c.forward(0, c.input(0)) : scratch.error();
  }
};

}  // namespace

TEST_CASE("memory that is used up in a run is reported with the node and the size, and the next run is right") {
  small_memory memory;
  const result<session> s = runtime<scratching, eps::cpu>{}.load(negation(), session_options{}.allocate_from(memory));
  REQUIRE(s);
  const auto run = [&] { return s->run({{"x", {1.0f, 2.0f, 3.0f}}}); };
  memory.is_full = true;
  CHECK(said(run()).starts_with("OUT_OF_MEMORY: the values of this model: there is no memory for "));
  memory.is_full = false;
  CHECK(run());
  memory.is_full = true, scratch_bytes = 54'321'000;
  const std::string words = said(run());
  CHECK(words.starts_with("OUT_OF_MEMORY: "));
  CHECK(words.ends_with("'Neg_0' (Neg): there is no memory for 54321000 bytes"));
  memory.is_full = false;
  CHECK(run());
}
