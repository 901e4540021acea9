// Tests calls that a user would write without reading the documentation.
#include <cameo/graph/model.hpp>
#include <cameo/test_paths.hpp>
#include "session/inputs.hpp"
#include "session/models.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stop_token>

using namespace cameo;
using namespace cameo::test;

namespace {

/// A model y = -x of the declared shape.
std::unique_ptr<model> negative(dtype type, const std::vector<std::string>& dims) {
  model_builder b;
  std::vector<dim> shape;
  for (const std::string& d : dims) shape.push_back(std::isdigit(d[0]) ? dim::fixed(std::stoll(d)) : b.symbol(d));
  b.output(b.node("Neg", {b.input("x", type, shape)}));
  return b.take();
}

std::string words(const status& s) { return std::string{s.words()}; }

/// The elements of the only output. The test fails with the error if there is one.
template <class T>
std::vector<T> got(const result<named_values>& out) {
  REQUIRE_MESSAGE(out, words(out.error()));
  const auto view = out->get<T>();
  REQUIRE_MESSAGE(view, words(view.error()));
  return {view->begin(), view->end()};
}

std::vector<std::byte> digits_bytes() {
  std::ifstream file{digits, std::ios::binary};
  const std::string text{std::istreambuf_iterator<char>{file}, {}};
  const auto bytes = std::as_bytes(std::span{text});
  return {bytes.begin(), bytes.end()};
}

}  // namespace

static_assert(std::is_nothrow_move_constructible_v<session> && std::is_nothrow_move_assignable_v<session>);
static_assert(std::is_nothrow_move_constructible_v<io_binding> && std::is_nothrow_move_assignable_v<io_binding>);
static_assert(std::is_nothrow_move_constructible_v<any_value> && std::is_nothrow_move_assignable_v<any_value>);
static_assert(std::is_nothrow_move_constructible_v<named_values> && std::is_nothrow_move_assignable_v<named_values>);
static_assert(std::is_nothrow_move_constructible_v<result<session>> && std::is_nothrow_move_constructible_v<status>);
static_assert(sizeof(session) == sizeof(void*), "a session moves as a pointer does");

TEST_CASE("a session comes from a path of any kind, bytes of any kind and a stream") {
  const cpu_runtime runtime;
  const std::vector<std::byte> bytes = digits_bytes();
  REQUIRE(bytes.size() > 1000);
  const auto same = [](const result<session>& s) {
    CHECK_MESSAGE(s, words(s.error()));
    return s && s->inputs().size() == 1 && s->inputs()[0].name == "image";
  };
  const std::string path = digits.string();
  CHECK(same(runtime.load(path)));
  CHECK(same(runtime.load(path.c_str())));
  CHECK(same(runtime.load(std::string_view{path})));
  CHECK(same(runtime.load(digits)));
  CHECK(same(runtime.load(bytes)));
  CHECK(same(runtime.load(std::span{bytes})));
  const std::vector<unsigned char> unsigned_bytes(reinterpret_cast<const unsigned char*>(bytes.data()),
                                                  reinterpret_cast<const unsigned char*>(bytes.data()) + bytes.size());
  CHECK(same(runtime.load(unsigned_bytes)));
  const std::vector<char> chars(reinterpret_cast<const char*>(bytes.data()),
                                reinterpret_cast<const char*>(bytes.data()) + bytes.size());
  CHECK(same(runtime.load(std::span<const char>{chars})));
  std::ifstream file{digits, std::ios::binary};
  CHECK(same(runtime.load(file)));
  std::istringstream text{std::string{chars.begin(), chars.end()}};
  CHECK(same(runtime.load(text)));
}

TEST_CASE("a session keeps the bytes of a temporary and of a stream") {
  const std::array<float, 64> image{};
  const auto answer = [&](const result<session>& s) {
    REQUIRE(s);
    return got<float>(s->run({{"image", image}}));
  };
  const std::vector<float> expected = answer(cpu_runtime{}.load(digits));
  CHECK(answer(cpu_runtime{}.load(digits_bytes())) == expected);
  CHECK(answer([&] {
          std::vector<std::byte> bytes = digits_bytes();
          return cpu_runtime{}.load(std::move(bytes));
        }()) == expected);
  CHECK(answer([] {
          std::ifstream file{digits, std::ios::binary};
          return cpu_runtime{}.load(file);
        }()) == expected);
}

