// Deviations that cameo accepts: src/graph/oddities.cpp. tests/scripts/oddities.py compares them with ONNX Runtime.
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

/// The messages of a session about a model, and the output of a run.
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
outcome outcome_of(const onnx::ModelProto& m, const std::vector<onnx::TensorProto>& inputs, int times = 1,
                   session_options options = {}) {
  outcome made;
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

/// x [2, 3] -> Relu -> r -> Abs -> y, where the file declares r as `between`.
onnx::ModelProto relu_between(const dims& between) {
  onnx::ModelProto m = relu({2, 3}, {2, 3});
  m.mutable_graph()->mutable_node(0)->set_output(0, "r");
  add_value(*m.mutable_graph()->mutable_value_info(), "r", between);
  add_node(*m.mutable_graph(), "Abs", {"r"}, {"y"});
  return m;
}

/// A Reshape of x [2, 3] to the shape that a run passes, then Relu and Add. The file declares `inner` as the shape of
/// the Reshape's output, and `last` as the shape of the model's output.
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
                             (row.is_warning ? "warning" : "info") + " |";
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
      const outcome made = outcome_of(m, {counting("x", fed)});
      CHECK(made.shape == fed);
      if (fed[0] == 2) CHECK(made.numbers == rectified);
      CHECK(made.warnings.empty());  // deviations of all models of an exporter are not warned about
      CHECK(made.notes_that("negative-dim: dim 0 of a declared type is " + std::to_string(d)));
      CHECK(!(*made.inputs[0].type.shape)[0].known());
    }
  }
}

TEST_CASE("an output declared with another rank or size than it has gets the computed one and a warning") {
  for (const dims& declared : {dims{6}, dims{}, dims{2, 3, 1}, dims{2, 4}, dims{1, 3}}) {
    const outcome made = outcome_of(relu({2, 3}, declared), {counting("x", {2, 3})});
    CHECK(made.numbers == rectified);
    CHECK(made.shape == dims{2, 3});
    CHECK(made.outputs[0].type_text == "tensor(float)[2,3]");
    CHECK(made.warns("bad.onnx: other-shape: 'y' is declared as "));
    CHECK(made.warnings.size() == 1);
  }
  CHECK(outcome_of(relu({2, 3}, {2, 3}), {counting("x", {2, 3})}).warnings.empty());
}

TEST_CASE(
    "a value between nodes, an output that is an initializer, and one of a symbolic size get the computed shape, too") {
  outcome made = outcome_of(relu_between({7}), {counting("x", {2, 3})});
  CHECK(made.numbers == rectified);
  CHECK(made.warnings.empty());  // all models of the most used exporter of language models have such values
  CHECK(made.notes_that("other-shape-between: 'r' is declared as tensor(float)[7], but is tensor(float)[2,3]"));

  onnx::ModelProto weight = new_model();
  *weight.mutable_graph()->add_initializer() = counting("w", {2, 3});
  add_value(*weight.mutable_graph()->mutable_output(), "w", {5});
  made = outcome_of(weight, {});
  CHECK(made.shape == dims{2, 3});
  CHECK(made.warns("'w' is declared as tensor(float)[5], but is tensor(float)[2,3]"));

  onnx::ModelProto symbolic = relu({2, 3}, {2, 3});
  auto& shape = *symbolic.mutable_graph()->mutable_output(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
  shape.mutable_dim(0)->set_dim_param("N");
  CHECK(outcome_of(symbolic, {counting("x", {2, 3})}).warnings.empty());
  shape.mutable_dim(1)->set_dim_param("M");
  shape.add_dim()->set_dim_param("K");
  CHECK(outcome_of(symbolic, {counting("x", {2, 3})}).warns("'y' is declared as "));
}

TEST_CASE("an output whose rank or size differs in a run gets the actual one, and one warning") {
  const std::vector<onnx::TensorProto> inputs{counting("x", {2, 3}), ints("shape", {3, 2})};
  for (const bool rank_is_known : {true, false})
    for (const dims& declared : {dims{6}, dims{2, 3}, dims{7, 7}, dims{}, dims{3, 2, 1}}) {
      const outcome made = outcome_of(reshaped(nullptr, declared, rank_is_known), inputs, 3);
      CHECK(made.shape == dims{3, 2});
      CHECK(made.numbers == std::vector<float>{0, 0, 2, 4, 6, 8});
      CHECK(made.warnings.size() == 1);
      if (rank_is_known && declared.size() != 2) {  // this much is known before a run
        CHECK(made.warns("other-shape: 'y' is declared as "));
      } else {
        CHECK(made.warns("bad.onnx: other-shape-in-run: output 'y' is declared as "));
        CHECK(made.warns("made [3,2] of it"));
      }
    }
  CHECK(outcome_of(reshaped(nullptr, {3, 2}), inputs).warnings.empty());
}

TEST_CASE("an output gets its actual shape where the file declares wrong shapes of the values that it depends on") {
  for (const dims& inner : {dims{6}, dims{2, 3}, dims{7, 7}, dims{100, 100}, dims{1}, dims{}, dims{0}, dims{3, 2, 1}})
    for (const dims& last : {dims{3, 2}, dims{2, 3}, dims{100}, dims{}}) {
      const outcome made = outcome_of(reshaped(&inner, last, false), {counting("x", {2, 3}), ints("shape", {3, 2})}, 2);
      CHECK(made.shape == dims{3, 2});
      CHECK(made.numbers == std::vector<float>{0, 0, 2, 4, 6, 8});
      CHECK(made.warnings.empty() == (last == dims{3, 2}));  // a wrong declaration of the inner value has no effect
    }
}

TEST_CASE("an output that is an input of the graph, and declared with another type, has the input's type") {
  onnx::ModelProto m = relu({2, 3}, {2, 3});
  add_value(*m.mutable_graph()->mutable_output(), "x", {3, 2});
  const outcome made = outcome_of(m, {counting("x", {2, 3})});
  CHECK(made.numbers == rectified);
  CHECK(made.inputs[0].type_text == "tensor(float)[2,3]");
  CHECK(made.warns("input 'x' is tensor(float)[2,3], and declared again as tensor(float)[3,2]"));
  m.mutable_graph()->mutable_output(1)->mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
  CHECK(outcome_of(m, {counting("x", {2, 3})}).warns("declared again as tensor(int64)"));
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
    const outcome made = outcome_of(m, inputs);
    CHECK(made.numbers == std::vector<float>{3, 2});
    CHECK(made.warnings.empty());
    CHECK(made.notes_that("has what is allowed from opset 9 on") == (opset < 9));
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
    const outcome made = outcome_of(m, {});
    CHECK(made.numbers == std::vector<float>{6, 4});
    CHECK(made.notes_that("has what is allowed from opset 12 on") == (opset < 12));
    set(*g.mutable_node(0)->mutable_attribute(0)->mutable_g()->mutable_node(0), "value_of_nothing", 1.0f);
    CHECK_REFUSED(load_error(m), status_code::invalid_graph, "'inside'", "has no attribute 'value_");
  }
}

