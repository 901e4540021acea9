#include <cameo/plan/planner.hpp>

#include "plan/tier.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::uint32_t never = 0xFFFFFFFF, at_end = 0xFFFFFFFE;

/// One endless range of offsets. Free ranges inside the used part are preferred to its open end.
class offset_heap {
 public:
  static constexpr std::size_t endless = std::size_t{1} << (8 * sizeof(std::size_t) - 4);

  explicit offset_heap(arena& memory) : heap_{memory} {}
  [[nodiscard]] bool open() { return heap_.add_range(0, endless); }
  detail::storage_block* allocate(std::size_t bytes) {
    detail::storage_block* const block = heap_.allocate(bytes);
    if (block) high_ = std::max<std::size_t>(high_, block->address + block->size);
    return block;
  }
  void release(detail::storage_block* b) { heap_.release(b); }
  std::size_t high_water() const { return high_; }

 private:
  block_heap heap_;
  std::size_t high_ = 0;
};

/// Places the values of one memory kind, step by step.
class placer {
 public:
  placer(const placement_request& request, arena& scratch, placement out)
      : request_{request}, scratch_{scratch}, out_{out} {}

  status run() {
    const std::size_t n = request_.initial.size();
    result<std::span<std::uint32_t>> last = scratch_.take<std::uint32_t>(n);
    result<std::span<slot>> root = scratch_.take<slot>(n);
    result<std::span<detail::storage_block*>> blocks = scratch_.take<detail::storage_block*>(n);
    if (!last || !root || !blocks) return status_code::out_of_memory;
    last_ = *last, root_ = *root, blocks_ = *blocks;
    find_lifetimes();
    for (std::size_t& offset : out_.offsets) offset = not_planned;
    for (std::size_t kind = 0; kind < out_.region_bytes.size(); ++kind)
      if (status s = place(std::uint8_t(kind)); !s) return s;
    return {};
  }

 private:
  bool by_level() const { return !target_tier && request_.by_level; }
  bool planned(slot s) const { return request_.bytes[s] != not_planned; }
  std::uint32_t time(const plan_step& step, std::size_t index) const {
    return by_level() ? step.level : std::uint32_t(index);
  }
  slot root(slot s) const { return root_[s]; }
  void touch(slot s, std::uint32_t when) {
    std::uint32_t& last = last_[root(s)];
    if (last == never || when > last) last = when;
  }

  /// A view shares the block of its source, so both have one lifetime.
  void find_lifetimes() {
    for (std::size_t s = 0; s < root_.size(); ++s) root_[s] = slot(s), last_[s] = never;
    for (std::size_t i = 0; i < request_.steps.size(); ++i) {
      const plan_step& step = request_.steps[i];
      for (const detail::output_hint& h : step.hints)
        if (h.kind == detail::output_hint::use::views && h.output < step.outputs.size() &&
            h.input < step.inputs.size() && planned(root(step.inputs[h.input])))
          root_[step.outputs[h.output]] = root(step.inputs[h.input]);
    }
    for (std::size_t i = 0; i < request_.steps.size(); ++i) {
      const plan_step& step = request_.steps[i];
      for (slot s : step.inputs) touch(s, time(step, i));
      for (slot s : step.outputs) touch(s, time(step, i));
      for (const plan_view* sub : step.subplans)
        for (const capture& c : sub->captures) touch(c.outer, time(step, i));
    }
    for (slot s : request_.outputs) touch(s, at_end);
  }

  /// The input that output o may be written over, because only this node reads it last.
  slot overwritten(const plan_step& step, std::size_t o, std::uint32_t now) const {
    const slot target = step.outputs[o];
    for (const detail::output_hint& h : step.hints) {
      if (h.kind != detail::output_hint::use::may_overwrite || h.output != o || h.input >= step.inputs.size()) continue;
      const slot s = root(step.inputs[h.input]);
      if (!planned(s) || !blocks_[s] || last_[s] != now || request_.bytes[s] != request_.bytes[target]) continue;
      if (request_.initial[s].memory != request_.initial[target].memory) continue;
      if (by_level() && shared_in_level_[s] > 1) continue;
      std::size_t readers = 0;  // readers of views with other extents depend on the order of writes
      for (slot in : step.inputs) readers += root(in) == s && in != step.inputs[h.input];
      if (readers == 0) return s;
    }
    return 0;
  }

  status place(std::uint8_t kind) {
    offset_heap heap{scratch_};
    if (!heap.open()) return status_code::out_of_memory;
    if (by_level()) {
      result<std::span<std::uint32_t>> shared = scratch_.take<std::uint32_t>(root_.size());
      if (!shared) return status_code::out_of_memory;
      shared_in_level_ = *shared;
    }
    const std::span<const plan_step> steps = request_.steps;
    for (std::size_t first = 0, last; first < steps.size(); first = last) {
      for (last = first + 1; by_level() && last < steps.size() && steps[last].level == steps[first].level;) ++last;
      const std::uint32_t now = time(steps[first], first);
      if (by_level()) count_readers(steps.subspan(first, last - first));
      for (std::size_t i = first; i < last; ++i)
        if (status s = place_outputs(steps[i], now, kind, heap); !s) return s;
      for (std::size_t i = first; i < last; ++i) release_dead(steps[i], now, heap);
    }
    out_.region_bytes[kind] = heap.high_water();
    return {};
  }

  void count_readers(std::span<const plan_step> level) {
    for (const plan_step& step : level)
      for (slot s : step.inputs) shared_in_level_[root(s)] = 0;
    for (const plan_step& step : level) {
      for (slot s : step.inputs) ++shared_in_level_[root(s)];
      for (const plan_view* sub : step.subplans)
        for (const capture& c : sub->captures) shared_in_level_[root(c.outer)] += 2;
    }
  }

  status place_outputs(const plan_step& step, std::uint32_t now, std::uint8_t kind, offset_heap& heap) {
    for (std::size_t o = 0; o < step.outputs.size(); ++o) {
      const slot s = step.outputs[o];
      if (!planned(s) || request_.initial[s].memory != kind) continue;
      if (root(s) != s) continue;  // the runner points a view at its source
      detail::storage_block* block = nullptr;
      if (const slot over = overwritten(step, o, now)) block = std::exchange(blocks_[over], nullptr);
      else block = heap.allocate(request_.bytes[s]);
      if (!block) return {status_code::out_of_memory, "the values of this model do not fit into an address space"};
      blocks_[s] = block;
      out_.offsets[s] = block->address;
    }
    return {};
  }

  void release_dead(const plan_step& step, std::uint32_t now, offset_heap& heap) {
    const auto release = [&](slot any) {
      const slot s = root(any);
      if (last_[s] == now && blocks_[s]) heap.release(std::exchange(blocks_[s], nullptr));
    };
    for (slot s : step.inputs) release(s);
    for (slot s : step.outputs) release(s);
    for (const plan_view* sub : step.subplans)
      for (const capture& c : sub->captures) release(c.outer);
  }

  const placement_request& request_;
  arena& scratch_;
  placement out_;
  std::span<std::uint32_t> last_, shared_in_level_;
  std::span<slot> root_;
  std::span<detail::storage_block*> blocks_;
};

}  // namespace

status place_values(const placement_request& request, arena& scratch, placement out) {
  return placer{request, scratch, out}.run();
}

}  // namespace CAMEO_NAMESPACE
