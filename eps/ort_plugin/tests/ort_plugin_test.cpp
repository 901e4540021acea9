#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/ort_plugin.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/test_paths.hpp>

#include <doctest/doctest.h>

#include "../src/library.hpp"

#include <dlfcn.h>
#include <filesystem>

namespace {

using namespace cameo;

const std::filesystem::path plugins = std::filesystem::path{test::build_dir} / "tests" / "plugins";

/// The test plugin under a name that says what it does wrong; each has state of its own.
std::string plugin_named(const std::string& mode) {
  std::filesystem::create_directories(plugins);
  const std::filesystem::path to = plugins / (mode.empty() ? "hostile.so" : "hostile_" + mode + ".so");
  std::filesystem::remove(to);  // it may be loaded
  std::filesystem::copy_file(std::filesystem::path{test::build_dir} / "tests" / "libhostile_plugin.so", to,
                             std::filesystem::copy_options::overwrite_existing);
  return to.string();
}

session_options with_plugin(const std::string& library) {
  session_options how;
  how.config = {{"ep.ort_plugin.library", library}};
  return how;
}

using runtime_of_plugins = runtime<eps::ort_plugin, eps::cpu>;

const std::string digits = std::string{test::source_dir} + "/examples/digits/digits.onnx";

std::vector<float> image() {
  std::vector<float> made(64);
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = float(i % 7) - 3;
  return made;
}

/// What loading or running under a wrong plugin ends with.
status outcome(const std::string& mode) {
  const auto session = runtime_of_plugins{}.load(digits, with_plugin(plugin_named(mode)));
  if (!session) return session.error();
  return session->run({{"image", image()}}).error();
}

TEST_CASE("a plugin runs the nodes that it takes, with the results of cpu") {
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

TEST_CASE("what a plugin does wrong is an error that names it") {
  for (const char* mode :
       {"factories_throw",   "factories_error",  "no_factories",   "many_factories",   "null_factory",
        "no_version",        "no_callbacks",     "null_name",      "devices_error",    "devices_throw",
        "no_devices",        "many_devices",     "foreign_device", "one_device_twice", "ep_error",
        "ep_throws",         "null_ep",          "old_ep",         "no_compile",       "layout_error",
        "capability_throws", "capability_error", "empty_group",    "foreign_node",     "short_list",
        "claims_twice",      "twice_in_group",   "compile_throws", "compile_error",    "null_info",
        "null_compute",      "foreign_context",  "state_error",    "compute_throws",   "compute_throws_number",
        "compute_error",     "no_output",        "input_99",       "output_99",        "rank_99",
        "negative_shape",    "huge_shape",       "two_shapes"}) {
    CAPTURE(mode);
    const status found = outcome(mode);
    CHECK(!found);
    CHECK(found.words().find("hostile") != std::string_view::npos);
  }
}

TEST_CASE("a plugin may call every place of the tables with nothing, ask for an odd layout, and throw when released") {
  for (const char* mode : {"every_place", "release_throws", "layout_99"}) {
    CAPTURE(mode);
    const status found = outcome(mode);
    CHECK_MESSAGE(found, found.words());
  }
}

TEST_CASE("without a library nothing is taken; a file that is no plugin is refused in words") {
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

TEST_CASE("the plugin's device is listed, and one that it is told of") {
  eps::ort_plugin provider;
  provider.library = plugin_named("");
  provider.hardware = "npu:0x1234";
  const auto found = provider.devices();
  REQUIRE_MESSAGE(found, found.error().words());
  REQUIRE(found->size() == 1);
  CHECK((*found)[0].hardware.kind == device_kind::npu);
  CHECK((*found)[0].hardware.vendor_id == 0x1234);
}

/// The provider of the guide, exported: both sides of the border are cameo's.
const std::string exported = std::string{test::build_dir} + "/examples/libmy_npu.so";

TEST_CASE("a plugin is registered, runs and is unregistered again and again; its factory may be released before that") {
  using eps::ort_plugin_detail::library;
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
      if (cycle % 2) registered->release_factory();  // the execution provider ends through it, later
      if (cycle % 2) REQUIRE(session->run({{"image", image()}}));
    }
    registered.reset();
    void* const left = dlopen(exported.c_str(), RTLD_NOW | RTLD_NOLOAD);
    REQUIRE(!left);
  }
}

}  // namespace
