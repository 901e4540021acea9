// Tests where initializers outside contexts are written: to a buffer, to files of the caller, or to invalid places.
#include "context/compiled.hpp"

namespace cameo::test {
namespace {

/// x[1,600] -> Sigmoid -> MatMul with 1.4 MB -> Sub of 2.4 kB, all run by cpu.
std::unique_ptr<model> megabyte_product() {
  model_builder b;
  const value_id x = b.node("Sigmoid", {b.input("x", dtype::f32, {dim::fixed(1), dim::fixed(600)})});
  const value_id y = b.node("MatMul", {x, b.constant("large", {600, 600}, ramp(360'000, 0.001f))});
  b.output(b.node("Sub", {y, b.constant("small", {600}, ramp(600, 0.0005f))}));
  return b.take();
}
session_options on_cpu() {
  session_options options;
  options.providers = {"cpu"};
  return options;
}
std::vector<float> outputs_of_megabyte_product(const session& s) {
  const std::vector<float> x = ramp(600, 0.002f);
  const auto out = s.run({{"x", x}});
  REQUIRE(verdict(out) == "OK");
  return floats_of((*out)[0].value);
}

/// True if a model's bytes contain an entry of external data, whose key and value are texts.
bool says(const std::string& model, std::string_view key, const std::string& text) {
  const std::size_t at = model.find(std::string{key} + std::string{'\x12', char(text.size())} + text);
  return at != model.npos;
}

TEST_CASE("initializers go to the caller's buffer as to a file, each at a multiple of the alignment") {
  for (std::size_t alignment : {std::size_t{0}, std::size_t{256}, std::size_t{65536}}) {
    CAPTURE(alignment);
    const scratch_folder folder;
    ref_runtime ref;
    std::string made, data = "old";
    compile_options options;
    options.input = megabyte_product();
    options.session.providers = {"cpu"};
    options.output = &made;
    options.external_initializers = "ini.bin";
    options.external_buffer = &data, options.external_alignment = alignment;
    REQUIRE(verdict(ref.compile(std::move(options))) == "OK");
    CHECK(folder.files().empty());
    // The large initializer has 1,440,000 bytes; the small one is at the next multiple of the alignment.
    const std::size_t step = alignment ? alignment : 64, second = (1'440'000 + step - 1) / step * step;
    CHECK(data.size() == second + 2400);
    CHECK(says(made, "offset", std::to_string(second)));
    spill(folder / "m.onnx", made);
    spill(folder / "ini.bin", data);
    const auto s = ref.load(folder / "m.onnx", on_cpu());
    REQUIRE(verdict(s) == "OK");
    CHECK(outputs_of_megabyte_product(*s) == outputs_of_megabyte_product(loaded(megabyte_product())));
  }
}

TEST_CASE("a function returns the places of initializers in the caller's files, or that they stay in the model") {
  const scratch_folder folder;
  ref_runtime ref;
  std::vector<std::string> asked;
  compile_options options;
  options.input = megabyte_product();
  options.session.providers = {"cpu"};
  options.output = folder / "m.onnx";
  options.place_initializer = [&](std::string_view name, const value& v) -> result<std::optional<external_place>> {
    asked.emplace_back(name);
    if (name == "small") return std::optional<external_place>{};
    spill(folder / "mine.bin", std::string(128, '?') + std::string{static_cast<const char*>(v.data), v.bytes()});
    return std::optional{external_place{"mine.bin", 128}};
  };
  REQUIRE(verdict(ref.compile(std::move(options))) == "OK");
  CHECK(asked == std::vector<std::string>{"large", "small"});
  CHECK(folder.files() == std::vector<std::string>{"m.onnx", "mine.bin"});
  CHECK(fs::file_size(folder / "m.onnx") < 10'000);
  const auto s = ref.load(folder / "m.onnx", on_cpu());
  REQUIRE(verdict(s) == "OK");
  CHECK(outputs_of_megabyte_product(*s) == outputs_of_megabyte_product(loaded(megabyte_product())));
}

TEST_CASE("an error of that function is returned, and contradictory places are refused before a provider compiles") {
  const scratch_folder folder;
  ref_runtime ref;
  saved(folder, "m.onnx", true);
  const auto with = [&](auto&& change) {
    compile_options options;
    options.input = folder / "m.onnx";
    options.output = folder / "c.onnx";
    change(options);
    return verdict(ref.compile(std::move(options)));
  };
  const auto nowhere = [](std::string_view, const value&) -> result<std::optional<external_place>> {
    return status{status_code::engine_error, "the store is closed"};
  };
  std::string buffer;
  CHECK(with([](compile_options& o) { o.external_initializers = "sub/i.bin"; }).find("INVALID_ARGUMENT: ") == 0);
  CHECK(with([](compile_options& o) { o.external_initializers = ".."; }).find("INVALID_ARGUMENT: ") == 0);
  CHECK(with([](compile_options& o) { o.external_initializers = "c.onnx"; }).find("INVALID_ARGUMENT: ") == 0);
  CHECK(with([](compile_options& o) { o.external_initializers = "c_RefA.bin"; }).find("INVALID_ARGUMENT: ") == 0);
  CHECK(with([](compile_options& o) { o.external_initializers = "m.onnx"; }).find("INVALID_ARGUMENT: ") == 0);
  CHECK(with([&](compile_options& o) { o.output = folder / "m.onnx"; }).find("INVALID_ARGUMENT: ") == 0);
  CHECK(with([](compile_options& o) { o.external_initializers = "/i.bin"; }).find("FAIL: ") == 0);
  CHECK(with([](compile_options& o) {
          o.external_initializers = "i.bin", o.external_alignment = 3;
        }).find("INVALID_ARGUMENT: ") == 0);
  CHECK(with([&](compile_options& o) { o.external_buffer = &buffer; }).find("INVALID_ARGUMENT: ") == 0);
  CHECK(with([&](compile_options& o) {
          o.external_initializers = "i.bin", o.place_initializer = nowhere;
        }).find("INVALID_ARGUMENT: ") == 0);
  CHECK(ref.a.compiled == 0);
  const std::string said = with([&](compile_options& o) {
    o.session.providers = {"cpu"};
    o.place_initializer = nowhere;
  });
  CHECK(said.find("ENGINE_ERROR: ") == 0);
  CHECK(said.find("the store is closed") != said.npos);
  CHECK(folder.files() == std::vector<std::string>{"m.onnx"});
}

}  // namespace
}  // namespace cameo::test
