// Makes the objects for cameo's graphs that plugins read.
#include <cameo/graph/model.hpp>
#include <cameo/graph/symbol_names.hpp>

#include "objects.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace CAMEO_NAMESPACE::detail::ort {
namespace {

template <class T>
std::string bytes_of(std::span<const T> list) {
  return {reinterpret_cast<const char*>(list.data()), list.size_bytes()};
}

/// True for the element types that have the same number and the same layout in memory in ONNX Runtime and in cameo.
bool is_shared_type(dtype type) { return type < dtype::f8e8m0 && type != dtype::string; }

ort_type_info type_of(const value_type* from, std::span<const std::string> symbols) {
  ort_type_info made;
  if (!from || !from->is_tensor() || !is_shared_type(from->type)) return made;
  made.is_tensor = true;
  made.tensor.type = from->type;
  made.tensor.has_shape = from->shape.has_value();
  if (from->shape)
    for (dim d : *from->shape)
      made.tensor.sizes.push_back(d.known() ? d.size : -1),
          made.tensor.names.push_back(!d.known() && d.symbol < symbols.size() && d.symbol ? symbols[d.symbol] : "");
  return made;
}

/// Converts an attribute. False for kinds that are not reported to plugins, such as graphs.
bool take(const attribute& from, ort_attribute& to) {
  to.name = from.name;
  switch (from.kind) {
    case attribute_kind::i: to.kind = ort_attribute_kind::i, to.bytes = bytes_of(std::span{&from.i, 1}); return true;
    case attribute_kind::f: to.kind = ort_attribute_kind::f, to.bytes = bytes_of(std::span{&from.f, 1}); return true;
    case attribute_kind::s: to.kind = ort_attribute_kind::s, to.bytes = from.s; return true;
    case attribute_kind::ints: to.kind = ort_attribute_kind::ints, to.bytes = bytes_of(from.ints); return true;
    case attribute_kind::floats: to.kind = ort_attribute_kind::floats, to.bytes = bytes_of(from.floats); return true;
    case attribute_kind::strings:
      to.kind = ort_attribute_kind::strings;
      for (std::string_view each : from.strings) to.bytes += each, to.bytes += '\0';
      return true;
    case attribute_kind::t:
      to.kind = ort_attribute_kind::t;
      if (from.tensors.size() == 1) to.tensor = from.tensors[0];
      return to.tensor.kind == value_kind::tensor && is_shared_type(to.tensor.type);
    default: return false;
  }
}

class graph_builder {
 public:
  explicit graph_builder(const graph& from) : g_{from}, symbols_{distinct_symbol_names(from.owner())} {}

  std::unique_ptr<ort_graph> run(const ort_node* parent) {
    made_ = std::make_unique<ort_graph>();
    const model& m = g_.owner();
    made_->name = g_.name, made_->path = m.path, made_->ir_version = m.ir_version, made_->parent = parent;
    for (const opset_import& each : m.imports) made_->opsets.emplace_back(each.domain, each.version);
    values_.resize(g_.value_count());
    for (value_id v : g_.inputs()) {
      ort_value_info& info = *at(v);
      if (!g_.constant_of(v)) info.is_input = true, made_->inputs.push_back(&info);
    }
    for (node_id n : g_.order()) add(n);
    for (value_id v : g_.outputs()) at(v)->is_output = true, made_->outputs.push_back(at(v));
    for (ort_value_info& each : made_->values)
      if (each.is_constant && !each.is_outer) made_->initializers.push_back(&each);
    return std::move(made_);
  }

 private:
  ort_value_info* at(value_id v) {
    if (v == value_id::none) return nullptr;
    ort_value_info*& known = values_[index_of(v)];
    if (known) return known;
    known = &made_->values.emplace_back();
    known->name = g_[v].name, known->type = type_of(g_[v].type, symbols_), known->in = made_.get();
    known->is_outer = g_[v].outer != value_id::none;
    const value* const constant = g_.constant_of(v);
    if (constant && constant->kind == value_kind::tensor && is_shared_type(constant->type)) {
      known->is_constant = true, known->constant.tensor = *constant;
      if (!known->type.is_tensor) known->type = {true, {constant->type, true, {}, {}}};
      known->type.tensor.has_shape = true;
      known->type.tensor.sizes.assign(constant->shape.begin(), constant->shape.end());
      known->type.tensor.names.assign(constant->shape.rank(), "");
    }
    return known;
  }

