#pragma once
// Models as protobuf messages, for the tests of the ONNX format. The installed onnx lacks newer fields: those are
// written by number.
#define ONNX_NAMESPACE onnx
#define ONNX_ML 1
#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>

#include <onnx/onnx_pb.h>

#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <unistd.h>

#include "texts.hpp"

namespace cameo::test {

/// A new folder, removed by the destructor.
struct scratch_folder {
  std::filesystem::path path;
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "cameo-test-XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  scratch_folder(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string operator/(std::string_view name) const { return (path / name).string(); }
  std::string write(std::string_view name, const std::string& contents) const {
    std::ofstream{*this / name, std::ios::binary} << contents;
    return *this / name;
  }
  std::size_t file_count() const {
    return std::size_t(std::distance(std::filesystem::directory_iterator{path}, std::filesystem::directory_iterator{}));
  }
};

/// An empty model of IR version 10 that imports opset 20.
inline onnx::ModelProto new_model() {
  onnx::ModelProto m;
  m.set_ir_version(10);
  m.add_opset_import()->set_domain("");
  m.mutable_opset_import(0)->set_version(20);
  m.mutable_graph()->set_name("g");
  return m;
}

inline onnx::ValueInfoProto& add_value(google::protobuf::RepeatedPtrField<onnx::ValueInfoProto>& to,
                                       const std::string& name, std::vector<std::int64_t> dims = {}) {
  auto& v = *to.Add();
  v.set_name(name);
  auto& type = *v.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx::TensorProto::FLOAT);
  auto& shape = *type.mutable_shape();
  for (std::int64_t d : dims) shape.add_dim()->set_dim_value(d);
  return v;
}

inline onnx::NodeProto& add_node(onnx::GraphProto& g, const std::string& op, std::vector<std::string> inputs,
                                 std::vector<std::string> outputs, const std::string& name = {}) {
  auto& n = *g.add_node();
  n.set_op_type(op);
  if (!name.empty()) n.set_name(name);
  for (const std::string& i : inputs) n.add_input(i);
  for (const std::string& o : outputs) n.add_output(o);
  return n;
}

inline onnx::TensorProto tensor_message(const std::string& name, int type, std::vector<std::int64_t> dims,
                                        const std::string& raw) {
  onnx::TensorProto t;
  t.set_name(name);
  t.set_data_type(type);
  for (std::int64_t d : dims) t.add_dims(d);
  t.set_raw_data(raw);
  return t;
}

inline onnx::TensorProto external_message(const std::string& name, std::vector<std::int64_t> dims,
                                          const std::string& location, const std::string& offset = {},
                                          const std::string& length = {}) {
  onnx::TensorProto t = tensor_message(name, onnx::TensorProto::FLOAT, std::move(dims), {});
  t.clear_raw_data();
  t.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto entry = [&](const char* key, const std::string& text) {
    if (text.empty() && std::string_view{key} != "location") return;
    auto& e = *t.add_external_data();
    e.set_key(key);
    e.set_value(text);
  };
  entry("location", location);
  entry("offset", offset);
  entry("length", length);
  return t;
}

/// y = x + w, w of 32 floats.
inline onnx::ModelProto add_model() {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "x", {32});
  add_value(*g.mutable_output(), "y", {32});
  add_node(g, "Add", {"x", "w"}, {"y"}, "sum");
  *g.add_initializer() = tensor_message("w", onnx::TensorProto::FLOAT, {32}, std::string(128, '\3'));
  return m;
}

inline result<std::unique_ptr<model>> read_message(const onnx::ModelProto& m, const read_options& o = {}) {
  static std::deque<std::string> kept;  // the bytes that a model is read from must outlive it
  return read_onnx(bytes_of(kept.emplace_back(m.SerializeAsString())), "test.onnx", o);
}

