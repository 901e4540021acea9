#include <cameo/graph/check.hpp>
#include <cameo/op/infer.hpp>

#include "inference.hpp"
#include "inline.hpp"
#include "messages.hpp"
#include "oddities.hpp"
#include "op/implied_shapes.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::size_t max_elements = 64;

/// Reads the elements of a small integer constant of rank 0 or 1; negative ones count as unknown. False for other
/// values.
bool elements_of_constant(const value& v, std::vector<dim>& made) {
  if (v.kind != value_kind::tensor || v.shape.rank() > 1 || v.memory != 0) return false;
  const std::int64_t count = v.shape.count();
  if (count > std::int64_t(max_elements) || (v.type != dtype::i64 && v.type != dtype::i32)) return false;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t element = 0;
    const auto* const bytes = static_cast<const std::byte*>(v.data);  // data of a file may be unaligned
    if (v.type == dtype::i64) {
      std::memcpy(&element, bytes + 8 * i, 8);
    } else {
      std::int32_t narrow = 0;
      std::memcpy(&narrow, bytes + 4 * i, 4);
      element = narrow;
    }
    made.push_back(element < 0 ? dim{} : dim::fixed(element));
  }
  return true;
}

}  // namespace

/// The interface of a shape function to one node.
class inference::node_context final : public infer_context {
 public:
  node_context(inference& all, scope& in, node_id id)
      : bodies_done(in.g[id].subgraphs.size()),
        all_{all},
        in_{in},
        id_{id},
        node_{in.g[id]},
        made_(node_.outputs.size()) {
    inputs_ = node_.input_count;
    while (inputs_ > 0 && in.g.input(id, inputs_ - 1) == value_id::none) --inputs_;
  }

  const op_version& version() const override { return *node_.version; }
  std::span<const attribute> attributes() const override { return node_.attributes; }
  std::size_t input_count() const override { return inputs_; }
  std::size_t output_count() const override { return made_.size(); }
  const value_type* input(std::size_t i) const override {
    const value_id v = value_at(i);
    const value_type* const type = v == value_id::none ? nullptr : in_.g[v].type;
    return type && type->kind != type_kind::unknown ? type : nullptr;
  }
  const value* constant(std::size_t i) const override {
    const value_id v = value_at(i);
    return v == value_id::none ? nullptr : in_.g.constant_of(v);
  }
  const std::vector<dim>* elements(std::size_t i) const override {
    const value_id v = value_at(i);
    return v == value_id::none ? nullptr : all_.elements_of(in_, v);
  }
  dim fresh_symbol() override { return dim::named(all_.model_.fresh_symbol()); }
  result<std::vector<const value_type*>> infer_subgraph(std::size_t index,
                                                        std::span<const value_type* const> inputs) override {
    if (index >= bodies_done.size())
      return failed(status_code::invalid_graph, "subgraph {} does not exist; it has {}", index, bodies_done.size());
    bodies_done[index] = true;
    return all_.run_body(in_, id_, index, inputs);
  }
  void set_output(std::size_t i, value_type type) override {
    if (i < made_.size()) made_[i] = std::move(type);
  }
  void set_elements(std::size_t i, std::vector<dim> elements) override {
    if (i < made_.size() && node_.outputs[i] != value_id::none && elements.size() <= max_elements)
      in_.elements.insert_or_assign(std::uint32_t(node_.outputs[i]), std::move(elements));
  }

  void report_large_window(std::size_t axis, std::int64_t window, std::int64_t padded) override {
    tolerate(all_.model_, oddity::large_window, "{}: the window has {} elements along spatial axis {}, and that {}",
             describe(in_.g, node_), window, axis, padded);
  }
  void report_unused_coefficients(std::size_t given, std::size_t needed) override {
    tolerate(all_.model_, oddity::unused_coefficients, "{}: has {} coefficients and needs {}; the others are ignored",
             describe(in_.g, node_), given, needed);
  }

