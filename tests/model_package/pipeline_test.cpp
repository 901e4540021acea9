// Tests running the components of a package as a pipeline.
#include "sessions.hpp"

#include <cameo/session/pipeline.hpp>

#include <chrono>
#include <optional>
#include <stop_token>
#include <thread>

namespace cameo::test {
namespace {

/// A model whose output `to`[1] is the sum of c and its inputs `from`[1].
std::unique_ptr<model> sum(const std::string& to, std::vector<std::string> from, float c) {
  model_builder b;
  value_id at = b.constant("c", {1}, std::vector<float>{c});
  for (const std::string& name : from) at = b.node("Add", {b.input(name, dtype::f32, {dim::fixed(1)}), at});
  const value_id out = b.main().add_value(to, b.whole().keep(value_type::tensor(dtype::f32, {dim::fixed(1)})));
  b.main().add_node({"last", "", "Identity", {}, {}, 17, std::vector<value_id>{at}, std::vector<value_id>{out}});
  b.output(out);
  return b.take();
}

void write(const std::string& path, const model& m) {
  fs::create_directories(fs::path{path}.parent_path());
  REQUIRE(write_onnx(m, path));
}

/// A package of two components: y = x + 10 and z = y + x + 100. Both have a variant for cpu; the second also has one
/// for the NPU, which adds 1000.
struct two_parts {
  package_folder at;
  explicit two_parts(const std::string& more = {}) {
    at.write("manifest.json", R"({"schema_version": "1.0", "components": {"first": {"variants": {)" +
                                  variant_json("a", runs_on(on_cpu)) + R"(}}, "second": {"variants": {)" +
                                  variant_json("n", runs_on(on_npu, "\"device\": \"npu\"")) + ", " +
                                  variant_json("c", runs_on(on_cpu)) + "}}}" + more + "}");
    write(at / "a/m.onnx", *sum("y", {"x"}, 10));
    write(at / "c/m.onnx", *sum("z", {"y", "x"}, 100));
    write(at / "n/m.onnx", *sum("z", {"y", "x"}, 1000));
  }
};

float only(const result<named_values>& out) {
  REQUIRE_MESSAGE(out, std::string{out.error().words()});
  REQUIRE(out->size() == 1);
  return floats_of((*out)[0].value).at(0);
}

TEST_CASE("components run in declared order as one model; each in the variant that fits the first provider it fits") {
  const two_parts files;
  const npu_runtime npu;
  const package p = opened(files.at.path());
  const std::vector<float> x{1};
  const auto whole = npu.loader.load(p);
  REQUIRE_MESSAGE(whole, std::string{whole.error().words()});
  REQUIRE(whole->size() == 2);
  CHECK(whole->selected(0).variant().name == "a");
  CHECK(whole->selected(1).variant().name == "n");
  REQUIRE(whole->inputs().size() == 1);
  CHECK(to_string(whole->inputs()[0]) == "x: tensor(float)[1]");
  REQUIRE(whole->outputs().size() == 1);
  CHECK(whole->outputs()[0].name == "z");
  CHECK(only(whole->run({{"x", x}})) == 1 + 10 + 1 + 1000);
  const auto on_cpu_alone = npu.loader.load(p, using_providers({"cpu"}));
  REQUIRE(on_cpu_alone);
  CHECK(only(on_cpu_alone->run({{"x", x}})) == 1 + 10 + 1 + 100);
}

TEST_CASE("a pipeline checks its inputs as a session does, and names the component that failed") {
  const two_parts files;
  const auto whole = runtime<eps::cpu>{}.load(opened(files.at.path()));
  REQUIRE(whole);
  const std::vector<float> x{1}, two{1, 2};
  CHECK(verdict(whole->run({})) == "INVALID_ARGUMENT: input 'x' is missing; it needs tensor(float)[1]");
  CHECK(verdict(whole->run({{"q", x}})) == "INVALID_ARGUMENT: the pipeline has no input 'q'; it has 'x'");
  CHECK(verdict(whole->run({{"x", x}, {"x", x}})) == "INVALID_ARGUMENT: input 'x' is given twice");
  CHECK(has(verdict(whole->run({{"x", two}})), "component 'first'"));
  std::stop_source stop;
  stop.request_stop();
  run_settings settings;
  settings.stop = stop.get_token();
  const auto canceled = whole->run({{"x", x}}, settings);
  REQUIRE(!canceled);
  CHECK(canceled.error().code() == status_code::canceled);
  settings = {};
  settings.timeout = std::chrono::nanoseconds{1};
  const auto late = whole->run({{"x", x}}, settings);
  REQUIRE(!late);
  CHECK(late.error().code() == status_code::deadline_exceeded);
}

TEST_CASE(
    "a pipeline has the outputs that the package declares, and a package with a wrong declaration fails to load") {
  const std::string declared = R"j(, "additional_metadata": {"io": {"inputs": [{"name": "x", "type": "tensor(float)"}],
    "outputs": [{"name": "z", "type": "tensor(float)", "shape": [1]}, {"name": "y", "type": "tensor(float)"}]}})j";
  const two_parts files{declared};
  const auto whole = runtime<eps::cpu>{}.load(opened(files.at.path()));
  REQUIRE_MESSAGE(whole, std::string{whole.error().words()});
  const std::vector<float> x{1};
  const auto out = whole->run({{"x", x}});
  REQUIRE(out);
  REQUIRE(out->size() == 2);
  CHECK(floats_of(*out->find("y")).at(0) == 11);
  CHECK(floats_of((*out)[0].value).at(0) == 112);
  const two_parts wrong{
      R"j(, "additional_metadata": {"io": {"inputs": [{"name": "x", "type": "tensor(int64)"}], "outputs": []}})j"};
  CHECK(has(verdict(runtime<eps::cpu>{}.load(opened(wrong.at.path()))), "input 'x' has the type 'x: tensor(int64)'"));
}

