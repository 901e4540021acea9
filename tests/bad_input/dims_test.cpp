#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

TEST_CASE("negative dims of an initializer are INVALID_GRAPH with its name") {
  for (const std::int64_t d : {std::int64_t{-1}, std::int64_t{-32}, least}) {
    onnx::ModelProto m = add_model();
    m.mutable_graph()->mutable_initializer(0)->set_dims(0, d);
    CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'w'", std::to_string(d));
    onnx::ModelProto two = add_model();
    two.mutable_graph()->mutable_initializer(0)->set_dims(0, d);
    two.mutable_graph()->mutable_initializer(0)->add_dims(-1);
    CHECK_REFUSED(load_error(two), status_code::invalid_graph, bad_name, "'w'");
  }
}

TEST_CASE("dims of an initializer whose product overflows are INVALID_GRAPH, in every combination") {
  const std::vector<std::int64_t> impossible[] = {{most},
                                                  {most, most},
                                                  {std::int64_t{1} << 32, std::int64_t{1} << 32},
                                                  {std::int64_t{1} << 62, 4},
                                                  {3, most, 3},
                                                  {std::int64_t{1} << 61, 8, 4}};
  for (const std::vector<std::int64_t>& dims : impossible) {
    const memory_peak peak;
    onnx::ModelProto raw_bytes = add_model();
    onnx::ModelProto typed = add_model();
    for (onnx::ModelProto* m : {&raw_bytes, &typed}) {
      auto& w = *m->mutable_graph()->mutable_initializer(0);
      w.clear_dims();
      for (std::int64_t d : dims) w.add_dims(d);
    }
    auto& w = *typed.mutable_graph()->mutable_initializer(0);
    w.clear_raw_data();
    w.add_float_data(1);
    CHECK_REFUSED(load_error(raw_bytes), status_code::invalid_graph, bad_name, "'w'");
    CHECK_REFUSED(load_error(typed), status_code::invalid_graph, bad_name, "'w'");
    CHECK(peak.grown_kb() < allowed_kb);
  }
}

TEST_CASE("an input declared too large for memory is refused before memory is taken") {
  const memory_peak peak;
  for (const std::int64_t d : {most, std::int64_t{1} << 60, std::int64_t{1} << 42}) {
    onnx::ModelProto m = new_model();
    auto& g = *m.mutable_graph();
    add_value(*g.mutable_input(), "x", {d, 3});
    add_node(g, "Relu", {"x"}, {"y"}, "n");
    add_untyped_output(g, "y");
    const status s = run_error(m, {floats("x", {1, 3})});
    INFO(shown(s));
    const bool known = s.code() == status_code::invalid_graph || s.code() == status_code::out_of_memory ||
                       s.code() == status_code::invalid_argument;
    CHECK(known);
    CHECK(says(s, bad_name));
  }
  CHECK(peak.grown_kb() < allowed_kb);
}

TEST_CASE("a rank above cameo's maximum is a status that names the maximum") {
  onnx::ModelProto m = add_model();
  for (int i = 0; i < 40; ++i) m.mutable_graph()->mutable_initializer(0)->add_dims(1);
  CHECK_REFUSED(load_error(m), status_code::not_implemented, bad_name, "'w'", "41");
}

TEST_CASE("an operator's output of a rank above cameo's maximum is a status") {
  const std::vector<onnx::TensorProto> inputs{floats("a", {1}), ints("shape", std::vector<std::int64_t>(30, 1))};
  for (const char* op : {"Reshape", "Expand"})
    for (const given how : {given::as_constants, given::at_run_time}) {
      const status s =
          run_error(one_node(op, inputs, how), how == given::at_run_time ? inputs : std::vector<onnx::TensorProto>{});
      INFO(shown(s));
      CHECK(s.code() != status_code::ok);
      CHECK(says(s, bad_name));
      CHECK(says(s, "'n'"));
    }
}

TEST_CASE("shapes of inputs that do not fit together are INVALID_GRAPH with both shapes") {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "a", {2, 3});
  add_value(*g.mutable_input(), "b", {4, 5});
  add_node(g, "MatMul", {"a", "b"}, {"y"}, "n");
  add_untyped_output(g, "y");
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'n'", "MatMul", "3", "4");
  g.mutable_node(0)->set_op_type("Add");
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'n'", "Add");
}
