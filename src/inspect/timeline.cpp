#include "inspect/timeline.hpp"

#include <cameo/partition/lower.hpp>

#include <algorithm>
#include <set>

namespace cameo::inspect {
namespace {

/// The length that is covered by at least one of a changing set of intervals, in logarithmic time per change.
class covered_length {
 public:
  /// `borders` are sorted and distinct; every interval starts and ends at one of them.
  explicit covered_length(std::vector<std::size_t> borders)
      : borders_{std::move(borders)}, count_(4 * borders_.size() + 4), length_(count_.size()) {}

  void change(std::size_t from, std::size_t to, int by) {
    if (from < to) change(1, 0, borders_.size() - 1, from, to, by);
  }
  std::uint64_t length() const { return length_[1]; }

 private:
  void change(std::size_t node, std::size_t low, std::size_t high, std::size_t from, std::size_t to, int by) {
    if (to <= borders_[low] || borders_[high] <= from) return;
    if (from <= borders_[low] && borders_[high] <= to) {
      count_[node] += by;
    } else {
      const std::size_t middle = (low + high) / 2;
      change(2 * node, low, middle, from, to, by);
      change(2 * node + 1, middle, high, from, to, by);
    }
    if (count_[node] > 0) length_[node] = borders_[high] - borders_[low];
    else length_[node] = high - low > 1 ? length_[2 * node] + length_[2 * node + 1] : 0;
  }

  std::vector<std::size_t> borders_;
  std::vector<int> count_;
  std::vector<std::uint64_t> length_;
};

void find_values(const plan_view& plan, timeline& made) {
  constexpr std::uint32_t never = 0xFFFFFFFF;
  std::vector<std::uint32_t> first(plan.initial.size(), never), last(plan.initial.size(), 0);
  for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
    const plan_step& step = plan.steps[i];
    for (slot s : step.inputs) last[s] = i;
    for (const plan_view* sub : step.subplans)
      for (const capture& c : sub->captures) last[c.outer] = i;
    for (slot s : step.outputs)
      if (s) first[s] = last[s] = i;
  }
  for (slot s : plan.outputs)
    if (!plan.steps.empty()) last[s] = std::uint32_t(plan.steps.size() - 1);
  std::vector<bool> is_view(plan.initial.size());
  for (std::size_t i = plan.steps.size(); i-- > 0;)  // a view extends the lifetime of its source
    for (const detail::output_hint& h : plan.steps[i].hints)
      if (h.kind == detail::output_hint::use::views && h.output < plan.steps[i].outputs.size()) {
        const slot view = plan.steps[i].outputs[h.output], of = plan.steps[i].inputs[h.input];
        is_view[view] = true;
        last[of] = std::max(last[of], last[view]);
      }
  std::vector<std::size_t> base;
  for (std::size_t bytes : plan.fixed.region_bytes) base.push_back(made.region_bytes), made.region_bytes += bytes;
  for (slot s = 1; s < plan.initial.size(); ++s) {
    if (first[s] == never) continue;
    const value& v = plan.initial[s];
    if (plan.fixed.offsets[s] == not_planned) made.left_out += !is_view[s];
    else made.values.push_back({s, base[v.memory] + plan.fixed.offsets[s], v.bytes(), first[s], last[s]});
  }
  std::stable_sort(made.values.begin(), made.values.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
}

void sum_live(std::size_t steps, timeline& made) {
  std::vector<std::size_t> borders{0};
  for (const timeline::placed_value& v : made.values)
    borders.push_back(v.offset), borders.push_back(v.offset + v.bytes);
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  covered_length covered{std::move(borders)};
  std::vector<const timeline::placed_value*> by_end;
  for (const timeline::placed_value& v : made.values) by_end.push_back(&v);
  std::stable_sort(by_end.begin(), by_end.end(), [](const auto* a, const auto* b) { return a->last < b->last; });
  std::size_t begun = 0, ended = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    for (; begun < made.values.size() && made.values[begun].first == i; ++begun)
      covered.change(made.values[begun].offset, made.values[begun].offset + made.values[begun].bytes, 1);
    made.live.push_back(covered.length());
    for (; ended < by_end.size() && by_end[ended]->last == i; ++ended)
      covered.change(by_end[ended]->offset, by_end[ended]->offset + by_end[ended]->bytes, -1);
  }
}

}  // namespace

timeline timeline_of(const graph& g, const plan_view& plan) {
  timeline made;
  find_values(plan, made);
  sum_live(plan.steps.size(), made);
  std::set<const void*> seen;
  std::uint64_t known = 0;
  for (node_id n : detail::nodes_of_steps(g, plan)) {
    std::uint64_t read = 0;
    for (std::size_t i = 0; n != node_id::none && i < g.input_count(n); ++i) {
      const value_id v = g.input(n, i);
      const value* const constant = v == value_id::none ? nullptr : g.constant_of(v);
      if (!constant || constant->kind != value_kind::tensor) continue;
      read += constant->bytes();
      if (seen.insert(constant).second) known += constant->bytes();
    }
    made.read.push_back(read);
    made.known.push_back(known);
  }
  return made;
}

}  // namespace cameo::inspect