TEST_CASE("eight deviations of one kind are reported, then that there are more") {
  onnx::ModelProto m = new_model();
  onnx::GraphProto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "v0", {2, 3});
  for (int i = 0; i < 1000; ++i) {
    add_node(g, "Relu", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
    if (i < 999) add_value(*g.mutable_value_info(), "v" + std::to_string(i + 1), {7});
  }
  add_untyped_output(g, "v1000");
  const outcome made = outcome_of(m, {counting("v0", {2, 3})});
  CHECK(made.warnings.empty());
  const auto is_of_shapes = [](const std::string& note) { return note.find("other-shape-between: ") != note.npos; };
  CHECK(std::count_if(made.notes.begin(), made.notes.end(), is_of_shapes) == 9);
  CHECK(made.notes_that("and more of this, value_info declares a value between two nodes with another rank or size"));
}

namespace {

/// How the branch that is never taken breaks a rule.
enum class breach { shapes, element_types };

/// y = If(condition): Relu(x), else a branch whose nodes contradict each other. The file may declare the types of their
/// outputs.
onnx::ModelProto half_broken(bool condition, bool is_constant, breach how = breach::shapes, bool is_declared = false) {
  onnx::ModelProto m = new_model();
  onnx::GraphProto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "x", {2, 3});
  if (is_constant) *g.add_initializer() = truth("condition", condition);
  else
    add_typed(*g.mutable_input(), "condition", onnx::TensorProto::BOOL)
        .mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape();
  onnx::GraphProto right, wrong;
  right.set_name("right"), wrong.set_name("wrong");
  add_node(right, "Relu", {"x"}, {"fine"});
  add_untyped_output(right, "fine");
  *wrong.add_initializer() = how == breach::element_types ? ints("five", {5}) : floats("five", {5});
  add_node(wrong, "Add", {"x", "five"}, {"bad"}, "impossible");  // float[2,3]
  add_node(wrong, "Abs", {"bad"}, {"worse"});
  if (is_declared) add_value(*wrong.mutable_value_info(), "bad", {2, 3});
  if (is_declared) add_value(*wrong.mutable_output(), "worse", {2, 3});
  else add_untyped_output(wrong, "worse");
  auto& choice = add_node(g, "If", {"condition"}, {"y"}, "choice");
  set(choice, "then_branch", condition ? right : wrong);
  set(choice, "else_branch", condition ? wrong : right);
  add_untyped_output(g, "y");
  return m;
}

}  // namespace

TEST_CASE("a branch that a constant condition never takes need not be correct, at any level of optimization") {
  for (const bool condition : {true, false})
    for (const optimization_level level :
         {optimization_level::none, optimization_level::basic, optimization_level::all}) {
      session_options options;
      options.optimize = level;
      const outcome made = outcome_of(half_broken(condition, true), {counting("x", {2, 3})}, 1, options);
      CHECK(made.numbers == rectified);
      CHECK(made.outputs[0].type_text == "tensor(float)[2,3]");
      CHECK(made.warns("broken-unused-branch: node 'choice'"));
      CHECK(made.warns("impossible"));
      CHECK(made.warnings.size() == 1);
    }
  CHECK_REFUSED(load_error(half_broken(true, false)), status_code::invalid_graph, "impossible");
}

TEST_CASE("a broken branch is found whatever the file declares of its values, at any level of optimization") {
  for (const breach how : {breach::shapes, breach::element_types})
    for (const bool is_declared : {true, false})
      for (const optimization_level level : {optimization_level::none, optimization_level::basic,
                                             optimization_level::extended, optimization_level::all}) {
        CAPTURE(int(how));
        CAPTURE(is_declared);
        CAPTURE(int(level));
        session_options options;
        options.optimize = level;
        const outcome made = outcome_of(half_broken(true, true, how, is_declared), {counting("x", {2, 3})}, 1, options);
        CHECK(made.numbers == rectified);
        CHECK(made.warns("broken-unused-branch: node 'choice'"));
        CHECK(made.warnings.size() == 1);
      }
}

namespace {

/// y = x + w, with x [2, 3].
onnx::ModelProto sum_with(const std::vector<onnx::TensorProto>& initializers) {
  onnx::ModelProto m = new_model();
  onnx::GraphProto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "x", {2, 3});
  for (const onnx::TensorProto& each : initializers) *g.add_initializer() = each;
  add_node(g, "Add", {"x", "w"}, {"y"}, "n");
  add_value(*g.mutable_output(), "y", {2, 3});
  return m;
}

onnx::TensorProto ones(const std::string& name, float each = 1) {
  const std::vector<float> all(6, each);
  return tensor_message(name, onnx::TensorProto::FLOAT, {2, 3}, {reinterpret_cast<const char*>(all.data()), 24});
}

