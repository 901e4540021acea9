// The cost of loading when a provider takes very many small groups, which is linear in the model's size.
#include <cameo/partition/convex_groups.hpp>

#include "full_speed.hpp"
#include "partition/reference_providers.hpp"
#include "processor_time.hpp"

#include <algorithm>

namespace cameo::test {
namespace {

/// y = -relu(-relu(... x)): a chain of `nodes` nodes, of which every second is a Relu.
std::unique_ptr<model> alternating(std::size_t nodes) {
  auto m = make_model();
  graph& g = m->main();
  float_input(g, "v0");
  for (std::size_t i = 0; i < nodes; ++i) {
    const std::string from = "v" + std::to_string(i), to = "v" + std::to_string(i + 1);
    onnx(g, i % 2 ? "Neg" : "Relu", {from}, to);
  }
  output(g, "v" + std::to_string(nodes));
  return m;
}

struct relu_program {
  status run(run_context& c) const {
    const auto x = c.input<float>(0);
    auto y = c.output<float>(0, x.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = std::max(x[i], 0.0f);
    return {};
  }
};

/// A provider for which every Relu is a group.
provider_a groups_of_one() {
  provider_a made;
  made.choose = [](const graph_view& g) {
    groups_result found;
    for (node_view n : g.nodes() | where(has_op<op::Relu>)) found.push_back({{n.id()}, "one"});
    return found;
  };
  made.make = [](std::span<const fused_view> fused) -> programs {
    return std::vector<compiled_node>(fused.size(), compiled(relu_program{}));
  };
  return made;
}

/// The thread's time for the work, the least of several tries.
template <class Make, class Work>
double least_time(Make make, Work work) {
  double least = 1e9;
  for (int i = 0; i < (full_speed ? 5 : 1); ++i) {
    auto with = make();
    const double start = processor_seconds();
    work(std::move(with));
    least = std::min(least, processor_seconds() - start);
  }
  return least;
}

/// True if 40,000 nodes take at most this much longer than 20,000 in one of a few rounds. Other processes on the
/// machine slow some rounds down; quadratic work takes four times as long in all of them.
template <class TimeOf>
bool grows_at_most(double most, TimeOf time_of) {
  for (int round = 0; round < 5; ++round) {
    const double half = time_of(20'000), whole = time_of(40'000);
    MESSAGE("half: ", half, " s, whole: ", whole, " s");
    if (whole < most * half) return true;
  }
  return false;
}

/// The limit for twice the work: 1.99 times the instructions, and effects of caches. Quadratic work costs 4 times as
/// much.
constexpr double most = 2.5;
/// The limit for work of some milliseconds, on which other processes have a larger effect.
constexpr double most_of_little = 3.4;

}  // namespace

TEST_CASE("40,000 nodes with 20,000 groups load in little more than twice the time of half of them") {
  session_options options;
  options.optimize = optimization_level::none;
  options.threads = 1;
  options.config = {{"session.record_ep_graph_assignment_info", "1"}};
  const auto time_of = [&](std::size_t nodes) {
    return least_time([&] { return alternating(nodes); },
                      [&](std::unique_ptr<model> m) {
                        const auto s = runtime{groups_of_one(), eps::cpu{}}.load(std::move(m), options);
                        REQUIRE_MESSAGE(s, s.error().words());
                        CHECK(s->placements().size() == nodes);
                        CHECK((*s->assignments()).size() == nodes);
                      });
  };
  CHECK(grows_at_most(most, time_of));
}

TEST_CASE(
    "the search for convex groups takes little more than twice the time, too, where it joins groups and where paths "
    "forbid it") {
  // a -> b, a -> u -> b, where u is not taken; then a -> b and c -> u -> b, which may be joined.
  const auto motifs = [](std::size_t count, bool with_detour, bool in_a_row) {
    auto m = make_model();
    graph& g = m->main();
    float_input(g, "x");
    std::string last = "x";
    for (std::size_t i = 0; i < count; ++i) {
      const std::string n = std::to_string(i), from = in_a_row ? last : "x";
      onnx(g, "Relu", {from}, "a" + n);
      onnx(g, "Relu", {from}, "c" + n);
      onnx(g, "Neg", {with_detour ? "a" + n : "c" + n}, "u" + n);
      onnx(g, "Add", {"a" + n, "u" + n}, "b" + n);
      last = "b" + n;
    }
    output(g, last);
    REQUIRE(g.sort());
    return m;
  };
  for (const bool with_detour : {true, false})
    for (const bool in_a_row : {true, false}) {
      const auto time_of = [&](std::size_t nodes) {
        return least_time([&] { return motifs(nodes / 4, with_detour, in_a_row); },
                          [&](const std::unique_ptr<model>& m) {
                            std::vector<node_id> mine;
                            for (node_id n : m->main().order())
                              if (m->main()[n].op_type != "Neg") mine.push_back(n);
                            CHECK(convex_groups(graph_view{m->main()}, mine).size() > 0);
                          });
      };
      CAPTURE(with_detour);
      CAPTURE(in_a_row);
      CHECK(grows_at_most(most_of_little, time_of));
    }
}

}  // namespace cameo::test
