#include <cameo/graph/model.hpp>
#include <cameo/partition/convex_groups.hpp>

#include "session/models.hpp"

#include <algorithm>
#include <random>

namespace cameo::test {
namespace {

/// A graph of nodes with up to three inputs each, which earlier nodes make; some of the nodes are taken.
struct random_graph {
  std::unique_ptr<model> net;
  std::vector<node_id> taken;

  graph& main() const { return net->main(); }
};

random_graph make_random(std::mt19937& dice) {
  model_builder b;
  const auto roll = [&](std::size_t below) { return std::size_t(dice() % below); };
  std::vector<value_id> values{b.input("x", dtype::f32, {dim::fixed(1)}), b.input("y", dtype::f32, {dim::fixed(1)})};
  for (std::size_t n = 3 + roll(14); n > 0; --n) {
    std::vector<value_id> ins;
    for (std::size_t i = 1 + roll(3); i > 0; --i)
      ins.push_back(values[values.size() - 1 - roll(std::min<std::size_t>(values.size(), 6))]);
    values.push_back(b.node("Sum", ins));
  }
  b.output(values.back());
  random_graph made{b.take(), {}};
  REQUIRE(made.main().sort());
  for (node_id n : made.main().order())
    if (roll(10) < 6) made.taken.push_back(n);
  return made;
}

/// The graph of groups and other nodes, and paths in it.
class condensed {
 public:
  condensed(const graph& g, const std::vector<std::vector<node_id>>& groups) : place_(g.node_capacity()) {
    std::size_t count = groups.size();
    std::vector<bool> grouped(g.node_capacity());
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (node_id n : groups[i]) place_[index_of(n)] = i, grouped[index_of(n)] = true;
    for (node_id n : g.order())
      if (!grouped[index_of(n)]) place_[index_of(n)] = count++;
    edges_.resize(count, std::vector<bool>(count));
    for (node_id n : g.order())
      for (std::size_t i = 0; i < g.input_count(n); ++i) {
        const node_id from = g[g.input(n, i)].producer;
        if (from != node_id::none && place_[index_of(from)] != place_[index_of(n)])
          edges_[place_[index_of(from)]][place_[index_of(n)]] = true;
      }
  }
  bool adjacent(std::size_t a, std::size_t b) const { return edges_[a][b]; }
  /// True if a path of at least `steps` steps leads from one to the other.
  bool reaches(std::size_t from, std::size_t to, std::size_t steps = 1) const {
    std::vector<bool> now(edges_.size()), ever(edges_.size());
    now[from] = true;
    for (std::size_t step = 1; step <= edges_.size() + 1; ++step) {
      std::vector<bool> next(edges_.size());
      for (std::size_t i = 0; i < now.size(); ++i)
        for (std::size_t j = 0; j < now.size(); ++j) next[j] = next[j] || (now[i] && edges_[i][j]);
      now = next;
      if (step >= steps)
        for (std::size_t i = 0; i < now.size(); ++i) ever[i] = ever[i] || now[i];
    }
    return ever[to];
  }

 private:
  std::vector<std::size_t> place_;
  std::vector<std::vector<bool>> edges_;
};

TEST_CASE("groups have each node once, do not depend on themselves, and no two neighbors could be joined") {
  std::mt19937 dice{7};
  std::size_t several = 0, neighbors = 0;
  for (int round = 0; round < 3000; ++round) {
    const random_graph made = make_random(dice);
    const auto groups = convex_groups(graph_view{made.main()}, made.taken);
    std::vector<node_id> all;
    for (const auto& group : groups) {
      REQUIRE(!group.empty());
      all.insert(all.end(), group.begin(), group.end());
    }
    std::sort(all.begin(), all.end());
    std::vector<node_id> wanted = made.taken;
    std::sort(wanted.begin(), wanted.end());
    REQUIRE(all == wanted);
    const condensed between{made.main(), groups};
    for (std::size_t a = 0; a < groups.size(); ++a) {
      REQUIRE(!between.reaches(a, a));
      for (std::size_t b = 0; b < groups.size(); ++b) {
        if (!between.adjacent(a, b)) continue;
        REQUIRE(between.reaches(a, b, 2));  // a path through another group forbids joining them
        ++neighbors;
      }
    }
    several += groups.size() > 1;
  }
  CHECK(several > 500);
  CHECK(neighbors > 100);
}

TEST_CASE("a hundred thousand nodes are grouped, also if every second one is not taken") {
  for (const bool every : {true, false}) {
    model_builder b;
    value_id v = b.input("x", dtype::f32, {dim::fixed(1)});
    for (int i = 0; i < 100'000; ++i) v = b.node("Relu", {v});
    b.output(v);
    const auto net = b.take();
    REQUIRE(net->main().sort());
    std::vector<node_id> taken;
    for (std::size_t i = 0; i < net->main().order().size(); i += every ? 1 : 2) taken.push_back(net->main().order()[i]);
    CHECK(convex_groups(graph_view{net->main()}, taken).size() == (every ? 1 : 50'000));
  }
}

}  // namespace
}  // namespace cameo::test
