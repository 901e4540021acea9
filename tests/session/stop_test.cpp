// Tests how soon a run ends after a stop was requested, measured by the processor time of a thread between two stop
// checks, which does not depend on other load of the machine.
#include <cameo/os/heap_arena.hpp>
#include <cameo/run/runner.hpp>
#include <cameo/session/threads.hpp>

#include "full_speed.hpp"
#include "session/models.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <ctime>
#include <functional>
#include <stop_token>
#include <thread>

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr std::int64_t milliseconds = 1'000'000;

/// The processor time of this thread in nanoseconds.
std::int64_t thread_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

/// Measures the processor time of each thread between two stop checks, and requests a stop from the check `stop_at` on.
class stop_checks {
 public:
  static constexpr int stretches = 64;

  explicit stop_checks(std::int64_t stop_at = INT64_MAX) : stop_at_{stop_at} {}

  void begin() { last_ = {number_, thread_time()}; }
  void end() { note(); }
  std::int64_t count() const { return checks_; }
  /// The longest time before one of the checks in a stretch (of 128 checks) and in the next one.
  std::int64_t longest(int stretch) const { return std::max(longest_[stretch], longest_[stretch + 1]); }
  bool check() {
    note();
    return ++checks_ >= stop_at_;
  }
  stop_condition condition() const {
    stop_condition made;
    made.self = this;
    made.requested = [](const void* self) { return static_cast<stop_checks*>(const_cast<void*>(self))->check(); };
    return made;
  }

 private:
  struct place {
    int owner;
    std::int64_t time;
  };
  static thread_local place last_;
  static constexpr int checks_per_stretch = 128;

  void note() {
    const std::int64_t now = thread_time();
    if (last_.owner == number_) {
      std::atomic<std::int64_t>& longest = longest_[std::min<std::int64_t>(checks_ / checks_per_stretch, stretches)];
      std::int64_t so_far = longest;
      while (now - last_.time > so_far && !longest.compare_exchange_weak(so_far, now - last_.time)) {}
    }
    last_ = {number_, thread_time()};
  }

  static inline int count_ = 0;
  int number_ = ++count_;  // identifies the object; an address could have been that of an earlier one
  std::int64_t stop_at_;
  std::atomic<std::int64_t> checks_{0}, longest_[stretches + 1]{};
};
thread_local stop_checks::place stop_checks::last_{};

/// A model of one node that runs for a long time, and its inputs.
struct workload {
  const char* name;
  std::function<value_id(model_builder&, std::vector<any_value>&)> build;
};

dim unknown() { return {}; }

