#include <cameo/format/onnx.hpp>
#include <cameo/format/pb.hpp>
#include <cameo/os/heap_arena.hpp>

#include "full_speed.hpp"
#include "onnx_messages.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

using namespace cameo;
using namespace cameo::test;

namespace {

status refusal_of(const onnx::ModelProto& m, const read_options& o = {}) { return read_message(m, o).error(); }

status refusal_of(const std::string& bytes) { return read_onnx(bytes_of(bytes), "test.onnx").error(); }

/// A model with `depth` nested graphs, made from the inside out: protobuf itself would not write it.
std::string nested_model(int depth) {
  const auto wrap = [](int number, std::string inside) {
    std::string head(1, char(number << 3 | 2));
    std::size_t size = inside.size();
    for (; size >= 0x80; size >>= 7) head += char(size | 0x80);
    return head + char(size) + inside;
  };
  std::string graph_bytes;
  for (int i = 0; i < depth; ++i) {
    std::string attribute = wrap(1, "body") + wrap(6, graph_bytes) + std::string("\xA0\x01\x05", 3);  // type GRAPH
    graph_bytes = wrap(1, wrap(4, "If") + wrap(5, std::move(attribute)));
  }
  return new_model().SerializeAsString() + wrap(7, graph_bytes);
}

}  // namespace

TEST_CASE("a missing file is NO_SUCHFILE, a path that is not a file is INVALID_ARGUMENT; both name the path") {
  const scratch_folder folder;
  const status missing = read_onnx(folder / "none.onnx").error();
  CHECK(missing.code() == status_code::no_suchfile);
  CHECK(says(missing, folder / "none.onnx"));
  CHECK(read_onnx(folder.path.string()).error().code() == status_code::invalid_argument);
  CHECK(read_onnx(folder.write("f", "") + "/x").error().code() == status_code::no_suchfile);
}

TEST_CASE("no graph is INVALID_ARGUMENT, an empty file too; garbage is INVALID_PROTOBUF") {
  const scratch_folder folder;
  CHECK(read_onnx(folder.write("empty.onnx", "")).error().code() == status_code::invalid_argument);
  onnx::ModelProto m = new_model();
  m.clear_graph();
  CHECK(refusal_of(m).code() == status_code::invalid_argument);
  const status garbage = read_onnx(folder.write("garbage.onnx", "this is text, not a model")).error();
  CHECK(garbage.code() == status_code::invalid_protobuf);
  CHECK(says(garbage, "garbage.onnx"));
  CHECK(refusal_of(std::string(1000, '\xFF')).code() == status_code::invalid_protobuf);
  CHECK(refusal_of(std::string(1000, '\0')).code() == status_code::invalid_protobuf);
  CHECK(refusal_of(tensor_message("t", 1, {1}, "1234").SerializeAsString()).code() != status_code::ok);
}

TEST_CASE("a model cut at any byte is a status, and INVALID_PROTOBUF unless the cut is between fields") {
  const std::string whole = rich_model().SerializeAsString();
  std::size_t not_protobuf = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string part =
        whole.substr(0, size);  // its own allocation, so that the sanitizer detects a read past the end
    auto read = read_onnx(bytes_of(part), "cut");
    if (read) {
      CHECK(write_onnx(**read));
      continue;
    }
    const status_code code = read.error().code();
    const bool known = code == status_code::invalid_protobuf || code == status_code::invalid_argument ||
                       code == status_code::invalid_graph;
    CHECK(known);
    not_protobuf += code == status_code::invalid_protobuf;
  }
  CHECK(not_protobuf > whole.size() * 9 / 10);
}

TEST_CASE("a model with any byte changed is a status or a model") {
  const std::string whole = rich_model().SerializeAsString();
  std::mt19937 random{1};
  for (int i = 0; i < (full_speed ? 20000 : 5000); ++i) {
    std::string changed = whole;
    for (unsigned n = random() % 3 + 1; n-- > 0;) changed[random() % changed.size()] = char(random());
    auto read = read_onnx(bytes_of(changed), "changed");
    if (read) (void)write_onnx(**read);
    else CHECK(!read.error().words().empty());
    detail::heap_arena memory{4096, std::size_t{1} << 24};
    (void)read_pb(bytes_of(changed), pb_kind(random() % 5), memory);
  }
}