status error_under(const onnx::ModelProto& m, const std::vector<std::pair<std::string, std::string>>& config) {
  session_options options;
  options.config = config;
  return load_bytes(m.SerializeAsString(), options).error();
}

const std::vector<std::pair<std::string, std::string>> strict{{"session.strict", "1"}},
    strict_shapes{{"session.strict_shape_type_inference", "1"}};

}  // namespace

TEST_CASE("session.strict makes errors of warnings and infos about deviations, when reading, checking and running") {
  const auto is_refused = [](const onnx::ModelProto& m, const char* name) {
    CHECK_REFUSED(error_under(m, strict), status_code::invalid_graph, bad_name, name, "session.strict=1");
    CHECK(error_under(m, {{"session.strict", "0"}}).code() == status_code::ok);
  };
  is_refused(relu({-1, 3}, {-1, 3}), "negative-dim");
  is_refused(relu({2, 3}, {6}), "other-shape");
  is_refused(relu_between({6}), "other-shape-between");
  CHECK(error_under(relu({2, 3}, {2, 3}), strict).code() == status_code::ok);

  session_options options;
  options.config = strict;
  const result<session> s = load_bytes(reshaped(nullptr, {6}, false).SerializeAsString(), options);
  REQUIRE_MESSAGE(s, s.error().words());
  const any_value x = value_from(counting("x", {2, 3})), shape = value_from(ints("shape", {3, 2}));
  for (int i = 0; i < 2; ++i)
    CHECK_REFUSED(s->run({{"x", x}, {"shape", shape}}).error(), status_code::invalid_graph, bad_name,
                  "other-shape-in-run", "session.strict=1");
}

TEST_CASE("session.strict_shape_type_inference refuses declared shapes that contradict, and nothing else") {
  for (const dims& declared : {dims{6}, dims{}, dims{2, 4}, dims{2, 3, 1}})
    CHECK_REFUSED(error_under(relu({2, 3}, declared), strict_shapes), status_code::invalid_graph, bad_name,
                  "other-shape", "session.strict_shape_type_inference=1");
  CHECK_REFUSED(error_under(relu_between({6}), strict_shapes), status_code::invalid_graph, bad_name,
                "other-shape-between", "session.strict_shape_type_inference=1");
  CHECK(error_under(relu({-1, 3}, {-1, 3}), strict_shapes).code() == status_code::ok);
  CHECK(error_under(sum_with({ones("w"), ones("w", 2)}), strict_shapes).code() == status_code::ok);
}