value_id floats(model_builder& b, std::vector<any_value>& in, const extents& shape) {
  in.push_back(any_value::tensor(shape, ramp(std::size_t(shape.count()))));
  return b.input("in" + std::to_string(in.size()), dtype::f32, std::vector<dim>(shape.rank(), unknown()));
}
template <class T>
value_id numbers(model_builder& b, std::vector<any_value>& in, const extents& shape) {
  std::vector<T> elements(std::size_t(shape.count()));
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = T(float(1 + i % 5));
  in.push_back(any_value::tensor(shape, elements));
  return b.input("in" + std::to_string(in.size()), dtype_of<T>, std::vector<dim>(shape.rank(), unknown()));
}
value_id weights(model_builder& b, const extents& shape) {
  return b.constant("w", shape, ramp(std::size_t(shape.count())));
}
attribute list(const char* name, std::vector<std::int64_t> all) {
  static std::vector<std::unique_ptr<std::vector<std::int64_t>>> kept;
  attribute a{name, attribute_kind::ints};
  a.ints = *kept.emplace_back(std::make_unique<std::vector<std::int64_t>>(std::move(all)));
  return a;
}
std::function<value_id(model_builder&, std::vector<any_value>&)> product(extents a, extents b) {
  return [=](model_builder& m, std::vector<any_value>& in) {
    const value_id left = floats(m, in, a), right = floats(m, in, b);
    return m.node("MatMul", {left, right});
  };
}
std::function<value_id(model_builder&, std::vector<any_value>&)> convolution(extents x, extents w, bool constant,
                                                                             std::int64_t group = 1) {
  return [=](model_builder& m, std::vector<any_value>& in) {
    const value_id image = floats(m, in, x), filters = constant ? weights(m, w) : floats(m, in, w);
    std::vector<std::int64_t> pads;
    for (int side = 0; side < 2; ++side)
      for (std::size_t i = 2; i < w.rank(); ++i) pads.push_back(w[i] / 2);
    return m.node("Conv", {image, filters}, {model_builder::integer("group", group), list("pads", pads)});
  };
}
template <class T = float>
std::function<value_id(model_builder&, std::vector<any_value>&)> elementwise(const char* op, std::size_t operands,
                                                                             std::int64_t count = 1 << 20) {
  return [=](model_builder& m, std::vector<any_value>& in) {
    std::vector<value_id> all;
    for (std::size_t i = 0; i < operands; ++i) all.push_back(numbers<T>(m, in, {count}));
    return m.node(op, all);
  };
}
template <class T = float>
std::function<value_id(model_builder&, std::vector<any_value>&)> reduction(const char* op, extents shape,
                                                                           std::vector<std::int64_t> axes) {
  return [=](model_builder& m, std::vector<any_value>& in) {
    const value_id x = numbers<T>(m, in, shape);
    return m.node(op, {x}, {list("axes", axes)}, "", 12);
  };
}
std::function<value_id(model_builder&, std::vector<any_value>&)> attention_of(std::int64_t queries, std::int64_t keys,
                                                                              std::int64_t mode) {
  return [=](model_builder& m, std::vector<any_value>& in) {
    const value_id q = floats(m, in, {1, 4, queries, 64}), k = floats(m, in, {1, 4, keys, 64}),
                   v = floats(m, in, {1, 4, keys, 64});
    if (mode < 0) return m.node("Attention", {q, k, v}, {}, "", 23);
    const value_id y = m.main().add_value("y"), scores = m.main().add_value("scores"), none = value_id::none;
    const value_id inputs[] = {q, k, v}, outputs[] = {y, none, none, scores};
    const attribute how = model_builder::integer("qk_matmul_output_mode", mode);
    m.main().add_node({"attention", "", "Attention", {}, {}, 23, inputs, outputs, {&how, 1}});
    m.output(scores);
    return y;
  };
}

