// Tests setting the sizes of dims that a model's inputs leave open: ONNX Runtime's free dimension overrides.
#include "format/dim_denotations.hpp"
#include "session/models.hpp"

#include <cameo/format/ort.hpp>
#include <cameo/graph/model.hpp>

#include <doctest/doctest.h>

using namespace cameo;
using namespace cameo::test;

namespace {

using sizes = std::vector<std::pair<std::string, std::int64_t>>;

/// A model y = -(a + b) of float [batch, 2], where only `a` has the denotation DATA_BATCH, and an input c of [3, ?].
std::unique_ptr<model> open_model() {
  model_builder m;
  const dim batch = m.symbol("batch");
  const value_id a = m.input("a", dtype::f32, {batch, dim::fixed(2)}),
                 b = m.input("b", dtype::f32, {batch, dim::fixed(2)});
  const value_id c = m.input("c", dtype::f32, {dim::fixed(3), dim{}});
  const auto denote = [&](value_id v, std::vector<std::string_view> words) {
    m.main()[v].unknown = *m.whole().memory.copy(std::string_view{keep_dim_denotations(words)});
  };
  denote(a, {"DATA_BATCH", ""}), denote(c, {"DATA_CHANNEL", "DATA_FEATURE"});
  m.output(m.node("Neg", {m.node("Add", {a, b})}));
  m.output(m.node("Abs", {c}));
  return m.take();
}

session_options sized(sizes by_name, sizes by_denotation = {}) {
  session_options options;
  options.free_dims = std::move(by_name), options.free_dims_by_denotation = std::move(by_denotation);
  return options;
}

/// The shapes of a session's inputs and outputs.
std::string shapes(const result<session>& s) {
  REQUIRE_MESSAGE(s, (s ? "" : s.error().words()));
  std::string all;
  for (const auto* each : {&s->inputs(), &s->outputs()})
    for (const io_info& io : *each) all += io.type_text + " ";
  return all;
}

std::string words_of_refusal(const session_options& options) {
  const result<session> s = runtime<eps::cpu>{}.load(open_model(), options);
  return s ? "nothing is wrong" : std::string{s.error().name()} + ": " + std::string{s.error().words()};
}

}  // namespace

TEST_CASE("a dim is given a size by its name: the model is planned for it, and runs take no other") {
  const auto open = runtime<eps::cpu>{}.load(open_model()),
             fixed = runtime<eps::cpu>{}.load(open_model(), sized({{"batch", 4}}));
  REQUIRE(open);
  REQUIRE(fixed);
  CHECK(open->inputs()[0].dims() == std::vector<std::int64_t>{-1, 2});
  CHECK(fixed->inputs()[0].dims() == std::vector<std::int64_t>{4, 2});
  CHECK(fixed->inputs()[1].dims() == std::vector<std::int64_t>{4, 2});
  CHECK(fixed->outputs()[0].dims() == std::vector<std::int64_t>{4, 2});
  CHECK(fixed->fixed_bytes() > open->fixed_bytes());
  const std::vector<float> four(8, 1.5f), three(6, 1.0f);
  const auto ran = fixed->run({{"a", four, {4, 2}}, {"b", four, {4, 2}}, {"c", three, {3, 2}}});
  REQUIRE(ran);
  CHECK((*ran->get<float>(ran->begin()->name)).data()[7] == -3.0f);
  const auto refused = fixed->run({{"a", three, {3, 2}}, {"b", three, {3, 2}}, {"c", three, {3, 2}}});
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == status_code::invalid_argument);
  CHECK(open->run({{"a", three, {3, 2}}, {"b", three, {3, 2}}, {"c", three, {3, 2}}}));
}

TEST_CASE("a dim is given a size by what it denotes, in any case, wherever its name stands") {
  const std::string wanted = shapes(runtime<eps::cpu>{}.load(open_model(), sized({{"batch", 5}})));
  CHECK(shapes(runtime<eps::cpu>{}.load(open_model(), sized({}, {{"data_batch", 5}}))) == wanted);
  CHECK(shapes(runtime<eps::cpu>{}.load(open_model(), sized({{"batch", 5}}, {{"Data_Batch", 5}}))) == wanted);
  const auto unnamed = runtime<eps::cpu>{}.load(open_model(), sized({}, {{"DATA_FEATURE", 7}, {"data_channel", 3}}));
  REQUIRE(unnamed);
  CHECK(unnamed->inputs()[2].dims() == std::vector<std::int64_t>{3, 7});
}

TEST_CASE("the last size of a name counts, and 0 is one") {
  const auto fixed = runtime<eps::cpu>{}.load(open_model(), sized({{"batch", 5}, {"batch", 0}}));
  REQUIRE(fixed);
  CHECK(fixed->inputs()[0].dims() == std::vector<std::int64_t>{0, 2});
}

TEST_CASE("models from files and bytes of both formats keep names and denotations") {
  const std::unique_ptr<model> checked = open_model();
  const result<std::string> onnx = write_onnx(*checked);
  REQUIRE(onnx);
  const auto loaded = [](const std::string& bytes, const session_options& options) {
    return shapes(runtime<eps::cpu>{}.load(std::as_bytes(std::span{bytes}), options));
  };
  const std::string wanted =
      shapes(runtime<eps::cpu>{}.load(open_model(), sized({{"batch", 6}}, {{"DATA_FEATURE", 2}})));
  CHECK(loaded(*onnx, sized({{"batch", 6}}, {{"DATA_FEATURE", 2}})) == wanted);
  CHECK(loaded(*onnx, sized({}, {{"DATA_BATCH", 6}, {"DATA_FEATURE", 2}})) == wanted);
  const auto open = runtime<eps::cpu>{}.load(open_model());
  REQUIRE(open);
  const result<std::string> ort = write_ort(open->graph());
  REQUIRE(ort);
  CHECK(loaded(*ort, sized({}, {{"DATA_BATCH", 6}, {"DATA_FEATURE", 2}})) == wanted);
}

TEST_CASE("sizes that contradict the model or each other, or are none, are INVALID_ARGUMENT") {
  CHECK(words_of_refusal(sized({{"batch", -1}})) ==
        "INVALID_ARGUMENT: session_options::free_dims: 'batch' is -1, a size must be 0 or more");
  CHECK(words_of_refusal(sized({}, {{"DATA_CHANNEL", 4}})) ==
        "INVALID_ARGUMENT: input 'c': dim 0 is 3, and session_options::free_dims or free_dims_by_denotation say 4");
  CHECK(words_of_refusal(sized({{"batch", 2}}, {{"DATA_BATCH", 3}})) ==
        "INVALID_ARGUMENT: input 'a': dim 0 is 2, and session_options::free_dims or free_dims_by_denotation say 3");
  CHECK(words_of_refusal(sized({{"batch", 2}}, {{"DATA_BATCH", 2}, {"DATA_CHANNEL", 3}})) == "nothing is wrong");
}

TEST_CASE("a name that no input has is a warning") {
  std::vector<std::string> messages;
  session_options options = sized({{"bacth", 2}, {"batch", 2}}, {{"DATA_TIME", 3}});
  options.log_from = log_level::warning;
  options.log = [&](log_level, std::string_view words) { messages.emplace_back(words); };
  CHECK(runtime<eps::cpu>{}.load(open_model(), options));
  REQUIRE(messages.size() == 1);
  CHECK(messages[0].find("no input has a dim of the name 'bacth'") != std::string::npos);
}