TEST_CASE("dims whose name is not a word may differ in size; a run in which they do warns once") {
  for (const char* name : {"?", "-1", "*"}) {
    onnx::ModelProto m = relu({0, 0}, {0, 0});
    for (auto* info : {m.mutable_graph()->mutable_input(0), m.mutable_graph()->mutable_output(0)})
      for (auto& d : *info->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
        d.set_dim_param(name);
    const outcome made = outcome_of(m, {counting("x", {2, 3})}, 3);
    CHECK(made.numbers == rectified);
    CHECK(made.warnings.size() == 1);
    CHECK(made.warns(std::string{"one-name-two-sizes: '"} + name + "' is 2 in input 'x' (axis 0 of float[2,3]) and 3"));
    CHECK(made.inputs[0].type_text == "tensor(float)[" + std::string{name} + "," + name + "]");
    CHECK(outcome_of(m, {counting("x", {3, 3})}).warnings.empty());
    session_options options;
    options.config = strict;
    const result<session> s = load_bytes(m.SerializeAsString(), options);
    REQUIRE(s);
    CHECK_REFUSED(s->run({{"x", value_from(counting("x", {2, 3}))}}).error(), status_code::invalid_argument, bad_name,
                  "the model needs one size for both");
  }
}

/// A model with inputs [dims of the name 'n'], all of the same rank.
onnx::ModelProto named_dims(const std::vector<std::string>& inputs, int rank) {
  onnx::ModelProto m = new_model();
  for (const std::string& name : inputs) {
    auto& all = *m.mutable_graph()->mutable_input();
    add_value(all, name, dims(std::size_t(rank), 0));
    for (auto& d : *all.rbegin()->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
      d.set_dim_param("n");
  }
  return m;
}

TEST_CASE(
    "one word for two sizes is refused; with session.separate_dims a run takes them, and each value has its own") {
  session_options apart;
  apart.config = {{"session.separate_dims", "1"}};
  onnx::ModelProto m = named_dims({"a", "b", "c"}, 1);
  onnx::GraphProto& g = *m.mutable_graph();
  // These would be removed or share memory if all dims were equal: Expand to a's shape, and values with disjoint
  // lifetimes.
  add_node(g, "Shape", {"a"}, {"shape"});
  add_node(g, "Expand", {"b", "shape"}, {"wide"});
  add_node(g, "Abs", {"a"}, {"a1"});
  add_node(g, "Exp", {"c"}, {"c1"});
  add_node(g, "Log", {"c1"}, {"c2"});
  add_node(g, "Neg", {"c2"}, {"c3"});
  add_node(g, "Concat", {"wide", "a1", "c3"}, {"y"});
  set(*g.mutable_node(6), "axis", std::int64_t{0});
  add_untyped_output(g, "y");
  const auto given = [](std::int64_t a, std::int64_t b, std::int64_t c) {
    return std::vector<onnx::TensorProto>{counting("a", {a}), counting("b", {b}), counting("c", {c})};
  };
  for (const auto& [a, c] : {std::pair{3, 70}, {70, 3}, {1, 5000}, {0, 2}, {2, 0}}) {
    const outcome made = outcome_of(m, given(a, 1, c), 2, apart);
    CHECK(made.shape == dims{2 * a + c});
    for (std::int64_t i = 0; i < a; ++i) {
      CHECK(made.numbers[std::size_t(i)] == -1);
      CHECK(made.numbers[std::size_t(a + i)] == std::abs(float(i - 1)));
    }
    for (std::int64_t i = 0; i < std::min(c, 50); ++i)
      CHECK(made.numbers[std::size_t(2 * a + i)] == doctest::Approx(1 - i).epsilon(1e-4));
    CHECK(made.warns("one-name-two-sizes: 'n' is " + std::to_string(a) + " in input 'a'"));
    const result<session> s = load_bytes(m.SerializeAsString());
    REQUIRE(s);
    CHECK_REFUSED(s->run({{"a", value_from(counting("a", {a}))},
                          {"b", value_from(counting("b", {1}))},
                          {"c", value_from(counting("c", {c}))}})
                      .error(),
                  status_code::invalid_argument, bad_name, "the model needs one size for both");
  }
  CHECK(outcome_of(m, given(4, 4, 4), 1, apart).warnings.empty());
  // A kernel finds that sizes do not fit.
  const result<session> s = load_bytes(m.SerializeAsString(), apart);
  REQUIRE(s);
  CHECK(!s->run({{"a", value_from(counting("a", {3}))},
                 {"b", value_from(counting("b", {2}))},
                 {"c", value_from(counting("c", {3}))}}));
}

TEST_CASE("no rewrite assumes that dims are equal whose name is not a word") {
  // If ? were one size, the second element of the shape of x [?, ?] would replace the first.
  onnx::ModelProto m = new_model();
  onnx::GraphProto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "x", {0, 0});
  for (auto& d : *g.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim())
    d.set_dim_param("?");
  add_node(g, "Shape", {"x"}, {"shape"});
  *g.add_initializer() = ints("back", {1, 0});
  add_node(g, "Gather", {"shape", "back"}, {"turned"});
  add_node(g, "Reshape", {"x", "turned"}, {"y"});
  add_untyped_output(g, "y");
  const outcome made = outcome_of(m, {counting("x", {2, 3})});
  CHECK(made.shape == dims{3, 2});
  CHECK(made.numbers == std::vector<float>{-1, 0, 1, 2, 3, 4});
}

TEST_CASE("initializers: defined twice, without a name, broken but unread, and declared with another type") {
  const std::vector<onnx::TensorProto> x{counting("x", {2, 3})};
  outcome made = outcome_of(sum_with({ones("w"), ones("w", 2)}), x);
  CHECK(made.numbers == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(made.warns("initializer-twice: initializer 'w' is given twice"));
  made = outcome_of(sum_with({ones(""), ones("w")}), x);
  CHECK(made.numbers == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(made.warns("nameless-initializer: "));

  onnx::TensorProto broken = ones("u");
  broken.set_raw_data("short");
  made = outcome_of(sum_with({ones("w"), broken}), x);
  CHECK(made.numbers == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(made.warns("broken-unused-initializer: tensor 'u' float[2,3]: raw_data has 5 bytes"));
  onnx::ModelProto read = sum_with({ones("w"), broken});
  add_node(*read.mutable_graph(), "Neg", {"u"}, {"z"});
  CHECK_REFUSED(load_error(read), status_code::invalid_graph, bad_name, "'u'");
  onnx::ModelProto shown = sum_with({ones("w"), broken});
  add_untyped_output(*shown.mutable_graph(), "u");
  CHECK_REFUSED(load_error(shown), status_code::invalid_graph, bad_name, "'u'");
  onnx::ModelProto inside = sum_with({ones("w"), broken, truth("condition", true)});
  onnx::GraphProto branch;
  branch.set_name("branch");
  add_node(branch, "Neg", {"u"}, {"inside"});
  add_untyped_output(branch, "inside");
  auto& choice = add_node(*inside.mutable_graph(), "If", {"condition"}, {"z"});
  set(choice, "then_branch", branch);
  set(choice, "else_branch", branch);
  CHECK_REFUSED(load_error(inside), status_code::invalid_graph, bad_name, "'u'");

  onnx::ModelProto redeclared = sum_with({ones("w")});
  add_value(*redeclared.mutable_graph()->mutable_value_info(), "w", {2, 3});
  redeclared.mutable_graph()->mutable_value_info(0)->mutable_type()->mutable_tensor_type()->set_elem_type(
      onnx::TensorProto::DOUBLE);
  made = outcome_of(redeclared, x);
  CHECK(made.numbers == std::vector<float>{0, 1, 2, 3, 4, 5});
  CHECK(made.warns("initializer-redeclared: initializer 'w' is tensor(float), and declared as tensor(double)"));
}

TEST_CASE("numbers that do not fit lose high bits, raw_data precedes other data, and a segment is the whole tensor") {
  const auto shown = [](const onnx::TensorProto& t, const char* words) {
    onnx::ModelProto m = new_model();
    onnx::GraphProto& g = *m.mutable_graph();
    *g.add_initializer() = t;
    set(add_node(g, "Cast", {t.name()}, {"y"}), "to", std::int64_t{onnx::TensorProto::INT64});
    add_untyped_output(g, "y");
    const outcome made = outcome_of(m, {});
    CHECK(made.warnings.size() == 1);
    CHECK(made.warns(words));
    return made.numbers;
  };
  onnx::TensorProto narrow;
  narrow.set_name("w"), narrow.set_data_type(onnx::TensorProto::INT8), narrow.add_dims(2);
  narrow.add_int32_data(300), narrow.add_int32_data(-300);
  CHECK(shown(narrow, "wide-number: tensor 'w' int8[2]: entry 0 of int32_data") == std::vector<float>{44, -44});
  onnx::TensorProto wide;
  wide.set_name("w"), wide.set_data_type(onnx::TensorProto::UINT32), wide.add_dims(1);
  wide.add_uint64_data((std::uint64_t{1} << 33) + 5);
  CHECK(shown(wide, "wide-number: ") == std::vector<float>{5});
  onnx::TensorProto both = ones("w", 3);
  for (int i = 0; i < 6; ++i) both.add_float_data(4);
  CHECK(shown(both, "data-twice: ") == std::vector<float>(6, 3.0f));
  onnx::TensorProto part = ones("w", 7);
  part.mutable_segment()->set_begin(2);
  CHECK(shown(part, "segment: ") == std::vector<float>(6, 7.0f));
}

TEST_CASE("indices of sparse initializers are sorted, and the last of equal ones counts; outside ones are refused") {
  const auto with = [](std::vector<std::int64_t> indices, std::vector<std::int64_t> shape, std::vector<float> values) {
    onnx::ModelProto m = sum_with({});
    onnx::SparseTensorProto& t = *m.mutable_graph()->add_sparse_initializer();
    *t.mutable_values() = tensor_message("w", onnx::TensorProto::FLOAT, {std::int64_t(values.size())},
                                         {reinterpret_cast<const char*>(values.data()), 4 * values.size()});
    *t.mutable_indices() = tensor_message("", onnx::TensorProto::INT64, shape,
                                          {reinterpret_cast<const char*>(indices.data()), 8 * indices.size()});
    t.add_dims(2), t.add_dims(3);
    return m;
  };
  const std::vector<onnx::TensorProto> x{counting("x", {2, 3})};
  for (const onnx::ModelProto& m :
       {with({4, 1}, {2}, {20, 10}), with({1, 1, 0, 1}, {2, 2}, {20, 10}), with({4, 1, 4, 1}, {4}, {7, 8, 20, 10})}) {
    const outcome made = outcome_of(m, x);
    CHECK(made.numbers == std::vector<float>{-1, 10, 1, 2, 23, 4});
    CHECK(made.warns("sparse-unsorted: sparse tensor 'w': index 1 is not greater than the one before"));
  }
  for (const std::int64_t outside : {std::int64_t{6}, std::int64_t{-1}})
    CHECK_REFUSED(load_error(with({4, outside}, {2}, {1, 2})), status_code::invalid_graph, bad_name, "'w'");
}

TEST_CASE("opsets: the last of two counts; unused ones below 1 and missing ones are accepted") {
  const auto sum = [](const std::vector<std::pair<std::string, std::int64_t>>& imports) {
    onnx::ModelProto m = new_model();
    m.clear_opset_import();
    for (const auto& [domain, version] : imports) {
      m.add_opset_import()->set_domain(domain);
      m.mutable_opset_import(m.opset_import_size() - 1)->set_version(version);
    }
    add_value(*m.mutable_graph()->mutable_input(), "x", {2, 3});
    auto& n = add_node(*m.mutable_graph(), "ReduceSum", {"x"}, {"y"}, "n");
    set(n, "axes", std::vector<std::int64_t>{1});  // an attribute until opset 12
    add_untyped_output(*m.mutable_graph(), "y");
    return m;
  };
  const std::vector<onnx::TensorProto> x{counting("x", {2, 3})};
  for (const char* second : {"", "ai.onnx"}) {
    CHECK(outcome_of(sum({{"", 13}, {second, 11}}), x).numbers == std::vector<float>{0, 9});
    CHECK(outcome_of(sum({{"", 13}, {second, 11}}), x).warns("opset-twice: domain 'ai.onnx' is imported twice"));
    CHECK_REFUSED(load_error(sum({{"", 11}, {second, 13}})), status_code::invalid_graph, bad_name, "'axes'");
  }
  CHECK(outcome_of(sum({{"", 11}, {"other", -1}}), x).warns("opset-below-one: opset -1 of domain 'other'"));
  CHECK_REFUSED(load_error(sum({{"", 0}})), status_code::invalid_graph, bad_name, "'n'", "version 0");

  onnx::ModelProto missing = relu({2, 3}, {2, 3});
  missing.mutable_graph()->mutable_node(0)->set_domain("com.microsoft");
  missing.mutable_graph()->mutable_node(0)->set_op_type("QuickGelu");
  CHECK(outcome_of(missing, x).warns("opset-missing: domain 'com.microsoft' is not among the opset imports"));
  onnx::ModelProto of_onnx = relu({2, 3}, {2, 3});
  of_onnx.mutable_opset_import(0)->set_domain("ai.onnx.ml");
  of_onnx.mutable_opset_import(0)->set_version(3);
  CHECK(outcome_of(of_onnx, x).numbers == rectified);
  CHECK(outcome_of(of_onnx, x).warnings.size() == 1);
  of_onnx.clear_opset_import();
  CHECK_REFUSED(load_error(of_onnx), status_code::invalid_graph, bad_name, "ai.onnx");
}

TEST_CASE("functions: unused functions may break rules, and one with an operator's name is not called") {
  const auto add_function = [](onnx::ModelProto& m, const char* domain, const char* name, const char* op) {
    onnx::FunctionProto& f = *m.add_functions();
    f.set_domain(domain), f.set_name(name);
    f.add_input("a"), f.add_output("b");
    *f.add_opset_import() = m.opset_import(0);
    onnx::NodeProto& n = *f.add_node();
    n.set_op_type(op), n.add_input("a"), n.add_output("b");
  };
  onnx::ModelProto m = relu({2, 3}, {2, 3});
  add_function(m, "local", "Broken", "Nonsense");
  const std::vector<onnx::TensorProto> x{counting("x", {2, 3})};
  CHECK(outcome_of(m, x).numbers == rectified);
  CHECK(outcome_of(m, x).warns("broken-unused-function: function 'local.Broken'"));
  add_function(m, "local", "Caller", "Neg");
  m.mutable_functions(1)->mutable_node(0)->set_domain("local");
  m.mutable_functions(1)->mutable_node(0)->set_op_type("Broken");
  m.mutable_functions(1)->add_opset_import()->set_domain("local");
  m.mutable_functions(1)->mutable_opset_import(1)->set_version(1);
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "local.Broken");

  onnx::ModelProto named = relu({2, 3}, {2, 3});
  add_function(named, "", "Relu", "Neg");
  CHECK(outcome_of(named, x).numbers == rectified);
  CHECK(outcome_of(named, x).warns("function-named-as-operator: "));
}

TEST_CASE("a pooling window that is larger than its padded input makes the output that ONNX Runtime makes") {
  const auto pooled = [](std::int64_t size, std::int64_t window, std::int64_t stride) {
    onnx::ModelProto m = new_model();
    onnx::GraphProto& g = *m.mutable_graph();
    add_value(*g.mutable_input(), "x", {1, 1, size});
    auto& n = add_node(g, "MaxPool", {"x"}, {"y"}, "n");
    set(n, "kernel_shape", std::vector<std::int64_t>{window});
    set(n, "strides", std::vector<std::int64_t>{stride});
    add_untyped_output(g, "y");
    return m;
  };
  struct shown {
    std::int64_t size, window, stride, made;
  };
  for (const shown& each : {shown{3, 4, 2, 1}, {3, 4, 1, 0}, {2, 4, 2, 0}, {1, 6, 3, 0}, {3, 8, 3, 0}, {3, 5, 3, 1}}) {
    const outcome made = outcome_of(pooled(each.size, each.window, each.stride), {counting("x", {1, 1, each.size})});
    CHECK(made.shape == dims{1, 1, each.made});
    CHECK(made.warns("large-window: "));
  }
  CHECK_REFUSED(load_error(pooled(3, 5, 1)), status_code::invalid_graph, bad_name, "larger than the input");
  CHECK(outcome_of(pooled(4, 4, 1), {counting("x", {1, 1, 4})}).warnings.empty());
}

namespace {

/// x [1, I, H, W] -> ReorderInput -> Conv of com.microsoft.nchwc -> ReorderOutput -> y, with weights in blocks as ONNX
/// Runtime packs them; and the plain Conv.
struct blocked_model {
  std::int64_t maps, channels, block;
  bool has_maps = true;  // in ReorderOutput
  bool depthwise = false;

  std::int64_t filled(std::int64_t n) const { return (n + block - 1) / block * block; }
  bool reads_plain() const { return !depthwise && channels < block; }
  std::int64_t per_group() const { return depthwise ? 1 : channels; }
  float weight(std::int64_t map, std::int64_t channel, std::int64_t tap) const {
    return map < maps && channel < per_group() ? float((map * 7 + channel * 3 + tap * 5) % 11 - 5) : 0.0f;
  }
  onnx::TensorProto plain() const {
    std::vector<float> all;
    for (std::int64_t m = 0; m < maps; ++m)
      for (std::int64_t c = 0; c < per_group(); ++c)
        for (std::int64_t t = 0; t < 4; ++t) all.push_back(weight(m, c, t));
    return tensor_message("w", onnx::TensorProto::FLOAT, {maps, per_group(), 2, 2},
                          {reinterpret_cast<const char*>(all.data()), 4 * all.size()});
  }
  onnx::TensorProto packed() const {
    const bool one_by_one = depthwise || reads_plain();
    const std::int64_t held = one_by_one ? per_group() : filled(channels), together = one_by_one ? 1 : block;
    std::vector<float> all;
    for (std::int64_t m = 0; m < filled(maps); m += block)
      for (std::int64_t c = 0; c < held; c += together)
        for (std::int64_t t = 0; t < 4; ++t)
          for (std::int64_t i = 0; i < together; ++i)
            for (std::int64_t o = 0; o < block; ++o) all.push_back(weight(m + o, c + i, t));
    return tensor_message("w", onnx::TensorProto::FLOAT, {filled(maps), held, 2, 2},
                          {reinterpret_cast<const char*>(all.data()), 4 * all.size()});
  }
  onnx::ModelProto made(bool is_packed) const {
    onnx::ModelProto m = new_model();
    m.add_opset_import()->set_domain("com.microsoft.nchwc");
    m.mutable_opset_import(1)->set_version(1);
    onnx::GraphProto& g = *m.mutable_graph();
    add_value(*g.mutable_input(), "x", {1, channels, 3, 4});
    *g.add_initializer() = is_packed ? packed() : plain();
    const bool reorders = is_packed && !reads_plain();
    const std::string domain = is_packed ? "com.microsoft.nchwc" : "";
    if (reorders) add_node(g, "ReorderInput", {"x"}, {"b"}).set_domain(domain);
    auto& conv = add_node(g, "Conv", {reorders ? "b" : "x", "w"}, {is_packed ? "c" : "y"}, "conv");
    conv.set_domain(domain);
    set(conv, "kernel_shape", std::vector<std::int64_t>{2, 2});
    if (depthwise) set(conv, "group", is_packed ? filled(maps) : maps);
    if (is_packed) {
      auto& out = add_node(g, "ReorderOutput", {"c"}, {"y"});
      out.set_domain(domain);
      set(out, "channels", has_maps ? maps : filled(maps));
    }
    add_untyped_output(g, "y");
    return m;
  }
};

}  // namespace

TEST_CASE("weights that ONNX Runtime packed in blocks are unpacked by the size that the numbers of channels prove") {
  for (const blocked_model& each : {blocked_model{20, 20, 8},
                                    {20, 20, 16},
                                    {24, 3, 8},
                                    {24, 3, 16},
                                    {4, 12, 16},
                                    {40, 24, 8, false},
                                    {4, 4, 16, true, true},
                                    {24, 24, 8, true, true}}) {
    INFO(each.maps, " of ", each.channels, " in ", each.block);
    const std::vector<onnx::TensorProto> x{counting("x", {1, each.channels, 3, 4})};
    const outcome want = outcome_of(each.made(false), x), got = outcome_of(each.made(true), x);
    CHECK(got.shape[1] == (each.has_maps ? each.maps : each.filled(each.maps)));
    CHECK(got.numbers == want.numbers);
    CHECK(got.warns("blocked-weights: node 'conv' (com.microsoft.nchwc.Conv"));
    CHECK(got.warns("in blocks of " + std::to_string(each.block) + " channels, as the numbers of channels show"));
  }
  // Nothing proves the size here: it is the one that ONNX Runtime would use.
  const blocked_model unproven{32, 32, 16, false};
  const outcome made = outcome_of(unproven.made(true), {counting("x", {1, 32, 3, 4})});
  CHECK(made.warns("if they were written on a processor like this"));
  if (made.warns("in blocks of 16 "))
    CHECK(made.numbers == outcome_of(unproven.made(false), {counting("x", {1, 32, 3, 4})}).numbers);
}

TEST_CASE("packed weights stay as they are where numbers contradict, or a node depends on channels in narrow blocks") {
  const auto refused_in_run = [](const onnx::ModelProto& m) {
    const result<session> s = load(m);
    REQUIRE_MESSAGE(s, s.error().words());
    std::vector<any_value> values;
    for (const io_info& input : s->inputs()) values.push_back(value_from(counting(input.name, *input.dims())));
    std::vector<named_input> given;
    for (std::size_t i = 0; i < values.size(); ++i) given.emplace_back(s->inputs()[i].name, values[i]);
    const status failed = s->run(given).error();
    CHECK_REFUSED(failed, status_code::not_implemented, bad_name, "NchwcTransformer");
  };
  // The 24 maps of one are whole blocks of 8 only; the 12 channels of the other would be padded except in blocks of 16.
  onnx::ModelProto contradicting = blocked_model{24, 24, 8}.made(true);
  onnx::GraphProto& both = *contradicting.mutable_graph();
  onnx::TensorProto other = blocked_model{24, 12, 16}.packed();
  other.set_name("v");
  *both.add_initializer() = other;
  add_value(*both.mutable_input(), "u", {1, 12, 3, 4});
  auto& second = add_node(both, "Conv", {"u", "v"}, {"z"});
  second.set_domain("com.microsoft.nchwc");
  set(second, "kernel_shape", std::vector<std::int64_t>{2, 2});
  add_untyped_output(both, "z");
  refused_in_run(contradicting);
  onnx::ModelProto joined = blocked_model{24, 24, 8}.made(true);
  onnx::GraphProto& g = *joined.mutable_graph();
  set(add_node(g, "Concat", {"c", "c"}, {"twice"}), "axis", std::int64_t{1});
  add_untyped_output(g, "twice");
  refused_in_run(joined);
}

TEST_CASE("an attribute that LayerNormalization does not have is ignored, one that Relu does not have is refused") {
  onnx::ModelProto m = new_model();
  m.mutable_opset_import(0)->set_version(17);
  onnx::GraphProto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "x", {2, 3});
  *g.add_initializer() = floats("scale", {3});
  add_node(g, "LayerNormalization", {"x", "scale"}, {"y"}, "n");
  add_value(*g.mutable_output(), "y", {2, 3});
  const outcome plain = outcome_of(m, {counting("x", {2, 3})});
  set(*g.mutable_node(0), "epsion", 100.0f);  // as ONNX Runtime's generators write it
  const outcome made = outcome_of(m, {counting("x", {2, 3})});
  CHECK(made.numbers == plain.numbers);
  CHECK(made.warns("unknown-attribute: node 'n' (LayerNormalization, opset 17) has attribute 'epsion'"));
  CHECK_REFUSED(error_under(m, strict), status_code::invalid_graph, bad_name, "unknown-attribute", "session.strict=1");
  set(*g.mutable_node(0), "epsilon", std::int64_t{1});  // attributes that it has are checked
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, "attribute epsilon is of type int, must be float");
  onnx::ModelProto other = relu({2, 3}, {2, 3});
  set(*other.mutable_graph()->mutable_node(0), "epsion", 1.0f);
  CHECK_REFUSED(load_error(other), status_code::invalid_graph, "has no attribute 'epsion'");
}

namespace {

/// y = c, which `give` makes.
onnx::ModelProto constants_with(const std::function<void(onnx::GraphProto&)>& give) {
  onnx::ModelProto m = new_model();
  give(*m.mutable_graph());
  add_node(*m.mutable_graph(), "Identity", {"c"}, {"y"});
  add_untyped_output(*m.mutable_graph(), "y");
  return m;
}

onnx::NodeProto& add_constant(onnx::GraphProto& g, std::vector<std::int64_t> elements) {
  onnx::NodeProto& made = add_node(g, "Constant", {}, {"c"}, "k");
  set(made, "value", ints("t", std::move(elements)));
  return made;
}

}  // namespace

TEST_CASE("the last of several Constants with one output name in the main graph counts, also before an initializer") {
  using list = std::vector<float>;
  const auto twice = [](onnx::GraphProto& g) { add_constant(g, {1, 2}), add_constant(g, {3, 4}); };
  outcome made = outcome_of(constants_with(twice), {});
  CHECK(made.numbers == list{3, 4});
  CHECK(made.warns("constant-twice: node 'k' (Constant) gives 'c', which is defined already"));
  CHECK(made.warnings.size() == 1);
  CHECK_REFUSED(error_under(constants_with(twice), strict), status_code::invalid_graph, "constant-twice");
  made = outcome_of(constants_with([](onnx::GraphProto& g) {
                      *g.add_initializer() = ints("c", {5, 6});
                      add_constant(g, {1, 2});
                    }),
                    {});
  CHECK(made.numbers == list{1, 2});
  CHECK(made.warns("constant-twice: "));
  const onnx::ModelProto with_default = constants_with([](onnx::GraphProto& g) {
    add_typed(*g.mutable_input(), "c", onnx::TensorProto::INT64);
    add_constant(g, {1, 2});
  });
  CHECK(outcome_of(with_default, {}).numbers == list{1, 2});
  CHECK(outcome_of(with_default, {ints("c", {8, 9})}).numbers == list{8, 9});
  for (int i = 0; i < 48; ++i)  // more pairs than are reported
    CHECK(outcome_of(constants_with([&](onnx::GraphProto& g) {
                       for (int pair = 0; pair <= i; ++pair)
                         for (int each = 0; each < 2; ++each)
                           add_constant(g, {pair, each}).set_output(0, pair ? "c" + std::to_string(pair) : "c");
                     }),
                     {})
              .warnings.size() == std::size_t(std::min(i + 1, 9)));
}

TEST_CASE("a name that a Constant and another node define, or two Constants of other types or shapes, is refused") {
  CHECK_REFUSED(
      load_error(constants_with([](onnx::GraphProto& g) { add_constant(g, {1, 2}), add_constant(g, {1, 2, 3}); })),
      status_code::invalid_graph, "'c' is given twice, as tensor(int64)[2] and as tensor(int64)[3]");
  for (const bool is_first : {true, false}) {
    const onnx::ModelProto m = constants_with([&](onnx::GraphProto& g) {
      if (is_first) add_constant(g, {1, 2});
      add_value(*g.mutable_input(), "x", {2});
      add_node(g, "Neg", {"x"}, {"c"});
      if (!is_first) add_constant(g, {1, 2});
    });
    CHECK_REFUSED(load_error(m), status_code::invalid_graph, "'c' is defined twice");
  }
  onnx::ModelProto m = new_model();  // ONNX Runtime refuses them in a branch, too
  onnx::GraphProto& g = *m.mutable_graph();
  *g.add_initializer() = truth("condition", true);
  onnx::GraphProto branch;
  branch.set_name("branch");
  add_constant(branch, {1, 2}), add_constant(branch, {3, 4});
  add_untyped_output(branch, "c");
  auto& choice = add_node(g, "If", {"condition"}, {"y"});
  set(choice, "then_branch", branch), set(choice, "else_branch", branch);
  add_untyped_output(g, "y");
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, "'c' is defined twice");
}