std::vector<workload> workloads() {
  return {
      {"a product", product({512, 768}, {768, 1024})},
      {"a product with a large second matrix", product({256, 1024}, {1024, 2560})},
      {"products of small matrices", product({2000, 24, 24}, {2000, 24, 24})},
      {"a product of few rows", product({8, 2048}, {2048, 4096})},
      {"a product of one row, of many steps", product({1, 1 << 20}, {1 << 20, 8})},
      {"a product with a vector", product({4096, 4096}, {4096, 1})},
      {"a product of vectors", product({1, 1 << 23}, {1 << 23, 1})},
      {"a product of a row of tiles, of many steps", product({12, 1 << 18}, {1 << 18, 16})},
      {"a product with transposed rows",
       [](model_builder& m, std::vector<any_value>& in) {
         const value_id a = floats(m, in, {16, 1 << 17}), b = floats(m, in, {24, 1 << 17});
         return m.node("Gemm", {a, b}, {model_builder::integer("transB", 1)});
       }},
      {"a product of float16",
       [](model_builder& m, std::vector<any_value>& in) {
         const value_id a = numbers<float16>(m, in, {512, 768}), b = numbers<float16>(m, in, {768, 512});
         return m.node("MatMul", {a, b});
       }},
      {"a product of integers",
       [](model_builder& m, std::vector<any_value>& in) {
         const value_id a = numbers<std::int32_t>(m, in, {64, 512}), b = numbers<std::int32_t>(m, in, {512, 4096});
         return m.node("MatMul", {a, b});
       }},
      {"a convolution", convolution({1, 64, 56, 56}, {128, 64, 3, 3}, false)},
      {"a convolution in blocks", convolution({1, 64, 56, 56}, {128, 64, 3, 3}, true)},
      {"a convolution in blocks, of one long line", convolution({1, 128, 1, 4096}, {128, 128, 1, 3}, true)},
      {"a convolution with long lines", convolution({1, 64, 3 << 14}, {16, 64, 3}, false)},
      {"a convolution of a large window", convolution({1, 2048, 24, 24}, {8, 2048, 9, 9}, false)},
      {"a convolution of each channel", convolution({1, 4, 1024, 1024}, {4, 1, 3, 3}, false, 4)},
      {"a convolution of each channel, in blocks", convolution({1, 32, 384, 384}, {32, 1, 3, 3}, true, 32)},
      {"attention", attention_of(640, 2048, -1)},
      {"attention of a query", attention_of(1, 1 << 15, -1)},
      {"attention that shows its scores", attention_of(512, 1024, 0)},
      {"Add", elementwise("Add", 2, 1 << 23)},
      {"Pow", elementwise("Pow", 2)},
      {"Tanh of doubles", elementwise<double>("Tanh", 1)},
      {"Erf of float16", elementwise<float16>("Erf", 1, 1 << 22)},
      {"Div of integers", elementwise<std::int32_t>("Div", 2, 1 << 22)},
      {"Sum", elementwise("Sum", 3, 1 << 22)},
      {"Sum of one", elementwise("Sum", 1, 1 << 23)},
      {"Where",
       [](model_builder& m, std::vector<any_value>& in) {
         std::vector<std::uint8_t> chosen(1 << 22);
         for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = i % 3 == 0;
         in.push_back(any_value::copy_of(value::tensor(dtype::boolean, {1 << 22}, chosen.data())));
         const value_id c = m.input("in1", dtype::boolean, {unknown()});
         const value_id x = floats(m, in, {1 << 22}), y = floats(m, in, {1});
         return m.node("Where", {c, x, y});
       }},
      {"Cast",
       [](model_builder& m, std::vector<any_value>& in) {
         const value_id x = floats(m, in, {1 << 22});
         return m.node("Cast", {x}, {model_builder::integer("to", std::int64_t(dtype::i16))});
       }},
      {"a sum of all", reduction("ReduceSum", {1 << 24}, {0})},
      {"a sum of columns", reduction("ReduceSum", {1 << 16, 100}, {0})},
      {"a sum of outer and inner axes", reduction("ReduceSum", {512, 16, 512}, {0, 2})},
      {"a mean of float16", reduction<float16>("ReduceMean", {1 << 22}, {0})},
      {"a logarithm of exponentials", reduction("ReduceLogSumExp", {1 << 20}, {0})},
      {"the largest of all", reduction<std::int64_t>("ReduceMax", {1 << 23}, {0})},
      {"where the largest is",
       [](model_builder& m, std::vector<any_value>& in) {
         return m.node("ArgMax", {floats(m, in, {1 << 23})}, {model_builder::integer("axis", 0)});
       }},
  };
}

/// The workloads of this build: with a sanitizer, only two short ones, because times measured there are meaningless.
std::vector<workload> workloads_here() {
  std::vector<workload> all = workloads();
  if (!full_speed)
    std::erase_if(all, [](const workload& w) {
      return std::string_view{w.name} != "products of small matrices" && std::string_view{w.name} != "a sum of columns";
    });
  return all;
}

/// A session of a workload, and a runner that a test calls directly.
class prepared {
 public:
  explicit prepared(const workload& work) : session_{load(work, inputs_)} {
    const result<runner*> made = runner::make(session_.plan(), {&host_, 1}, memory_);
    REQUIRE(made);
    runner_ = *made;
    for (const any_value& v : inputs_) values_.push_back(v.view());
    outputs_.resize(session_.outputs().size());
  }
  prepared(const prepared&) = delete;
  ~prepared() { std::destroy_at(runner_); }