  void report_broken_branch(std::string_view name, const status& wrong) override {
    const attribute* const branch = detail::find_attribute(attributes(), name);
    if (branch && branch->i >= 0 && std::size_t(branch->i) < node_.subgraphs.size())
      all_.drop_types(*node_.subgraphs[std::size_t(branch->i)]);
    if (all_.ops_)  // later inferences find a branch that check_model() has reported
      tolerate(all_.model_, oddity::broken_unused_branch, "{}: {}; the condition is constant, and never takes '{}'",
               describe(in_.g, node_), wrong.words(), name);
  }

  value_type& made(std::size_t i) { return made_[i]; }
  std::vector<bool> bodies_done;

 private:
  value_id value_at(std::size_t i) const { return i < inputs_ ? in_.g.input(id_, i) : value_id::none; }
  inference& all_;
  scope& in_;
  node_id id_;
  const detail::graph_node& node_;
  std::size_t inputs_;
  std::vector<value_type> made_;
};

const std::vector<dim>* inference::elements_of(scope& s, value_id v) {
  scope* at = &s;
  for (; at->g[v].outer != value_id::none; at = at->outer) {
    if (!at->outer) return nullptr;
    v = at->g[v].outer;
  }
  if (const auto known = at->elements.find(std::uint32_t(v)); known != at->elements.end()) return &known->second;
  const value* const constant = at->g.constant_of(v);
  std::vector<dim> made;
  if (!constant || !elements_of_constant(*constant, made)) return nullptr;
  return &at->elements.emplace(std::uint32_t(v), std::move(made)).first->second;
}

/// Sets the types of constants and captures. Returns false if the graph has been inferred too often: then nothing is
/// known.
bool inference::begin(scope& s) {
  graph& g = s.g;
  auto [at, is_first] = original_types_.try_emplace(&g);
  if (is_first) {
    at->second.resize(g.value_count());
    for (std::size_t i = 0; i < g.value_count(); ++i) at->second[i] = g[value_id(i)].type;
  } else {
    if (g.order().size() > again_left_) {
      forget(g);
      return false;
    }
    again_left_ -= g.order().size();
    for (std::size_t i = 0; i < at->second.size(); ++i) g[value_id(i)].type = at->second[i];
  }
  for (value_id c : g.captures()) {
    const detail::graph_value& source = (*g.outer())[g[c].outer];
    g[c].type = source.type;
    g[c].constant = source.constant;
  }
  return true;
}

void inference::forget(graph& g) {
  const auto at = original_types_.find(&g);
  if (at == original_types_.end()) return;
  for (std::size_t i = 0; i < at->second.size(); ++i) g[value_id(i)].type = at->second[i];
  for (node_id n : g.order())
    for (graph* body : g[n].subgraphs) forget(*body);
}

/// Removes the types of what the nodes of a broken body make, the declared ones included. Values without a type mark
/// the body for detail::broken_branches(), which must find it whatever the file declares.
void inference::drop_types(graph& g) {
  const auto before = original_types_.find(&g);
  for (node_id n : g.order())
    for (value_id v : g[n].outputs) {
      if (v == value_id::none) continue;
      g[v].type = nullptr;
      if (before != original_types_.end() && index_of(v) < before->second.size()) before->second[index_of(v)] = nullptr;
    }
}

status inference::set_output(graph& g, value_id v, const value_type& inferred) {
  if (inferred.kind == type_kind::unknown) return status_code::ok;
  const value_type* const before = g[v].type;
  const bool is_main = &g == &model_.main();
  result<value_type> merged = before ? merge_types(inferred, *before, rank_conflict::tolerated) : inferred;
  if (!merged) return std::move(merged).error().in(fmt::format("'{}'", g[v].name));
  // A value of a body may have another shape in each run of the body.
  if (is_main && ops_) note_contradiction(g[v], inferred);
  if (is_main) name_dims(*merged, g[v]);
  if (!before || !same_type(*merged, *before)) g[v].type = model_.keep(*std::move(merged));
  return status_code::ok;
}

