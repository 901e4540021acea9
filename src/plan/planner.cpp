#include <cameo/plan/planner.hpp>

#include "core/guarded.hpp"
#include "core/node_words.hpp"
#include "plan/copy_step.hpp"
#include "plan/tier.hpp"
#include "plan/too_large.hpp"

namespace CAMEO_NAMESPACE {

result<detail::bound_kernel> bind_by_table(const void* kernels, const detail::draft_node& of,
                                           const detail::node_signature& node, bind_context& context) {
  if (of.row) return of.row->bind(context, false);
  const verdict v = match(node, *static_cast<const detail::kernel_table*>(kernels));
  if (v) return v.row->bind(context, false);
  if constexpr (!status::has_words) return status_code::not_implemented;
  char line[240];
  return status{status_code::not_implemented, explain(v, line)};
}

namespace {

/// Makes one plan, after the plans of its subgraphs.
class planner {
 public:
  planner(const draft& net, const plan_options& options, arena& memory)
      : net_{net}, options_{options}, memory_{memory} {}

  result<const plan_view*> run() {
    if (status s = start_values(); !s) return s;
    for (std::size_t i = 0; i < net_.nodes.size(); ++i) {
      const detail::draft_node& node = net_.nodes[i];
      if (status s = add_node(node); !s) return std::move(s).in(path(node.name, node.op_type, node.outputs));
      if constexpr (!target_tier) options_.watcher.bound(options_.watcher.self, i + 1, net_.nodes.size());
    }
    if (status s = bring_outputs(); !s) return s;
    if (status s = set_levels(); !s) return s;
    return finish();
  }

 private:
  status start_values() {
    const std::size_t n = net_.values.size() + 1;
    if (!values_.reserve(n) || !infos_.reserve(n) || !names_.reserve(n) || !producers_.reserve(n) ||
        !copies_.reserve(n) || !steps_.reserve(net_.nodes.size()))
      return status_code::out_of_memory;
    for (std::size_t i = 0; i < std::max<std::size_t>(net_.values.size(), 1); ++i) {
      const draft_value v = i < net_.values.size() ? net_.values[i] : draft_value{};
      if (result<slot> s = add_value(v.name, v.info, 0); !s) return s.error();
    }
    for (slot s : net_.inputs) values_[s].memory = io_memory_of(s);
    return {};
  }

  /// The memory kind of an input or output. Inputs and outputs of subgraphs, and values that only the host can store,
  /// are in host memory.
  std::uint8_t io_memory_of(slot s) const {
    if constexpr (target_tier) return 0;
    const bool is_host = nested_ || infos_[s].kind != type_kind::tensor || infos_[s].type == dtype::string ||
                         infos_[s].type == dtype::undefined;
    return is_host ? 0 : options_.io_memory;
  }

  result<slot> add_value(std::string_view name, const operand& info, std::uint8_t kind) {
    value start{value_kind::none, info.type, kind};
    if (info.constant) start = *info.constant;
    if (!values_.push_back(start) || !infos_.push_back(info) || !names_.push_back(name) ||
        !producers_.push_back(none) || !copies_.push_back(0))
      return status_code::out_of_memory;
    return slot(values_.size() - 1);
  }

  std::string_view path(std::string_view name, std::string_view op_type, std::span<const slot> outputs) {
    if constexpr (!status::has_words) return {};
    detail::arena_vector<char> text{memory_};
    bool fits = true;
    node_words words{name, {}, op_type};
    for (slot s : outputs)
      if (words.output.empty() && s != 0) words.output = names_[s];
    words.say([&](std::string_view part) { fits = fits && text.append(part); });
    return fits ? std::string_view{text.begin(), text.size()} : op_type;
  }

  status add_node(const detail::draft_node& node) {
    if (node.provider >= options_.binders.size()) return {status_code::fail, "the node has no provider"};
    const node_binder& binder = options_.binders[node.provider];
    plan_step step;
    step.name = node.name, step.op_type = node.op_type, step.provider = node.provider;
    result<std::span<slot>> inputs = memory_.copy(node.inputs), outputs = memory_.copy(node.outputs);
    if (!inputs || !outputs) return status_code::out_of_memory;
    for (slot& s : *inputs)
      if (status moved = bring(s, binder.memory); !moved) return moved;
    for (slot s : *outputs) values_[s].memory = binder.memory;
    step.inputs = *inputs, step.outputs = *outputs;
    if (status s = plan_subgraphs(node, step); !s) return s;
    if (status s = bind(node, binder, step); !s) return s;
    return push(step);
  }

