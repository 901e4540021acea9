#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

TEST_CASE("raw_data that is too short or too long is INVALID_GRAPH with the name and both sizes") {
  for (const std::size_t bytes :
       {std::size_t{0}, std::size_t{1}, std::size_t{127}, std::size_t{129}, std::size_t{4096}}) {
    onnx::ModelProto m = add_model();
    m.mutable_graph()->mutable_initializer(0)->set_raw_data(std::string(bytes, '\1'));
    CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'w'", std::to_string(bytes), "128");
  }
}

TEST_CASE("raw_data of a constant, of an attribute in a subgraph and of types below a byte is checked too") {
  onnx::ModelProto constant = rich_model();
  constant.mutable_graph()->mutable_node(2)->mutable_attribute(0)->mutable_t()->set_raw_data("ab");
  CHECK_REFUSED(load_error(constant), status_code::invalid_graph, bad_name, "Constant", "'value'", "2", "3");
  onnx::ModelProto packed = add_model();
  auto& w = *packed.mutable_graph()->mutable_initializer(0);
  w.set_data_type(22);  // int4, of which 32 elements take 16 bytes
  CHECK_REFUSED(load_error(packed), status_code::invalid_graph, bad_name, "'w'", "128", "16");
}

TEST_CASE("typed fields of the wrong count, or of another type, are INVALID_GRAPH") {
  onnx::ModelProto few = add_model();
  auto& w = *few.mutable_graph()->mutable_initializer(0);
  w.clear_raw_data();
  for (int i = 0; i < 31; ++i) w.add_float_data(1);
  CHECK_REFUSED(load_error(few), status_code::invalid_graph, bad_name, "'w'", "31", "32");
  w.add_float_data(1);
  w.add_float_data(1);
  CHECK_REFUSED(load_error(few), status_code::invalid_graph, bad_name, "'w'", "33", "32");
  onnx::ModelProto other = add_model();
  auto& o = *other.mutable_graph()->mutable_initializer(0);
  o.clear_raw_data();
  for (int i = 0; i < 32; ++i) o.add_int64_data(1);
  CHECK_REFUSED(load_error(other), status_code::invalid_graph, bad_name, "'w'");
}

TEST_CASE("strings in raw_data are INVALID_GRAPH") {
  onnx::ModelProto m = add_model();
  m.mutable_graph()->mutable_initializer(0)->set_data_type(onnx::TensorProto::STRING);
  CHECK_REFUSED(load_error(m), status_code::invalid_graph, bad_name, "'w'");
}

TEST_CASE("sparse initializers that are read, with indices outside or of the wrong count, are INVALID_GRAPH") {
  const auto with = [](std::initializer_list<std::int64_t> indices) {
    onnx::ModelProto m = rich_model();
    *m.mutable_graph()->mutable_sparse_initializer(0)->mutable_indices() =
        tensor_message("", onnx::TensorProto::INT64, {std::int64_t(indices.size())}, raw(indices));
    add_node(*m.mutable_graph(), "Neg", {"sparse"}, {"reads it"});
    return m;
  };
  CHECK_REFUSED(load_error(with({0, 6})), status_code::invalid_graph, bad_name, "'sparse'");
  CHECK_REFUSED(load_error(with({-1, 2})), status_code::invalid_graph, bad_name, "'sparse'");
  CHECK_REFUSED(load_error(with({0, 1, 2})), status_code::invalid_graph, bad_name, "'sparse'");
}
