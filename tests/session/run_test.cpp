#include <cameo/plan/plan.hpp>
#include <cameo/run/runner.hpp>

#include "session/models.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <stop_token>
#include <thread>

using namespace cameo;
using namespace cameo::test;

namespace {

/// A model that counts to its input with one addition per iteration, so that a test chooses how long it runs.
std::unique_ptr<model> long_loop() {
  model_builder b;
  const value_id trips = b.input("trips", dtype::i64, {});
  const value_id on = b.constant<bool>("on", {}, {true});
  const value_id start = b.constant<float>("start", {1}, {0.f});
  graph& body = b.whole().add_graph(&b.main());
  body.name = "body";
  model& m = b.whole();
  const auto body_input = [&](std::string_view name, dtype type, std::vector<dim> shape) {
    const value_id v = body.add_value(name, m.keep(value_type::tensor(type, std::move(shape))));
    body.add_input(v);
    return v;
  };
  static_cast<void>(body_input("i", dtype::i64, {}));
  const value_id condition = body_input("condition", dtype::boolean, {});
  const value_id sum = body_input("sum", dtype::f32, {dim::fixed(1)});
  const value_id one = body.capture_of(b.constant<float>("one", {1}, {1.f}));
  const value_id next = body.add_value("next"), same = body.add_value("same");
  body.add_node({"add", "", "Add", {}, {}, 17, std::vector{sum, one}, std::vector{next}});
  body.add_node({"same", "", "Identity", {}, {}, 17, std::vector{condition}, std::vector{same}});
  body.add_output(same), body.add_output(next);
  attribute holds;
  holds.name = "body", holds.kind = attribute_kind::g, holds.i = 0;
  const value_id out = b.main().add_value("count");
  graph* const graphs[] = {&body};
  b.main().add_node(
      {"loop", "", "Loop", {}, {}, 17, std::vector{trips, on, start}, std::vector{out}, std::vector{holds}, graphs});
  b.output(out);
  return b.take();
}

any_value scalar(std::int64_t i) { return any_value::tensor<std::int64_t>({}, {i}); }

namespace {

/// A Loop with two state values: it forwards the first unchanged, and adds it to the second.
std::unique_ptr<model> state_handed_on() {
  model_builder b;
  model& m = b.whole();
  const value_id trips = b.input("trips", dtype::i64, {}),
                 x = b.input("x", dtype::f32, {b.symbol("rows"), dim::fixed(4)});
  graph& body = m.add_graph(&b.main());
  body.name = "body";
  const auto body_input = [&](std::string_view name, dtype type, std::vector<dim> shape) {
    const value_id v = body.add_value(name, m.keep(value_type::tensor(type, std::move(shape))));
    body.add_input(v);
    return v;
  };
  static_cast<void>(body_input("i", dtype::i64, {}));
  const value_id go_on = body_input("go_on", dtype::boolean, {});
  const value_id step = body_input("step", dtype::f32, {b.symbol("rows"), dim::fixed(4)});
  const value_id sum = body_input("sum", dtype::f32, {b.symbol("rows"), dim::fixed(4)});
  const value_id next = body.add_value("next");
  body.add_node({"add", "", "Add", {}, {}, 17, std::vector{sum, step}, std::vector{next}});
  body.add_output(go_on), body.add_output(step), body.add_output(next);
  attribute holds;
  holds.name = "body", holds.kind = attribute_kind::g;
  const value_id last_step = b.main().add_value("last_step"), total = b.main().add_value("total");
  graph* const graphs[] = {&body};
  const value_id on = b.constant<bool>("on", {}, {true}), start = b.node("Abs", {x});
  b.main().add_node({"loop",
                     "",
                     "Loop",
                     {},
                     {},
                     17,
                     std::vector{trips, on, start, start},
                     std::vector{last_step, total},
                     std::vector{holds},
                     graphs});
  b.output(b.node("Neg", {last_step})), b.output(b.node("Neg", {total}));
  return b.take();
}

/// An If whose branches return captured values.
std::unique_ptr<model> captured_handed_on() {
  model_builder b;
  model& m = b.whole();
  const value_id which = b.input("which", dtype::boolean, {}), x = b.input("x", dtype::f32, {b.symbol("n")});
  const value_id captured[] = {b.node("Abs", {x}), b.node("Neg", {x})};
  graph* graphs[2];
  attribute holds[2];
  for (std::size_t i = 0; i < 2; ++i) {
    graphs[i] = &m.add_graph(&b.main());
    graphs[i]->name = "branch";
    graphs[i]->add_output(graphs[i]->capture_of(captured[i]));
    holds[i].name = i ? "else_branch" : "then_branch", holds[i].kind = attribute_kind::g, holds[i].i = std::int64_t(i);
  }
  const value_id chosen = b.main().add_value("chosen");
  b.main().add_node({"choice",
                     "",
                     "If",
                     {},
                     {},
                     17,
                     std::vector{which},
                     std::vector{chosen},
                     std::vector{holds[0], holds[1]},
                     graphs});
  b.output(b.node("Add", {chosen, captured[0]})), b.output(b.node("Add", {captured[1], chosen}));
  return b.take();
}

}  // namespace

TEST_CASE("a subgraph may return an input or a captured value unchanged, which is still valid afterwards") {
  const session loop = loaded(state_handed_on()), choice = loaded(captured_handed_on());
  const std::vector<float> x = ramp(12);
  for (int again = 0; again < 3; ++again) {
    const auto states = loop.run({{"trips", std::int64_t{5}}, {"x", x, extents{3, 4}}});
    REQUIRE(states);
    const std::vector<float> step = floats_of((*states)[0].value), total = floats_of((*states)[1].value);
    for (const bool which : {true, false}) {
      const auto sums = choice.run({{"which", which}, {"x", x}});
      REQUIRE(sums);
      const std::vector<float> first = floats_of((*sums)[0].value), second = floats_of((*sums)[1].value);
      for (std::size_t i = 0; i < x.size(); ++i) {
        const float chosen = which ? std::abs(x[i]) : -x[i];
        CHECK(first[i] == chosen + std::abs(x[i]));
        CHECK(second[i] == -x[i] + chosen);
      }
    }
    for (std::size_t i = 0; i < x.size(); ++i) {
      CHECK(step[i] == -std::abs(x[i]));
      CHECK(total[i] == doctest::Approx(-6 * std::abs(x[i])));
    }
  }
}

}  // namespace