  status push(const plan_step& step) {
    if (!steps_.push_back(step)) return status_code::out_of_memory;
    for (slot s : step.outputs)
      if (s) producers_[s] = std::uint32_t(steps_.size() - 1);
    return {};
  }

  /// Replaces `s` by a slot with the same value in memory of this kind: a copy, which all later readers share.
  status bring(slot& s, std::uint8_t kind) {
    if constexpr (target_tier) return {};
    if (s == 0 || values_[s].memory == kind) return {};
    if (const slot there = copies_[s]; there && values_[there].memory == kind) return s = there, status{};
    if (values_[s].memory != 0 && kind != 0)  // copies between two devices go through host memory
      if (status home = bring(s, 0); !home) return home;
    const operand info = infos_[s];
    if (info.kind != type_kind::tensor || info.type == dtype::string)
      return {status_code::not_implemented, "only tensors of numbers can move between kinds of memory"};
    operand copied = info;
    copied.constant = nullptr;
    const result<slot> to = add_value(names_[s], copied, kind);
    if (!to) return to.error();
    if (info.constant) {
      result<value> moved = copy_constant(*info.constant, options_.memories[kind], kind, memory_);
      if (!moved) return moved.error();
      values_[*to] = *moved;
      infos_[*to].constant = memory_.keep(*moved);
      if (!infos_[*to].constant) return status_code::out_of_memory;
    } else {
      const std::uint8_t from = values_[s].memory;
      result<plan_step> step = copy_step(options_.memories[from ? from : kind], from != 0, s, *to, memory_);
      if (!step) return step.error();
      step->name = names_[s];
      if (status pushed = push(*step); !pushed) return pushed;
    }
    copies_[s] = *to;
    s = *to;
    return {};
  }

  status plan_subgraphs(const detail::draft_node& node, plan_step& step) {
    if (node.subgraphs.empty()) return {};
    result<std::span<const plan_view*>> subplans = memory_.take<const plan_view*>(node.subgraphs.size());
    if (!subplans) return subplans.error();
    for (std::size_t i = 0; i < node.subgraphs.size(); ++i) {
      result<std::span<capture>> captures = memory_.copy(std::span<const capture>{node.subgraphs[i]->captures.span()});
      if (!captures) return captures.error();
      for (capture& c : *captures) {
        if (status s = bring(c.outer, 0); !s) return s;
        if (status s = align(c.outer); !s) return s;
        draft_value& inner = node.subgraphs[i]->values[c.inner];
        if (inner.info.constant) inner.info.constant = infos_[c.outer].constant;
      }
      planner inside{*node.subgraphs[i], options_, memory_};
      inside.nested_ = true;
      inside.brought_captures_ = *captures;
      result<const plan_view*> sub = inside.run();
      if (!sub) return sub.error();
      (*subplans)[i] = *sub;
    }
    step.subplans = *subplans;
    return {};
  }

  status bind(const detail::draft_node& node, const node_binder& binder, plan_step& step) {
    operands_.clear();
    for (std::span<const slot> slots : {step.inputs, step.outputs})
      for (slot s : slots) {
        operand o = s ? infos_[s] : operand{};
        o.present = s != 0;
        if (!operands_.push_back(o)) return status_code::out_of_memory;
      }
    const std::span<const operand> all = operands_.span();
    detail::arena_vector<detail::output_hint> hints{memory_};
    bind_context context{.op_type = node.op_type,
                         .node_name = node.name,
                         .since = node.since,
                         .attributes = node.attributes,
                         .inputs = all.first(step.inputs.size()),
                         .outputs = all.subspan(step.inputs.size()),
                         .subgraph_count = node.subgraphs.size(),
                         .state = memory_,
                         .prepack = options_.prepack,
                         .hints = hints,
                         .constants = {this, persistent_constant, transient_constant},
                         .packs = options_.packs,
                         .node = &node};
    binding_ = step.inputs;
    if (node.compiled.run) {
      step.kernel = node.compiled;
    } else {
      const detail::node_signature signature{node.op ? node.op->id : detail::op_id{}, node.since, context.inputs,
                                             context.outputs};
      result<detail::bound_kernel> bound = guarded_as<status_code::runtime_exception>(
          [&] { return binder.bind(binder.self, node, signature, context); });
      if (!bound) return std::move(bound).error().in(binder.provider);
      step.kernel = *bound;
    }
    step.hints = hints.span();
    for (std::size_t i = 0; i < step.inputs.size(); ++i) {
      bool is_packed = false;
      for (const detail::output_hint& h : step.hints)
        is_packed |= h.kind == detail::output_hint::use::packs && h.input == i;
      if (is_packed) copied(*infos_[step.inputs[i]].constant);
      else if (status s = align(step.inputs[i]); !s) return s;
    }
    return {};
  }

