#include <cameo/file/atomic_file.hpp>
#include <cameo/format/onnx.hpp>
#include <cameo/test_paths.hpp>

#include "onnx_messages.hpp"

#include <doctest/doctest.h>
#include <google/protobuf/util/message_differencer.h>

#include <cstring>

using namespace cameo;
using namespace cameo::test;

namespace {

/// The difference in protobuf's words; empty when the messages are equal.
std::string difference(const google::protobuf::Message& a, const google::protobuf::Message& b) {
  std::string words;
  google::protobuf::util::MessageDifferencer differencer;
  differencer.ReportDifferencesToString(&words);
  const bool same = differencer.Compare(a, b);
  return same ? "" : words.empty() ? "different" : words;
}

onnx::ModelProto parsed(const std::string& bytes) {
  onnx::ModelProto m;
  CHECK(m.ParseFromString(bytes));
  return m;
}

}  // namespace

TEST_CASE("a model with every feature, and with fields newer than the installed onnx, is written as it was read") {
  const onnx::ModelProto original = rich_model();
  auto read = read_message(original);
  REQUIRE_MESSAGE(read, read.error().words());
  auto written = write_onnx(**read);
  REQUIRE_MESSAGE(written, written.error().words());
  CHECK(difference(original, parsed(*written)) == "");
  // The file is also a seed for the fuzzer.
  const std::filesystem::path seeds = std::filesystem::path{build_dir} / "fuzz_onnx_seeds";
  std::filesystem::create_directories(seeds);
  std::ofstream{seeds / "everything.onnx", std::ios::binary} << *written;
}

TEST_CASE("a model that was read has the contents of the file") {
  auto read = read_message(rich_model());
  REQUIRE_MESSAGE(read, read.error().words());
  const model& m = **read;
  CHECK(m.ir_version == 10);
  CHECK(m.model_version == 7);
  CHECK(m.producer_name == "a test");
  CHECK(m.opset("org.own") == 3);
  CHECK(m.opset("") == 20);
  CHECK(m.metadata.size() == 1);
  const graph& g = m.main();
  const value_id x = g.find("x"), w = g.find("w"), sparse = g.find("sparse");
  REQUIRE(g[x].type->shape);
  CHECK(m.symbols[(*g[x].type->shape)[0].symbol] == "batch");
  CHECK(g[x].metadata.size() == 1);
  CHECK(g[g.find("blob")].type->kind == type_kind::opaque);
  REQUIRE(g[w].constant);
  CHECK(g[w].constant->shape == extents{32});
  CHECK(g[sparse].constant->kind == value_kind::sparse_tensor);
  CHECK(g[sparse].constant->shape == extents{3, 2});
  const detail::graph_node& branch = g[g[g.find("z")].producer];
  CHECK(branch.op_type == "If");
  CHECK(branch.opset == 20);
  CHECK(branch.metadata.size() == 1);
  REQUIRE(branch.subgraphs.size() == 2);
  CHECK(branch.capture_count == 1);
  CHECK(g[g.capture(g[g.find("z")].producer, 0)].name == "y");
  const detail::graph_node& call = g[g[g.find("d")].producer];
  CHECK(call.overload == "int8");
  REQUIRE(m.functions.size() == 1);
  const function& f = m.functions[0];
  CHECK(m.find_function("org.own", "Own", "int8") == &f);
  CHECK(f.attribute_names.size() == 1);
  REQUIRE(f.attribute_defaults.size() == 1);
  CHECK(f.attribute_defaults[0].tensors[0].shape == extents{200});
  const graph& body = *f.body;
  const detail::graph_node& softmax = body[body[body.outputs()[0]].producer];
  CHECK(softmax.opset == 18);
  CHECK(softmax.attributes[0].ref_attr_name == "axis");
  CHECK(body[body.find("b")].type->type == dtype::f32);
}

