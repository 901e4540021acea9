#include "bad_model.hpp"

#include <chrono>
#include <stop_token>
#include <thread>

using namespace cameo;
using namespace cameo::test;

namespace {

using change = void (*)(onnx::NodeProto&);

/// Checks that wrong values are refused with file, node and operator, both as constants and as inputs of the run.
void check_refused(const std::string& op, const std::vector<onnx::TensorProto>& inputs, change alter = nullptr,
                   int outputs = 1) {
  for (const given how : {given::as_constants, given::at_run_time}) {
    const bool late = how == given::at_run_time;
    onnx::ModelProto model = one_node(op, inputs, how, outputs);
    if (alter) alter(*model.mutable_graph()->mutable_node(0));
    const status s = run_error(model, late ? inputs : std::vector<onnx::TensorProto>{});
    INFO(op, std::string{late ? ", in the run: " : ", constant: "}, shown(s));
    const bool known = s.code() == status_code::invalid_graph || s.code() == status_code::invalid_argument ||
                       s.code() == status_code::out_of_memory;
    CHECK(known);
    for (const std::string& words : {std::string{bad_name}, std::string{"'n'"}, op}) CHECK(says(s, words));
  }
}

/// Checks that unusual values that are valid run.
void check_runs(const std::string& op, const std::vector<onnx::TensorProto>& inputs, change alter = nullptr,
                int outputs = 1) {
  for (const given how : {given::as_constants, given::at_run_time}) {
    const bool late = how == given::at_run_time;
    onnx::ModelProto model = one_node(op, inputs, how, outputs);
    if (alter) alter(*model.mutable_graph()->mutable_node(0));
    CHECK_REFUSED(run_error(model, late ? inputs : std::vector<onnx::TensorProto>{}), status_code::ok);
  }
}

onnx::TensorProto a23() { return floats("a", {2, 3}); }

}  // namespace

TEST_CASE("Gather and its relatives with an index out of range") {
  for (const std::int64_t i : {std::int64_t{2}, std::int64_t{-3}, least, most}) {
    check_refused("Gather", {a23(), ints("i", {i})});
    check_refused("GatherElements", {a23(), tensor_message("i", 7, {1, 1}, raw({i}))});
    check_refused("GatherND", {a23(), tensor_message("i", 7, {1, 1}, raw({i}))});
    check_refused("ScatterElements", {a23(), tensor_message("i", 7, {1, 1}, raw({i})), floats("u", {1, 1})});
    check_refused("ScatterND", {a23(), tensor_message("i", 7, {1, 1}, raw({i})), floats("u", {1, 3})});
  }
  check_refused("GatherND", {a23(), tensor_message("i", 7, {1, 3}, raw<std::int64_t>({0, 0, 0}))});
  check_refused("GatherElements", {a23(), ints("i", {0})});
  check_refused("ScatterND", {a23(), tensor_message("i", 7, {1, 1}, raw<std::int64_t>({0})), floats("u", {1, 4})});
  check_refused("ScatterElements",
                {a23(), tensor_message("i", 7, {1, 1}, raw<std::int64_t>({0})), floats("u", {1, 2})});
  check_refused("Gather", {floats("a", {}), ints("i", {0})});
}

TEST_CASE("Slice: extremes are clamped, a step of 0 and wrong axes are refused") {
  for (const std::int64_t start : {least, std::int64_t{-1}, most})
    for (const std::int64_t end : {least, std::int64_t{1}, most})
      for (const std::int64_t step : {least, std::int64_t{-1}, std::int64_t{1}, most})
        check_runs("Slice", {a23(), ints("s", {start}), ints("e", {end}), ints("x", {1}), ints("t", {step})});
  check_refused("Slice", {a23(), ints("s", {0}), ints("e", {1}), ints("x", {1}), ints("t", {0})});
  check_refused("Slice", {a23(), ints("s", {0}), ints("e", {1, 2})});
  check_refused("Slice", {a23(), ints("s", {0, 0, 0}), ints("e", {1, 1, 1})});
  check_refused("Slice", {a23(), ints("s", {0, 0}), ints("e", {1, 1}), ints("x", {1, -1})});
  for (const std::int64_t axis : {std::int64_t{2}, std::int64_t{-3}, least, most})
    check_refused("Slice", {a23(), ints("s", {0}), ints("e", {1}), ints("x", {axis})});
}