TEST_CASE("a Constant of the main graph has the value that its first attribute holds, whatever the name") {
  const auto of_attributes = [](const std::function<void(onnx::NodeProto&)>& fill) {
    const onnx::ModelProto m =
        constants_with([&](onnx::GraphProto& g) { fill(add_node(g, "Constant", {}, {"c"}, "k")); });
    CHECK_REFUSED(error_under(m, strict), status_code::invalid_graph, "constant-attribute");
    const outcome made = outcome_of(m, {});
    CHECK(made.warns("constant-attribute: node 'k' (Constant): its value is taken from attribute "));
    return made.numbers;
  };
  using list = std::vector<float>;
  const auto add_sparse = [](onnx::NodeProto& n) {
    onnx::AttributeProto& a = add_attribute(n, "value", onnx::AttributeProto::SPARSE_TENSOR);
    onnx::SparseTensorProto& sparse = *a.mutable_sparse_tensor();
    *sparse.mutable_values() = ints("", {7, 8});
    *sparse.mutable_indices() = ints("", {1, 3});
    sparse.add_dims(4);
  };
  CHECK(of_attributes(add_sparse) == list{0, 7, 0, 8});
  CHECK(of_attributes([](onnx::NodeProto& n) { set(n, "sparse_value", ints("t", {1, 2})); }) == list{1, 2});
  CHECK(of_attributes([](onnx::NodeProto& n) { set(n, "value", std::int64_t{7}); }) == list{7});
  CHECK(of_attributes([](onnx::NodeProto& n) { set(n, "anything", std::vector<std::int64_t>{1, 2}); }) == list{1, 2});
  CHECK(of_attributes([](onnx::NodeProto& n) {
          set(n, "value", ints("t", {1, 2})), set(n, "value_int", std::int64_t{7});
        }) == list{1, 2});
  const auto error_of = [](const std::function<void(onnx::NodeProto&)>& fill) {
    return load_error(constants_with([&](onnx::GraphProto& g) { fill(add_node(g, "Constant", {}, {"c"}, "k")); }));
  };
  CHECK_REFUSED(error_of([](onnx::NodeProto&) {}), status_code::invalid_graph, "'k'", "it needs exactly one");
  onnx::GraphProto body;
  body.set_name("body");
  CHECK_REFUSED(error_of([&](onnx::NodeProto& n) { set(n, "value", body); }), status_code::invalid_graph, "'k'",
                "has no value");
}

