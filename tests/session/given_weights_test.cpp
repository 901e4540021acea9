// Tests which tensors session_options::initializers accepts.
#include "session/models.hpp"

#include <cameo/format/onnx.hpp>

#include <doctest/doctest.h>

#include <optional>
#include <span>

using namespace cameo;
using namespace cameo::test;

namespace {

/// A model y = x + w, where w contains 1 and 2.
std::unique_ptr<model> addition_of_w() {
  model_builder b;
  b.output(b.node("Add", {b.input("x", dtype::f32, {dim::fixed(2)}), b.constant<float>("w", {2}, {1, 2})}));
  return b.take();
}

const float given_numbers[] = {10, 20};
const value given_tens = value::tensor(dtype::f32, extents{2}, given_numbers);

struct load_outcome {
  std::string words, warnings;
  std::optional<session> made;
};
template <class Model>
load_outcome load_with(Model&& from, const std::string& name, const value& instead, bool has_files = false) {
  load_outcome t;
  session_options options;
  if (!name.empty()) options.initializers.push_back({name, instead});
  if (has_files) options.external_files.push_back({"w.bin", std::as_bytes(std::span{given_numbers})});
  options.log = [&](log_level level, std::string_view words) {
    if (level == log_level::warning) t.warnings += std::string{words} + "\n";
  };
  result<session> s = cpu_runtime{}.load(std::forward<Model>(from), options);
  if (s) t.made = *std::move(s);
  else t.words = std::string{s.error().name()} + ": " + std::string{s.error().words()};
  return t;
}

std::span<const std::byte> as_byte_span(const std::string& text) { return std::as_bytes(std::span{text}); }

}  // namespace

TEST_CASE("a given tensor replaces an initializer only if its elements are in the host's memory and are there") {
  const result<std::string> onnx = write_onnx(*addition_of_w());
  REQUIRE(onnx);
  const load_outcome right = load_with(as_byte_span(*onnx), "w", given_tens);
  REQUIRE(right.made);
  CHECK(floats_of((*right.made->run({{"x", {1.0f, 2.0f}}}))[0].value) == std::vector{11.0f, 22.0f});
  CHECK(right.warnings == "");
  value elsewhere = given_tens, nowhere = given_tens;
  elsewhere.memory = 1, nowhere.data = nullptr;
  for (const value& wrong : {elsewhere, nowhere}) {
    const load_outcome refused = load_with(as_byte_span(*onnx), "w", wrong);
    CHECK_MESSAGE(refused.words.starts_with("INVALID_ARGUMENT: "), refused.words);
    CHECK_MESSAGE(refused.words.find("'w'") != std::string::npos, refused.words);
  }
}