TEST_CASE("a stream that can't be read or is too long is an error with words") {
  std::ifstream nothing{"/no/such/file"};
  const result<session> none = cpu_runtime{}.load(nothing);
  REQUIRE_FALSE(none);
  CHECK(none.error().code() == status_code::fail);
  std::istringstream text{std::string(3000, 'x')};
  session_options options;
  options.limits.model_bytes = 2000;
  const result<session> large = cpu_runtime{}.load(text, options, "streamed");
  REQUIRE_FALSE(large);
  CHECK(words(large.error()) == "streamed: the stream has more than 2000 bytes (load_limits::model_bytes)");
}

TEST_CASE("inputs are vectors, arrays, spans, views, pointers with a shape, and lists") {
  const session s = loaded(negative(dtype::f32, {"2", "3"}));
  const std::vector<float> expected{-1, -2, -3, -4, -5, -6};
  std::vector<float> vector{1, 2, 3, 4, 5, 6};
  const std::array<float, 6> array{1, 2, 3, 4, 5, 6};
  float carray[] = {1, 2, 3, 4, 5, 6};
  const float* const pointer = carray;
  float* const mutable_pointer = carray;
  const extents shape{2, 3};
  CHECK(got<float>(s.run({{"x", vector}})) == expected);
  CHECK(got<float>(s.run({{"x", array}})) == expected);
  CHECK(got<float>(s.run({{"x", carray}})) == expected);
  CHECK(got<float>(s.run({{"x", std::span{vector}}})) == expected);
  CHECK(got<float>(s.run({{"x", std::span<const float>{array}}})) == expected);
  CHECK(got<float>(s.run({{"x", tensor_view<const float>{pointer, shape}}})) == expected);
  CHECK(got<float>(s.run({{"x", vector, {2, 3}}})) == expected);
  CHECK(got<float>(s.run({{"x", carray, {2, 3}}})) == expected);
  CHECK(got<float>(s.run({{"x", pointer, {2, 3}}})) == expected);
  CHECK(got<float>(s.run({{"x", mutable_pointer, shape}})) == expected);
  CHECK(got<float>(s.run({{"x", {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}}})) == expected);
  CHECK(got<float>(s.run({{"x", {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}, {2, 3}}})) == expected);
  CHECK(got<float>(s.run({{"x", value::tensor<float>(shape, vector)}})) == expected);
  CHECK(got<float>(s.run({{"x", any_value::tensor(shape, vector)}})) == expected);
  CHECK(got<float>(s.run({{"x", std::vector<float>{1, 2, 3, 4, 5, 6}}})) == expected);
}

TEST_CASE("an input without a shape takes the model's, and open dims follow from the number of elements") {
  const std::vector<float> six{1, 2, 3, 4, 5, 6};
  const auto shape = [&](const std::vector<std::string>& declared, std::span<const float> given) {
    const session s = loaded(negative(dtype::f32, declared));
    const result<named_values> out = s.run({{"x", given}});
    return out ? to_string((*out)[0].value.view(), 0) : words(out.error());
  };
  CHECK(shape({"2", "3"}, six) == "float[2,3]");
  CHECK(shape({"n", "3"}, six) == "float[2,3]");
  CHECK(shape({"2", "n"}, six) == "float[2,3]");
  CHECK(shape({"n"}, six) == "float[6]");
  CHECK(shape({"n"}, {}) == "float[0]");
  CHECK(shape({"a", "6", "b"}, six) == "float[1,6,1]");
  CHECK(shape({"2", "4"}, six) == "input 'x': is given 6 elements, needs 8: tensor(float)[2,4]");
  CHECK(shape({"n", "4"}, six) == "input 'x': is given 6 elements, needs a multiple of 4: tensor(float)[n,4]");
  CHECK(shape({"a", "b"}, six) ==
        "input 'x': is given 6 elements without a shape, and tensor(float)[a,b] leaves 2 dims open: give a shape, as "
        "in {name, elements, {2, 3}}");
  const session s = loaded(negative(dtype::f32, {"2", "3"}));
  CHECK(words(s.run({{"x", six, {2, 4}}}).error()) == "input 'x': is given 6 elements for the shape [2,4]");
  CHECK(words(s.run({{"x", six, {3, 2}}}).error()) ==
        "input 'x': has size 3 along axis 0 (float[3,2]), needs 2: tensor(float)[2,3]");
  CHECK(words(s.run({{"x", {1, 2, 3, 4, 5, 6}}}).error()) == "input 'x': is given int32[6], needs tensor(float)[2,3]");
}