TEST_CASE("nodes may come in any order, and inner graphs see the names around them") {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "x");
  add_node(g, "Relu", {"late"}, {"y"}, "first");
  add_node(g, "Abs", {"x"}, {"late"}, "second");
  add_value(*g.mutable_output(), "y");
  auto read = read_message(m);
  REQUIRE_MESSAGE(read, read.error().words());
  graph& main = (*read)->main();
  CHECK(main[main[main.find("y")].producer].name == "first");
  REQUIRE(main.sort());
  CHECK(main[main.order()[0]].name == "second");
}

TEST_CASE("the ONNX domain has two spellings, and files before IR version 3 need not import it") {
  onnx::ModelProto m = add_model();
  m.mutable_opset_import(0)->set_domain("ai.onnx");
  m.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  auto read = read_message(m);
  REQUIRE_MESSAGE(read, read.error().words());
  CHECK((*read)->main()[node_id{0}].domain == "");
  CHECK((*read)->main()[node_id{0}].opset == 20);
  m.clear_opset_import();
  CHECK(read_message(m).error().code() == status_code::invalid_graph);
  m.set_ir_version(2);
  auto old = read_message(m);
  REQUIRE_MESSAGE(old, old.error().words());
  CHECK((*old)->main()[node_id{0}].opset == 1);
}

TEST_CASE("attributes without a type, as old files have them, get that of the field that is set") {
  onnx::ModelProto m = add_model();
  auto& n = *m.mutable_graph()->mutable_node(0);
  const auto add = [&](const char* name) -> onnx::AttributeProto& {
    auto& a = *n.add_attribute();
    a.set_name(name);
    return a;
  };
  add("f").set_f(1.5f);
  add("i").set_i(0);
  add("s").set_s("text");
  add("ints").add_ints(4);
  add("t").mutable_t()->CopyFrom(tensor_message("", 3, {1}, "a"));
  auto read = read_message(m);
  REQUIRE_MESSAGE(read, read.error().words());
  const std::span<const attribute> attributes = (*read)->main()[node_id{0}].attributes;
  CHECK(detail::find_attribute(attributes, "f")->kind == attribute_kind::f);
  CHECK(detail::find_attribute(attributes, "f")->f == 1.5f);
  CHECK(detail::find_attribute(attributes, "i")->kind == attribute_kind::i);
  CHECK(detail::find_attribute(attributes, "s")->s == "text");
  CHECK(detail::find_attribute(attributes, "ints")->ints[0] == 4);
  CHECK(detail::find_attribute(attributes, "t")->tensors[0].type == dtype::i8);
}

TEST_CASE("weights that lie aligned in the mapped file are not copied, others are copied to aligned memory") {
  const scratch_folder folder;
  for (int shift = 0; shift < 4; ++shift) {
    onnx::ModelProto m = add_model();
    m.set_producer_name(std::string(std::size_t(shift) + 1, 'p'));
    const std::string bytes = m.SerializeAsString();
    auto read = read_onnx(folder.write("m.onnx", bytes));
    REQUIRE_MESSAGE(read, read.error().words());
    const graph& g = (*read)->main();
    const value& w = *g[g.find("w")].constant;
    const std::span<const std::byte> file = (*read)->files[0]->bytes();
    const auto* const at = static_cast<const std::byte*>(w.data);
    const std::size_t offset = bytes.find(std::string(128, '\3'));
    const bool is_inside = at >= file.data() && at < file.data() + file.size();
    CHECK(is_inside == (offset % alignof(float) == 0));
    CHECK(std::memcmp(at, bytes.data() + offset, 128) == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(at) % (is_inside ? alignof(float) : 64) == 0);
  }
}

