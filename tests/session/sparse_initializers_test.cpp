// Tests sparse constants, which most operators read as dense tensors.
#include "format/onnx_messages.hpp"
#include "session/models.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr auto int64s = onnx::TensorProto::INT64, reals = onnx::TensorProto::FLOAT;

/// Adds a sparse tensor of floats, whose `indices` are linear or rows of coordinates.
void add_sparse(onnx::GraphProto& g, const std::string& name, std::vector<std::int64_t> dims, std::vector<float> values,
                std::vector<std::int64_t> indices) {
  onnx::SparseTensorProto& made = *g.add_sparse_initializer();
  const auto count = std::int64_t(values.size()), all = std::int64_t(indices.size());
  *made.mutable_values() =
      tensor_message(name, reals, {count}, {reinterpret_cast<const char*>(values.data()), 4 * values.size()});
  *made.mutable_indices() =
      tensor_message("", int64s, all == count ? std::vector{all} : std::vector{count, all / count},
                     {reinterpret_cast<const char*>(indices.data()), 8 * indices.size()});
  for (std::int64_t d : dims) made.add_dims(d);
}

/// A model y [2, 3] = `op`(x [2, 3], w).
onnx::ModelProto reading(const std::string& op) {
  onnx::ModelProto m = new_model();
  add_value(*m.mutable_graph()->mutable_input(), "x", {2, 3});
  m.mutable_graph()->add_output()->set_name("y");
  add_node(*m.mutable_graph(), op, {"x", "w"}, {"y"}, "reader");
  return m;
}

result<session> loaded_from(const onnx::ModelProto& m, const session_options& options = {}) {
  result<std::unique_ptr<model>> read = read_message(m, {.limits = options.limits});
  if (!read) return std::move(read).error();
  return cpu_runtime{}.load(*std::move(read), options);
}

std::vector<float> answer(const session& s, std::size_t output = 0) {
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  auto y = s.run({{"x", x, {2, 3}}});
  REQUIRE_MESSAGE(y, std::string{y.error().words()});
  return floats_of((*y)[output].value);
}
std::vector<float> answer(const onnx::ModelProto& m) {
  const result<session> s = loaded_from(m);
  REQUIRE_MESSAGE(s, std::string{s.error().words()});
  return answer(*s);
}

}  // namespace

TEST_CASE("an operator that needs a tensor reads a sparse initializer, whose indices are linear or coordinates") {
  onnx::ModelProto sum = reading("Add"), product = reading("MatMul");
  add_sparse(*sum.mutable_graph(), "w", {2, 3}, {5, 7}, {1, 5});
  add_sparse(*product.mutable_graph(), "w", {3, 2}, {10, 100}, {0, 1, 2, 0});
  CHECK(answer(sum) == std::vector<float>{1, 7, 3, 4, 5, 13});
  CHECK(answer(product) == std::vector<float>{300, 10, 600, 40});
}