TEST_CASE("Reshape to a product that does not match, with dims below -1, two -1, or a 0 beyond the rank") {
  const std::vector<std::int64_t> wrong[] = {{5},          {4, -1},   {-1, -1}, {-2, 3},    {2, 3, 0},
                                             {most, most}, {most, 2}, {least},  {-1, 0, 0}, {}};
  for (const auto& shape : wrong) check_refused("Reshape", {a23(), ints("s", shape)});
  check_refused("Reshape", {floats("a", {0, 3}), ints("s", {-1, 0})},
                [](onnx::NodeProto& n) { set(n, "allowzero", 1); });
}

TEST_CASE("Squeeze of an axis that is not 1, Unsqueeze and Transpose with axes that are out of range or there twice") {
  for (const std::int64_t axis : {std::int64_t{0}, std::int64_t{2}, std::int64_t{-3}, least, most})
    check_refused("Squeeze", {a23(), ints("x", {axis})});
  for (const std::int64_t axis : {std::int64_t{3}, std::int64_t{-4}, least, most})
    check_refused("Unsqueeze", {a23(), ints("x", {axis})});
  check_refused("Unsqueeze", {a23(), ints("x", {0, 0})});
  check_refused("Unsqueeze", {a23(), ints("x", {0, -4})});
  check_refused("Transpose", {a23()}, [](onnx::NodeProto& n) { set(n, "perm", std::vector<std::int64_t>{1, 1}); });
  check_refused("Unsqueeze", {a23(), ints("x", {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13})});
}

TEST_CASE("Split into sizes that do not add up, are negative or too many") {
  const std::vector<std::int64_t> wrong[] = {{1, 1}, {4, -1}, {3}, {1, 1, 1}, {most, least}, {most, most}, {least, 3}};
  for (const auto& sizes : wrong)
    check_refused("Split", {a23(), ints("s", sizes)}, [](onnx::NodeProto& n) { set(n, "axis", 1); }, 2);
  check_refused("Split", {a23()}, [](onnx::NodeProto& n) { set(n, "axis", 5), set(n, "num_outputs", 2); }, 2);
  check_refused("Split", {a23()}, [](onnx::NodeProto& n) { set(n, "num_outputs", 3); }, 2);
  for (const std::int64_t size : {std::int64_t{0}, std::int64_t{-1}, least})
    check_refused("SplitToSequence", {a23(), int_scalar("s", size)});
  check_refused("SplitToSequence", {a23(), ints("s", {1, 2})});
}

TEST_CASE("Concat of shapes that do not match, of ranks that differ") {
  const auto axis = [](onnx::NodeProto& n) { set(n, "axis", 0); };
  check_refused("Concat", {a23(), floats("b", {2, 4})}, axis);
  check_refused("Concat", {a23(), floats("b", {6})}, axis);
  check_refused("Concat", {floats("a", {}), floats("b", {})}, axis);
}

TEST_CASE("integers divided by zero, and the least by -1, are a status or a number, never a signal") {
  for (const char* op : {"Div", "Mod"})
    for (const std::int64_t by : {std::int64_t{0}, std::int64_t{-1}})
      for (const given how : {given::as_constants, given::at_run_time})
        for (const int type : {3, 5, 6, 7}) {
          const std::size_t width = type == 3 ? 1 : type == 5 ? 2 : type == 6 ? 4 : 8;
          std::string lowest(width, '\0');
          lowest.back() = '\x80';
          const std::vector<onnx::TensorProto> inputs{tensor_message("a", type, {1}, lowest),
                                                      tensor_message("b", type, {1}, std::string(width, char(by)))};
          const status s = run_error(one_node(op, inputs, how),
                                     how == given::at_run_time ? inputs : std::vector<onnx::TensorProto>{});
          INFO(std::string{op}, " by ", by, ", type ", type, ": ", shown(s));
          CHECK((bool(s) || says(s, "'n'")));
        }
}

