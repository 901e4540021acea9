#include <cameo/core/abi.hpp>

#include <algorithm>

#include "min_cut.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Breadth-first search from the source, along edges with capacity left.
bool min_cut::find_depths() {
  depth_.assign(first_.size(), none);
  depth_[source] = 0;
  std::vector<std::uint32_t> queue{source};
  queue.reserve(first_.size());
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (std::uint32_t e = first_[queue[i]]; e != none; e = edges_[e].next)
      if (edges_[e].left > 0 && depth_[edges_[e].target] == none) {
        depth_[edges_[e].target] = depth_[queue[i]] + 1;
        queue.push_back(edges_[e].target);
      }
  return depth_[sink] != none;
}

/// Finds one path to the sink, deeper at each step, and fills it to the capacity of its narrowest edge. Not recursive,
/// because regions of a graph can be long.
bool min_cut::augment() {
  std::vector<std::uint32_t> path;
  std::uint32_t vertex = source;
  while (vertex != sink) {
    std::uint32_t& e = at_[vertex];
    while (e != none && !(edges_[e].left > 0 && depth_[edges_[e].target] == depth_[vertex] + 1)) e = edges_[e].next;
    if (e != none) {
      path.push_back(e);
      vertex = edges_[e].target;
    } else if (path.empty()) {
      return false;
    } else {
      vertex = edges_[path.back() ^ 1].target;
      at_[vertex] = edges_[at_[vertex]].next;
      path.pop_back();
    }
  }
  std::int64_t flow = endless;
  for (std::uint32_t e : path) flow = std::min(flow, edges_[e].left);
  for (std::uint32_t e : path) edges_[e].left -= flow, edges_[e ^ 1].left += flow;
  return true;
}

std::vector<bool> min_cut::solve() {
  while (find_depths()) {
    at_ = first_;
    while (augment()) {}
  }
  std::vector<bool> near(first_.size());
  for (std::size_t v = 0; v < near.size(); ++v) near[v] = depth_[v] != none;
  return near;
}

}  // namespace CAMEO_NAMESPACE::eps