  status run(detail::task_pool_ref pool, stop_condition stop = {}) {
    std::ranges::fill(outputs_, value{});
    run_options how;
    how.pool = pool, how.stop = stop;
    return runner_->run(values_, outputs_, how);
  }
  std::vector<std::byte> bits() const {
    const auto* const first = static_cast<const std::byte*>(outputs_.at(0).data);
    return {first, first + outputs_[0].bytes()};
  }

 private:
  static session load(const workload& work, std::vector<any_value>& inputs) {
    model_builder b{23};
    b.output(work.build(b, inputs));
    session_options options;
    options.threads = 1;
    return loaded(b.take(), options);
  }

  std::vector<any_value> inputs_;
  session session_;
  memory_source host_ = heap_memory();
  detail::heap_arena memory_;
  runner* runner_ = nullptr;
  std::vector<value> values_, outputs_;
};

/// True if no thread works for 2 ms between two stop checks, or between the last one and the end. Other load can only
/// increase the measured times, so the minimum over many runs counts. It is taken for each stretch of checks, because a
/// long run is hardly ever undisturbed as a whole. A piece of work that is too large is so in all runs, but with
/// threads it may move to the next stretch, so that two stretches are examined together.
bool pieces_are_short(prepared& p, detail::task_pool_ref pool, std::int64_t& checks) {
  std::array<std::int64_t, stop_checks::stretches> least;
  least.fill(INT64_MAX);
  for (int i = 0; i < 40; ++i) {
    stop_checks q;
    q.begin();
    REQUIRE(p.run(pool, q.condition()));
    q.end();
    checks = q.count();
    bool all_short = true;
    for (int at = 0; at < stop_checks::stretches; ++at) {
      least[at] = std::min(least[at], q.longest(at));
      all_short = all_short && least[at] < 2 * milliseconds;
    }
    if (!full_speed || all_short) return true;
  }
  return false;
}

void check_workload(const workload& work, detail::task_pool_ref pool) {
  INFO(std::string{work.name}, " on ", pool.concurrency());
  prepared p{work};
  REQUIRE(p.run(pool));
  const std::vector<std::byte> right = p.bits();
  std::int64_t checks = 0;
  CHECK(pieces_are_short(p, pool, checks));
  CHECK(checks > 4);
  CHECK(p.bits() == right);
  for (const std::int64_t at : {std::int64_t{2}, checks / 4, checks / 2}) {
    stop_checks q{at};
    CHECK(p.run(pool, q.condition()).code() == status_code::canceled);
    CHECK(p.run(pool));
    CHECK(p.bits() == right);
  }
}

/// A model of an If whose branches are products; `then_branch` is the one that runs.
std::unique_ptr<model> product_in_a_branch() {
  model_builder b;
  const value_id yes = b.input("yes", dtype::boolean, {}), x = b.input("x", dtype::f32, {unknown(), unknown()});
  std::vector<graph*> branches;
  for (const char* name : {"then", "else"}) {
    graph& body = b.whole().add_graph(&b.main());
    const value_id outer = body.resolve("x"), y = body.add_value(name);
    const value_id both[] = {outer, outer};
    body.add_node({name, "", "MatMul", {}, {}, 17, both, {&y, 1}});
    body.add_output(y);
    branches.push_back(&body);
  }
  attribute bodies[] = {{"then_branch", attribute_kind::g}, {"else_branch", attribute_kind::g}};
  bodies[1].i = 1;
  const value_id y = b.main().add_value("y");
  b.main().add_node({"choice", "", "If", {}, {}, 17, {&yes, 1}, {&y, 1}, bodies, branches});
  static_cast<void>(x);
  b.output(y);
  return b.take();
}

/// The processor time of a run on one thread with a timeout that expires long before the run would be done.
std::int64_t time_of_answer(const session& s, std::span<const named_input> in, status_code& code) {
  std::int64_t least = INT64_MAX;
  for (int i = 0; i < (full_speed ? 40 : 1) && least >= 2 * milliseconds; ++i) {
    const std::int64_t before = thread_time();
    const result<named_values> out = s.run(in, {{}, std::chrono::nanoseconds{1}});
    least = std::min(least, thread_time() - before);
    code = out ? status_code::ok : out.error().code();
  }
  return least;
}

}  // namespace