TEST_CASE("coefficients that a linear model's input does not need are ignored") {
  for (const std::string op : {"LinearRegressor", "LinearClassifier"}) {
    const bool classifies = op == "LinearClassifier";
    const auto of_columns = [&](std::int64_t columns) {
      onnx::ModelProto m = new_model();
      auto& import = *m.add_opset_import();
      import.set_domain("ai.onnx.ml"), import.set_version(1);
      onnx::GraphProto& g = *m.mutable_graph();
      add_value(*g.mutable_input(), "x", {2, columns});
      onnx::NodeProto& n = classifies ? add_node(g, op, {"x"}, {"l", "y"}, "n") : add_node(g, op, {"x"}, {"y"}, "n");
      n.set_domain("ai.onnx.ml");
      onnx::AttributeProto& coefficients = add_attribute(n, "coefficients", onnx::AttributeProto::FLOATS);
      for (float each : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f, 100.0f, 100.0f}) coefficients.add_floats(each);
      if (classifies) set(n, "classlabels_ints", std::vector<std::int64_t>{7, 8});
      else set(n, "targets", std::int64_t{2});
      add_untyped_output(g, "y");
      return m;
    };
    const outcome made = outcome_of(of_columns(3), {counting("x", {2, 3})});
    CHECK(made.numbers == std::vector<float>{2, 2, 20, 47});
    CHECK(made.warns("unused-coefficients: node 'n' (ai.onnx.ml." + op + ", opset 1): has 8 coefficients and needs 6"));
    CHECK_REFUSED(error_under(of_columns(3), strict), status_code::invalid_graph, "unused-coefficients");
    CHECK(outcome_of(of_columns(4), {counting("x", {2, 4})}).warnings.empty());
    const result<session> s = load(of_columns(5));
    REQUIRE(s);
    CHECK(s->run({{"x", value_from(counting("x", {2, 5}))}}).error().code() == status_code::invalid_argument);
  }
}
