// What cameo is lenient about: src/graph/oddities.cpp. What ONNX Runtime makes of the same: tests/scripts/oddities.py.
#include "../bad_input/bad_model.hpp"

#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/test_paths.hpp>

#include "../../src/graph/oddities.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <limits>
#include <numeric>

using namespace cameo;
using namespace cameo::test;

namespace {

/// What a session said of a model, and what a run of it gave.
struct outcome {
  std::vector<std::string> warnings;
  std::vector<std::string> notes;
  std::vector<io_info> inputs, outputs;
  std::vector<float> numbers;
  std::vector<std::int64_t> shape;

  bool warns(std::string_view words) const {
    return std::any_of(warnings.begin(), warnings.end(),
                       [&](const std::string& each) { return each.find(words) != each.npos; });
  }
  bool notes_that(std::string_view words) const {
    return std::any_of(notes.begin(), notes.end(),
                       [&](const std::string& each) { return each.find(words) != each.npos; });
  }
};

std::vector<float> numbers_of(const value& v) {
  std::vector<float> made;
  if (v.type == dtype::f32)
    for (float f : v.as_unchecked<float>()) made.push_back(f);
  if (v.type == dtype::i64)
    for (std::int64_t i : v.as_unchecked<std::int64_t>()) made.push_back(float(i));
  return made;
}

/// Runs `times` times and keeps the first output.
outcome of(const onnx::ModelProto& m, const std::vector<onnx::TensorProto>& inputs, int times = 1) {
  outcome made;
  session_options options;
  options.log = [&](log_level level, std::string_view words) {
    (level == log_level::warning ? made.warnings : made.notes).emplace_back(words);
  };
  result<session> s = load_bytes(m.SerializeAsString(), options);
  REQUIRE_MESSAGE(s, s.error().words());
  std::vector<any_value> values;
  for (const onnx::TensorProto& t : inputs) values.push_back(value_from(t));
  std::vector<named_input> given;
  for (std::size_t i = 0; i < inputs.size(); ++i) given.emplace_back(inputs[i].name(), values[i]);
  for (int i = 0; i < times; ++i) {
    const result<named_values> out = s->run(given);
    REQUIRE_MESSAGE(out, out.error().words());
    const value& first = out->items[0].value.view();
    made.numbers = numbers_of(first);
    made.shape.assign(first.shape.begin(), first.shape.end());
  }
  made.inputs = s->inputs(), made.outputs = s->outputs();
  return made;
}

onnx::TensorProto counting(const std::string& name, std::vector<std::int64_t> dims) {
  std::vector<float> all(std::size_t(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>{})));
  std::iota(all.begin(), all.end(), -1.0f);
  return tensor_message(name, onnx::TensorProto::FLOAT, std::move(dims),
                        {reinterpret_cast<const char*>(all.data()), 4 * all.size()});
}

const std::vector<float> rectified{0, 0, 1, 2, 3, 4};
using dims = std::vector<std::int64_t>;

/// x [2, 3] -> Relu -> y.
onnx::ModelProto relu(const dims& input, const dims& output) {
  onnx::ModelProto m = new_model();
  add_value(*m.mutable_graph()->mutable_input(), "x", input);
  add_node(*m.mutable_graph(), "Relu", {"x"}, {"y"}, "n");
  add_value(*m.mutable_graph()->mutable_output(), "y", output);
  return m;
}

/// x [2, 3] is given the shape that comes with the run; `inner` is what the file says of the result, `last` of what
/// Relu and Add make of that.
onnx::ModelProto reshaped(const dims* inner, const dims& last, bool rank_is_known = true) {
  onnx::ModelProto m = new_model();
  onnx::GraphProto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "x", {2, 3});
  auto& shape = add_typed(*g.mutable_input(), "shape", onnx::TensorProto::INT64);
  auto& length = *shape.mutable_type()->mutable_tensor_type()->mutable_shape()->add_dim();
  if (rank_is_known) length.set_dim_value(2);
  add_node(g, "Reshape", {"x", "shape"}, {"r"}, "r");
  add_node(g, "Relu", {"r"}, {"p"}, "p");
  add_node(g, "Add", {"p", "p"}, {"y"}, "n");
  if (inner) add_value(*g.mutable_value_info(), "r", *inner);
  add_value(*g.mutable_output(), "y", last);
  return m;
}

}  // namespace

