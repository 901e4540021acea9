#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// A session of a model with an input x of float[32] and an output y.
result<session> plain() { return load(add_model()); }

status fed(const session& s, std::initializer_list<named_input> inputs) { return s.run(inputs).error(); }

const any_value good = any_value::tensor<float>({32}, std::vector<float>(32));

}  // namespace

TEST_CASE("an input that is missing, unknown or given twice is INVALID_ARGUMENT with its name") {
  const result<session> s = plain();
  REQUIRE(s);
  CHECK_REFUSED(fed(*s, {}), status_code::invalid_argument, bad_name, "'x'", "missing", "tensor(float)[32]");
  CHECK_REFUSED(fed(*s, {{"x", good}, {"z", good}}), status_code::invalid_argument, bad_name, "'z'", "'x'");
  CHECK_REFUSED(fed(*s, {{"", good}}), status_code::invalid_argument, bad_name, "'x'");
  CHECK_REFUSED(fed(*s, {{"X", good}}), status_code::invalid_argument, bad_name, "'X'", "'x'");
  CHECK_REFUSED(fed(*s, {{"x", good}, {"x", good}}), status_code::invalid_argument, bad_name, "'x'", "twice");
  CHECK_REFUSED(fed(*s, {{"y", good}}), status_code::invalid_argument, bad_name, "'y'");
  CHECK_REFUSED(fed(*s, {{"w", good}}), status_code::invalid_argument, bad_name, "'w'");  // a constant is not an input
  CHECK_REFUSED(fed(*s, {{"x", good}}), status_code::ok);  // the session can be run afterwards
}

TEST_CASE("another element type, rank or dim is INVALID_ARGUMENT with the given and the needed one") {
  const result<session> s = plain();
  REQUIRE(s);
  const auto x = [&](const any_value& v) { return fed(*s, {{"x", v}}); };
  CHECK_REFUSED(x(any_value::tensor<double>({32}, std::vector<double>(32))), status_code::invalid_argument, bad_name,
                "'x'", "double[32]", "tensor(float)[32]");
  CHECK_REFUSED(x(any_value::tensor<float>({4, 8}, std::vector<float>(32))), status_code::invalid_argument, bad_name,
                "'x'", "rank 2", "[4,8]", "rank 1");
  CHECK_REFUSED(x(any_value::tensor<float>({}, {1.f})), status_code::invalid_argument, bad_name, "'x'", "rank 0");
  CHECK_REFUSED(x(any_value::tensor<float>({31}, std::vector<float>(31))), status_code::invalid_argument, bad_name,
                "'x'", "31", "32");
  CHECK_REFUSED(x(any_value::tensor<float>({0}, std::vector<float>{})), status_code::invalid_argument, bad_name, "'x'",
                "32");
  CHECK_REFUSED(x(any_value{}), status_code::invalid_argument, bad_name, "'x'");
  value sequence{value_kind::sequence, dtype::f32};
  CHECK_REFUSED(fed(*s, {{"x", sequence}}), status_code::invalid_argument, bad_name, "'x'", "a sequence",
                "tensor(float)[32]");
}

TEST_CASE("impossible values are INVALID_ARGUMENT: negative and overflowing dims, no data") {
  onnx::ModelProto m = one_node("Relu", {floats("x", {1})}, given::at_run_time);
  const result<session> s = load(m);
  REQUIRE(s);
  const float one = 1;
  for (const extents& shape : {extents{-1}, extents{most}, extents{most, most}, extents{1, -3, 0}})
    CHECK_REFUSED(fed(*s, {{"x", value::tensor(dtype::f32, shape, &one)}}), status_code::invalid_argument, bad_name,
                  "'x'");
  CHECK_REFUSED(fed(*s, {{"x", value::tensor(dtype::f32, {1}, nullptr)}}), status_code::invalid_argument, bad_name,
                "'x'", "no data");
}

TEST_CASE("symbols of one name must have one size only as far as operators need it: no crash") {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  for (const char* name : {"a", "b"})
    add_typed(*g.mutable_input(), name, onnx::TensorProto::FLOAT)
        .mutable_type()
        ->mutable_tensor_type()
        ->mutable_shape()
        ->add_dim()
        ->set_dim_param("N");
  add_node(g, "Add", {"a", "b"}, {"y"}, "n");
  add_untyped_output(g, "y");
  const result<session> s = load(m);
  REQUIRE(s);
  const any_value three = any_value::tensor<float>({3}, {1, 2, 3}), four = any_value::tensor<float>({4}, {1, 2, 3, 4});
  CHECK_REFUSED(fed(*s, {{"a", three}, {"b", four}}), status_code::invalid_argument, bad_name);
  CHECK_REFUSED(fed(*s, {{"a", four}, {"b", four}}), status_code::ok);
}

TEST_CASE("sequences with parts of another type than declared are INVALID_ARGUMENT") {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  auto& list = *g.add_input();
  list.set_name("list");
  list.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_tensor_type()->set_elem_type(1);
  add_node(g, "SequenceLength", {"list"}, {"y"}, "n");
  add_untyped_output(g, "y");
  const result<session> s = load(m);
  REQUIRE(s);
  const std::int64_t number = 1;
  value parts[] = {good.view(), value::tensor(dtype::i64, {1}, &number)};
  value sequence{value_kind::sequence, dtype::f32};
  sequence.parts = parts;
  CHECK_REFUSED(fed(*s, {{"list", sequence}}), status_code::invalid_argument, bad_name, "'list'", "int64",
                "tensor(float)");
  CHECK_REFUSED(fed(*s, {{"list", good}}), status_code::invalid_argument, bad_name, "'list'", "a tensor",
                "seq(tensor(float))");
}

TEST_CASE("a binding refuses what a run refuses, and outputs of another type or too small") {
  const result<session> s = plain();
  REQUIRE(s);
  result<io_binding> binding = s->bind();
  REQUIRE(binding);
  CHECK_REFUSED(s->run(*binding), status_code::invalid_argument, bad_name, "'x'", "missing");
  CHECK_REFUSED(binding->bind_input("z", good), status_code::invalid_argument, "'z'", "'x'");
  const any_value doubles = any_value::tensor<double>({32}, std::vector<double>(32));
  CHECK_REFUSED(binding->bind_input("x", doubles), status_code::invalid_argument, "'x'", "double", "tensor(float)");
  CHECK_REFUSED(binding->bind_output("z", good), status_code::invalid_argument, "'z'");
  CHECK_REFUSED(binding->bind_output("y", doubles), status_code::invalid_argument, "'y'", "tensor(float)");
  std::vector<float> small(31);
  REQUIRE(binding->bind_input("x", good));
  REQUIRE(binding->bind_output("y", value::tensor(dtype::f32, {31}, small.data())));
  CHECK_REFUSED(s->run(*binding), status_code::invalid_argument, bad_name, "'sum'", "small");
  const result<session> other = plain();
  REQUIRE(other);
  CHECK_REFUSED(other->run(*binding), status_code::invalid_argument, "another session");
}
