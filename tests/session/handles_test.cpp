// Tests inputs and outputs by their index, and empty sessions and bindings.
#include "session/models.hpp"

#include <algorithm>

using namespace cameo;
using namespace cameo::test;

namespace {

/// A model y = a - b.
session difference() {
  model_builder m;
  const value_id a = m.input("a", dtype::f32, {dim::fixed(2)}), b = m.input("b", dtype::f32, {dim::fixed(2)});
  m.output(m.node("Sub", {a, b}));
  result<session> made = cpu_runtime{}.load(m.take());
  REQUIRE(made);
  return *std::move(made);
}

const std::vector<float> fives{5, 6}, threes{3, 3};

template <class Elements>
std::vector<float> numbers(const Elements& all) {
  return {all.begin(), all.end()};
}

}  // namespace

TEST_CASE("inputs are given by index as by name, and once") {
  const session s = difference();
  const auto outputs = s.run({{1, threes}, {"a", fives}});
  REQUIRE_MESSAGE(outputs, (outputs ? "" : outputs.error().words()));
  CHECK(numbers(*outputs->get<float>(0)) == std::vector<float>{2, 3});
  const auto twice = s.run({{0, fives}, {"a", fives}, {1, threes}});
  CHECK(twice.error().words() == "input 'a' is given twice");
  const auto beyond = s.run({{0, fives}, {2, threes}});
  CHECK(beyond.error().code() == status_code::invalid_argument);
  CHECK(beyond.error().words() == "the model has no input 2; it has 2, counted from 0");
  CHECK(s.run({{-1, fives}}).error().code() == status_code::invalid_argument);
}

TEST_CASE("a binding takes inputs and outputs by index") {
  const session s = difference();
  result<io_binding> binding = s.bind();
  REQUIRE(binding);
  std::array<float, 2> y{};
  CHECK(binding->bind_input(0, fives));
  CHECK(binding->bind_input(1, threes));
  CHECK(binding->bind_output(0, y));
  CHECK(s.run(*binding));
  CHECK(numbers(y) == std::vector<float>{2, 3});
  CHECK(binding->bind_output(1, y).words() == "the model has no output 1; it has 1, counted from 0");
  CHECK(binding->bind_input(7, fives).code() == status_code::invalid_argument);
}

TEST_CASE("sessions and bindings may be empty at first, and after a move") {
  session s;
  io_binding binding;
  CHECK(!s);
  CHECK(!binding);
  CHECK(s.run({}).error().code() == status_code::invalid_argument);
  CHECK(s.bind().error().code() == status_code::invalid_argument);
  s = difference();
  CHECK(s);
  CHECK(s.run(binding).words() == "the binding is empty; session::bind makes one");
  const session moved = std::move(s);
  CHECK(moved.inputs().size() == 2);
  CHECK(!s);  // NOLINT: the state after a move is what is tested
  CHECK(s.run(binding).words() == "the session is empty; it has a model once runtime::load returned it");
}

TEST_CASE("a vector of dims is a shape, rows are spans, and every integer is an index") {
  const std::vector<std::int64_t> dims{2, 3};
  const extents shape = dims;
  CHECK(shape == extents{2, 3});
  std::int64_t count = 0;
  CHECK(!extents(std::vector<std::int64_t>(max_rank + 1, 1)).checked_count(count));
  float numbers[] = {0, 1, 2, 3, 4, 5};
  const tensor_view<float> view{numbers, shape};
  CHECK(view[std::size_t{4}] == 4);
  CHECK(view[short{1}] == 1);
  CHECK(view.row(1).size() == 3);
  CHECK(view.row(std::size_t{1})[2] == 5);
}