TEST_CASE("docs/oddities.md has the rows of the table, in its order") {
  std::ifstream file{std::string{source_dir} + "/docs/oddities.md"};
  REQUIRE(file.is_open());
  std::size_t next = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("| `", 0) != 0) continue;
    REQUIRE(next < oddities().size());
    const oddity_row& row = oddities()[next++];
    const std::string want = "| `" + std::string{row.name} + "` | " + std::string{row.what} + " | " +
                             std::string{row.cameo} + " | " + std::string{row.onnx_runtime} + " | " +
                             (row.is_told ? "warning" : "info") + " |";
    CHECK(line == want);
  }
  CHECK(next == oddities().size());
}

TEST_CASE("negative dims of an input, an output and a value are unknown ones, as in Paddle's exports") {
  for (const std::int64_t d : {std::int64_t{-1}, std::int64_t{-7}, std::numeric_limits<std::int64_t>::min()}) {
    onnx::ModelProto m = relu({d, 3}, {d, 3});
    m.mutable_graph()->mutable_node(0)->set_output(0, "r");
    add_value(*m.mutable_graph()->mutable_value_info(), "r", {d, d});
    add_node(*m.mutable_graph(), "Neg", {"r"}, {"s"});
    add_node(*m.mutable_graph(), "Neg", {"s"}, {"y"});
    for (const dims& fed : {dims{2, 3}, dims{1, 3}, dims{0, 3}}) {
      const outcome made = of(m, {counting("x", fed)});
      CHECK(made.shape == fed);
      if (fed[0] == 2) CHECK(made.numbers == rectified);
      CHECK(made.warnings.empty());  // what every model of an exporter has is no news
      CHECK(made.notes_that("negative-dim: dim 0 of a declared type is " + std::to_string(d)));
      CHECK(!(*made.inputs[0].type.shape)[0].known());
    }
  }
}