/// Warns if the file declares a value with another rank or size than was inferred.
void inference::note_contradiction(const detail::graph_value& v, const value_type& inferred) {
  const value_type* const declared = v.declared ? v.declared : v.type;
  bool differ = false;
  if (declared) static_cast<void>(merge_types(inferred, *declared, rank_conflict::tolerated, &differ));
  if (!differ) return;
  const bool is_shown = v.is_output || v.is_input || v.constant;
  tolerate(model_, is_shown ? oddity::other_shape : oddity::other_shape_between,
           "'{}' is declared as {}, but is {}; that counts", v.name, declared->to_string(&model_.symbols),
           inferred.to_string(&model_.symbols));
}

/// Gives each unknown dim a new symbol, so that values computed from it are known to have that size, too. The symbol
/// has the name that the file declares, but differs from other symbols with this name. An output's dims without a
/// declared name get no symbol, since callers read them.
void inference::name_dims(value_type& type, const detail::graph_value& v) const {
  if (!type.is_tensor() || !type.shape) return;
  const value_type* const declared = v.declared;
  const bool has_names =
      declared && declared->is_tensor() && declared->shape && declared->shape->size() == type.shape->size();
  for (std::size_t i = 0; i < type.shape->size(); ++i) {
    dim& d = (*type.shape)[i];
    if (d.known() || d.symbol != 0) continue;
    const dim said = has_names ? (*declared->shape)[i] : dim{};
    if (!said.known() && said.symbol != 0 && said.symbol < model_.symbols.size())
      d = dim::named(model_.another_symbol(said.symbol));
    else if (!v.is_output) d = dim::named(model_.fresh_symbol());
  }
}

namespace {

bool is_sparse_constant(const detail::graph_value& v) {
  return v.constant && v.constant->kind == value_kind::sparse_tensor;
}

}  // namespace

status inference::set_constant(graph& g, node_id id) {
  const detail::graph_node& n = g[id];
  if (n.outputs.empty() || n.outputs[0] == value_id::none) return status_code::ok;
  detail::graph_value& v = g[n.outputs[0]];
  if (!v.constant) {
    result<value> made = constant_of_node(model_, n);
    if (!made) return made.error();
    if (!*made) return status_code::ok;
    v.constant = model_.memory.keep(*made);
    if (!v.constant) return status_code::out_of_memory;
  }
  if (status s = make_dense_if_wanted(g, n.outputs[0], "sparse constant"); !s) return s;
  return set_output(g, n.outputs[0], type_of(*v.constant));
}

status inference::infer_bodies(scope& s, node_id id, const std::vector<bool>& done) {
  for (std::size_t i = 0; i < done.size(); ++i) {
    if (done[i]) continue;
    // A body gets the declared types: kernels check what they pass to a body against the declared sizes (as a decoder's
    // past).
    const graph& body = *s.g[id].subgraphs[i];
    std::vector<const value_type*> as_declared(body.inputs().size(), nullptr);
    if (s.g[id].op)
      for (std::size_t k = 0; k < as_declared.size(); ++k) as_declared[k] = body[body.inputs()[k]].declared;
    if (auto outputs = run_body(s, id, i, as_declared); !outputs) return outputs.error();
  }
  return status_code::ok;
}

namespace {

/// Returns whether the shapes of all inputs are known, and all their sizes.
bool are_known(const infer_context& c) {
  for (std::size_t i = 0; i < c.input_count(); ++i) {
    if (!c.has_input(i)) continue;
    const std::vector<dim>* const shape = c.shape(i);
    if (!shape || !std::ranges::all_of(*shape, &dim::known)) return false;
  }
  return true;
}

}  // namespace

status inference::infer_node(scope& s, node_id id) {
  graph& g = s.g;
  const detail::graph_node& n = g[id];
  if (n.callee) return infer_call(s, id);
  if (!n.op || !n.version) return infer_bodies(s, id, std::vector<bool>(n.subgraphs.size()));
  const op_version& version = *n.version;
  type_bindings bindings;
  for (std::size_t i = 0; i < n.input_count; ++i) {
    const value_id v = g.input(id, i);
    const parameter* const p = formal(version.inputs, i);
    if (v == value_id::none || !p || !g[v].type) continue;
    if (status fits = bindings.bind(version, *p, *g[v].type, "input", g[v].name); !fits) return fits;
  }
  if (detail::has_role(n.op->roles, role::is_constant))
    if (status set = set_constant(g, id); !set) return set;
  node_context context{*this, s, id};
  const auto infer = n.op->infer == detail::infer_nothing ? detail::implied_shapes(n.op->roles) : n.op->infer;
  if (version.shapes && !n.shapes_fit) {
    if (status fits = check_input_shapes(context); !fits) return fits;
    g[id].shapes_fit = are_known(context);
  }
  if (status inferred = infer(context); !inferred) return inferred;
  if (status inferred = infer_bodies(s, id, context.bodies_done); !inferred) return inferred;
  return set_outputs(g, id, bindings, context);
}

