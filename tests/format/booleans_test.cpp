// Bools that are neither 0 nor 1 in a file are read as 1, as ONNX Runtime reads them. Kernels read them as C++ bools,
// for which other values are undefined behavior, which the sanitizers report.
#include <cameo/core/booleans.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/format/pb.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/minimal/session.hpp>
#include <cameo/os/heap_arena.hpp>

#include "onnx_messages.hpp"
#include "session/models.hpp"

#include <functional>

namespace cameo::test {
namespace {

constexpr std::int64_t flag_count = 200;  // more than any reader copies without need

/// `flag_count` bytes that are 0 or `truth`, in an order that a search finds in a file.
std::string flags(char truth) {
  std::string all(std::size_t(flag_count), '\0');
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i * i % 7 < 3 ? truth : '\0';
  return all;
}

/// Adds y = x + 1 or y = x - 1, for a branch of an If.
void add_branch(onnx::NodeProto& n, const std::string& name, const std::string& op) {
  auto& a = *n.add_attribute();
  a.set_name(name);
  a.set_type(onnx::AttributeProto::GRAPH);
  a.mutable_g()->set_name(name);
  add_node(*a.mutable_g(), op, {"x", "one"}, {name + "_out"});
  add_value(*a.mutable_g()->mutable_output(), name + "_out");
}

/// A model with every operator that reads bools, on a constant `flags`, which the caller adds, and an input "t" of true
/// values.
onnx::ModelProto readers_of_flags() {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "x", {flag_count});
  add_value(*g.mutable_input(), "t", {flag_count}).mutable_type()->mutable_tensor_type()->set_elem_type(9);
  *g.add_initializer() = tensor_message("at", onnx::TensorProto::INT64, {}, std::string("\7\0\0\0\0\0\0\0", 8));
  *g.add_initializer() = tensor_message("one", onnx::TensorProto::FLOAT, {}, std::string("\0\0\x80\x3f", 4));
  add_node(g, "Neg", {"x"}, {"minus"});
  add_node(g, "Not", {"flags"}, {"not"});
  add_node(g, "And", {"flags", "t"}, {"and"});
  add_node(g, "Equal", {"flags", "t"}, {"equal"});
  add_node(g, "Where", {"flags", "x", "minus"}, {"where"});
  add_node(g, "Compress", {"x", "flags"}, {"compress"});
  add_node(g, "Gather", {"flags", "at"}, {"flag"});
  auto& choice = add_node(g, "If", {"flag"}, {"if"});
  add_branch(choice, "then_branch", "Add"), add_branch(choice, "else_branch", "Sub");
  for (const char* name : {"not", "and", "equal", "flag"})
    add_value(*g.mutable_output(), name).mutable_type()->mutable_tensor_type()->set_elem_type(9);
  for (const char* name : {"where", "compress", "if"}) add_value(*g.mutable_output(), name);
  for (auto& out : *g.mutable_output()) out.mutable_type()->mutable_tensor_type()->clear_shape();
  return m;
}

onnx::TensorProto flags_message(char truth, const std::string& name = "flags") {
  return tensor_message(name, onnx::TensorProto::BOOL, {flag_count}, flags(truth));
}

std::string bytes_of_value(const value& v) { return {static_cast<const char*>(v.data), v.bytes()}; }

const bool* all_true() {
  static bool trues[flag_count];
  for (bool& t : trues) t = true;
  return trues;
}

/// The bytes of all outputs, with and without constant folding and the other rewrites that run kernels.
std::vector<std::string> outputs_of(const std::function<result<session>(const session_options&)>& load) {
  std::vector<std::string> all;
  for (const optimization_level level : {optimization_level::none, optimization_level::all}) {
    session_options options;
    options.optimize = level, options.threads = 1;
    const result<session> s = load(options);
    REQUIRE_MESSAGE(s, std::string{s.error().words()});
    const any_value x = any_value::tensor<float>({flag_count}, ramp(std::size_t(flag_count)));
    const auto made = s->run({{"x", x}, {"t", std::span{all_true(), std::size_t(flag_count)}}});
    REQUIRE_MESSAGE(made, std::string{made.error().words()});
    for (const auto& each : made->items) all.push_back(bytes_of_value(each.value.view()));
  }
  return all;
}
std::vector<std::string> outputs_of(const std::string& bytes) {
  return outputs_of([&](const session_options& o) { return cpu_runtime{}.load(bytes_of(bytes), o); });
}
std::vector<std::string> outputs_of_file(const std::string& path) {
  return outputs_of([&](const session_options& o) { return cpu_runtime{}.load(path, o); });
}

onnx::ModelProto with_initializer(const onnx::TensorProto& t) {
  onnx::ModelProto m = readers_of_flags();
  *m.mutable_graph()->add_initializer() = t;
  return m;
}
/// The expected outputs: those of a model whose flags are 0 and 1.
const std::vector<std::string>& expected() {
  static const std::vector<std::string> made = outputs_of(with_initializer(flags_message(1)).SerializeAsString());
  return made;
}

/// Replaces each flag 1 in `bytes` with 90.
std::string with_90(std::string bytes) {
  const std::size_t at = bytes.find(flags(1));
  REQUIRE(at != bytes.npos);
  return bytes.replace(at, std::size_t(flag_count), flags(90));
}

std::string ort_file() {
  const std::string onnx = with_initializer(flags_message(1)).SerializeAsString();
  auto m = read_onnx(bytes_of(onnx), "m.onnx");
  REQUIRE_MESSAGE(m, m.error().words());
  const status checked = check_model(**m, {});
  REQUIRE_MESSAGE(checked, checked.words());
  const result<std::string> written = write_ort(**m);
  REQUIRE_MESSAGE(written, written.error().words());
  return *written;
}

}  // namespace