TEST_CASE("a single element has the declared rank, with all dims 1") {
  for (const std::vector<std::string>& dims : {std::vector<std::string>{}, {"1"}, {"n"}, {"1", "n"}}) {
    const session s = loaded(negative(dtype::i64, dims));
    CHECK(got<std::int64_t>(s.run({{"x", std::int64_t{7}}})) == std::vector<std::int64_t>{-7});
  }
}

TEST_CASE("texts are a literal, a string, or a range of them") {
  model_builder b;
  b.output(b.node("Identity", {b.input("x", dtype::string, {b.symbol("n")})}));
  const session s = loaded(b.take());
  using texts = std::vector<std::string_view>;
  const std::string owned = "a string";
  const std::vector<std::string> many{"one", "two"};
  const auto run = [&](const named_input& x) {
    static result<named_values> kept = status{};
    kept = s.run(std::span{&x, 1});
    return got<std::string_view>(kept);
  };
  CHECK(run({"x", "literal"}) == texts{"literal"});
  CHECK(run({"x", owned}) == texts{"a string"});
  CHECK(run({"x", std::string_view{"view"}}) == texts{"view"});
  CHECK(run({"x", many}) == texts{"one", "two"});
  CHECK(run({"x", {"three", "four"}}) == texts{"three", "four"});
  CHECK(run({"x", std::vector<const char*>{"five"}}) == texts{"five"});
}

TEST_CASE("outputs are typed views, checked") {
  const session s = loaded(negative(dtype::f32, {"2", "3"}));
  const result<named_values> out = s.run({{"x", {1.f, 2.f, 3.f, 4.f, 5.f, 6.f}}});
  REQUIRE(out);
  const std::string name = (*out)[0].name;
  const auto y = out->get<float>(name);
  REQUIRE(y);
  CHECK(y->dim(1) == 3);
  CHECK((*y)(1, 2) == -6);
  CHECK((*y)(0, 2) == -3);
  std::size_t seen = 0;
  for (const auto& [each, value] : *out) seen += each == name && value.shape() == extents{2, 3};
  CHECK(seen == 1);
  const auto wrong_type = out->get<double>(name);
  REQUIRE_FALSE(wrong_type);
  CHECK(words(wrong_type.error()) == "output '" + name + "': is float[2,3], and is read as a tensor of double");
  CHECK(words(out->get<float>("missing").error()) == "there is no output 'missing'; there are '" + name + "'");
  CHECK(words(out->get<float>(3).error()) == "there is no output 3; there are 1");
  CHECK(words(detail::view_as<float>(value{}).error()) == "is none, and is read as a tensor of float");
}

