#include <cameo/eps/openvino.hpp>
#include <cameo/graph/model.hpp>

#include <cameo/file/file_bytes.hpp>
#include <cameo/format/onnx.hpp>

#include <cameo/test_paths.hpp>

#include "session/models.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <thread>

namespace cameo::test {
namespace {

using ov_runtime = runtime<eps::openvino, eps::cpu>;

session ov_session(std::unique_ptr<model> m, const session_options& options = {}) {
  return *must(ov_runtime{}.load(std::move(m), options));
}

std::size_t on_openvino(const session& s) {
  std::size_t count = 0;
  for (const placement_info& node : s.placements()) count += node.provider == "openvino";
  return count;
}

/// Checks that the outputs of both sessions have the same shapes and nearly the same elements.
void same_as_cpu(const std::function<std::unique_ptr<model>()>& make, std::initializer_list<named_input> inputs) {
  const session mine = ov_session(make()), theirs = loaded(make());
  REQUIRE(on_openvino(mine) > 0);
  for (int run = 0; run < 2; ++run) {
    const auto got = must(mine.run(inputs)), want = theirs.run(inputs);
    REQUIRE(want);
    REQUIRE(got->size() == want->size());
    for (std::size_t i = 0; i < want->size(); ++i) {
      const value a = (*got)[i].value.view(), b = (*want)[i].value.view();
      REQUIRE(a.type == b.type);
      REQUIRE(a.shape == b.shape);
      if (a.type != dtype::f32) {
        CHECK(std::memcmp(a.data, b.data, a.bytes()) == 0);
        continue;
      }
      const auto x = a.as_unchecked<float>(), y = b.as_unchecked<float>();
      for (std::int64_t k = 0; k < x.count(); ++k) CHECK(x[k] == doctest::Approx(y[k]).epsilon(1e-4).scale(1));
    }
  }
}

/// x[N,8] -> Gemm -> Relu -> Softmax.
std::unique_ptr<model> classifier() {
  model_builder b;
  const value_id x = b.input("x", dtype::f32, {b.symbol("N"), dim::fixed(8)});
  const value_id h = b.node("Gemm", {x, b.constant("w", {8, 5}, ramp(40, 0.001f)), b.constant("c", {5}, ramp(5))});
  b.output(b.node("Softmax", {b.node("Relu", {h})}, {model_builder::integer("axis", 1)}));
  return b.take();
}

TEST_CASE("the SDK of the build is found, with its processor as a device") {
  const auto version = must(eps::openvino{}.sdk_version());
  CHECK(version->find("2025.4.1") == 0);
  const auto devices = eps::openvino{}.devices();
  REQUIRE(devices);
  const auto cpu = std::find_if(devices->begin(), devices->end(),
                                [](const provider_device& d) { return d.hardware.kind == device_kind::cpu; });
  REQUIRE(cpu != devices->end());
  CHECK(cpu->name == "CPU");
  CHECK(cpu->options == detail::text_pairs{{"device_type", "CPU"}});
  REQUIRE(find_text(cpu->metadata, "version"));
  CHECK(*find_text(cpu->metadata, "version") == *version);
  REQUIRE(find_text(cpu->hardware.metadata, "name"));  // the system's name of the processor
  const std::string& name = *find_text(cpu->hardware.metadata, "name");
  CHECK(!name.empty());
  // Both providers read the vendor from the processor, in different ways.
  const auto same = eps::cpu{}.devices();
  REQUIRE(same);
  if (name.rfind("Intel", 0) == 0 || name.rfind("AMD", 0) == 0) {
    CHECK(cpu->hardware.vendor == (*same)[0].hardware.vendor);
    CHECK(cpu->hardware.vendor_id == (*same)[0].hardware.vendor_id);
  }
}

TEST_CASE("the SDK chooses among several devices, unless the user sets one") {
  const std::vector<provider_device> devices{{"GPU.0", {}, {}, {{"device_type", "GPU.0"}}},
                                             {"CPU", {}, {}, {{"device_type", "CPU"}}}};
  const auto device_type = [&](std::size_t count, const char* by_user) {
    provider_options options{eps::openvino::options, std::span{devices}.first(count)};
    if (by_user) CHECK(options.set("device_type", by_user));
    const auto made = eps::openvino{}.configured(options);
    REQUIRE(made);
    return made->device_type;
  };
  CHECK(device_type(0, nullptr) == "CPU");
  CHECK(device_type(1, nullptr) == "GPU.0");
  CHECK(device_type(2, nullptr) == "AUTO:GPU.0,CPU");
  CHECK(device_type(2, "GPU.0") == "GPU.0");
}

TEST_CASE("a policy can choose the SDK's devices") {
  session_options options;
  REQUIRE(options.prefer(device_policy::prefer_cpu));
  const session s = ov_session(classifier(), options);
  REQUIRE(s.devices().size() == 2);  // the last is cpu's
  CHECK(s.devices()[0].ep == "OpenVINOExecutionProvider");
  CHECK(s.devices()[1].is_fallback);
  CHECK(on_openvino(s) == 1);
  CHECK(s.config("ep.openvinoexecutionprovider.device_type") == "CPU");
}

TEST_CASE("options apply to each of several devices") {
  const auto x = any_value::tensor<float>({3, 64}, ramp(3 * 64));
  const auto outputs = [&](std::vector<std::pair<std::string, std::string>> config) {
    session_options options;
    options.config = std::move(config);
    const session s = ov_session(four_branches(), options);
    CHECK(on_openvino(s) > 0);
    const auto got = must(s.run({{"x", x}}));
    return floats_of((*got)[0].value.view());
  };
  const std::pair<std::string, std::string> several{"ep.openvino.device_type", "AUTO:CPU"};
  for (const char* precision : {"ACCURACY", "BF16", "FP32", ""}) {
    const std::pair<std::string, std::string> how{"ep.openvino.precision", precision};
    CHECK(outputs({several, how}) == outputs({how}));
  }
  CHECK(!outputs({several, {"ep.openvino.num_of_threads", "1"}}).empty());
  CHECK(!outputs({{several.first, "HETERO:CPU"}}).empty());
  CHECK(outputs({{several.first, "AUTO"}}) == outputs({}));
}

TEST_CASE("a model becomes one group, which runs for every size of a symbolic dim") {
  const session s = ov_session(classifier());
  CHECK(s.placements().size() == 1);
  CHECK(s.placements()[0].node == "OpenVINOExecutionProvider_OpenVINO-EP-subgraph_1_0");
  CHECK(s.placements()[0].fused_from == "Gemm, Relu, Softmax");
  for (const std::int64_t rows : {1, 7, 3, 64}) {
    const auto x = any_value::tensor<float>({rows, 8}, ramp(std::size_t(rows) * 8));
    same_as_cpu(classifier, {{"x", x}});
  }
}

TEST_CASE("nodes that the SDK does not support run on cpu, between two groups") {
  const auto make = [] {
    model_builder b;
    b.whole().imports.push_back({"ai.onnx.ml", 3});
    attribute offset, scale;
    static constexpr float half[] = {0.5f}, two[] = {2};
    offset.name = "offset", offset.kind = attribute_kind::floats, offset.floats = half;
    scale.name = "scale", scale.kind = attribute_kind::floats, scale.floats = two;
    const value_id x = b.node("Relu", {b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(4)})});
    const value_id y = b.node("Scaler", {x}, {offset, scale}, "ai.onnx.ml", 3);
    b.output(b.node("Add", {b.node("Sigmoid", {y}), x}));
    return b.take();
  };
  const auto x = any_value::tensor<float>({2, 4}, ramp(8));
  same_as_cpu(make, {{"x", x}});
  const session s = ov_session(make());
  CHECK(on_openvino(s) == 2);
  CHECK(s.placements().size() == 3);
}