  void add(node_id n) {
    const graph_node& from = g_[n];
    // ONNX Runtime has initializers instead of Constant nodes.
    if (from.op && has_role(from.op->roles, role::is_constant)) {
      at(from.outputs[0]);
      return;
    }
    ort_node& to = made_->nodes.emplace_back();
    to.id = index_of(n), to.source = n, to.name = from.name, to.type = from.op_type, to.domain = from.domain;
    to.since = from.version ? from.version->since : std::int32_t(from.opset), to.in = made_.get();
    const node_view view{g_, n};
    for (value_view v : view.inputs()) {
      ort_value_info* const info = at(v.id());
      if (info) info->consumers.emplace_back(&to, std::int64_t(to.inputs.size()));
      to.inputs.push_back(info);
    }
    for (value_view v : view.captures()) {
      at(v.id())->consumers.emplace_back(&to, -1);
      to.captured.push_back(at(v.id()));
    }
    for (value_view v : view.outputs()) {
      ort_value_info* const info = at(v.id());
      if (info) info->producer = &to, info->producer_output = to.outputs.size();
      to.outputs.push_back(info);
    }
    for (const attribute& each : from.attributes) {
      if (each.kind == attribute_kind::g && std::size_t(each.i) < from.subgraphs.size()) {
        made_->bodies.push_back(graph_builder{*from.subgraphs[std::size_t(each.i)]}.run(&to));
        to.bodies.emplace_back(each.name, made_->bodies.back().get());
      } else if (take(each, to.attributes.emplace_back())) {
        to.listed.push_back(&to.attributes.back());
      }
    }
    add_defaults(from, to);
    made_->order.push_back(&to);
  }

  /// Adds the default attributes of the operator, as ONNX Runtime does and plugins expect.
  static void add_defaults(const graph_node& from, ort_node& to) {
    if (!from.version) return;
    for (const attribute_rule& rule : from.version->attributes) {
      if (!rule.has_default || find_attribute(from.attributes, rule.name)) continue;
      attribute made;
      made.name = rule.name, made.kind = rule.kind;
      made.i = rule.default_int, made.f = rule.default_float, made.s = rule.default_string;
      if (take(made, to.attributes.emplace_back())) to.listed.push_back(&to.attributes.back());
    }
  }

  const graph& g_;
  std::vector<std::string> symbols_;  // names of symbolic dims, by number; plugins compare dims by name
  std::unique_ptr<ort_graph> made_;
  std::vector<ort_value_info*> values_;
};

}  // namespace

std::unique_ptr<ort_graph> graph_of(const graph_view& from) { return graph_builder{from.raw()}.run(nullptr); }

std::unique_ptr<ort_node> fused_node_of(ort_graph& from, std::string_view name,
                                        std::vector<const ort_value_info*> inputs, bool with_constants) {
  std::erase_if(inputs, [&](const ort_value_info* v) { return !v || (v->is_constant && !with_constants); });
  const std::set<const ort_value_info*> listed{inputs.begin(), inputs.end()};
  if (with_constants)
    for (const ort_value_info* each : from.initializers)
      if (!each->consumers.empty() && !listed.contains(each)) inputs.push_back(each);
  for (ort_value_info& each : from.values) each.is_optional = each.is_constant && with_constants;
  auto made = std::make_unique<ort_node>();
  made->name = name, made->type = name, made->since = 1, made->in = &from;
  made->inputs = from.inputs = std::move(inputs), made->outputs = from.outputs;
  return made;
}

}  // namespace CAMEO_NAMESPACE::detail::ort
