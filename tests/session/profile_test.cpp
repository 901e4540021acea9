#include <cameo/session/profile.hpp>  // first, to check that the header includes what it needs

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

namespace cameo {
namespace {

struct trace_file {
  std::string path = "profile_test_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)) + ".json";
  ~trace_file() { std::remove(path.c_str()); }
  nlohmann::json read() const {
    std::ifstream file{path};
    return nlohmann::json::parse(file, nullptr, false);
  }
};

plan_step step_named(std::string_view name, std::uint8_t provider = 0) {
  plan_step step{};
  step.name = name;
  step.op_type = "Add";
  step.provider = provider;
  return step;
}

std::vector<nlohmann::json> steps_in(const nlohmann::json& trace) {
  std::vector<nlohmann::json> steps;
  for (const nlohmann::json& event : trace["traceEvents"])
    if (event["ph"] == "X") steps.push_back(event);
  return steps;
}

TEST_CASE("a trace is JSON whatever the nodes are called, and times are microseconds from the first step") {
  trace_profile profile{{"npu", "cpu"}};
  const plan_step hostile = step_named("a\"\\\n\xff\x01", 1), unnamed = step_named("", 7);
  const step_observer& o = profile.observer();
  const std::int64_t before = o.now();
  CHECK(before <= o.now());
  o.record(o.self, hostile, 5000, 7250, 0, nullptr);
  o.record(o.self, unnamed, 4000, 4001, 3, nullptr);
  const trace_file file;
  REQUIRE(profile.write(file.path));
  const nlohmann::json trace = file.read();
  REQUIRE(trace.is_object());
  const std::vector<nlohmann::json> steps = steps_in(trace);
  REQUIRE(steps.size() == 2);
  CHECK(steps[0]["ts"].get<double>() == doctest::Approx(1.0));
  CHECK(steps[0]["dur"].get<double>() == doctest::Approx(2.25));
  CHECK(steps[0]["args"]["provider"] == "cpu");
  CHECK(steps[1]["name"] == "Add");
  CHECK(steps[1]["tid"] == 3);
  CHECK(steps[1]["args"]["provider"] == "");
}

TEST_CASE("steps beyond the capacity are counted, not written") {
  trace_profile profile{{"cpu"}, 2};
  const plan_step step = step_named("n");
  for (int i = 0; i < 5; ++i) profile.observer().record(profile.observer().self, step, i, i + 1, 0, nullptr);
  CHECK(profile.size() == 2);
  CHECK(profile.dropped() == 3);
  const trace_file file;
  REQUIRE(profile.write(file.path));
  CHECK(file.read()["otherData"]["dropped"] == 3);
  profile.clear();
  CHECK(profile.size() == 0);
}

TEST_CASE("threads record at once") {
  trace_profile profile{{"cpu"}};
  const plan_step step = step_named("n");
  std::vector<std::thread> threads;
  for (std::size_t lane = 0; lane < 4; ++lane)
    threads.emplace_back([&, lane] {
      for (int i = 0; i < 1000; ++i) profile.observer().record(profile.observer().self, step, i, i + 1, lane, nullptr);
    });
  for (std::thread& each : threads) each.join();
  CHECK(profile.size() == 4000);
  std::size_t of_lane[4] = {};
  for (std::size_t i = 0; i < profile.size(); ++i) ++of_lane[profile[i].lane];
  for (std::size_t count : of_lane) CHECK(count == 1000);
}

TEST_CASE("a file that can't be written is a status") {
  CHECK(trace_profile{{"cpu"}}.write("no_such_folder/trace.json").code() == status_code::fail);
}

}  // namespace
}  // namespace cameo