TEST_CASE("Tile, Expand, ConstantOfShape, Pad and Range with negative or mismatched sizes") {
  check_refused("Tile", {a23(), ints("r", {-1, 2})});
  check_refused("Tile", {a23(), ints("r", {least, least})});
  check_refused("Tile", {a23(), ints("r", {2})});
  check_refused("Expand", {a23(), ints("s", {2, -3})});
  check_refused("Expand", {a23(), ints("s", {5, 3})});
  check_refused("ConstantOfShape", {ints("s", {-1})});
  check_refused("ConstantOfShape", {ints("s", {3, least})});
  check_refused("Pad", {a23(), ints("p", {0, -4, 0, 0})});
  check_refused("Pad", {a23(), ints("p", {least, 0, least, 0})});
  check_refused("Pad", {a23(), ints("p", {1, 1})});
  check_refused("Pad", {a23(), ints("p", {0, 3, 0, 3})}, [](onnx::NodeProto& n) { set(n, "mode", "sideways"); });
  check_refused("Range", {int_scalar("a", 0), int_scalar("b", 5), int_scalar("c", 0)});
  check_refused("OneHot", {ints("i", {1}), int_scalar("d", -1), tensor_message("v", 1, {2}, raw({0.f, 1.f}))});
  check_refused("OneHot", {ints("i", {1}), int_scalar("d", 3), tensor_message("v", 1, {3}, raw({0.f, 1.f, 2.f}))});
}

TEST_CASE("reductions, TopK and CumSum over axes that are not there, or there twice") {
  for (const std::int64_t axis : {std::int64_t{2}, std::int64_t{-3}, least, most}) {
    check_refused("ReduceSum", {a23(), ints("x", {axis})});
    check_refused("ReduceMax", {a23(), ints("x", {axis})});
    check_refused("CumSum", {a23(), int_scalar("x", axis)});
  }
  for (const std::int64_t count : {std::int64_t{4}, std::int64_t{-1}, least, most})
    check_refused("TopK", {a23(), ints("k", {count})}, nullptr, 2);
  check_refused("TopK", {a23(), ints("k", {1})}, [](onnx::NodeProto& n) { set(n, "axis", 7); }, 2);
  check_refused("TopK", {a23(), ints("k", {1, 1})}, nullptr, 2);
}

TEST_CASE("products, convolutions and pools of shapes that do not match") {
  check_refused("MatMul", {a23(), floats("b", {2, 3})});
  check_refused("MatMul", {floats("a", {}), floats("b", {1})});
  check_refused("Gemm", {a23(), floats("b", {3, 4}), floats("c", {5})});
  check_refused("Gemm", {floats("a", {3}), floats("b", {3, 4})});
  check_refused("Conv", {floats("x", {1, 2, 4, 4}), floats("w", {1, 3, 3, 3})});
  check_refused("Conv", {floats("x", {1, 2, 4, 4}), floats("w", {1, 2, 3})});
  check_refused("Conv", {floats("x", {1, 2, 4, 4}), floats("w", {1, 2, 3, 3}), floats("b", {2})});
  check_refused("Conv", {floats("x", {1, 1, 4, 4}), floats("w", {1, 1, 3, 3})},
                [](onnx::NodeProto& n) { set(n, "strides", std::vector<std::int64_t>{0, 1}); });
  check_refused("Conv", {floats("x", {1, 1, 4, 4}), floats("w", {1, 1, 3, 3})},
                [](onnx::NodeProto& n) { set(n, "dilations", std::vector<std::int64_t>{-1, 1}); });
  check_refused("Conv", {floats("x", {1, 1, 4, 4}), floats("w", {1, 1, 3, 3})},
                [](onnx::NodeProto& n) { set(n, "group", 0); });
  check_refused("Conv", {floats("x", {1, 1, 4, 4}), floats("w", {1, 1, 3, 3})},
                [](onnx::NodeProto& n) { set(n, "pads", std::vector<std::int64_t>{-9, 0, 0, 0}); });
  check_refused("Conv", {floats("x", {1, 1, 4, 4}), floats("w", {1, 1, 3, 3})},
                [](onnx::NodeProto& n) { set(n, "pads", std::vector<std::int64_t>{0, 0}); });
  check_refused("MaxPool", {floats("x", {1, 1, 4, 4})},
                [](onnx::NodeProto& n) { set(n, "kernel_shape", std::vector<std::int64_t>{0, 3}); });
  check_refused("AveragePool", {floats("x", {1, 1, 4, 4})},
                [](onnx::NodeProto& n) { set(n, "kernel_shape", std::vector<std::int64_t>{3}); });
  check_refused("BatchNormalization",
                {floats("x", {1, 2, 4}), floats("s", {3}), floats("b", {2}), floats("m", {2}), floats("v", {2})});
}