/// Sets the types that `context` received for a node's outputs, completed by the operator's schema, and checks them.
status inference::set_outputs(graph& g, node_id id, type_bindings& bindings, node_context& context) {
  const detail::graph_node& n = g[id];
  const op_version& version = *n.version;
  for (std::size_t i = 0; i < n.outputs.size(); ++i) {
    const value_id v = n.outputs[i];
    const parameter* const p = formal(version.outputs, i);
    if (v == value_id::none || !p) continue;
    if (is_sparse_constant(g[v])) continue;  // set_constant() has set its type, which Constant's schema does not have
    value_type& made = context.made(i);
    if (made.kind == type_kind::unknown) {
      made = bindings.expected(version, *p);
    } else if (made.kind == type_kind::tensor && made.type == dtype::undefined) {
      if (const value_type wanted = bindings.expected(version, *p); wanted.is_tensor()) made.type = wanted.type;
    }
    if (status set = set_output(g, v, made); !set) return std::move(set).in("output");
    if (!g[v].type) continue;
    if (status fits = bindings.bind(version, *p, *g[v].type, "output", g[v].name); !fits) return fits;
  }
  return status_code::ok;
}

result<std::vector<const value_type*>> inference::run_body(scope& s, node_id id, std::size_t index,
                                                           std::span<const value_type* const> inputs) {
  graph& body = *s.g[id].subgraphs[index];
  const auto where = [&](status bad) { return std::move(bad).in(fmt::format("body '{}'", body.name)); };
  if (inputs.size() > body.inputs().size())
    return where(
        failed(status_code::invalid_graph, "takes {} inputs, but gets {}", body.inputs().size(), inputs.size()));
  for (std::size_t i = inputs.size(); i < body.inputs().size(); ++i)
    if (!body[body.inputs()[i]].constant)
      return where(
          failed(status_code::invalid_graph, "gets {} inputs, but takes {}", inputs.size(), body.inputs().size()));
  scope inner{body, &s};
  if (begin(inner)) {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i])
        if (status set = set_output(body, body.inputs()[i], *inputs[i]); !set) return where(std::move(set).in("input"));
    if (status inferred = run(inner); !inferred) return where(std::move(inferred));
  }
  std::vector<const value_type*> outputs;
  for (value_id v : body.outputs()) outputs.push_back(body[v].type);
  return outputs;
}

status inference::infer_call(scope& s, node_id id) {
  graph& g = s.g;
  const function& f = *g[id].callee;
  const std::size_t size = f.body->node_capacity();
  // Deeper calls stay unknown until they are inlined, because each level takes several frames of the stack.
  if (!ops_ || size > scratch_left_ || call_depth_ == deepest_call || !g[id].subgraphs.empty()) return status_code::ok;
  scratch_left_ -= size;
  graph& scratch = model_.add_graph(nullptr);
  const detail::graph_node call = g[id];
  std::vector<value_id> inputs, outputs;
  for (std::size_t i = 0; i < call.input_count; ++i) {
    const value_id v = g.input(id, i);
    inputs.push_back(v == value_id::none ? v : scratch.add_value(g[v].name, g[v].type));
    if (v == value_id::none) continue;
    if (const value* const constant = g.constant_of(v)) scratch.add_initializer(inputs.back(), constant);
    else scratch.add_input(inputs.back());
  }
  for (value_id v : call.outputs) outputs.push_back(v == value_id::none ? v : scratch.add_value(g[v].name));
  // An input of the call that the body passes through has no separate name here; outputs get the name of the value that
  // they are.
  const node_id copy = scratch.add_node(
      {call.name, call.domain, call.op_type, call.overload, {}, call.opset, inputs, outputs, call.attributes, {}, {}});
  result<std::vector<value_id>> made = expand_call(scratch, copy, f, *ops_);
  if (!made) return made.error();
  if (status sorted = scratch.sort(); !sorted) return sorted;
  scope inner{scratch, nullptr};
  begin(inner);
  ++call_depth_;
  status inferred = run(inner);
  --call_depth_;
  if (!inferred) return inferred;
  for (std::size_t i = 0; i < made->size() && i < call.outputs.size(); ++i)
    if (const value_id v = (*made)[i]; call.outputs[i] != value_id::none && v != value_id::none && scratch[v].type)
      if (status set = set_output(g, call.outputs[i], *scratch[v].type); !set) return std::move(set).in("output");
  return status_code::ok;
}

