#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/ort_plugin_host.hpp>
#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/session/compile.hpp>
#include <cameo/test_paths.hpp>

#include <doctest/doctest.h>

#include "../src/library.hpp"

#include <dlfcn.h>
#include <filesystem>

namespace {

using namespace cameo;

const std::filesystem::path plugins = std::filesystem::path{test::build_dir} / "tests" / "plugins";

/// The path of a copy of the test plugin whose name selects its mistake. Each copy has separate state.
std::string plugin_named(const std::string& mode) {
  std::filesystem::create_directories(plugins);
  const std::filesystem::path to = plugins / (mode.empty() ? "hostile.so" : "hostile_" + mode + ".so");
  std::filesystem::remove(to);  // not overwritten, since it may be loaded
  std::filesystem::copy_file(std::filesystem::path{test::build_dir} / "tests" / "libhostile_plugin.so", to,
                             std::filesystem::copy_options::overwrite_existing);
  return to.string();
}

session_options with_plugin(const std::string& library) {
  session_options how;
  how.config = {{"ep.ort_plugin.library", library}};
  return how;
}

using runtime_of_plugins = runtime<eps::ort_plugin_host, eps::cpu>;

const std::string digits = std::string{test::source_dir} + "/examples/digits/digits.onnx";

std::vector<float> image() {
  std::vector<float> made(64);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = float(i % 7) - 3;
  return made;
}

/// The error of loading or running a model with a faulty plugin.
status outcome(const std::string& mode) {
  const auto session = runtime_of_plugins{}.load(digits, with_plugin(plugin_named(mode)));
  if (!session) return session.error();
  return session->run({{"image", image()}}).error();
}

TEST_CASE("a plugin runs the nodes that it claims, with the results of cpu") {
  const auto session = runtime_of_plugins{}.load(digits, with_plugin(plugin_named("")));
  REQUIRE_MESSAGE(session, session.error().words());
  std::size_t on_plugin = 0;
  for (const placement_info& node : session->placements()) on_plugin += node.provider == "ort_plugin";
  CHECK(on_plugin == 1);
  const auto alone = runtime<eps::cpu>{}.load(digits);
  REQUIRE(alone);
  const auto got = session->run({{"image", image()}}), want = alone->run({{"image", image()}});
  REQUIRE_MESSAGE(got, got.error().words());
  REQUIRE(want);
  for (std::size_t i = 0; i < want->size(); ++i) {
    const auto a = (*got)[i].value.as_unchecked<float>(), b = (*want)[i].value.as_unchecked<float>();
    for (std::int64_t k = 0; k < b.count(); ++k) CHECK(a[k] == doctest::Approx(b[k]).epsilon(1e-5));
  }
}

TEST_CASE("a mistake of a plugin is an error that names the plugin") {
  for (const char* mode :
       {"factories_throw",   "factories_error",  "no_factories",   "many_factories",   "null_factory",
        "no_version",        "no_callbacks",     "null_name",      "devices_error",    "devices_throw",
        "no_devices",        "many_devices",     "invalid_device", "one_device_twice", "ep_error",
        "ep_throws",         "null_ep",          "old_ep",         "no_compile",       "layout_error",
        "capability_throws", "capability_error", "empty_group",    "invalid_node",     "short_list",
        "claims_twice",      "twice_in_group",   "compile_throws", "compile_error",    "null_info",
        "null_compute",      "invalid_context",  "state_error",    "compute_throws",   "compute_throws_number",
        "compute_error",     "no_output",        "input_99",       "output_99",        "rank_99",
        "negative_shape",    "huge_shape",       "two_shapes"}) {
    CAPTURE(mode);
    const status found = outcome(mode);
    CHECK(!found);
    CHECK(found.words().find("hostile") != std::string_view::npos);
  }
}

TEST_CASE("a plugin may call every slot with null arguments, prefer an unknown layout, and throw when released") {
  for (const char* mode : {"every_slot", "release_throws", "layout_99"}) {
    CAPTURE(mode);
    const status found = outcome(mode);
    CHECK_MESSAGE(found, found.words());
  }
}

/// y = x + w, with w a constant; `is_swapped`: w + x.
std::unique_ptr<model> sum(bool is_swapped = false) {
  static const std::vector<float> weights(64, 0.5f);
  auto m = std::make_unique<model>();
  m->ir_version = 9, m->imports = {{"", 17}};
  graph& g = m->main();
  const value_type* const type = m->keep(value_type::tensor(dtype::f32, {dim::fixed(64)}));
  const value_id x = g.add_value("x", type), w = g.add_value("w", type), y = g.add_value("y", type);
  g.add_input(x), g.add_output(y);
  g.add_initializer(w, m->memory.keep(value::tensor(dtype::f32, {64}, weights.data())));
  const value_id inputs[] = {is_swapped ? w : x, is_swapped ? x : w}, outputs[] = {y};
  node_spec node;
  node.name = "sum", node.op_type = "Add", node.opset = 17, node.inputs = inputs, node.outputs = outputs;
  g.add_node(node);
  return m;
}

/// The model of sum(), compiled by the plugin in this mode, by default without constants in its context.
result<std::string> compiled_sum(const std::string& mode, bool is_weightless = true, bool is_swapped = false) {
  compile_options options;
  options.input = sum(is_swapped);
  std::string bytes;
  options.output = &bytes;
  options.embed = true;
  options.session = with_plugin(plugin_named(mode));
  options.session.config.emplace_back("ep.ort_plugin.contexts", "1");
  options.session.config.emplace_back("ep.enable_weightless", is_weightless ? "1" : "0");
  const auto report = runtime_of_plugins{}.compile(std::move(options));
  if (!report) return report.error();
  return bytes;
}

TEST_CASE("a plugin writes contexts without constants, which stay in the model and are passed in each run") {
  for (const bool is_swapped : {false, true}) {
    const result<std::string> bytes = compiled_sum("weightless", true, is_swapped);
    REQUIRE_MESSAGE(bytes, bytes.error().words());
    const auto made = read_onnx(std::as_bytes(std::span{*bytes}), "sum");
    REQUIRE(made);
    REQUIRE((*made)->main().sort());
    const graph& g = (*made)->main();
    REQUIRE(g.order().size() == 1);
    const node_view node{g, g.order()[0]};
    CHECK(node.op_type() == "EPContext");
    REQUIRE(node.input_count() == 2);
    CHECK(node.input(0).name() == "x");
    CHECK(node.input(1).name() == "w");
    CHECK(g.constant_of(node.input(1).id()) != nullptr);
    CHECK(node.find("ep_cache_context")->s == "sum");
    // The constant may also come before the input, as other programs may write it.
    for (const bool is_first : {false, true}) {
      const value_id inputs[] = {node.input(is_first).id(), node.input(!is_first).id()};
      if (is_first) (*made)->main().set_inputs(node.id(), inputs);
      const auto written = write_onnx(**made);
      REQUIRE(written);
      const auto session =
          runtime_of_plugins{}.load(std::as_bytes(std::span{*written}), with_plugin(plugin_named("weightless")));
      REQUIRE_MESSAGE(session, session.error().words());
      const auto got = session->run({{"x", image()}});
      REQUIRE_MESSAGE(got, got.error().words());
      const auto y = (*got)[0].value.as_unchecked<float>();
      for (std::int64_t i = 0; i < y.count(); ++i) CHECK(y[i] == image()[std::size_t(i)] + 0.5f);
    }
  }
}

TEST_CASE("a plugin that can't write contexts without constants, or writes invalid ones, is named in the error") {
  const auto check = [](const char* mode, status_code code) {
    CAPTURE(mode);
    const result<std::string> made = compiled_sum(mode);
    REQUIRE(!made);
    CHECK(made.error().code() == code);
    CHECK_MESSAGE(made.error().words().find("hostile") != std::string_view::npos, made.error().words());
  };
  for (const char* mode : {"weightless_none", "weightless_files", "weightless_99", "weightless_null",
                           "weightless_dropped", "weightless_first"})
    check(mode, status_code::not_implemented);
  for (const char* mode :
       {"weightless_throws", "weightless_twice", "weightless_unknown", "weightless_no_input", "weightless_no_output"})
    check(mode, status_code::ep_fail);
  check("weightless_error", status_code::fail);
  check("weightless_null_name", status_code::invalid_argument);
  check("", status_code::not_implemented);
}

TEST_CASE("without a library no node is claimed; a file that is not a plugin is an error") {
  const auto plain = runtime_of_plugins{}.load(digits);
  REQUIRE(plain);
  for (const placement_info& node : plain->placements()) CHECK(node.provider == "cpu");
  const auto missing = runtime_of_plugins{}.load(digits, with_plugin("/nowhere/libnpu.so"));
  REQUIRE(!missing);
  CHECK(missing.error().code() == status_code::no_suchfile);
  const auto other = runtime_of_plugins{}.load(digits, with_plugin(digits));
  REQUIRE(!other);
  CHECK(other.error().code() == status_code::ep_fail);
  for (const auto& [key, text] :
       {std::pair{"options", "speed"}, {"options", "=1"}, {"hardware", "tpu"}, {"hardware", "npu:zz"}}) {
    session_options how = with_plugin(plugin_named(""));
    how.config.emplace_back(std::string{"ep.ort_plugin."} + key, text);
    const auto refused = runtime_of_plugins{}.load(digits, how);
    REQUIRE(!refused);
    CHECK(refused.error().code() == status_code::invalid_argument);
  }
}

TEST_CASE("the plugin's device is listed, and the one that option 'hardware' reports to it") {
  eps::ort_plugin_host provider;
  provider.library = plugin_named("");
  provider.hardware = "npu:0x1234";
  const auto found = provider.devices();
  REQUIRE_MESSAGE(found, found.error().words());
  REQUIRE(found->size() == 1);
  CHECK((*found)[0].hardware.kind == device_kind::npu);
  CHECK((*found)[0].hardware.vendor_id == 0x1234);
}

/// The provider of examples/ort_plugin_export as a plugin, so that cameo implements both sides of the interface.
const std::string exported = std::string{test::build_dir} + "/examples/libmy_npu.so";

TEST_CASE("a plugin can be loaded, run and unloaded repeatedly; its factory may be released while it is used") {
  using eps::ort_plugin_host_detail::library;
  for (int cycle = 0; cycle < 100; ++cycle) {
    CAPTURE(cycle);
    std::unique_ptr<library> registered;
    {
      const auto session = runtime_of_plugins{}.load(digits, with_plugin(exported));
      REQUIRE_MESSAGE(session, session.error().words());
      std::size_t on_plugin = 0;
      for (const placement_info& node : session->placements()) on_plugin += node.provider == "ort_plugin";
      REQUIRE(on_plugin == 1);
      REQUIRE(session->run({{"image", image()}}));
      registered = library::take(exported);
      REQUIRE(registered);
      if (cycle % 2) registered->release_factory();  // the execution provider is released through it later
      if (cycle % 2) REQUIRE(session->run({{"image", image()}}));
    }
    registered.reset();
    void* const left = dlopen(exported.c_str(), RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(!left);
  }
}

}  // namespace
