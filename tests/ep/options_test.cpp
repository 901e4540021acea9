#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/graph/model.hpp>

#include "session/models.hpp"

#include <algorithm>

namespace cameo::test {
namespace {

/// A provider that computes Relu as y = max(x, floor), where an option sets the floor.
struct floor_provider {
  static constexpr std::string_view name = "floor", long_name = "FloorExecutionProvider";
  static constexpr provider_option options[] = {{"at", "0", "the smallest value"}, {"unused", "", ""}};
  float at = -1;  // the floor of an object that no session has configured

  result<floor_provider> configured(const provider_options& wanted) const {
    const std::string text{wanted["at"]};
    char* end = nullptr;
    const float parsed = std::strtof(text.c_str(), &end);
    if (*end || text.empty())
      return status{status_code::invalid_argument, "option 'at' is '" + text + "', and must be a number"};
    return floor_provider{parsed};
  }
  bool claims(const node_view& node) const { return node.op_type() == "Relu"; }
  status execute(const step_view&, run_context& c) const {
    const auto x = c.input<float>(0);
    const auto y = c.output<float>(0, x.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = std::max(x[i], at);
    return {};
  }
};
static_assert(configurable_provider<floor_provider> && configurable_provider<eps::cpu>);

const runtime<floor_provider, eps::cpu> with_floor;

std::unique_ptr<model> relu_of_three() {
  model_builder b;
  b.output(b.node("Relu", {b.input("x", dtype::f32, {dim::fixed(3)})}));
  return b.take();
}

/// The smallest output for the inputs -5, 0, 5, or the error's words.
std::string smallest(std::vector<std::pair<std::string, std::string>> config) {
  session_options options;
  options.config = std::move(config);
  const auto s = with_floor.load(relu_of_three(), options);
  if (!s) return std::string{s.error().name()} + ": " + std::string{s.error().words()};
  const auto out = s->run({{"x", {-5.0f, 0.0f, 5.0f}}});
  REQUIRE(out);
  return std::to_string(int(floats_of((*out)[0].value)[0]));
}

TEST_CASE("a session's keys configure a copy of the provider, by either name; the last value of a key is used") {
  CHECK(smallest({}) == "-1");
  CHECK(smallest({{"ep.floor.at", "-2"}}) == "-2");
  CHECK(smallest({{"ep.floorexecutionprovider.at", "-3"}, {"ep.floor.at", "-4"}}) == "-4");
  CHECK(smallest({{"ep.floor.unused", "x"}}) == "0");  // the table's default
  CHECK(smallest({}) == "-1");
}

/// A floor_provider with another name and a member that no option sets.
struct raised_floor : floor_provider {
  static constexpr std::string_view name = "raised", long_name = "RaisedExecutionProvider";
  float raise = 0;

  status execute(const step_view& step, run_context& c) const {
    if (status s = floor_provider::execute(step, c); !s) return s;
    const auto y = c.output<float>(0, c.input<float>(0).shape());
    if (!y) return y.error();
    for (float& each : *y) each += raise;
    return {};
  }
};
static_assert(configurable_provider<raised_floor>);

TEST_CASE("the base of a derived provider is configured, and its other members are kept") {
  raised_floor raised;
  raised.raise = 10;
  const runtime<raised_floor, eps::cpu> both{raised, eps::cpu{}};
  session_options options;
  options.config = {{"ep.raised.at", "-2"}};
  const auto s = both.load(relu_of_three(), options);
  REQUIRE(s);
  const auto out = s->run({{"x", {-5.0f, 0.0f, 5.0f}}});
  REQUIRE(out);
  CHECK(floats_of((*out)[0].value) == std::vector<float>{8, 10, 15});
}

TEST_CASE("an option that a provider does not have, and one that it can't use, are the user's errors") {
  CHECK(smallest({{"ep.floor.att", "1"}}) ==
        "INVALID_ARGUMENT: session key 'ep.floor.att': FloorExecutionProvider has no option 'att'; it has at, unused; "
        "did you mean 'at'?");
  CHECK(smallest({{"ep.cpu.at", "1"}}) ==
        "INVALID_ARGUMENT: session key 'ep.cpu.at': CPUExecutionProvider has no option 'at'; it has math");
  CHECK(smallest({{"ep.floor.at", "deep"}}) ==
        "INVALID_ARGUMENT: FloorExecutionProvider: option 'at' is 'deep', and must be a number");
  CHECK(smallest({{"ep.somebody.at", "1"}}).starts_with("INVALID_ARGUMENT: session key 'ep.somebody.at' is not known"));
}

TEST_CASE("a key of a provider that the session does not use is ignored; a misspelled one is an error with a hint") {
  const auto says = [](const char* key, std::string_view part, std::vector<std::string> providers = {}) {
    session_options options;
    options.config = {{key, "1"}};
    options.providers = std::move(providers);
    const auto s = with_floor.load(relu_of_three(), options);
    const std::string words = s ? "OK" : std::string{s.error().name()} + ": " + std::string{s.error().words()};
    CHECK_MESSAGE(words.find(part) != words.npos, words);
    CHECK(words.starts_with(part == "OK" ? "OK" : "INVALID_ARGUMENT: "));
  };
  says("ep.floor.at", "OK", {"cpu"});
  says("ep.floor.att", "has no option 'att'; it has at, unused", {"cpu"});
  says("ep.flor.at", "the nearest is 'ep.floor.at'");
  says("ep.floorexecutionprovider.ta", "has no option 'ta'");
  says("ep.floorexecutionprovdier.at", "the nearest is 'ep.floorexecutionprovider.at'");
  says("ep.context_enabled", "the nearest is 'ep.context_enable'");
  says("ep.contxet_embed_mode", "the nearest is 'ep.context_embed_mode'");
  says("ep.floor", "is not known");
  says("ep.", "is not known");
  says("session.disable_prepackin", "the nearest is 'session.disable_prepacking'");
  says("ep.context_source_model_path", "OK");
  says("ep.enable_weightless", "OK");
}

}  // namespace
}  // namespace cameo::test