TEST_CASE("dims that are all named '?' are unknown ones, each of its own size, as in Paddle's exports") {
  onnx::ModelProto m = relu({-1, -1}, {-1, -1});
  for (auto* list : {m.mutable_graph()->mutable_input(), m.mutable_graph()->mutable_output()})
    for (auto& d : *list->Mutable(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      d.set_dim_param("?");
  for (const dims& fed : {dims{2, 3}, dims{3, 3}, dims{1, 0}}) {
    const outcome made = of(m, {counting("x", fed)});
    CHECK(made.shape == fed);
    CHECK(made.warnings.empty());
    CHECK(made.notes_that("question-mark: dim 0 of a declared type is named '?'"));
    CHECK((*made.inputs[0].type.shape)[0].symbol == 0);
  }
  for (auto& d :
       *m.mutable_graph()->mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
    d.set_dim_param("n");  // any other name is one size
  const result<session> named = load_bytes(m.SerializeAsString(), {});
  REQUIRE(named);
  const any_value x = value_from(counting("x", {2, 3}));
  CHECK(named->run({{"x", x}}).error().code() == status_code::invalid_argument);
}

TEST_CASE("an output declared with another rank or size than it has gets the computed one and a warning") {
  for (const dims& declared : {dims{6}, dims{}, dims{2, 3, 1}, dims{2, 4}, dims{1, 3}}) {
    const outcome made = of(relu({2, 3}, declared), {counting("x", {2, 3})});
    CHECK(made.numbers == rectified);
    CHECK(made.shape == dims{2, 3});
    CHECK(made.outputs[0].type_text == "tensor(float)[2,3]");
    CHECK(made.warns("bad.onnx: other-shape: 'y' is declared as "));
    CHECK(made.warnings.size() == 1);
  }
  CHECK(of(relu({2, 3}, {2, 3}), {counting("x", {2, 3})}).warnings.empty());
}

TEST_CASE("so does a value between nodes, an output that is an initializer, and one of a symbolic size") {
  onnx::ModelProto inner = relu({2, 3}, {2, 3});
  inner.mutable_graph()->mutable_node(0)->set_output(0, "r");
  add_value(*inner.mutable_graph()->mutable_value_info(), "r", {7});
  add_node(*inner.mutable_graph(), "Abs", {"r"}, {"y"});
  outcome made = of(inner, {counting("x", {2, 3})});
  CHECK(made.numbers == rectified);
  CHECK(made.warns("'r' is declared as tensor(float)[7], but is tensor(float)[2,3]"));

  onnx::ModelProto weight = new_model();
  *weight.mutable_graph()->add_initializer() = counting("w", {2, 3});
  add_value(*weight.mutable_graph()->mutable_output(), "w", {5});
  made = of(weight, {});
  CHECK(made.shape == dims{2, 3});
  CHECK(made.warns("'w' is declared as tensor(float)[5], but is tensor(float)[2,3]"));

  onnx::ModelProto symbolic = relu({2, 3}, {2, 3});
  auto& shape = *symbolic.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim(0)->set_dim_param("N");
  CHECK(of(symbolic, {counting("x", {2, 3})}).warnings.empty());
  shape.mutable_dim(1)->set_dim_param("M");
  shape.add_dim()->set_dim_param("K");
  CHECK(of(symbolic, {counting("x", {2, 3})}).warns("'y' is declared as "));
}

TEST_CASE("an output that only a run finds to have another rank or size gets that one, and one warning") {
  const std::vector<onnx::TensorProto> inputs{counting("x", {2, 3}), ints("shape", {3, 2})};
  for (const bool rank_is_known : {true, false})
    for (const dims& declared : {dims{6}, dims{2, 3}, dims{7, 7}, dims{}, dims{3, 2, 1}}) {
      const outcome made = of(reshaped(nullptr, declared, rank_is_known), inputs, 3);
      CHECK(made.shape == dims{3, 2});
      CHECK(made.numbers == std::vector<float>{0, 0, 2, 4, 6, 8});
      CHECK(made.warnings.size() == 1);
      if (rank_is_known && declared.size() != 2) {  // so much is known beforehand
        CHECK(made.warns("other-shape: 'y' is declared as "));
      } else {
        CHECK(made.warns("bad.onnx: other-shape-in-run: output 'y' is declared as "));
        CHECK(made.warns("made [3,2] of it"));
      }
    }
  CHECK(of(reshaped(nullptr, {3, 2}), inputs).warnings.empty());
}

TEST_CASE("so it does where the file says wrong things of values that it is made of") {
  for (const dims& inner : {dims{6}, dims{2, 3}, dims{7, 7}, dims{100, 100}, dims{1}, dims{}, dims{0}, dims{3, 2, 1}})
    for (const dims& last : {dims{3, 2}, dims{2, 3}, dims{100}, dims{}}) {
      const outcome made = of(reshaped(&inner, last, false), {counting("x", {2, 3}), ints("shape", {3, 2})}, 2);
      CHECK(made.shape == dims{3, 2});
      CHECK(made.numbers == std::vector<float>{0, 0, 2, 4, 6, 8});
      CHECK(!made.warnings.empty());
    }
}

TEST_CASE("an output that is an input of the graph, and declared as another, is what the input says") {
  onnx::ModelProto m = relu({2, 3}, {2, 3});
  add_value(*m.mutable_graph()->mutable_output(), "x", {3, 2});
  const outcome made = of(m, {counting("x", {2, 3})});
  CHECK(made.numbers == rectified);
  CHECK(made.inputs[0].type_text == "tensor(float)[2,3]");
  CHECK(made.warns("input 'x' is tensor(float)[2,3], and declared again as tensor(float)[3,2]"));
  m.mutable_graph()->mutable_output(1)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
  CHECK(of(m, {counting("x", {2, 3})}).warns("declared again as tensor(int64)"));
}

TEST_CASE("Constants of integers, bools and texts load at every opset, as old PyTorch wrote them") {
  for (const std::int64_t opset : {1, 6, 7, 8, 9, 13}) {
    onnx::ModelProto m = new_model();
    m.mutable_opset_import(0)->set_version(opset);
    onnx::GraphProto& g = *m.mutable_graph();
    set(add_node(g, "Constant", {}, {"shape"}), "value", ints("t", {3, 2}));
    add_typed(*g.mutable_output(), "shape", onnx::TensorProto::INT64);
    if (opset >= 6) {
      add_value(*g.mutable_input(), "x", {2, 3});
      add_node(g, "Reshape", {"x", "shape"}, {"y"});
      add_value(*g.mutable_output(), "y", {3, 2});
    }
    for (const onnx::TensorProto& other : {truth("t", true), texts("t", {"a", "b"}), int_scalar("t", 4)}) {
      const std::string name = "c" + std::to_string(g.node_size());
      set(add_node(g, "Constant", {}, {name}), "value", other);
      add_typed(*g.mutable_output(), name, other.data_type());
    }
    std::vector<onnx::TensorProto> inputs;
    if (opset >= 6) inputs.push_back(counting("x", {2, 3}));
    const outcome made = of(m, inputs);
    CHECK(made.numbers == std::vector<float>{3, 2});
    CHECK(made.warnings.empty());
    CHECK(made.notes_that("holds what is allowed from opset 9 on") == (opset < 9));
  }
}

TEST_CASE("attributes of Constant load before their opset, also in a branch; what no opset has is refused") {
  const auto constant = [](onnx::GraphProto& g, const char* output) {
    set(add_node(g, "Constant", {}, {output}, output), "value_ints", std::vector<std::int64_t>{3, 2});
  };
  for (const std::int64_t opset : {8, 11, 12}) {
    onnx::ModelProto m = new_model();
    m.mutable_opset_import(0)->set_version(opset);
    onnx::GraphProto& g = *m.mutable_graph();
    *g.add_initializer() = truth("condition", true);
    onnx::GraphProto branch;
    branch.set_name("branch");
    constant(branch, "inside");
    add_untyped_output(branch, "inside");
    auto& choice = add_node(g, "If", {"condition"}, {"y"});
    set(choice, "then_branch", branch);
    set(choice, "else_branch", branch);
    constant(g, "z");
    add_node(g, "Add", {"y", "z"}, {"sum"});
    add_untyped_output(g, "sum");
    const outcome made = of(m, {});
    CHECK(made.numbers == std::vector<float>{6, 4});
    CHECK(made.notes_that("holds what is allowed from opset 12 on") == (opset < 12));
    set(*g.mutable_node(1), "value_of_nothing", 1.0f);
    CHECK_REFUSED(load_error(m), status_code::invalid_graph, "'z'", "has no attribute 'value_");
  }
}

TEST_CASE("of one kind of oddity so many are told, then that there are more") {
  onnx::ModelProto m = new_model();
  onnx::GraphProto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "v0", {2, 3});
  for (int i = 0; i < 1000; ++i) {
    add_node(g, "Relu", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
    add_value(*g.mutable_value_info(), "v" + std::to_string(i + 1), {7});
  }
  add_untyped_output(g, "v1000");
  const outcome made = of(m, {counting("v0", {2, 3})});
  CHECK(made.warnings.size() == 9);
  CHECK(made.warns("and more of this, a value is declared with another rank or size than it has"));
}