TEST_CASE("a view of a view keeps its source alive: its memory is not reused") {
  // Two consecutive reshapes, then values of the same size that are computed between the view and its use.
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(4), dim::fixed(6)});
  const value_id to_flat = b.constant<std::int64_t>("flat", {1}, {24});
  const value_id to_wide = b.constant<std::int64_t>("wide", {2}, {2, 12});
  const value_id source = b.node("Neg", {x});
  const value_id wide = b.node("Reshape", {b.node("Reshape", {source, to_flat}), to_wide});
  const value_id noise = b.node("Exp", {b.node("Abs", {x})});
  const value_id more = b.node("Sqrt", {noise});
  b.output(b.node("Neg", {wide}));
  b.output(b.node("Add", {more, noise}));
  const session s = loaded(b.take());
  const std::vector<float> xs = ramp(24);
  const result<named_values> out = s.run({{"x", any_value::tensor({4, 6}, xs)}});
  REQUIRE(out);
  CHECK((*out)[0].value.shape() == extents{2, 12});
  CHECK(floats_of((*out)[0].value) == xs);
}

TEST_CASE("runs with other shapes in any order give what a fresh session gives") {
  const session s = loaded(four_branches());
  for (std::int64_t rows : {3, 3, 3, 50, 3, 50, 7, 8, 9, 10, 11, 3, 7, 7, 0, 1, 200, 200, 3}) {
    const any_value x = any_value::tensor({rows, 64}, ramp(std::size_t(rows) * 64));
    const result<named_values> out = s.run({{"x", x}});
    REQUIRE(out);
    const session fresh = loaded(four_branches());
    const result<named_values> want = fresh.run({{"x", x}});
    REQUIRE(want);
    CHECK(floats_of((*out)[0].value) == floats_of((*want)[0].value));
  }
}

TEST_CASE("a bound output is written to the caller's memory if it fits") {
  const session s = loaded(four_branches());
  result<io_binding> binding = s.bind();
  REQUIRE(binding);
  const std::string out_name = s.outputs()[0].name;
  const any_value x = any_value::tensor({4, 64}, ramp(256)), y = any_value::tensor({2, 64}, ramp(128));
  std::vector<float> mine(256, -1.f);
  REQUIRE(binding->bind_input("x", x));
  REQUIRE(binding->bind_output(out_name, value::tensor(dtype::f32, {4, 64}, mine.data())));
  const result<named_values> want = s.run({{"x", x}});
  for (int run = 0; run < 3; ++run) {
    std::fill(mine.begin(), mine.end(), -1.f);
    REQUIRE(s.run(*binding));
    CHECK(mine == floats_of((*want)[0].value));
    CHECK(binding->output(0).data == mine.data());
  }
  REQUIRE(binding->bind_input("x", y));  // a smaller output fits, and has its actual shape
  REQUIRE(s.run(*binding));
  CHECK(binding->output(out_name)->shape == extents{2, 64});
  const any_value large = any_value::tensor({5, 64}, ramp(320));
  REQUIRE(binding->bind_input("x", large));
  CHECK(s.run(*binding).code() == status_code::invalid_argument);
  REQUIRE(binding->bind_input("x", x));
  REQUIRE(s.run(*binding));
  CHECK(mine == floats_of((*want)[0].value));
}