TEST_CASE("strings that do not contain numbers, and unusual padding and delimiters") {
  check_refused("Cast", {texts("a", {"12", "x"})}, [](onnx::NodeProto& n) { set(n, "to", 7); });
  check_runs("StringSplit", {texts("a", {"", "a b", "   "})}, nullptr, 2);
  check_runs(
      "StringSplit", {texts("a", {"a--b", "-", ""})},
      [](onnx::NodeProto& n) { set(n, "delimiter", "-"), set(n, "maxsplit", std::int64_t{1}); }, 2);
  check_refused("RegexFullMatch", {texts("a", {"x"})}, [](onnx::NodeProto& n) { set(n, "pattern", "(unclosed"); });
  check_runs("RegexFullMatch", {texts("a", {std::string(100000, 'a') + "b"})},
             [](onnx::NodeProto& n) { set(n, "pattern", "(a*)*c"); });
  check_refused("StringConcat", {texts("a", {"x", "y"}), texts("b", {"1", "2", "3"})});
  check_refused("StringNormalizer", {texts("a", {"x"})},
                [](onnx::NodeProto& n) { set(n, "case_change_action", "SIDEWAYS"); });
}

TEST_CASE("a sequence read, erased and inserted out of range") {
  for (const char* op : {"SequenceAt", "SequenceErase", "SequenceInsert"})
    for (const std::int64_t at : {std::int64_t{3}, std::int64_t{-3}, least, most})
      for (const given how : {given::as_constants, given::at_run_time}) {
        onnx::ModelProto model = new_model();
        auto& g = *model.mutable_graph();
        *g.add_initializer() = a23();
        const onnx::TensorProto where = int_scalar("i", at);
        if (how == given::as_constants) *g.add_initializer() = where;
        else add_typed(*g.mutable_input(), "i", 7);
        add_node(g, "SequenceConstruct", {"a", "a"}, {"list"});
        auto& n = add_node(g, op, {"list"}, {"y"}, "n");
        if (op == std::string{"SequenceInsert"}) n.add_input("a");
        n.add_input("i");
        add_untyped_output(g, "y");
        CHECK_REFUSED(
            run_error(model, how == given::as_constants ? std::vector<onnx::TensorProto>{} : std::vector{where}),
            status_code::invalid_argument, bad_name, "'n'", op, std::to_string(at));
      }
}

TEST_CASE("ConcatFromSequence of nothing, of shapes that differ, and a sequence of two types") {
  for (const bool empty : {true, false}) {
    onnx::ModelProto model = new_model();
    auto& g = *model.mutable_graph();
    *g.add_initializer() = a23();
    *g.add_initializer() = floats("b", {2, 4});
    if (empty) add_node(g, "SequenceEmpty", {}, {"list"});
    else add_node(g, "SequenceConstruct", {"a", "b"}, {"list"});
    set(add_node(g, "ConcatFromSequence", {"list"}, {"y"}, "n"), "axis", 0);
    add_untyped_output(g, "y");
    const status s = run_error(model);
    INFO(shown(s));
    CHECK(s.code() != status_code::ok);
    for (const char* words : {bad_name, "'n'", "ConcatFromSequence"}) CHECK(says(s, words));
  }
  check_refused("SequenceConstruct", {a23(), ints("b", {1})});
}

namespace {

/// The body of a Loop or Scan that returns its inputs.
onnx::GraphProto passing(std::vector<int> types) {
  onnx::GraphProto body;
  body.set_name("body");
  for (std::size_t i = 0; i < types.size(); ++i) {
    const std::string from = "i" + std::to_string(i), to = "o" + std::to_string(i);
    add_typed(*body.mutable_input(), from, types[i]);
    add_node(body, "Identity", {from}, {to});
    add_untyped_output(body, to);
  }
  return body;
}

}  // namespace