TEST_CASE("a pipeline outlives its package, and several threads may run it") {
  std::optional<pipeline> whole;
  {
    const two_parts files;
    auto made = runtime<eps::cpu>{}.load(opened(files.at.path()));
    REQUIRE(made);
    whole = *std::move(made);
  }
  std::vector<float> sums(4);
  std::vector<std::jthread> threads;
  for (std::size_t t = 0; t < sums.size(); ++t)
    threads.emplace_back([&, t] {
      const std::vector<float> x{float(t)};
      for (int i = 0; i < 20; ++i)
        if (const auto out = whole->run({{"x", x}})) sums[t] += floats_of((*out)[0].value).at(0);
    });
  threads.clear();
  for (std::size_t t = 0; t < sums.size(); ++t) CHECK(sums[t] == 20 * (2 * float(t) + 110));
}

TEST_CASE("components that do not connect, and a package without components, are errors") {
  const package_folder at;
  at.write("manifest.json", R"({"schema_version": "1.0", "components": {"one": {"variants": {)" +
                                variant_json("a", runs_on(on_cpu)) + R"(}}, "two": {"variants": {)" +
                                variant_json("b", runs_on(on_cpu)) + "}}}}");
  write(at / "a/m.onnx", *sum("y", {"x"}, 10));
  write(at / "b/m.onnx", *sum("z", {"w"}, 10));
  CHECK(has(verdict(runtime<eps::cpu>{}.load(opened(at.path()))),
            "component 'two' reads no output of an earlier component"));
  const package_folder empty;
  empty.write("manifest.json", R"({"schema_version": "1.0", "components": {}})");
  CHECK(has(verdict(runtime<eps::cpu>{}.load(opened(empty.path()))), "the package has no components"));
}

TEST_CASE("a package's interface is that of its models; different variants are refused, unread ones are listed") {
  const two_parts files;
  std::vector<std::string> unread;
  const auto parts = interfaces_of(opened(files.at.path()), default_formats::rows, &unread);
  REQUIRE(parts);
  CHECK(unread.empty());
  const auto whole = connect(*parts);
  REQUIRE(whole);
  CHECK(whole->io.inputs.at(0).text() == "x: tensor(float)[1]");
  files.at.write("n/m.onnx", "no model");
  REQUIRE(interfaces_of(opened(files.at.path()), default_formats::rows, &unread));
  REQUIRE(unread.size() == 1);
  CHECK(has(unread[0], "component 'second', variant 'n'"));
  write(files.at / "n/m.onnx", *sum("z", {"y"}, 1));
  const auto differ = interfaces_of(opened(files.at.path()), default_formats::rows);
  REQUIRE(!differ);
  CHECK(has(differ.error().words(), "component 'second', variants 'n' and 'c': input 'x' is in only one of the two"));
}

}  // namespace
}  // namespace cameo::test
