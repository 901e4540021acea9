#pragma once
#include <cstdint>
#include <vector>

namespace CAMEO_NAMESPACE::eps {

/// Finds the cheapest set of edges whose removal separates `sink` from `source`, by Dinic's algorithm: phases of
/// shortest augmenting paths; O(V^2 E) in the worst case, near linear for graphs of models.
class min_cut {
 public:
  static constexpr std::uint32_t source = 0, sink = 1;
  static constexpr std::int64_t endless = std::int64_t{1} << 50;

  std::uint32_t add_vertex() {
    first_.push_back(none);
    return std::uint32_t(first_.size() - 1);
  }
  /// Adds an edge whose cost counts if `from` is on the source's side and `to` on the sink's.
  void add_edge(std::uint32_t from, std::uint32_t to, std::int64_t cost) {
    link(from, to, cost);
    link(to, from, 0);
  }
  /// Returns for each vertex whether it is on the source's side.
  std::vector<bool> solve();

 private:
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  struct edge {
    std::uint32_t target, next;
    std::int64_t left;
  };
  void link(std::uint32_t from, std::uint32_t to, std::int64_t cost) {
    edges_.push_back({to, first_[from], cost});
    first_[from] = std::uint32_t(edges_.size() - 1);
  }
  bool find_depths();
  bool augment();

  std::vector<std::uint32_t> first_{none, none}, depth_, at_;
  std::vector<edge> edges_;
};

}  // namespace CAMEO_NAMESPACE::eps