TEST_CASE("outputs may be an input, another output, a constant or a scalar") {
  const auto make = [] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(3)});
    const value_id s = b.input("s", dtype::f32, {});
    b.output(b.node("Max", {x}));  // becomes no separate node in the SDK
    const value_id relu = b.node("Relu", {x});
    b.output(relu);
    b.output(b.node("Min", {relu}));
    b.output(b.node("Identity", {relu}));
    b.output(b.node("Shape", {x}));
    b.output(b.node("Neg", {s}));
    b.output(b.node("Flatten", {x}));
    return b.take();
  };
  const auto x = any_value::tensor<float>({2, 3}, ramp(6));
  const auto s = any_value::tensor<float>({}, {0.75f});
  same_as_cpu(make, {{"x", x}, {"s", s}});
}

TEST_CASE("outputs whose shapes are only known after a run: with elements, without elements, a scalar") {
  const auto make = [] {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {b.symbol("N"), b.symbol("M")});
    b.output(b.node("NonZero", {x}));
    b.output(b.node("ReduceSum", {x}, {model_builder::integer("keepdims", 0)}));
    b.output(b.node("Relu", {x}));
    return b.take();
  };
  const auto some = any_value::tensor<float>({2, 3}, {0, 1, 0, -2, 3, 0});
  same_as_cpu(make, {{"x", some}});
  const auto none = any_value::tensor<float>({2, 2}, {0, 0, 0, 0});
  same_as_cpu(make, {{"x", none}});
  const auto empty = any_value::tensor<float>({0, 4}, std::vector<float>{});
  same_as_cpu(make, {{"x", empty}});
}