TEST_CASE("data with only 0 and 1 is not copied; other data becomes a copy of 0 and 1") {
  detail::heap_arena memory;
  const std::string odd("\0\1\x5a\x80\xff", 5), good("\0\1\1\0\1", 5);
  const result<value> same = with_booleans(value::tensor(dtype::boolean, {5}, good.data()), memory);
  REQUIRE(same);
  CHECK(same->data == good.data());
  const result<value> other_type = with_booleans(value::tensor(dtype::u8, {5}, odd.data()), memory);
  REQUIRE(other_type);
  CHECK(other_type->data == odd.data());
  const result<value> made = with_booleans(value::tensor(dtype::boolean, {5}, odd.data()), memory);
  REQUIRE(made);
  CHECK(bytes_of_value(*made) == std::string("\0\1\1\1\1", 5));
  arena none{std::span<std::byte>{}};
  CHECK(with_booleans(value::tensor(dtype::boolean, {5}, odd.data()), none).error().code() ==
        status_code::out_of_memory);
}

TEST_CASE("bools of 90 in an ONNX file are true to every kernel, wherever the file has them") {
  CHECK(expected()[0] != expected()[1]);
  SUBCASE("raw_data") { CHECK(outputs_of(with_initializer(flags_message(90)).SerializeAsString()) == expected()); }
  SUBCASE("int32_data") {
    for (std::int32_t truth : {90, 256, -1}) {
      onnx::TensorProto t = flags_message(1);
      for (char c : t.raw_data()) t.add_int32_data(c ? truth : 0);
      t.clear_raw_data();
      CHECK(outputs_of(with_initializer(t).SerializeAsString()) == expected());
    }
  }
  SUBCASE("external data") {
    onnx::TensorProto t = external_message("flags", {flag_count}, "weights", "64", std::to_string(flag_count));
    t.set_data_type(onnx::TensorProto::BOOL);
    const scratch_folder folder;
    folder.write("weights", std::string(64, '\x5a') + flags(90));
    CHECK(outputs_of_file(folder.write("m.onnx", with_initializer(t).SerializeAsString())) == expected());
  }
  SUBCASE("the attribute of a Constant") {
    onnx::ModelProto m = readers_of_flags();
    auto& g = *m.mutable_graph();
    auto& a = *add_node(g, "Constant", {}, {"flags"}).add_attribute();
    a.set_name("value");
    a.set_type(onnx::AttributeProto::TENSOR);
    *a.mutable_t() = flags_message(90);
    g.mutable_node()->SwapElements(0, g.node_size() - 1);
    CHECK(outputs_of(m.SerializeAsString()) == expected());
  }
}

TEST_CASE("bools of 90 in an ORT file are true to every kernel, with a graph and without") {
  const std::string bytes = with_90(ort_file());
  CHECK(outputs_of(bytes) == expected());

  std::vector<std::byte> memory(std::size_t{1} << 20);
  auto session = minimal_runtime<eps::cpu_kernels>::load(bytes_of(bytes), memory);
  REQUIRE_MESSAGE(session, std::string{session.error().words()});
  const std::vector<float> x = ramp(std::size_t(flag_count));
  const value inputs[] = {value::tensor(dtype::f32, {flag_count}, x.data()),
                          value::tensor(dtype::boolean, {flag_count}, all_true())};
  value outputs[7];
  const status ran = session->run(inputs, outputs);
  REQUIRE_MESSAGE(ran, std::string{ran.words()});
  for (std::size_t i = 0; i < std::size(outputs); ++i) CHECK(bytes_of_value(outputs[i]) == expected()[i]);
}

TEST_CASE("a TensorProto of bools of 90 is a value of bools") {
  detail::heap_arena memory;
  const std::string alone = flags_message(90).SerializeAsString();
  const result<value> v = read_pb(bytes_of(alone), pb_kind::tensor, memory);
  REQUIRE(v);
  CHECK(bytes_of_value(*v) == flags(1));
}

}  // namespace cameo::test
