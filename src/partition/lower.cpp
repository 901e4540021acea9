#include <cameo/partition/lower.hpp>

namespace CAMEO_NAMESPACE {

operand describe(const detail::graph_value& v) {
  operand o;
  o.present = true;
  o.constant = v.constant;
  const value_type* t = v.type;
  if (t && t->kind == type_kind::optional) {
    o.optional = true;
    t = t->element.get();
  }
  if (!t) {
    if (v.constant)
      o.kind = v.constant->kind == value_kind::sparse_tensor ? type_kind::sparse_tensor : type_kind::tensor;
    if (v.constant) o.type = v.constant->type;
  } else {
    o.kind = t->kind;
    o.type = t->kind != type_kind::sequence                        ? t->type
             : t->element && t->element->kind == type_kind::tensor ? t->element->type
                                                                   : dtype::undefined;
    if (t->kind == type_kind::tensor && t->shape && t->shape->size() <= max_rank) {
      o.has_rank = true;
      for (const dim& d : *t->shape) o.shape.push_back(d.known() ? d.size : -1);
    }
  }
  if (v.constant && o.kind == type_kind::tensor) o.has_rank = true, o.shape = v.constant->shape;
  return o;
}

detail::node_signature signature_of(const node_view& node, std::vector<operand>& storage) {
  storage.clear();
  storage.reserve(node.input_count() + node.output_count());
  const auto add = [&](const value_view& v) { storage.push_back(v ? describe(node.in()[v.id()]) : operand{}); };
  for (std::size_t i = 0; i < node.input_count(); ++i) add(node.input(i));
  for (std::size_t i = 0; i < node.output_count(); ++i) add(node.output(i));
  const std::span<const operand> all{storage};
  return {node.op() ? node.op()->id : detail::make_op_id(node.domain(), node.op_type()), node.since(),
          all.first(node.input_count()), all.subspan(node.input_count())};
}

bool is_known(const graph& g, const detail::graph_node& n) {
  if (n.outputs.empty()) return false;
  for (value_id v : n.outputs)
    if (v != value_id::none && !g[v].constant) return false;
  return true;
}

namespace {

class lowering {
 public:
  lowering(const graph& g, std::span<const detail::bound_kernel> compiled, bool overridable, arena& memory)
      : graph_{g}, compiled_{compiled}, overridable_{overridable}, memory_{memory} {}

  result<draft*> run() {
    void* const place = memory_.allocate(sizeof(draft), alignof(draft));
    if (!place) return status_code::out_of_memory;
    net_ = ::new (place) draft{memory_};
    if (status s = add_values(); !s) return s;
    if (!net_->nodes.reserve(graph_.order().size())) return status_code::out_of_memory;
    for (node_id n : graph_.order())
      if (status s = add_node(graph_[n], n); !s) return s;
    for (value_id v : graph_.outputs())
      if (!net_->outputs.push_back(slots_[index_of(v)])) return status_code::out_of_memory;
    if (graph_.outer())
      if (status s = add_declared_outputs(); !s) return s;
    for (value_id v : graph_.captures())
      if (!net_->captures.push_back({slots_[index_of(v)], slot(index_of(graph_[v].outer) + 1)}))
        return status_code::out_of_memory;
    return net_;
  }

 private:
  /// Adds a body's outputs with the sizes that the file declares. They are not part of the values' `info`, by which the
  /// body's kernels are bound, since a run may contradict them.
  status add_declared_outputs() {
    const result<std::span<operand>> declared = memory_.take<operand>(graph_.outputs().size());
    if (!declared) return status_code::out_of_memory;
    for (std::size_t i = 0; i < declared->size(); ++i) {
      detail::graph_value v = graph_[graph_.outputs()[i]];
      const value_type type = detail::described_type(v);
      v.type = &type;
      (*declared)[i] = describe(v);
    }
    net_->declared_outputs = *declared;
    return {};
  }

  /// Value n gets slot n + 1, so that slots of an outer graph need no table.
  status add_values() {
    if (!net_->values.reserve(graph_.value_count() + 1)) return status_code::out_of_memory;
    slots_.reserve(graph_.value_count());
    for (std::size_t i = 0; i < graph_.value_count(); ++i) {
      const detail::graph_value& v = graph_[value_id(i)];
      draft_value made{v.name, describe(v), v.is_input, v.is_output};
      if (v.is_input && overridable_) made.info.constant = nullptr;
      if (v.is_input && v.constant && overridable_) made.info.has_rank = false;
      const result<slot> s = net_->add_value(made);
      if (!s) return s.error();
      slots_.push_back(*s);
    }
    for (value_id v : graph_.inputs())
      if ((overridable_ || !graph_[v].constant) && !net_->inputs.push_back(slots_[index_of(v)]))
        return status_code::out_of_memory;
    return {};
  }

  status add_node(const detail::graph_node& n, node_id id) {
    if (is_known(graph_, n)) return {};
    detail::draft_node made;
    made.name = n.name, made.op = n.op, made.op_type = n.op_type;
    made.since = n.version ? n.version->since : 0;
    const result<std::span<slot>> inputs = memory_.take<slot>(n.input_count);
    const result<std::span<slot>> outputs = memory_.take<slot>(n.outputs.size());
    const result<std::span<draft*>> subgraphs = memory_.take<draft*>(n.subgraphs.size());
    if (!inputs || !outputs || !subgraphs) return status_code::out_of_memory;
    for (std::size_t i = 0; i < n.input_count; ++i) (*inputs)[i] = slot_of(graph_.input(id, i));
    for (std::size_t i = 0; i < n.outputs.size(); ++i) (*outputs)[i] = slot_of(n.outputs[i]);
    for (std::size_t i = 0; i < n.subgraphs.size(); ++i) {
      const result<draft*> inner = lowering{*n.subgraphs[i], compiled_, true, memory_}.run();
      if (!inner) return inner.error();
      (*subgraphs)[i] = *inner;
    }
    made.inputs = *inputs, made.outputs = *outputs, made.subgraphs = *subgraphs;
    made.attributes = n.attributes;
    made.provider = std::uint8_t(n.provider);
    if (n.fused >= 0) made.compiled = compiled_[std::size_t(n.fused)];
    return net_->nodes.push_back(made) ? status{} : status{status_code::out_of_memory};
  }
  slot slot_of(value_id v) const { return v == value_id::none ? 0 : slots_[index_of(v)]; }

  const graph& graph_;
  std::span<const detail::bound_kernel> compiled_;
  bool overridable_;
  arena& memory_;
  draft* net_ = nullptr;
  std::vector<slot> slots_;
};

}  // namespace

result<draft*> lower(const graph& g, std::span<const detail::bound_kernel> compiled, bool overridable, arena& memory) {
  return lowering{g, compiled, overridable, memory}.run();
}

std::vector<node_id> detail::nodes_of_steps(const graph& g, const plan_view& plan) {
  std::vector<node_id> nodes;
  for (const plan_step& step : plan.steps) {
    node_id made_by = node_id::none;
    for (slot s : step.outputs)  // slot n + 1 is value n; higher slots are copies
      if (s && s <= g.value_count() && made_by == node_id::none) made_by = g[value_id(s - 1)].producer;
    nodes.push_back(made_by);
  }
  return nodes;
}

}  // namespace CAMEO_NAMESPACE