TEST_CASE("a thread checks within 2 ms of work whether the run should end, in all kernels; sessions run again") {
  for (const workload& work : workloads_here()) check_workload(work, {});
}

TEST_CASE("each of several threads checks within 2 ms of work whether the run should end") {
  result<std::unique_ptr<thread_pool>> pool = thread_pool::make(3);
  REQUIRE(pool);
  for (const workload& work : workloads_here()) check_workload(work, **pool);
}

TEST_CASE("a timeout of 1 ns ends a run before much of a product is done, and the next run is complete") {
  for (const execution_mode mode : {execution_mode::sequential, execution_mode::parallel}) {
    session_options options;
    options.threads = 1;
    options.execution = mode;
    constexpr std::int64_t side = full_speed ? 900 : 200;
    const any_value x = any_value::tensor({side, side}, ramp(std::size_t(side * side))),
                    yes = any_value::tensor<bool>({}, {true});
    const named_input in[] = {{"yes", yes}, {"x", x}};
    const session s = loaded(product_in_a_branch(), options);
    const result<named_values> whole = s.run(in);
    REQUIRE(whole);
    status_code code = status_code::ok;
    const std::int64_t time = time_of_answer(s, in, code);
    CHECK(code == status_code::deadline_exceeded);
    if (full_speed) CHECK(time < 2 * milliseconds);
    const result<named_values> again = s.run(in);
    REQUIRE(again);
    CHECK(floats_of((*again)[0].value) == floats_of((*whole)[0].value));
  }
}

TEST_CASE("the clock is read about every 100 us of work, however short the pieces are") {
  const workload small{"small products", product({20000, 4, 4}, {20000, 4, 4})};
  prepared p{small};
  REQUIRE(p.run({}));
  static std::atomic<std::int64_t> readings, time;
  // A clock that advances by a microsecond at each stop check.
  stop_condition stop;
  std::atomic<std::int64_t> checks{0};
  stop.self = &checks;
  stop.requested = [](const void* self) {
    ++*static_cast<std::atomic<std::int64_t>*>(const_cast<void*>(self));
    time += 1000;
    return false;
  };
  stop.now = [] { return ++readings, time.load(); };
  stop.deadline = INT64_MAX;
  readings = 0, time = 1;
  REQUIRE(p.run({}, stop));
  CHECK(checks > 100);
  CHECK(readings.load() < checks / 8 + 64);
  CHECK(readings.load() > checks / 200);
}

TEST_CASE("a stop that is requested only once ends the run") {
  prepared p{workloads_here().front()};
  stop_checks once{3};  // it requests a stop only once: the pieces after that must be skipped nevertheless
  static std::atomic<int> calls;
  calls = 0;
  stop_condition stop;
  stop.self = &once;
  stop.requested = [](const void*) { return ++calls == 3; };
  CHECK(p.run({}, stop).code() == status_code::canceled);
  CHECK(calls == 3);
  CHECK(p.run({}));
}

TEST_CASE("a stop from another thread ends a run of several threads and levels") {
  session_options options;
  options.threads = 3;
  options.execution = execution_mode::parallel;
  const session s = loaded(four_branches(), options);
  const any_value x = any_value::tensor({20000, 64}, ramp(20000 * 64));
  const result<named_values> whole = s.run({{"x", x}});
  REQUIRE(whole);
  for (int round = 0; round < 5; ++round) {
    std::stop_source source;
    std::jthread other{[&] {
      std::this_thread::sleep_for(std::chrono::microseconds{300 * round});
      source.request_stop();
    }};
    const result<named_values> out = s.run({{"x", x}}, {source.get_token()});
    if (!out) CHECK(out.error().code() == status_code::canceled);
  }
  const result<named_values> again = s.run({{"x", x}});
  REQUIRE(again);
  CHECK(floats_of((*again)[0].value) == floats_of((*whole)[0].value));
}
