#include "session/evaluate.hpp"

#include <cameo/os/heap_arena.hpp>
#include <cameo/partition/lower.hpp>
#include <cameo/plan/planner.hpp>
#include <cameo/run/runner.hpp>

#include <memory>

namespace CAMEO_NAMESPACE {
namespace {

/// A draft of a plan with one node, whose inputs are constants.
result<draft*> draft_of(const node_view& node, arena& memory) {
  draft* const net = memory.keep(draft{memory});
  if (!net) return status_code::out_of_memory;
  const result<std::span<slot>> inputs = memory.take<slot>(node.input_count());
  const result<std::span<slot>> outputs = memory.take<slot>(node.output_count());
  if (!inputs || !outputs) return status_code::out_of_memory;
  const auto add = [&](const value_view& v, bool is_output) -> result<slot> {
    draft_value made{v.name(), describe(node.in()[v.id()]), false, is_output};
    if (!is_output) made.info.constant = node.in().constant_of(v.id());
    return net->add_value(made);
  };
  for (std::size_t i = 0; i < node.input_count(); ++i)
    if (node.input(i)) {
      const result<slot> s = add(node.input(i), false);
      if (!s) return s.error();
      (*inputs)[i] = *s;
    }
  for (std::size_t i = 0; i < node.output_count(); ++i)
    if (node.output(i)) {
      const result<slot> s = add(node.output(i), true);
      if (!s) return s.error();
      (*outputs)[i] = *s;
      if (!net->outputs.push_back(*s)) return status_code::out_of_memory;
    }
  detail::draft_node made;
  made.name = node.name(), made.op = node.op(), made.op_type = node.op_type(), made.since = node.since();
  made.inputs = *inputs, made.outputs = *outputs, made.attributes = node.raw().attributes;
  if (!net->nodes.push_back(made)) return status_code::out_of_memory;
  return net;
}

/// A copy in `memory` of a tensor of numbers.
result<value> copied(const value& v, arena& memory) {
  if (v.kind != value_kind::tensor || v.type == dtype::string) return status_code::not_implemented;
  void* const to = memory.allocate(v.bytes() + 1, 64);
  if (!to) return status_code::out_of_memory;
  if (v.bytes()) std::memcpy(to, v.data, v.bytes());
  return value::tensor(v.type, v.shape, to);
}

}  // namespace

const provider* kernel_evaluator::provider_for(const node_view& node) const {
  for (std::size_t i = providers_.size(); i-- > 0;) {
    const provider& p = providers_[i];
    const memory_source source = p.row->memory(p.self.get()), host = heap_memory();
    if (source.allocate == host.allocate && detail::kernel_matches(node, p.row->kernels(), nullptr)) return &p;
  }
  return nullptr;
}

result<std::span<const value>> kernel_evaluator::evaluate(const node_view& node, arena& memory) const {
  const provider* const by = provider_for(node);
  if (!by || !node.subgraphs().empty()) return status_code::not_implemented;
  detail::heap_arena tables{1 << 14};
  const result<draft*> net = draft_of(node, tables);
  if (!net) return net.error();
  const memory_source host = heap_memory();
  const node_binder binder{by->row->name, by->self.get(), by->row->bind, 0};
  plan_options how;
  how.binders = {&binder, 1}, how.memories = {&host, 1};
  how.prepack = false;
  how.memory_limit = limit_;
  const result<const plan_view*> plan = make_plan(**net, how, tables);
  if (!plan) return plan.error();
  const result<runner*> run = runner::make(**plan, {&host, 1}, tables, limit_);
  if (!run) return run.error();
  const std::unique_ptr<runner, void (*)(runner*)> owned{
      *run, [](runner* made_in_tables) { std::destroy_at(made_in_tables); }};
  std::vector<value> made((*net)->outputs.size());
  status done = (*run)->run({}, made, {});
  result<std::span<value>> outputs = memory.take<value>(node.output_count());
  if (done && !outputs) done = outputs.error();
  for (std::size_t i = 0, at = 0; done && i < node.output_count(); ++i) {
    if (!node.output(i)) continue;
    result<value> kept = copied(made[at++], memory);
    if (!kept) done = kept.error();
    else (*outputs)[i] = *kept;
  }
  if (!done) return done;
  return std::span<const value>{*outputs};
}

}  // namespace CAMEO_NAMESPACE