TEST_CASE("a model is written with its large tensors in a file beside it, aligned, and read back") {
  const scratch_folder folder;
  onnx::ModelProto m = add_model();
  *m.mutable_graph()->add_initializer() = tensor_message("odd", onnx::TensorProto::UINT8, {77}, std::string(77, '\5'));
  *m.mutable_graph()->add_initializer() = tensor_message("last", onnx::TensorProto::UINT8, {70}, std::string(70, '\6'));
  *m.mutable_graph()->add_initializer() = tensor_message("small", onnx::TensorProto::UINT8, {2}, "ab");
  auto read = read_message(m);
  REQUIRE(read);
  REQUIRE(write_onnx(**read, folder / "m.onnx", {"m.data", 64}));
  CHECK(std::filesystem::file_size(folder / "m.data") == 256 + 70);
  CHECK(folder.file_count() == 2);
  auto again = read_onnx(folder / "m.onnx");
  REQUIRE_MESSAGE(again, again.error().words());
  CHECK((*again)->files.size() == 2);
  const graph& g = (*again)->main();
  CHECK(std::memcmp(g[g.find("odd")].constant->data, std::string(77, '\5').data(), 77) == 0);
  CHECK(std::memcmp(g[g.find("last")].constant->data, std::string(70, '\6').data(), 70) == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(g[g.find("last")].constant->data) % 64 == 0);
  // The model is written over its own file while that is mapped, and then with all weights inside the file.
  REQUIRE(write_onnx(**again, folder / "m.onnx", {"m.data", 64}));
  auto inside = write_onnx(**again);
  REQUIRE(inside);
  CHECK(difference(m, parsed(*inside)) == "");
  for (const char* name : {"../m.data", "/m.data", "..", "m.onnx"})
    CHECK(write_onnx(**read, folder / "m.onnx", {name, 64}).code() == status_code::invalid_argument);
}

TEST_CASE("a file over 2 GB is read when only its weights make it so, and not written without external data") {
  // The file is made by hand, with a hole for the weights, so that the disk stores only a few blocks.
  const scratch_folder folder;
  const std::uint64_t weights = (std::uint64_t{1} << 31) + 100;
  const auto field = [](std::string& to, int number, std::uint64_t size) {
    to += char(number << 3 | 2);
    for (; size >= 0x80; size >>= 7) to += char(size | 0x80);
    to += char(size);
  };
  onnx::TensorProto head = tensor_message("w", onnx::TensorProto::UINT8, {std::int64_t(weights)}, {});
  head.clear_raw_data();
  std::string tensor = head.SerializeAsString(), graph_head, model_head = new_model().SerializeAsString();
  field(tensor, 9, weights);
  field(graph_head, 5, tensor.size() + weights);
  field(model_head, 7, graph_head.size() + tensor.size() + weights);
  const std::string path = folder.write("big.onnx", model_head + graph_head + tensor);
  std::filesystem::resize_file(path, model_head.size() + graph_head.size() + tensor.size() + weights);
  auto read = read_onnx(path);
  REQUIRE_MESSAGE(read, read.error().words());
  const graph& g = (*read)->main();
  CHECK(g[g.find("w")].constant->bytes() == weights);
  const status s = write_onnx(**read, folder / "out.onnx");
  CHECK(s.code() == status_code::invalid_argument);
  CHECK(says(s, "external_data"));
  CHECK(folder.file_count() == 1);
}

TEST_CASE("a function without a body is written without one") {
  model m;
  m.functions.emplace_back().name = "Hollow";
  const auto written = write_onnx(m);
  REQUIRE_MESSAGE(written, written.error().words());
  onnx::ModelProto read;
  REQUIRE(read.ParseFromString(*written));
  CHECK(read.functions(0).name() == "Hollow");
  CHECK(read.functions(0).node_size() == 0);
}

TEST_CASE("a written file is complete or absent") {
  const scratch_folder folder;
  const std::string path = folder.write("f", "old");
  CHECK(write_file_atomically(path, std::string_view{"new and longer"}));
  CHECK(std::filesystem::file_size(path) == 14);
  CHECK(folder.file_count() == 1);
  std::filesystem::create_directory(folder / "taken");
  CHECK(write_file_atomically(folder / "taken", std::string_view{"x"}).code() == status_code::fail);
  CHECK(folder.file_count() == 2);  // no temporary file remains
  CHECK(write_file_atomically(folder / "no/such/folder", std::string_view{"x"}).code() == status_code::fail);
}