TEST_CASE("inputs and outputs may be integers, booleans and float16; float64 runs on cpu") {
  const auto make = [](dtype type, const char* op) {
    return [=] {
      model_builder b;
      const value_id x = b.input("x", type, {dim::fixed(2), dim::fixed(2)}),
                     y = b.input("y", type, {dim::fixed(2), dim::fixed(2)});
      b.output(b.node("Transpose", {b.node(op, {x, y})}));
      return b.take();
    };
  };
  const auto check = [&]<class T>(T, const char* op) {
    const std::vector<T> a{T(1), T(2), T(3), T(4)}, c{T(5), T(7), T(2), T(1)};
    const auto x = any_value::tensor<T>({2, 2}, a), y = any_value::tensor<T>({2, 2}, c);
    same_as_cpu(make(dtype_of<T>, op), {{"x", x}, {"y", y}});
  };
  check(std::int32_t{}, "Mul");
  check(std::int64_t{}, "Sub");
  check(std::int8_t{}, "Max");
  check(std::uint8_t{}, "Max");
  check(float16{}, "Add");
  const bool a[] = {true, false, true, false}, c[] = {true, true, false, false};
  const auto x = any_value::tensor<bool>({2, 2}, a), y = any_value::tensor<bool>({2, 2}, c);
  same_as_cpu(make(dtype::boolean, "And"), {{"x", x}, {"y", y}});
  CHECK(on_openvino(ov_session(make(dtype::f64, "Add")())) == 0);
}

TEST_CASE("nodes that the SDK would not compute as ONNX specifies run on cpu") {
  const auto runs_tile = [](bool constant) {
    model_builder b;
    const value_id x = b.input("x", dtype::f32, {dim::fixed(2), dim::fixed(2)});
    const value_id repeats =
        constant ? b.constant<std::int64_t>("r", {2}, {2, 3}) : b.input("r", dtype::i64, {dim::fixed(2)});
    b.output(b.node("Tile", {x, repeats}));
    return on_openvino(ov_session(b.take()));
  };
  CHECK(runs_tile(true) == 1);
  CHECK(runs_tile(false) == 0);
  model_builder masked;
  masked.output(masked.node("ReduceMax", {masked.input("x", dtype::f32, {dim::fixed(2), dim::fixed(2)})}));
  CHECK(on_openvino(ov_session(masked.take())) == 0);
  model_builder b;
  const value_id x = b.input("x", dtype::u8, {dim::fixed(4)}), y = b.input("y", dtype::u8, {dim::fixed(4)});
  attribute left;
  left.name = "direction", left.kind = attribute_kind::s, left.s = "LEFT";
  b.output(b.node("BitShift", {x, y}, {left}));
  CHECK(on_openvino(ov_session(b.take())) == 0);
}

TEST_CASE("sessions can run concurrently, each run with a separate request") {
  const session s = ov_session(classifier()), alone = loaded(classifier());
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const auto x = any_value::tensor<float>({t + 1, 8}, ramp(std::size_t(t + 1) * 8, 0.01f * float(t + 1)));
      const auto want = alone.run({{"x", x}});
      for (int i = 0; i < 50; ++i) {
        const auto got = s.run({{"x", x}});
        if (!got || !want || (*got)[0].value.shape() != (*want)[0].value.shape()) {
          ++wrong;
          continue;
        }
        const auto a = (*got)[0].value.as_unchecked<float>(), b = (*want)[0].value.as_unchecked<float>();
        for (std::int64_t k = 0; k < a.count(); ++k) wrong += std::abs(a[k] - b[k]) > 1e-4f;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("options of the session reach the SDK, and unknown ones are errors") {
  const auto load = [](std::string key, std::string text) {
    session_options options;
    options.config = {{"ep.openvino." + key, std::move(text)}};
    const auto s = ov_runtime{}.load(classifier(), options);
    return s ? std::string{"OK"} : std::string{s.error().name()} + ": " + std::string{s.error().words()};
  };
  for (const char* precision : {"FP32", "BF16", "FP16", "ACCURACY", ""}) CHECK(load("precision", precision) == "OK");
  CHECK(load("num_of_threads", "1") == "OK");
  CHECK(load("device_type", "CPU") == "OK");
  CHECK(load("precision", "FP8").find("INVALID_ARGUMENT") == 0);
  CHECK(load("num_of_threads", "-1").find("INVALID_ARGUMENT") == 0);
  CHECK(load("num_of_threads", "2 ").find("INVALID_ARGUMENT") == 0);
  const std::string nowhere = load("device_type", "TOASTER");
  CHECK_MESSAGE(nowhere.find("INVALID_ARGUMENT") == 0, nowhere);
  CHECK_MESSAGE(nowhere.find("no device 'TOASTER' here; it finds CPU") != nowhere.npos, nowhere);
}

}  // namespace
}  // namespace cameo::test