TEST_CASE("subgraphs are read down to load_limits.graph_depth; 10,000 of them are INVALID_GRAPH") {
  const status s = refusal_of(nested_model(10000));
  CHECK(s.code() == status_code::invalid_graph);
  CHECK(says(s, "graph_depth"));
  auto deepest = read_onnx(bytes_of(nested_model(128)), "deep");
  CHECK_MESSAGE(deepest, deepest.error().words());
  if (deepest) CHECK(write_onnx(**deepest));
  CHECK(refusal_of(nested_model(129)).code() == status_code::invalid_graph);
  read_options options;
  options.limits.graph_depth = 2;
  const std::string three = nested_model(3), two = nested_model(2);
  CHECK(read_onnx(bytes_of(three), "three", options).error().code() == status_code::invalid_graph);
  CHECK(read_onnx(bytes_of(two), "two", options));
}

TEST_CASE("types nested too deep are refused") {
  onnx::ModelProto m = new_model();
  auto& v = *m.mutable_graph()->add_input();
  v.set_name("x");
  onnx::TypeProto* t = v.mutable_type();
  for (int i = 0; i < 45; ++i) t = t->mutable_sequence_type()->mutable_elem_type();
  CHECK(refusal_of(m).code() == status_code::invalid_graph);
  for (int i = 0; i < 1000; ++i) t = t->mutable_sequence_type()->mutable_elem_type();
  CHECK(refusal_of(m).code() == status_code::invalid_protobuf);
}

TEST_CASE("the memory that a model may use is limited before it is allocated") {
  onnx::ModelProto m = new_model();
  for (int i = 0; i < 10000; ++i) m.mutable_graph()->add_node();
  read_options options;
  options.limits.model_bytes = 1 << 20;
  const status s = refusal_of(m, options);
  CHECK(s.code() == status_code::out_of_memory);
  CHECK(says(s, "model_bytes"));
  onnx::ModelProto strings = new_model();
  auto& t = *strings.mutable_graph()->add_initializer();
  t = tensor_message("t", onnx::TensorProto::BOOL, {std::int64_t{1} << 21}, std::string(std::size_t{1} << 21, '\2'));
  CHECK(refusal_of(strings, options).code() == status_code::out_of_memory);
}

TEST_CASE("undefined names are INVALID_ARGUMENT with node, operator and input") {
  onnx::ModelProto m = add_model();
  m.mutable_graph()->mutable_node(0)->set_input(1, "nobody");
  const status s = refusal_of(m);
  CHECK(s.code() == status_code::invalid_argument);
  for (const char* words : {"test.onnx", "'sum'", "Add", "input 1", "'nobody'"}) CHECK(says(s, words));
  onnx::ModelProto output = add_model();
  output.mutable_graph()->mutable_output(0)->set_name("nobody");
  CHECK(refusal_of(output).code() == status_code::invalid_argument);
  onnx::ModelProto inner = rich_model();
  inner.mutable_graph()->mutable_node(1)->mutable_attribute(0)->mutable_g()->mutable_node(0)->set_input(0, "nobody");
  const status in = refusal_of(inner);
  CHECK(in.code() == status_code::invalid_argument);
  for (const char* words : {"'choose' (If)", "then_branch", "Identity"}) CHECK(says(in, words));
  onnx::ModelProto body = rich_model();
  body.mutable_functions(0)->mutable_node(0)->set_input(0, "x");  // a name of the main graph
  CHECK(refusal_of(body).code() == status_code::invalid_argument);
  onnx::ModelProto result_name = rich_model();
  result_name.mutable_functions(0)->set_output(0, "nobody");
  CHECK(refusal_of(result_name).code() == status_code::invalid_argument);
}

