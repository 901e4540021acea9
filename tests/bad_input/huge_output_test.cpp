#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr std::int64_t k = 1 << 10, m = 1 << 20;

/// Checks that a node is refused in little memory and time, both with constants and with values known only in the run.
template <class Change>
void check_too_large(const std::string& op, const std::vector<onnx::TensorProto>& inputs, Change change) {
  for (const given how : {given::as_constants, given::at_run_time}) {
    const bool late = how == given::at_run_time;
    onnx::ModelProto model = one_node(op, inputs, how);
    change(*model.mutable_graph()->mutable_node(0));
    const memory_peak peak;
    status s;
    CHECK(ends_within(5, [&] { s = run_error(model, late ? inputs : std::vector<onnx::TensorProto>{}); }));
    INFO(op, std::string{late ? ", in the run: " : ", constant: "}, shown(s));
    const bool known = s.code() == status_code::out_of_memory || s.code() == status_code::invalid_graph ||
                       s.code() == status_code::invalid_argument;
    CHECK(known);
    for (const std::string& words : {std::string{bad_name}, std::string{"'n'"}, op}) CHECK(says(s, words));
    CHECK(peak.grown_kb() < allowed_kb);
  }
}
void check_too_large(const std::string& op, const std::vector<onnx::TensorProto>& inputs) {
  check_too_large(op, inputs, [](onnx::NodeProto&) {});
}

}  // namespace

TEST_CASE("ConstantOfShape of terabytes, and of more than 2^63 elements, is refused") {
  check_too_large("ConstantOfShape", {ints("s", {m, m, k})});
  check_too_large("ConstantOfShape", {ints("s", {m, k, k})});
  check_too_large("ConstantOfShape", {ints("s", {most})});
  check_too_large("ConstantOfShape", {ints("s", {most, most, most})});
  check_too_large("ConstantOfShape", {ints("s", {most / 4 + 1})});  // times four bytes: just past 2^63
}

TEST_CASE("the message names type and shape of an output that does not fit") {
  const std::vector<onnx::TensorProto> shape{ints("s", {m, m, k})};
  CHECK_REFUSED(run_error(one_node("ConstantOfShape", shape, given::as_constants)), status_code::out_of_memory,
                bad_name, "'n'", "ConstantOfShape", "float[1048576,1048576,1024] does not fit into memory");
  CHECK_REFUSED(run_error(one_node("ConstantOfShape", shape, given::at_run_time), shape), status_code::out_of_memory,
                bad_name, "'n'", "ConstantOfShape", "float[1048576,1048576,1024] does not fit into memory");
}

TEST_CASE("Expand and Tile of terabytes, and of more than 2^63 elements") {
  for (const std::vector<std::int64_t>& to : {std::vector<std::int64_t>{m, m, 1}, {most, 2, 1}, {most, most, 1}}) {
    check_too_large("Expand", {floats("a", {1, 1, 1}), ints("s", to)});
    check_too_large("Tile", {floats("a", {1, 1, 2}), ints("s", to)});
  }
}

TEST_CASE("Pad by terabytes, and by more than fits a number") {
  for (const std::int64_t by : {m * m, most / 2, most, most - 1})
    check_too_large("Pad", {floats("a", {2, 2}), ints("p", {by, by, by, by})});
}

TEST_CASE("Range, OneHot and EyeLike of terabytes") {
  check_too_large("Range", {int_scalar("a", 0), int_scalar("b", most), int_scalar("c", 1)});
  check_too_large("Range", {int_scalar("a", least), int_scalar("b", most), int_scalar("c", 1)});
  check_too_large("Range", {int_scalar("a", 0), int_scalar("b", m * m), int_scalar("c", 3)});
  for (const float delta : {1e-30f, 1e-8f})
    check_too_large("Range", {tensor_message("a", 1, {}, raw({0.0f})), tensor_message("b", 1, {}, raw({1e30f})),
                              tensor_message("c", 1, {}, raw({delta}))});
  for (const std::int64_t depth : {m * m, most})
    check_too_large("OneHot",
                    {ints("i", {1, 2}), int_scalar("d", depth), tensor_message("v", 1, {2}, raw({0.f, 1.f}))});
}