/// True if a node reads a sparse constant as a dense tensor, or if it is an output that is not declared as sparse.
/// Otherwise the constant stays sparse, and small.
bool inference::is_wanted_dense(const graph& g, value_id v) const {
  const value_type* const declared = g[v].declared ? g[v].declared : g[v].type;
  const bool is_sparse_output = &g == &model_.main() && declared && declared->kind == type_kind::sparse_tensor;
  if (g[v].is_output && !is_sparse_output) return true;
  for (const graph::use u : g.uses(v)) {
    const detail::graph_node& n = g[u.node];
    const parameter* const p =
        n.op && n.version && u.position < n.input_count ? formal(n.version->inputs, u.position) : nullptr;
    const auto takes_it = [&](const type_rule& r) { return r.type_string == p->type_string && r.sparse_tensors != 0; };
    if (!p || std::none_of(n.version->types.begin(), n.version->types.end(), takes_it)) return true;
  }
  return false;
}

/// Replaces a sparse constant by its dense form if that is wanted. `what` is for messages.
status inference::make_dense_if_wanted(graph& g, value_id v, std::string_view what) {
  if (!is_sparse_constant(g[v]) || !is_wanted_dense(g, v)) return status_code::ok;
  const result<value> dense = dense_form(model_, *g[v].constant, fmt::format("{} '{}'", what, g[v].name));
  if (!dense) return dense.error();
  g[v].constant = model_.memory.keep(*dense);
  return g[v].constant ? status_code::ok : status_code::out_of_memory;
}

status inference::run(scope& s) {
  graph& g = s.g;
  for (value_id v : g.initializers()) {
    if (!g[v].constant) continue;
    if (status made = make_dense_if_wanted(g, v, "sparse initializer"); !made) return made;
    value_type type = type_of(*g[v].constant);
    if (!g.constant_of(v) && g[v].type && type.shape) {
      if (g[v].type->shape && type.shape->size() != g[v].type->shape->size())
        return failed(status_code::invalid_graph, "input '{}' is declared with rank {}, but its default has rank {}",
                      g[v].name, g[v].type->shape->size(), type.shape->size());
      type.shape.reset();  // a caller may pass another shape
    }
    if (status set = set_output(g, v, type); !set) return std::move(set).in("initializer");
  }
  for (node_id n : g.order())
    if (status inferred = infer_node(s, n); !inferred) return std::move(inferred).in(describe(g, g[n]));
  return status_code::ok;
}

status inference::run(graph& g, known_elements* elements) {
  scope whole{g, nullptr};
  begin(whole);
  status done = run(whole);
  if (elements) *elements = std::move(whole.elements);
  return done;
}

status inference::run(graph& g, node_id n) {
  scope whole{g, nullptr};
  return infer_node(whole, n);
}

status infer_types(graph& g, known_elements* elements) {
  return guarded([&]() -> status { return inference{g.owner()}.run(g, elements); });
}

status infer_node_types(graph& g, node_id n) {
  return guarded([&]() -> status { return inference{g.owner()}.run(g, n); });
}

}  // namespace CAMEO_NAMESPACE