TEST_CASE("names defined twice are INVALID_GRAPH and both definitions are named") {
  onnx::ModelProto nodes = add_model();
  add_node(*nodes.mutable_graph(), "Mul", {"x", "w"}, {"y"}, "product");
  const status s = refusal_of(nodes);
  CHECK(s.code() == status_code::invalid_graph);
  for (const char* words : {"'y'", "'sum' (Add)", "'product' (Mul)"}) CHECK(says(s, words));
  onnx::ModelProto initializers = add_model();
  onnx::TensorProto& again = *initializers.mutable_graph()->add_initializer();
  again = initializers.graph().initializer(0);
  CHECK(refusal_of(initializers).code() == status_code::ok);
  again.add_dims(1);
  CHECK(refusal_of(initializers).code() == status_code::invalid_graph);
  onnx::ModelProto inputs = add_model();
  add_value(*inputs.mutable_graph()->mutable_input(), "x");
  CHECK(refusal_of(inputs).code() == status_code::invalid_graph);
  onnx::ModelProto over_input = add_model();
  add_node(*over_input.mutable_graph(), "Mul", {"x", "w"}, {"x"}, "product");
  CHECK(refusal_of(over_input).code() == status_code::invalid_graph);
  onnx::ModelProto twice = add_model();
  twice.mutable_graph()->mutable_node(0)->add_output("y");
  CHECK(refusal_of(twice).code() == status_code::invalid_graph);
  onnx::ModelProto functions = rich_model();
  *functions.add_functions() = functions.functions(0);
  CHECK(refusal_of(functions).code() == status_code::invalid_graph);
  onnx::ModelProto input_with_default = add_model();
  add_value(*input_with_default.mutable_graph()->mutable_input(), "w", {32});
  CHECK(refusal_of(input_with_default).code() == status_code::ok);
}

TEST_CASE("opsets below 1 and unknown domains without an opset are INVALID_GRAPH; newer ones are accepted") {
  for (const std::int64_t version : {0, -1}) {
    onnx::ModelProto m = add_model();
    m.mutable_opset_import(0)->set_version(version);
    CHECK(refusal_of(m).code() == status_code::invalid_graph);
  }
  onnx::ModelProto m = add_model();
  m.mutable_graph()->mutable_node(0)->set_domain("nobody.imports");
  CHECK(refusal_of(m).code() == status_code::invalid_graph);
  CHECK(says(refusal_of(m), "nobody.imports"));
  onnx::ModelProto newer = add_model();
  newer.set_ir_version(1000);
  newer.mutable_opset_import(0)->set_version(1000);
  newer.add_opset_import()->set_domain("unused");
  newer.mutable_opset_import(1)->set_version(1);
  CHECK(refusal_of(newer).code() == status_code::ok);
}

TEST_CASE(
    "attributes whose type and value disagree are INVALID_GRAPH, more dims than cameo supports are NOT_IMPLEMENTED") {
  onnx::ModelProto m = add_model();
  auto& a = *m.mutable_graph()->mutable_node(0)->add_attribute();
  a.set_name("axis");
  a.set_type(onnx::AttributeProto::INT);
  a.set_s("one");
  const status s = refusal_of(m);
  CHECK(s.code() == status_code::invalid_graph);
  for (const char* words : {"'sum'", "'axis'", "int", "string"}) CHECK(says(s, words));
  a.set_type(onnx::AttributeProto::GRAPH);
  a.clear_s();
  CHECK(refusal_of(m).code() == status_code::invalid_graph);
  onnx::ModelProto ranks = new_model();
  add_value(*ranks.mutable_graph()->mutable_input(), "x", std::vector<std::int64_t>(13, 1));
  CHECK(refusal_of(ranks).code() == status_code::not_implemented);
  onnx::ModelProto types = new_model();
  add_value(*types.mutable_graph()->mutable_input(), "x").mutable_type()->mutable_tensor_type()->set_elem_type(99);
  CHECK(refusal_of(types).code() == status_code::invalid_graph);
}
