// Tests models with randomly changed bytes, which must be refused or run, but never crash. The seeds are fixed; the
// environment variable CAMEO_MUTATIONS sets their number.
#include "bad_model.hpp"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>

using namespace cameo;
using namespace cameo::test;

namespace {

/// A small network of Conv, Relu, Reshape, Gemm and Softmax.
onnx::ModelProto network() {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "x", {1, 1, 6, 6});
  *g.add_initializer() = floats("w", {2, 1, 3, 3});
  *g.add_initializer() = ints("s", {1, -1});
  *g.add_initializer() = floats("b", {32, 3});
  set(add_node(g, "Conv", {"x", "w"}, {"c"}), "pads", std::vector<std::int64_t>{0, 0, 0, 0});
  add_node(g, "Relu", {"c"}, {"r"});
  add_node(g, "Reshape", {"r", "s"}, {"f"});
  set(add_node(g, "Gemm", {"f", "b"}, {"p"}), "alpha", 0.5f);
  set(add_node(g, "Softmax", {"p"}, {"y"}), "axis", 1);
  add_untyped_output(g, "y");
  return m;
}

/// A model of operators that move elements, by constants which are mutated, too.
onnx::ModelProto movement() {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  add_value(*g.mutable_input(), "x", {4, 6});
  *g.add_initializer() = ints("i", {0, 3, 1});
  *g.add_initializer() = ints("from", {1});
  *g.add_initializer() = ints("to", {5});
  *g.add_initializer() = ints("times", {2, 1});
  *g.add_initializer() = ints("pads", {1, 0, 0, 2});
  *g.add_initializer() = ints("axis", {1});
  set(add_node(g, "Gather", {"x", "i"}, {"a"}), "axis", 0);
  add_node(g, "Slice", {"a", "from", "to", "axis"}, {"b"});
  add_node(g, "Tile", {"b", "times"}, {"c"});
  add_node(g, "Pad", {"c", "pads"}, {"d"});
  set(add_node(g, "Transpose", {"d"}, {"e"}), "perm", std::vector<std::int64_t>{1, 0});
  add_node(g, "Shape", {"e"}, {"shape"});
  add_node(g, "ConstantOfShape", {"shape"}, {"zeros"});
  set(add_node(g, "Concat", {"e", "zeros"}, {"f"}), "axis", 1);
  set(add_node(g, "Split", {"f"}, {"y", "z"}), "num_outputs", 2);
  add_node(g, "ReduceSum", {"y", "axis"}, {"sum"});
  add_untyped_output(g, "sum");
  add_untyped_output(g, "z");
  return m;
}

/// A model with a Loop that captures a value and makes a sequence, an If, a function, and strings.
onnx::ModelProto control() {
  onnx::ModelProto m = new_model();
  auto& g = *m.mutable_graph();
  auto& own = *m.add_opset_import();
  own.set_domain("org.own");
  own.set_version(1);
  add_value(*g.mutable_input(), "x", {3});
  *g.add_initializer() = int_scalar("t", 3);
  *g.add_initializer() = truth("go", true);
  *g.add_initializer() = texts("words", {"a b", "c"});
  onnx::GraphProto body;
  body.set_name("body");
  add_typed(*body.mutable_input(), "i", 7);
  add_typed(*body.mutable_input(), "on", 9);
  add_typed(*body.mutable_input(), "v", 1);
  add_node(body, "Identity", {"on"}, {"on_out"});
  add_node(body, "Add", {"v", "x"}, {"v_out"});
  for (const char* name : {"on_out", "v_out", "v_out2"}) add_untyped_output(body, name);
  add_node(body, "Own", {"v_out"}, {"v_out2"}).set_domain("org.own");
  set(add_node(g, "Loop", {"t", "go", "x"}, {"last", "all"}), "body", body);
  auto& choice = add_node(g, "If", {"go"}, {"y"});
  for (const char* name : {"then_branch", "else_branch"}) {
    onnx::GraphProto branch;
    branch.set_name(name);
    add_node(branch, "Neg", {"last"}, {"n"});
    add_untyped_output(branch, "n");
    set(choice, name, branch);
  }
  add_node(g, "SequenceConstruct", {"last", "y"}, {"list"});
  add_node(g, "SequenceAt", {"list", "t_at"}, {"one"});
  *g.add_initializer() = int_scalar("t_at", 1);
  add_node(g, "StringSplit", {"words"}, {"parts", "counts"});
  for (const char* name : {"all", "one", "parts"}) add_untyped_output(g, name);
  auto& f = *m.add_functions();
  f.set_name("Own");
  f.set_domain("org.own");
  f.add_input("a");
  f.add_output("b");
  f.add_opset_import()->set_version(20);
  auto& n = *f.add_node();
  n.set_op_type("Relu");
  n.add_input("a");
  n.add_output("b");
  return m;
}