  /// A constant whose elements are gone: only its packed data exists (pack_keeper).
  static bool is_missing(const value& v) {
    return !target_tier && v.kind == value_kind::tensor && !v.data && v.bytes() > 0;
  }

  // Constants lie where the file has them, perhaps unaligned. Kernels that read them in runs get a persistent aligned
  // copy; kernels that pack them get a transient one.

  void copied(const value& constant) {
    if constexpr (!target_tier) options_.watcher.copied(options_.watcher.self, constant);
  }

  /// Makes an aligned copy of a constant that is read in runs, unless it is aligned.
  status align(slot s) {
    if (!s || !infos_[s].constant) return {};
    if (is_missing(*infos_[s].constant))
      return {status_code::invalid_graph, "reads the elements of a constant that has none"};
    if (detail::is_aligned(*infos_[s].constant)) return {};
    value moved = *infos_[s].constant;
    void* const there = memory_.allocate(moved.bytes(), 64);
    if (!there) return status_code::out_of_memory;
    std::memcpy(there, moved.data, moved.bytes());
    moved.data = there;
    const value* const kept = memory_.keep(moved);
    if (!kept) return status_code::out_of_memory;
    copied(*infos_[s].constant);
    infos_[s].constant = kept;
    values_[s] = moved;
    return {};
  }

  static const value* persistent_constant(void* self, std::size_t input, const value& v) {
    planner& p = *static_cast<planner*>(self);
    if (is_missing(v)) return nullptr;
    if (detail::is_aligned(v)) return &v;
    const slot s = p.binding_[input];
    return p.align(s) ? p.infos_[s].constant : nullptr;
  }

  static const value* transient_constant(void* self, std::size_t, const value& v) {
    planner& p = *static_cast<planner*>(self);
    if (is_missing(v)) return nullptr;
    if (detail::is_aligned(v)) return &v;
    p.transient_bytes_.clear();
    const std::size_t blocks = v.bytes() / sizeof(block) + 1;
    if (!p.transient_bytes_.reserve(blocks)) return nullptr;
    std::memcpy(p.transient_bytes_.begin(), v.data, v.bytes());
    p.transient_ = v;
    p.transient_.data = p.transient_bytes_.begin();
    return &p.transient_;
  }

  status bring_outputs() {
    for (slot s : net_.outputs) {
      if (status moved = bring(s, io_memory_of(s)); !moved) return moved;
      if (status aligned = align(s); !aligned) return aligned;
      if (!outputs_.push_back(s)) return status_code::out_of_memory;
    }
    return {};
  }

  /// A step's level is one more than the highest level of what it reads. A plan by levels orders the steps by level;
  /// the sort is stable, so the plan is deterministic.
  status set_levels() {
    if constexpr (target_tier) return {};
    std::uint32_t deepest = 0;
    for (plan_step& step : steps_) {
      std::uint32_t level = 0;
      const auto after = [&](slot s) {
        if (s && producers_[s] != none) level = std::max(level, steps_[producers_[s]].level + 1);
      };
      for (slot s : step.inputs) after(s);
      for (const plan_view* sub : step.subplans)
        for (const capture& c : sub->captures) after(c.outer);
      step.level = level;
      deepest = std::max(deepest, level + 1);
    }
    levels_ = deepest;
    if (!by_level()) return {};
    result<std::span<std::uint32_t>> starts = memory_.take<std::uint32_t>(deepest + 1);
    result<std::span<plan_step>> sorted = memory_.take<plan_step>(steps_.size());
    if (!starts || !sorted) return status_code::out_of_memory;
    for (const plan_step& step : steps_) ++(*starts)[step.level + 1];
    for (std::size_t i = 1; i < starts->size(); ++i) (*starts)[i] += (*starts)[i - 1];
    for (const plan_step& step : steps_) (*sorted)[(*starts)[step.level]++] = step;
    for (std::size_t i = 0; i < sorted->size(); ++i) steps_[i] = (*sorted)[i];
    return {};
  }