TEST_CASE("bindings take the same inputs, and any memory for outputs") {
  const session s = loaded(negative(dtype::f32, {"n", "3"}));
  result<io_binding> b = s.bind();
  REQUIRE(b);
  std::vector<float> x{1, 2, 3}, y(6);
  const std::string name = s.outputs()[0].name;
  REQUIRE(b->bind_input("x", x));
  REQUIRE(b->bind_output(name, y));
  REQUIRE(s.run(*b));
  CHECK(y == std::vector<float>{-1, -2, -3, 0, 0, 0});
  x[0] = 5;
  REQUIRE(s.run(*b));
  CHECK(y[0] == -5);
  CHECK((*b->get<float>(name)).shape() == extents{1, 3});
  CHECK(words(b->get<double>(name).error()) == name + ": is float[1,3], and is read as a tensor of double");
  CHECK_FALSE(b->get<float>("missing"));
  REQUIRE(b->bind_input("x", std::span{x}, {1, 3}));
  REQUIRE(s.run(*b));
  CHECK_FALSE(b->bind_input("x", x, {2, 3}));
}

TEST_CASE("names, types and shapes are listed") {
  const session s = loaded(negative(dtype::f32, {"batch", "3"}));
  CHECK(to_string(s.inputs()[0]) == "x: tensor(float)[batch,3]");
  CHECK(s.inputs()[0].element() == dtype::f32);
  CHECK(*s.inputs()[0].dims() == std::vector<std::int64_t>{-1, 3});
  REQUIRE(s.input("x"));
  CHECK(s.input("x")->name == "x");
  CHECK(s.input("y") == nullptr);
  CHECK(s.output(s.outputs()[0].name) == &s.outputs()[0]);
}

TEST_CASE("progress goes from 0 to 1 through the stages and never back") {
  std::vector<std::string> stages;
  std::vector<double> fractions;
  session_options options;
  options.progress = [&](const load_progress& p) {
    if (stages.empty() || stages.back() != p.stage) stages.emplace_back(p.stage);
    fractions.push_back(p.fraction);
  };
  REQUIRE(cpu_runtime{}.load(digits, options));
  CHECK(stages ==
        std::vector<std::string>{"read", "check", "optimize", "place", "compile", "optimize", "plan", "done"});
  CHECK(std::is_sorted(fractions.begin(), fractions.end()));
  CHECK(fractions.front() == 0);
  CHECK(fractions.back() == 1);
  CHECK(fractions.size() < 150);
}

TEST_CASE("loading can be stopped from the progress callback") {
  std::stop_source stop;
  session_options options;
  options.stop = stop.get_token();
  options.progress = [&](const load_progress& p) {
    if (p.stage == "place") stop.request_stop();
  };
  const result<session> s = cpu_runtime{}.load(digits, options);
  REQUIRE_FALSE(s);
  CHECK(s.error().code() == status_code::model_load_canceled);
}

TEST_CASE("loading says what it does to a callback, from a level on, and nothing without") {
  std::vector<std::pair<log_level, std::string>> said;
  session_options options;
  options.log = [&](log_level level, std::string_view text) { said.emplace_back(level, text); };
  options.config.emplace_back("session.use_env_allocators", "1");
  const auto has = [&](log_level level, std::string_view part) {
    return std::any_of(said.begin(), said.end(), [&](const auto& each) {
      return each.first == level && each.second.find(part) != std::string::npos;
    });
  };
  REQUIRE(cpu_runtime{}.load(digits, options));
  CHECK(has(log_level::warning,
            "session key 'session.use_env_allocators' has no effect: every session has its own arenas"));
  CHECK(has(log_level::info, "cpu runs "));
  CHECK(has(log_level::info, "digits.onnx: "));
  CHECK(has(log_level::info, "planned "));
  CHECK_FALSE(has(log_level::verbose, ""));
  said.clear();
  options.log_from = log_level::verbose;
  REQUIRE(cpu_runtime{}.load(digits, options));
  CHECK(has(log_level::verbose, "on cpu"));
  said.clear();
  options.log_from = log_level::warning;
  std::unique_ptr<model> newer = negative(dtype::f32, {"3"});
  newer->path = "newer.onnx";
  newer->imports[0].version = 1000;
  static_cast<void>(cpu_runtime{}.load(std::move(newer), options));
  CHECK(has(log_level::warning, "newer.onnx: opset 1000 of 'ai.onnx' is newer than "));
  CHECK_FALSE(has(log_level::info, ""));
}