TEST_CASE("an output that is an input, a constant or a view is copied to the caller's memory, too") {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(3)});
  const value_id c = b.constant("c", {2}, std::vector<float>{5, 6});
  const value_id flat = b.constant<std::int64_t>("flat", {1}, {6});
  const value_id negated = b.node("Neg", {x});
  b.output(x), b.output(c), b.output(b.node("Reshape", {negated, flat})), b.output(negated);
  const session s = loaded(b.take());
  result<io_binding> binding = s.bind();
  REQUIRE(binding);
  const std::vector<float> xs = ramp(6);
  float out_x[6] = {}, out_c[2] = {}, out_view[6] = {};
  REQUIRE(binding->bind_input("x", value::tensor<float>({2, 3}, xs)));
  REQUIRE(binding->bind_output(s.outputs()[0].name, value::tensor(dtype::f32, {2, 3}, out_x)));
  REQUIRE(binding->bind_output(s.outputs()[1].name, value::tensor(dtype::f32, {2}, out_c)));
  REQUIRE(binding->bind_output(s.outputs()[2].name, value::tensor(dtype::f32, {6}, out_view)));
  for (int run = 0; run < 2; ++run) {
    REQUIRE(s.run(*binding));
    for (std::size_t i = 0; i < 6; ++i) {
      CHECK(out_x[i] == xs[i]);
      CHECK(out_view[i] == -xs[i]);
      CHECK(binding->output(3).as_unchecked<float>()[std::int64_t(i)] == -xs[i]);
    }
    CHECK(out_c[1] == 6);
  }
}

TEST_CASE("a stop token ends a run with CANCELED, a timeout with DEADLINE_EXCEEDED, and the session goes on") {
  const session s = loaded(long_loop());
  const any_value few = scalar(10), endless = scalar(std::int64_t{1} << 40);
  const result<named_values> ten = s.run({{"trips", few}});
  REQUIRE_MESSAGE(ten, std::string{ten.error().words()});
  CHECK((*ten)[0].value.as_unchecked<float>()[0] == 10);

  run_settings in_time;
  in_time.timeout = std::chrono::milliseconds{20};
  const result<named_values> late = s.run({{"trips", endless}}, in_time);
  REQUIRE(!late);
  CHECK(late.error().code() == status_code::deadline_exceeded);
  for (const auto none_left : {std::chrono::nanoseconds{0}, std::chrono::nanoseconds{-1}}) {
    const result<named_values> at_once = s.run({{"trips", few}}, {.timeout = none_left});
    REQUIRE(!at_once);
    CHECK(at_once.error().code() == status_code::deadline_exceeded);
  }

  std::stop_source source;
  run_settings stoppable;
  stoppable.stop = source.get_token();
  std::jthread stopper{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{20});
    source.request_stop();
  }};
  const result<named_values> stopped = s.run({{"trips", endless}}, stoppable);
  REQUIRE(!stopped);
  CHECK(stopped.error().code() == status_code::canceled);
  CHECK(s.run({{"trips", few}}));
}

TEST_CASE("what is wrong with the inputs is said, with what would be right") {
  const session s = loaded(four_branches());
  const any_value right = any_value::tensor({2, 64}, ramp(128)), flat = any_value::tensor({128}, ramp(128)),
                  narrow = any_value::tensor({2, 63}, ramp(126)),
                  ints = any_value::tensor({2, 64}, std::vector<std::int64_t>(128));
  const auto words = [&](std::vector<named_input> inputs) {
    const result<named_values> out = s.run(inputs);
    REQUIRE(!out);
    CHECK(out.error().code() == status_code::invalid_argument);
    return std::string{out.error().words()};
  };
  CHECK(words({}).find("'x' is missing") != std::string::npos);
  CHECK(words({{"y", right}}).find("no input 'y'; it has 'x'") != std::string::npos);
  CHECK(words({{"x", right}, {"x", right}}).find("given twice") != std::string::npos);
  CHECK(words({{"x", flat}}).find("rank 1") != std::string::npos);
  CHECK(words({{"x", narrow}}).find("needs 64") != std::string::npos);
  CHECK(words({{"x", ints}}).find("int64") != std::string::npos);
  CHECK(s.run({{"x", right}}));
}

TEST_CASE("an observer is called for every step, in order") {
  const session s = loaded(four_branches());
  struct heard {
    std::vector<std::string> names;
    std::int64_t last = 0;
    bool in_order = true;
  } h;
  step_observer observer{
      &h, [] { return std::int64_t(std::chrono::steady_clock::now().time_since_epoch().count()); },
      [](void* self, const plan_step& step, std::int64_t start, std::int64_t end, std::size_t, const value*) {
        heard& to = *static_cast<heard*>(self);
        to.names.emplace_back(step.name);
        to.in_order = to.in_order && start >= to.last && end >= start;
        to.last = start;
      }};
  run_settings settings;
  settings.observer = &observer;
  const any_value x = any_value::tensor({2, 64}, ramp(128));
  REQUIRE(s.run(std::vector<named_input>{{"x", x}}, settings));
  CHECK(h.names.size() == s.step_count());
  CHECK(h.in_order);
}