  bool by_level() const { return !target_tier && options_.by_level; }

  bool fixed(slot s) const {
    return s && !infos_[s].constant && infos_[s].kind == type_kind::tensor && !infos_[s].optional &&
           infos_[s].fixed_shape();
  }

  /// The step after which each value in a run-time block is released, per slot; none for other values. Fixed values
  /// are placed by lifetime instead.
  result<std::span<std::uint32_t>> last_steps(std::span<const std::size_t> offsets) {
    result<std::span<std::uint32_t>> last = memory_.take<std::uint32_t>(values_.size());
    if (!last) return last.error();
    for (std::uint32_t& l : *last) l = none;
    std::size_t level_end = steps_.size();
    for (std::size_t i = steps_.size(); i-- > 0;) {
      if (!by_level() || i + 1 == steps_.size() || steps_[i + 1].level != steps_[i].level) level_end = i;
      const auto use = [&](slot s) {
        if (s && producers_[s] != none && (*last)[s] == none) (*last)[s] = std::uint32_t(level_end);
      };
      for (slot s : steps_[i].inputs) use(s);
      for (slot s : steps_[i].outputs) use(s);
      for (const plan_view* sub : steps_[i].subplans)
        for (const capture& c : sub->captures) use(c.outer);
    }
    for (slot s : outputs_) (*last)[s] = none;
    for (std::size_t s = 0; s < values_.size(); ++s)
      if (offsets[s] != not_planned) (*last)[s] = none;
    return last;
  }

  /// Sets the values that each step releases.
  status find_releases(std::span<const std::size_t> offsets) {
    const result<std::span<std::uint32_t>> last = last_steps(offsets);
    if (!last) return last.error();
    result<std::span<std::uint32_t>> counts = memory_.take<std::uint32_t>(steps_.size() + 1);
    result<std::span<slot>> all = memory_.take<slot>(values_.size());
    if (!counts || !all) return status_code::out_of_memory;
    for (std::uint32_t l : *last)
      if (l != none) ++(*counts)[l + 1];
    for (std::size_t i = 1; i < counts->size(); ++i) (*counts)[i] += (*counts)[i - 1];
    for (std::size_t i = 0; i < steps_.size(); ++i)
      steps_[i].releases = all->subspan((*counts)[i], (*counts)[i + 1] - (*counts)[i]);
    for (std::size_t s = 0; s < values_.size(); ++s)
      if ((*last)[s] != none) (*all)[(*counts)[(*last)[s]]++] = slot(s);
    return {};
  }

  result<const plan_view*> finish() {
    plan_view view;
    view.steps = steps_.span(), view.initial = values_.span(), view.names = names_.span();
    view.outputs = outputs_.span(), view.levels = levels_, view.by_level = by_level();
    result<std::span<slot>> inputs = memory_.copy(std::span<const slot>{net_.inputs.span()});
    result<std::span<std::size_t>> offsets = memory_.take<std::size_t>(values_.size());
    result<std::span<std::size_t>> regions = memory_.take<std::size_t>(options_.memories.size());
    if (!inputs || !offsets || !regions) return status_code::out_of_memory;
    view.inputs = *inputs;
    const result<std::span<slot_promise>> promises = memory_.take<slot_promise>(values_.size());
    if (!promises) return promises.error();
    for (std::size_t s = 0; s < values_.size(); ++s)
      if (infos_[s].present && !infos_[s].optional) (*promises)[s] = {infos_[s].kind, infos_[s].type};
    view.promises = *promises;
    view.captures = nested_ ? std::span<const capture>{brought_captures_} : net_.captures.span();
    view.fixed = {*offsets, *regions};
    if (status s = place_fixed(view); !s) return s;
    if (status s = find_releases(view.fixed.offsets); !s) return s;
    plan_view* const kept = memory_.keep(view);
    if (!kept) return status_code::out_of_memory;
    return kept;
  }