TEST_CASE("a loop of 2^63 - 1 trips ends CANCELED by its stop token and DEADLINE_EXCEEDED by its timeout") {
  onnx::ModelProto model = new_model();
  auto& g = *model.mutable_graph();
  *g.add_initializer() = int_scalar("t", most);
  *g.add_initializer() = truth("c", true);
  *g.add_initializer() = a23();
  onnx::GraphProto body;
  body.set_name("body");
  add_typed(*body.mutable_input(), "i", 7);
  add_typed(*body.mutable_input(), "go", 9);
  add_typed(*body.mutable_input(), "v", 1);
  add_node(body, "Identity", {"go"}, {"on"});
  add_node(body, "Relu", {"v"}, {"w"});
  add_untyped_output(body, "on");
  add_untyped_output(body, "w");
  set(add_node(g, "Loop", {"t", "c", "a"}, {"y"}, "n"), "body", body);
  add_untyped_output(g, "y");
  const result<session> s = load(model);
  REQUIRE_MESSAGE(s, shown(s.error()));
  std::stop_source stop;
  std::jthread later{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    stop.request_stop();
  }};
  const memory_peak peak;
  CHECK_REFUSED(s->run({}, {.stop = stop.get_token()}).error(), status_code::canceled, bad_name);
  CHECK_REFUSED(s->run({}, {.timeout = std::chrono::milliseconds{50}}).error(), status_code::deadline_exceeded,
                bad_name);
  CHECK(peak.grown_kb() < allowed_kb);
}

TEST_CASE("a loop with a negative trip count has no iteration") {
  check_runs("Loop", {int_scalar("t", least), truth("c", true), a23()}, [](onnx::NodeProto& n) {
    set(n, "body", passing({7, 9, 1}));
    n.mutable_attribute(0)->mutable_g()->mutable_output()->DeleteSubrange(0, 1);
  });
}

TEST_CASE("Scan over inputs of different lengths, of no inputs, and If over a condition of two") {
  const auto two = [](onnx::NodeProto& n) { set(n, "body", passing({1, 1})), set(n, "num_scan_inputs", 2); };
  check_refused("Scan", {a23(), floats("b", {3, 3})}, two, 2);
  check_refused("Scan", {a23(), floats("b", {})}, two, 2);
  for (const int count : {0, -1, 3, 1000000000}) {
    for (const given how : {given::as_constants, given::at_run_time}) {
      const std::vector<onnx::TensorProto> inputs{a23(), floats("b", {2, 3})};
      onnx::ModelProto model = one_node("Scan", inputs, how, 2);
      auto& n = *model.mutable_graph()->mutable_node(0);
      set(n, "body", passing({1, 1}));
      set(n, "num_scan_inputs", count);
      const status s = run_error(model, how == given::at_run_time ? inputs : std::vector<onnx::TensorProto>{});
      INFO(count, ": ", shown(s));
      if (count != 0) CHECK(says(s, "'n'"));
    }
  }
  check_refused("If", {tensor_message("c", 9, {2}, std::string(2, '\1'))}, [](onnx::NodeProto& n) {
    for (const char* name : {"then_branch", "else_branch"}) {
      onnx::GraphProto body;
      body.set_name(name);
      add_node(body, "Identity", {"c"}, {"z"});
      add_untyped_output(body, "z");
      set(n, name, body);
    }
  });
}

TEST_CASE("Scan with impossible axes and directions") {
  for (const std::int64_t odd : {std::int64_t{2}, std::int64_t{-3}, least, most})
    for (const char* attribute :
         {"scan_input_axes", "scan_output_axes", "scan_input_directions", "scan_output_directions"})
      for (const given how : {given::as_constants, given::at_run_time}) {
        const std::vector<onnx::TensorProto> inputs{a23()};
        onnx::ModelProto model = one_node("Scan", inputs, how);
        auto& n = *model.mutable_graph()->mutable_node(0);
        set(n, "body", passing({1}));
        set(n, "num_scan_inputs", 1);
        set(n, attribute, std::vector<std::int64_t>{odd});
        const status s = run_error(model, how == given::at_run_time ? inputs : std::vector<onnx::TensorProto>{});
        INFO(std::string{attribute}, " ", odd, ": ", shown(s));
        CHECK(s.code() != status_code::ok);
        CHECK(says(s, "'n'"));
      }
}

TEST_CASE("an optional without a value that is read is a status") {
  onnx::ModelProto model = new_model();
  auto& g = *model.mutable_graph();
  auto& o = add_node(g, "Optional", {}, {"o"});
  add_attribute(o, "type", onnx::AttributeProto::TYPE_PROTO).mutable_tp()->mutable_tensor_type()->set_elem_type(1);
  add_node(g, "OptionalGetElement", {"o"}, {"y"}, "n");
  add_untyped_output(g, "y");
  CHECK_REFUSED(run_error(model), status_code::invalid_argument, bad_name, "'n'", "OptionalGetElement");
}