/// Makes 1 to 4 changes: a byte or a bit is changed, or a piece is removed, repeated or inserted.
std::string mutated(std::string bytes, std::mt19937& random) {
  for (unsigned changes = 1 + random() % 4; changes-- > 0 && !bytes.empty();) {
    const std::size_t at = random() % bytes.size(), length = std::min<std::size_t>(1 + random() % 9, bytes.size() - at);
    switch (random() % 7) {
      case 0: bytes[at] = char(random()); break;
      case 1:
      case 2: bytes[at] = char(bytes[at] ^ (1 << random() % 8)); break;
      case 3: bytes[at] = "\x00\x01\x7F\x80\xFF"[random() % 5]; break;
      case 4: bytes.erase(at, length); break;
      case 5: bytes.insert(at, bytes.substr(random() % bytes.size(), length)); break;
      default:
        if (random() % 4 == 0) bytes.resize(at);
        else bytes.insert(at, 1, char(random()));
    }
  }
  return bytes;
}

/// Loads a model and runs it under narrow limits, with zeros for every input that is a tensor with a shape.
status try_out(const std::string& bytes) {
  session_options limited;
  limited.memory_limit = std::size_t{1} << 26;
  limited.limits.model_bytes = std::size_t{1} << 26;
  const result<session> s = load_bytes(bytes, limited);
  if (!s) return s.error();
  std::vector<any_value> values;
  for (const io_info& input : s->inputs()) {
    extents shape;
    if (input.type.shape)
      for (dim d : *input.type.shape) shape.push_back(d.known() ? d.size : 1);
    std::int64_t count = 0;
    std::uint64_t size = 0;
    if (!input.type.is_tensor() || !shape.checked_count(count) ||
        !detail::checked_bytes(input.type.type, std::uint64_t(count), size) || size > 1 << 20) {
      values.emplace_back();
      continue;
    }
    const std::vector<std::max_align_t> zeros(size / sizeof(std::max_align_t) + 1);
    values.push_back(any_value::copy_of(value::tensor(input.type.type, shape, zeros.data())));
  }
  std::vector<named_input> inputs;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i]) inputs.emplace_back(s->inputs()[i].name, values[i]);
  return s->run(inputs, {.timeout = std::chrono::milliseconds{300}}).error();
}

void check_mutations(const onnx::ModelProto& model, unsigned seed) {
  const std::string whole = model.SerializeAsString();
  CHECK_REFUSED(try_out(whole), status_code::ok);
  const char* const asked = std::getenv("CAMEO_MUTATIONS");
  const int count = asked ? std::atoi(asked) : 700;
  std::mt19937 random{seed};
  int ran = 0, refused = 0;
  const memory_peak peak;
  for (int i = 0; i < count; ++i) {
    const std::string bytes = mutated(whole, random);
    if (const char* const folder = std::getenv("CAMEO_MUTATIONS_KEEP"))  // the last file is then the one that crashed
      std::ofstream{std::string{folder} + "/mutation.onnx", std::ios::binary} << bytes;
    const status s = try_out(bytes);
    ++(s ? ran : refused);
    if (s) continue;
    INFO("mutation ", i, " of seed ", seed, ": ", shown(s));
    CHECK(s.code() != status_code::engine_error);
    CHECK(says(s, bad_name));
  }
  CHECK(ran >= count / 100);  // the changes are so small that some models reach the kernels
  CHECK(refused > count / 2);
  CHECK(peak.grown_kb() < allowed_kb);
}

}  // namespace

TEST_CASE("a network with bytes changed at random is refused or runs") { check_mutations(network(), 1); }
TEST_CASE("movement by constants with bytes changed at random is refused or runs") { check_mutations(movement(), 2); }
TEST_CASE("control flow, functions and strings with bytes changed at random are refused or run") {
  check_mutations(control(), 3);
}