TEST_CASE("a sparse initializer is a tensor also where a body or a function reads it, and as an output") {
  onnx::ModelProto m = reading("Add");
  onnx::GraphProto& g = *m.mutable_graph();
  add_sparse(g, "w", {2, 3}, {5, 7}, {1, 5});
  g.mutable_node(0)->set_output(0, "z");
  *g.add_initializer() = tensor_message("yes", onnx::TensorProto::BOOL, {}, std::string(1, '\1'));
  onnx::NodeProto& choice = add_node(g, "If", {"yes"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::AttributeProto& body = *choice.add_attribute();
    body.set_name(name);
    body.set_type(onnx::AttributeProto::GRAPH);
    body.mutable_g()->set_name(name);
    add_node(*body.mutable_g(), "Mul", {"z", "w"}, {"made"});
    body.mutable_g()->add_output()->set_name("made");
  }
  CHECK(answer(m) == std::vector<float>{0, 35, 0, 0, 0, 91});

  onnx::ModelProto handed_out = reading("Add");
  add_sparse(*handed_out.mutable_graph(), "w", {2, 3}, {5, 7}, {1, 5});
  add_value(*handed_out.mutable_graph()->mutable_output(), "w", {2, 3});
  const result<session> s = loaded_from(handed_out);
  REQUIRE_MESSAGE(s, std::string{s.error().words()});
  CHECK(answer(*s, 1) == std::vector<float>{0, 5, 0, 0, 0, 7});

  onnx::ModelProto called = reading("twice");
  called.mutable_graph()->mutable_node(0)->set_domain("own");
  add_sparse(*called.mutable_graph(), "w", {2, 3}, {5, 7}, {1, 5});
  auto& own = *called.add_opset_import();
  own.set_domain("own"), own.set_version(1);
  onnx::FunctionProto& f = *called.add_functions();
  f.set_name("twice"), f.set_domain("own");
  f.add_input("a"), f.add_input("b"), f.add_output("c");
  *f.add_opset_import() = called.opset_import(0);
  for (const auto& [from, to] : {std::pair{"a", "half"}, std::pair{"half", "c"}}) {
    onnx::NodeProto& n = *f.add_node();
    n.set_op_type("Add");
    n.add_input(from), n.add_input("b"), n.add_output(to);
  }
  CHECK(answer(called) == std::vector<float>{1, 12, 3, 4, 5, 20});
}

TEST_CASE("an ORT file written of a model with a sparse initializer answers as the model") {
  onnx::ModelProto m = reading("Add");
  add_sparse(*m.mutable_graph(), "w", {2, 3}, {5, 7}, {1, 5});
  const scratch_folder folder;
  session_options options;
  options.config = {{"session.optimized_model_filepath", folder / "made.ort"}};
  REQUIRE(loaded_from(m, options));
  const result<session> s = cpu_runtime{}.load(folder / "made.ort");
  REQUIRE_MESSAGE(s, std::string{s.error().words()});
  CHECK(answer(*s) == std::vector<float>{1, 7, 3, 4, 5, 13});
}

TEST_CASE("the few bytes of a sparse initializer take no more memory than the limits allow") {
  const auto error_of = [](std::vector<std::int64_t> dims, std::size_t model_bytes, int count = 1) {
    onnx::ModelProto m = reading("Add");
    for (int i = 0; i < count; ++i) {
      const std::string name = "w" + std::to_string(i), before = i == 0 ? name : "y" + std::to_string(i - 1);
      add_sparse(*m.mutable_graph(), name, dims, {5}, {1});
      add_node(*m.mutable_graph(), "Add", {before, name}, {"y" + std::to_string(i)});
    }
    m.mutable_graph()->mutable_node()->DeleteSubrange(0, 1);
    m.mutable_graph()->mutable_output(0)->set_name("y" + std::to_string(count - 1));
    session_options options;
    options.limits.model_bytes = model_bytes;
    return loaded_from(m, options).error();
  };
  const status over = error_of({1 << 10, 1 << 10}, 1 << 20);  // 4 MB
  CHECK(over.code() == status_code::out_of_memory);
  CHECK(over.words().find("sparse initializer 'w0' has 4194304 bytes when dense") != std::string::npos);
  const status fits = error_of({1 << 10, 1 << 10}, 1 << 25, 7);
  CHECK_MESSAGE(fits, std::string{fits.words()});
  const status together = error_of({1 << 10, 1 << 10}, 1 << 25, 8);  // 8 times 4 MB, and the rest of the model
  CHECK(together.code() == status_code::out_of_memory);
  CHECK(together.words().find("'w7'") != std::string::npos);
  const status huge = error_of({1 << 20, 1 << 20}, std::size_t(-1));
  CHECK(huge.code() == status_code::invalid_graph);
  CHECK(huge.words().find("'w0' is over 2 GB when dense") != std::string::npos);
}

TEST_CASE("a sparse initializer that no node reads takes no memory as a tensor") {
  onnx::ModelProto m = reading("Add");
  add_sparse(*m.mutable_graph(), "w", {2, 3}, {5, 7}, {1, 5});
  add_sparse(*m.mutable_graph(), "idle", {1 << 20, 1 << 20}, {5}, {1});
  CHECK(answer(m) == std::vector<float>{1, 7, 3, 4, 5, 13});
}

TEST_CASE("an output that is declared as sparse and is a constant stays sparse; other readers get a tensor") {
  const auto as_output = [](onnx::GraphProto& g) {
    onnx::ValueInfoProto& w = *g.add_output();
    w.set_name("w");
    w.mutable_type()->mutable_sparse_tensor_type()->set_elem_type(reals);
  };
  const auto is_sparse = [](const onnx::ModelProto& m, std::size_t output) {
    const result<session> s = loaded_from(m);
    REQUIRE_MESSAGE(s, std::string{s.error().words()});
    const std::vector<float> x{1, 2, 3, 4, 5, 6};
    auto made = s->run({{"x", x, {2, 3}}});
    REQUIRE_MESSAGE(made, std::string{made.error().words()});
    const value w = (*made)[output].value.view();
    if (w.kind != value_kind::sparse_tensor) return false;
    CHECK(s->outputs()[output].type.to_string().starts_with("sparse_tensor(float)"));
    CHECK(w.shape == extents{2, 3});
    REQUIRE(w.parts.size() == 2);
    const auto* const elements = static_cast<const float*>(w.parts[0].data);
    const auto* const indices = static_cast<const std::int64_t*>(w.parts[1].data);
    CHECK(std::vector<float>(elements, elements + 2) == std::vector<float>{5, 7});
    CHECK(std::vector<std::int64_t>(indices, indices + 2) == std::vector<std::int64_t>{1, 5});
    return true;
  };
  onnx::ModelProto initializer = reading("Neg");
  onnx::GraphProto& g = *initializer.mutable_graph();
  g.mutable_node(0)->mutable_input()->RemoveLast();
  add_sparse(g, "w", {2, 3}, {5, 7}, {1, 5});
  as_output(g);
  CHECK(is_sparse(initializer, 1));

  // The attribute of Constant has its own name, or that of a dense value, as ONNX Runtime's test has it.
  for (const char* name : {"sparse_value", "value"}) {
    onnx::ModelProto m = initializer;
    onnx::GraphProto& of_node = *m.mutable_graph();
    onnx::AttributeProto& a = *add_node(of_node, "Constant", {}, {"w"}, "constant").add_attribute();
    a.set_name(name);
    a.set_type(onnx::AttributeProto::SPARSE_TENSOR);
    *a.mutable_sparse_tensor() = of_node.sparse_initializer(0);
    a.mutable_sparse_tensor()->mutable_values()->clear_name();
    of_node.clear_sparse_initializer();
    CHECK(is_sparse(m, 1));
    add_node(of_node, "Add", {"y", "w"}, {"z"});
    add_value(*of_node.mutable_output(), "z", {2, 3});
    CHECK_FALSE(is_sparse(m, 1));
    const result<session> s = loaded_from(m);
    REQUIRE(s);
    CHECK(answer(*s, 2) == std::vector<float>{-1, 3, -3, -4, -5, 1});
  }
}