/// A model that uses every feature of the format, with each tensor in raw_data, as the writer writes it.
inline onnx::ModelProto rich_model() {
  onnx::ModelProto m = add_model();
  m.set_producer_name("a test");
  m.set_producer_version("1");
  m.set_domain("org.example");
  m.set_model_version(7);
  m.set_doc_string("about");
  auto& own = *m.add_opset_import();
  own.set_domain("org.own");
  own.set_version(3);
  auto& property = *m.add_metadata_props();
  property.set_key("k");
  property.set_value("v");
  m.add_training_info()->mutable_algorithm()->set_name("trained by this");
  m.mutable_unknown_fields()->AddLengthDelimited(26,
                                                 "\x0a\x02"
                                                 "d0");  // configuration
  m.mutable_unknown_fields()->AddVarint(99, 5);

  auto& g = *m.mutable_graph();
  const std::string entry = property.SerializeAsString();
  g.set_doc_string("graph");
  g.mutable_unknown_fields()->AddLengthDelimited(16, entry);  // metadata_props
  g.mutable_unknown_fields()->AddVarint(77, 3);
  g.add_quantization_annotation()->set_tensor_name("w");
  auto& x = *g.mutable_input(0);
  x.set_doc_string("image");
  x.mutable_unknown_fields()->AddLengthDelimited(4, entry);
  x.mutable_unknown_fields()->AddVarint(50, 1);
  x.mutable_type()->set_denotation("IMAGE");
  auto& batch = *x.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0);
  batch.set_dim_param("batch");
  batch.set_denotation("DATA_BATCH");
  auto& blob = *g.add_input();
  blob.set_name("blob");
  blob.mutable_type()->mutable_opaque_type()->set_name("thing");
  auto& sequence = *g.add_input();
  sequence.set_name("list");
  sequence.mutable_type()->mutable_sequence_type()->mutable_elem_type()->mutable_map_type()->set_key_type(7);
  sequence.mutable_type()
      ->mutable_sequence_type()
      ->mutable_elem_type()
      ->mutable_map_type()
      ->mutable_value_type()
      ->mutable_tensor_type()
      ->set_elem_type(1);

  auto& w = *g.mutable_initializer(0);
  w.set_doc_string("weights");
  w.mutable_unknown_fields()->AddLengthDelimited(16, entry);
  *g.add_initializer() = tensor_message("cond", onnx::TensorProto::BOOL, {}, std::string(1, '\1'));
  auto& sparse = *g.add_sparse_initializer();
  *sparse.mutable_values() = tensor_message("sparse", onnx::TensorProto::FLOAT, {2}, std::string(8, '\0'));
  *sparse.mutable_indices() = tensor_message("", onnx::TensorProto::INT64, {2}, std::string(16, '\0'));
  sparse.mutable_indices()->clear_name();
  (*sparse.mutable_indices()->mutable_raw_data())[8] = 4;
  sparse.add_dims(3);
  sparse.add_dims(2);

  auto& branch = add_node(g, "If", {"cond"}, {"z"}, "choose");
  branch.set_doc_string("node");
  branch.mutable_unknown_fields()->AddLengthDelimited(9, entry);
  branch.mutable_unknown_fields()->AddLengthDelimited(10,
                                                      "\x0a\x02"
                                                      "d0");  // device_configurations
  for (const char* name : {"then_branch", "else_branch"}) {
    auto& a = *branch.add_attribute();
    a.set_name(name);
    a.set_type(onnx::AttributeProto::GRAPH);
    a.set_doc_string("branch");
    a.mutable_unknown_fields()->AddVarint(60, 2);
    a.mutable_g()->set_name(name);
    add_node(*a.mutable_g(), "Identity", {"y"}, {"inner"});
    add_value(*a.mutable_g()->mutable_output(), "inner");
  }
  auto& constant = add_node(g, "Constant", {}, {"c"});
  auto& a = *constant.add_attribute();
  a.set_name("value");
  a.set_type(onnx::AttributeProto::TENSOR);
  *a.mutable_t() = tensor_message("named", onnx::TensorProto::INT8, {3}, "abc");
  a.mutable_t()->set_doc_string("constant");
  auto& call = add_node(g, "Own", {"c"}, {"d"}, "call");
  call.set_domain("org.own");
  call.mutable_unknown_fields()->AddLengthDelimited(8, "int8");  // overload
  auto& many = *call.add_attribute();
  many.set_name("many");
  many.set_type(onnx::AttributeProto::TENSORS);
  for (const char* name : {"", "second"}) *many.add_tensors() = tensor_message(name, 3, {100}, std::string(100, 'x'));
  for (auto& t : *many.mutable_tensors())
    if (t.name().empty()) t.clear_name();
  auto& d = add_value(*g.mutable_value_info(), "d", {3});
  d.set_doc_string("inner value");
  add_value(*g.mutable_output(), "z");

  auto& f = *m.add_functions();
  f.set_name("Own");
  f.set_domain("org.own");
  f.set_doc_string("function");
  f.add_input("a");
  f.add_output("b");
  f.add_attribute("axis");
  auto& import = *f.add_opset_import();
  import.set_domain("");
  import.set_version(18);
  auto& body = *f.add_node();
  body.set_op_type("Softmax");
  body.add_input("a");
  body.add_output("b");
  auto& axis = *body.add_attribute();
  axis.set_name("axis");
  axis.set_type(onnx::AttributeProto::INT);
  axis.set_ref_attr_name("axis");
  onnx::AttributeProto fallback;
  fallback.set_name("table");
  fallback.set_type(onnx::AttributeProto::TENSOR);
  *fallback.mutable_t() = tensor_message("t", 3, {200}, std::string(200, 'y'));
  onnx::ValueInfoProto info;
  info.set_name("b");
  info.mutable_type()->mutable_tensor_type()->set_elem_type(1);
  auto& newer = *f.mutable_unknown_fields();
  newer.AddLengthDelimited(11, fallback.SerializeAsString());  // attribute_proto
  newer.AddLengthDelimited(12, info.SerializeAsString());      // value_info
  newer.AddLengthDelimited(13, "int8");                        // overload
  newer.AddLengthDelimited(14, entry);                         // metadata_props
  newer.AddVarint(80, 1);
  return m;
}

}  // namespace cameo::test