TEST_CASE("Conv, ConvTranspose and pools with pads and strides of terabytes") {
  for (const std::int64_t pad : {m * m, most / 4, most}) {
    const std::vector<onnx::TensorProto> image{floats("x", {1, 1, 4, 4}), floats("w", {1, 1, 3, 3})};
    const auto pads = [&](onnx::NodeProto& n) { set(n, "pads", {pad, pad, pad, pad}); };
    check_too_large("Conv", image, pads);
    check_too_large("ConvTranspose", image, [&](onnx::NodeProto& n) { set(n, "strides", {pad, pad}); });
    check_too_large("ConvTranspose", image, [&](onnx::NodeProto& n) { set(n, "output_shape", {pad, pad}); });
    check_too_large("AveragePool", {image[0]}, [&](onnx::NodeProto& n) {
      set(n, "kernel_shape", {3, 3});
      pads(n);
    });
    check_too_large("MaxPool", {image[0]}, [&](onnx::NodeProto& n) {
      set(n, "kernel_shape", {3, 3});
      pads(n);
    });
  }
}

TEST_CASE("Gather, MatMul, Concat of broadcasts, and Add of an outer product of terabytes") {
  // The inputs are small, but their combination has 2^20 rows and 2^20 columns.
  const std::vector<onnx::TensorProto> ab{floats("a", {m, 1}), floats("b", {1, m})};
  check_too_large("MatMul", ab);
  check_too_large("Add", ab);
  check_too_large("Gemm", ab);
  check_too_large("Gather", {floats("a", {1, m}), tensor_message("i", 7, {m}, std::string(8 * m, '\0'))});
  check_too_large("Where",
                  {tensor_message("c", 9, {m, 1, 1}, std::string(m, '\1')), floats("a", {k, 1}), floats("b", {k})});
}

TEST_CASE("a loop that scans terabytes, and one of 2^62 iterations, end in a status") {
  onnx::ModelProto model =
      one_node("Loop", {int_scalar("t", std::int64_t{1} << 62), truth("c", true)}, given::as_constants, 1);
  onnx::GraphProto body;
  body.set_name("body");
  add_typed(*body.mutable_input(), "i", 7).mutable_type()->mutable_tensor_type()->mutable_shape();
  add_typed(*body.mutable_input(), "go", 9).mutable_type()->mutable_tensor_type()->mutable_shape();
  add_node(body, "Identity", {"go"}, {"on"});
  auto& s = add_node(body, "Constant", {}, {"s"});
  set(s, "value", ints("", {m, m, 1}));
  add_node(body, "ConstantOfShape", {"s"}, {"big"}, "fill");
  add_typed(*body.mutable_output(), "on", 9);
  add_untyped_output(body, "big");
  set(*model.mutable_graph()->mutable_node(0), "body", body);
  const memory_peak peak;
  const status refused = run_error(model);
  INFO(shown(refused));
  const bool known = refused.code() == status_code::out_of_memory || refused.code() == status_code::invalid_graph;
  CHECK(known);
  for (const char* words : {bad_name, "'n'", "Loop", "ConstantOfShape"}) CHECK(says(refused, words));
  CHECK(peak.grown_kb() < allowed_kb);
}

TEST_CASE("outputs that fit the memory limit separately but not together are OUT_OF_MEMORY") {
  onnx::ModelProto model = new_model();
  auto& g = *model.mutable_graph();
  add_value(*g.mutable_input(), "x", {1, m});
  *g.add_initializer() = ints("s", {32, m});
  std::vector<std::string> all;
  for (int i = 0; i < 20; ++i) {
    all.push_back("v" + std::to_string(i));
    add_node(g, "Expand", {"x", "s"}, {all.back()});
  }
  add_node(g, "Sum", all, {"y"}, "n");
  add_untyped_output(g, "y");
  session_options limited;
  limited.memory_limit = std::size_t{1} << 28;
  limited.optimize = optimization_level::none;  // otherwise equal nodes would be merged
  const memory_peak peak;
  CHECK_REFUSED(load_bytes(model.SerializeAsString(), limited).error(), status_code::out_of_memory, bad_name);
  CHECK(peak.grown_kb() < allowed_kb);
}