  status place_fixed(plan_view& view) {
    arena& scratch = options_.scratch ? *options_.scratch : memory_;
    result<std::span<std::size_t>> bytes = scratch.take<std::size_t>(values_.size());
    if (!bytes) return bytes.error();
    for (std::size_t& b : *bytes) b = not_planned;
    for (const plan_step& step : steps_) {
      for (slot s : step.outputs) {
        if (!s) continue;
        if (!fixed(s)) {
          view.has_dynamic = true;
          continue;
        }
        if (status sized = fixed_bytes(s, (*bytes)[s]); !sized)
          return std::move(sized).in(path(step.name, step.op_type, step.outputs));
      }
      for (const detail::output_hint& h : step.hints)
        if (h.kind == detail::output_hint::use::views && h.output < step.outputs.size())
          (*bytes)[step.outputs[h.output]] = not_planned;
    }
    if (nested_)  // a subgraph's outputs must outlive its frame
      for (slot s : outputs_) (*bytes)[s] = not_planned;
    const placement_request request{view.steps, view.initial, view.outputs, *bytes, view.by_level};
    if (status s = place_values(request, scratch, view.fixed); !s) return s;
    for (std::size_t region : view.fixed.region_bytes)
      if (region > options_.memory_limit)
        return {status_code::out_of_memory, "the values of this model need more memory than the limit allows"};
    for (std::size_t s = 1; s < values_.size(); ++s)
      if (view.fixed.offsets[s] != not_planned)
        values_[s].kind = value_kind::tensor, values_[s].shape = infos_[s].shape;
    return {};
  }

  status fixed_bytes(slot s, std::size_t& bytes) const {
    std::int64_t count = 0;
    std::uint64_t needed = 0;
    if (!infos_[s].shape.checked_count(count) || !detail::checked_bytes(infos_[s].type, std::uint64_t(count), needed) ||
        needed > options_.memory_limit)
      return too_large(infos_[s].type, infos_[s].shape);
    bytes = std::size_t(needed);
    return {};
  }

  static constexpr std::uint32_t none = 0xFFFFFFFF;
  struct alignas(64) block {
    std::byte bytes[64];
  };
  const draft& net_;
  const plan_options& options_;
  arena& memory_;
  bool nested_ = options_.as_step;
  std::size_t levels_ = 0;
  std::span<const capture> brought_captures_;
  detail::arena_vector<plan_step> steps_{memory_};
  detail::arena_vector<value> values_{memory_};
  detail::arena_vector<operand> infos_{memory_};
  detail::arena_vector<operand> operands_{memory_};
  detail::arena_vector<std::string_view> names_{memory_};
  detail::arena_vector<std::uint32_t> producers_{memory_};
  detail::arena_vector<slot> copies_{memory_}, outputs_{memory_};
  std::span<const slot> binding_;  // inputs of the node that is being bound
  detail::arena_vector<block> transient_bytes_{options_.scratch ? *options_.scratch : memory_};
  value transient_;
};

}  // namespace

const operand* bind_context::subgraph_input(std::size_t graph, std::size_t i) const {
  if (!node || graph >= node->subgraphs.size()) return nullptr;
  const draft& inner = *node->subgraphs[graph];
  return i < inner.inputs.size() ? &inner.values[inner.inputs[i]].info : nullptr;
}
const operand* bind_context::subgraph_output(std::size_t graph, std::size_t i) const {
  if (!node || graph >= node->subgraphs.size()) return nullptr;
  const draft& inner = *node->subgraphs[graph];
  return i < inner.outputs.size() ? &inner.values[inner.outputs[i]].info : nullptr;
}
const operand* bind_context::declared_subgraph_output(std::size_t graph, std::size_t i) const {
  if (!node || graph >= node->subgraphs.size()) return nullptr;
  const draft& inner = *node->subgraphs[graph];
  return i < inner.declared_outputs.size() ? &inner.declared_outputs[i] : subgraph_output(graph, i);
}

result<const plan_view*> make_plan(const draft& net, const plan_options& options, arena& memory) {
  if (target_tier && options.memories.size() != 1)
    return status{status_code::not_implemented, "a build for targets has the host's memory alone"};
  return planner{net, options, memory}.run();
}

}  // namespace CAMEO_NAMESPACE
