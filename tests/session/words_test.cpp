// Tests that messages identify nodes and values even if a model gives them no names.
#include "session/inputs.hpp"
#include "session/models.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>

using namespace cameo;
using namespace cameo::test;

namespace {

/// A provider whose Neg fails.
struct failing {
  static constexpr std::string_view name = "failing", long_name = "FailingExecutionProvider";
  status_code code = status_code::out_of_memory;
  bool claims(const node_view& n) const { return n.op_type() == "Neg"; }
  status execute(const step_view&, run_context&) const { return code; }
};

/// A model y = -x, c = tanh(x) whose nodes have no names.
std::unique_ptr<model> nameless(const char* op = "Neg", std::vector<attribute> attributes = {}) {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {dim::fixed(3)});
  const value_id y = b.main().add_value("y"), z = b.main().add_value("z");
  b.main().add_node({"", "", op, {}, {}, 17, {&x, 1}, {&y, 1}, attributes});
  b.main().add_node({"", "", "Tanh", {}, {}, 17, {&x, 1}, {&z, 1}});
  b.output(y), b.output(z);
  return b.take();
}

template <class T>
std::string words_of(const result<T>& made) {
  return made ? "nothing is wrong" : std::string{made.error().words()};
}

/// The messages of the default level while the model is loaded.
std::vector<std::string> warnings_of(std::unique_ptr<model> m) {
  std::vector<std::string> all;
  session_options options;
  options.log_from = log_level::warning;
  options.log = [&](log_level, std::string_view words) { all.emplace_back(words); };
  const session s = loaded(std::move(m), options);
  CHECK(s.run({{"x", three}}));
  return all;
}

}  // namespace

TEST_CASE("a node without a name is called by its output, when it runs, in order and by level") {
  for (const execution_mode mode : {execution_mode::sequential, execution_mode::parallel}) {
    session_options options;
    options.execution = mode;
    options.threads = 2;
    const auto s = runtime<failing, eps::cpu>{failing{status_code::fail}, {}}.load(nameless(), options);
    REQUIRE(s);
    CHECK(words_of(s->run({{"x", three}})) == "the node that makes 'y' (Neg): no details");
  }
}

TEST_CASE("a node without a name is called by its output, when it is placed and when it is bound") {
  CHECK(words_of(runtime<partial<failing>>{}.load(nameless())).find("the node that makes 'z' (Tanh, opset 17): ") == 0);
  const std::string bound = words_of(cpu_runtime{}.load(nameless("Cast", {{"to", attribute_kind::i}})));
  CHECK(bound.find("''") == std::string::npos);
  CHECK(bound.find("the node that makes 'y' (Cast") == 0);
}

TEST_CASE("a message is never only a location: an error without words gets some") {
  const auto s = runtime<failing, eps::cpu>{}.load(nameless());
  REQUIRE(s);
  CHECK(words_of(s->run({{"x", three}})) == "the node that makes 'y' (Neg): there is no more memory");
  CHECK(status{status_code::fail}.in("here").in("").words() == "here: no details");
  CHECK(status{status_code::fail, "broken"}.in("").in("there").words() == "there: broken");
}

TEST_CASE("different sizes of one symbol are found before a kernel runs, also in bindings") {
  model_builder b;
  const dim n = b.symbol("n");
  const value_id a = b.input("a", dtype::f32, {dim::fixed(2), n}), c = b.input("c", dtype::f32, {dim::fixed(2), n});
  b.output(b.node("Concat", {a, c}, {model_builder::integer("axis", 0)}));
  const session s = loaded(b.take());
  const std::vector<float> four(4), six(6);
  CHECK(s.run({{"a", four, {2, 2}}, {"c", four, {2, 2}}}));
  const auto differ = s.run({{"a", four, {2, 2}}, {"c", six, {2, 3}}});
  CHECK(differ.error().code() == status_code::invalid_argument);
  CHECK(words_of(differ).find("'n' is 2 in input 'a' (axis 1 of ") == 0);
  CHECK(words_of(differ).find("and 3 in input 'c' (axis 1 of ") != std::string::npos);
  CHECK(s.run({{"a", six, {2, 3}}, {"c", six, {2, 3}}}));
  result<io_binding> bound = s.bind();
  REQUIRE(bound);
  REQUIRE(bound->bind_input("a", four, {2, 2}));
  REQUIRE(bound->bind_input("c", six, {2, 3}));
  CHECK(s.run(*bound).code() == status_code::invalid_argument);
  REQUIRE(bound->bind_input("c", four, {2, 2}));
  CHECK(s.run(*bound));
}

TEST_CASE("an opset or IR version that is newer than cameo's is a warning, and the model runs") {
  CHECK(warnings_of(nameless()).empty());
  std::unique_ptr<model> opset = nameless(), ir = nameless();
  opset->imports[0].version = 999;
  ir->ir_version = 99;
  const std::vector<std::string> of_opset = warnings_of(std::move(opset)), of_ir = warnings_of(std::move(ir));
  REQUIRE(of_opset.size() == 1);
  CHECK(of_opset[0].find("opset 999 of 'ai.onnx' is newer than ") == 0);
  REQUIRE(of_ir.size() == 1);
  CHECK(of_ir[0].find("IR version 99 is newer than ") == 0);
}

TEST_CASE("a session that saves an ORT file warns of the constants that ONNX Runtime refuses there, and of no others") {
  const std::filesystem::path path = std::filesystem::temp_directory_path() / "cameo_words_test.model";
  const auto messages = [&](dtype type, std::string_view format) {
    model_builder b{21};
    model& m = b.whole();
    std::uint8_t* const bytes = static_cast<std::uint8_t*>(m.memory.allocate(2, 64));
    bytes[0] = 0x21, bytes[1] = 0x03;
    const value_id w = b.main().add_value("w");
    b.main().add_initializer(w, m.memory.keep(value::tensor(type, {2}, bytes)));
    b.output(b.node("Cast", {w}, {model_builder::integer("to", 1)}));
    session_options options;
    options.optimize = optimization_level::none;
    options.config = {{"session.optimized_model_filepath", path.string()},
                      {"session.save_model_format", std::string{format}}};
    std::string all;
    options.log_from = log_level::warning;
    options.log = [&](log_level, std::string_view words) { all += words; };
    loaded(b.take(), options);
    return all;
  };
  CHECK(messages(dtype::i4, "ORT") ==
        path.string() + ": 'w' is a constant of int4: ONNX Runtime refuses such constants in ORT files");
  CHECK(messages(dtype::i4, "ONNX").empty());
  CHECK(messages(dtype::i8, "ORT").empty());
  std::filesystem::remove(path);
}
