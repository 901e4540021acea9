// Replaces ai.onnx.preview.training's Gradient by ONNX's operators: walks backwards over the graph from y to the xs.
#include "transform/rules/gradient.hpp"

#include <cameo/op/attributes/training.hpp>
#include <cameo/op/training.hpp>
#include <cameo/transform/rules/standard.hpp>
#include <cameo/transform/transform.hpp>

#include "graph/messages.hpp"

#include <algorithm>
#include <memory>
#include <unordered_map>

namespace CAMEO_NAMESPACE {
namespace derive {

std::int64_t adjoint::opset() const { return r_.owner().opset({}); }

void adjoint::give(std::size_t i, value_id gradient) {
  if (!needs(i)) return;
  value_id& sum = given_[i];
  sum = sum == value_id::none ? gradient : sum_of(sum, gradient);
}

void adjoint::fail(std::string_view why) {
  if (problem_.empty()) problem_ = why;
}

std::size_t adjoint::rank(std::size_t i) {
  const dims* const known = r_.shape(node.input(i));
  if (!known) fail(fmt::format("the rank of its input {} must be known", i));
  return known ? known->size() : 0;
}

std::vector<std::int64_t> adjoint::axes() {
  if (const auto given = node.attributes<op::Squeeze>().axes; given.given) return {given.begin(), given.end()};
  const value_view v = node.input(1);
  if (!v) return {};
  if (const auto known = ints_of(r_.constant(v))) return *known;
  fail("its axes must be constant");
  return {};
}

value_id adjoint::again(std::span<const value_id> inputs) {
  return e_.add(node.domain(), node.op_type(), inputs, node.raw().attributes);
}

value_id adjoint::filled_like(value_id v, double value, dtype type) {
  return add<op::Expand>({number(value, type), add<op::Shape>({v})});
}

value_id adjoint::reshaped_like(value_id g, value_id v) {
  const value_id shape = add<op::Shape>({v});
  if (opset() < 14) return add<op::Reshape>({g, shape});
  return add<op::Reshape>({g, shape}, {attribute_of("allowzero", 1)});
}

value_id adjoint::sum(value_id v, std::span<const std::int64_t> axes, bool keeps) {
  if (axes.empty()) return v;
  if (opset() < 13) return add<op::ReduceSum>({v}, {attribute_of("axes", axes), attribute_of("keepdims", int(keeps))});
  return add<op::ReduceSum>({v, list(axes)}, {attribute_of("keepdims", int(keeps))});
}

value_id adjoint::mean(value_id v, std::span<const std::int64_t> axes) {
  if (opset() < 18) return add<op::ReduceMean>({v}, {attribute_of("axes", axes), attribute_of("keepdims", 1)});
  return add<op::ReduceMean>({v, list(axes)}, {attribute_of("keepdims", 1)});
}

value_id adjoint::unsqueezed(value_id v, std::span<const std::int64_t> axes) {
  if (axes.empty()) return v;
  if (opset() < 13) return add<op::Unsqueeze>({v}, {attribute_of("axes", axes)});
  return add<op::Unsqueeze>({v, list(axes)});
}

value_id adjoint::squeezed(value_id v, std::span<const std::int64_t> axes) {
  if (axes.empty()) return v;
  if (opset() < 13) return add<op::Squeeze>({v}, {attribute_of("axes", axes)});
  return add<op::Squeeze>({v, list(axes)});
}

value_id adjoint::transposed(value_id v, std::size_t rank) {
  std::vector<std::int64_t> perm(rank);
  for (std::size_t i = 0; i < rank; ++i) perm[i] = std::int64_t(i);
  if (rank >= 2) std::swap(perm[rank - 1], perm[rank - 2]);
  return add<op::Transpose>({v}, {attribute_of("perm", std::span<const std::int64_t>{perm})});
}

value_id adjoint::shrunk(value_id g, const dims* from, value_id v, const dims* to) {
  if (from && to && from->size() >= to->size()) {
    const std::size_t leading = from->size() - to->size();
    std::vector<std::int64_t> first, ones;
    bool is_sure = true;
    for (std::size_t k = 0; k < leading; ++k) first.push_back(std::int64_t(k));
    for (std::size_t k = 0; k < to->size(); ++k) {
      const dim size = (*to)[k];
      if (size.same((*from)[leading + k]) || (size.known() && size.size != 1)) continue;
      if (size.known()) ones.push_back(std::int64_t(k));
      else is_sure = false;
    }
    if (is_sure) return sum(sum(g, first, false), ones, true);
  }
  if (opset() < 13) {
    fail("the shapes of its inputs must be known, as below opset 13 the axes of a sum are attributes");
    return g;
  }
  const value_id shape = add<op::Shape>({v});
  const value_id missing = minus(add<op::Shape>({add<op::Shape>({g})}), add<op::Shape>({shape}));
  const value_id whole = add<op::Concat>({add<op::Expand>({list(1), missing}), shape}, {attribute_of("axis", 0)});
  const value_id axes = add<op::Reshape>({add<op::NonZero>({add<op::Equal>({whole, list(1)})}), list(-1)});
  const value_id summed =
      add<op::ReduceSum>({g, axes}, {attribute_of("keepdims", 1), attribute_of("noop_with_empty_axes", 1)});
  return reshaped_like(summed, v);
}

namespace {

/// Replaces one Gradient node by other nodes.
class backward_walk {
 public:
  backward_walk(rewriter& r, const node_view& n) : r_{r}, g_{r.in()}, node_{n}, edit_{r, n} {}

  status run() {
    if (status s = read(); !s) return s;
    if (status s = walk_forward(); !s) return s;
    if (g_.node_capacity() + nodes_a_derivative * nodes_.size() > most_nodes)
      return invalid("makes a graph of more than {} nodes: there are {}, and {} are derived", most_nodes,
                     g_.node_capacity(), nodes_.size());
    if (status s = walk_backward(); !s) return s;
    for (std::size_t i = 0; i < xs_.size(); ++i) {
      const value_view out = node_.output(i);
      if (!out) continue;
      const auto found = gradients_.find(xs_[i]);
      value_id made = found != gradients_.end() ? found->second : filled(now(xs_[i]), 0, type_of(xs_[i]));
      edit_.replace(out, edit_.add<op::Identity>({made}));
    }
    if (edit_.commit()) return {};
    return failed(
        "its derivatives need operators that opset {} of ai.onnx does not have, or types that they do not take",
        r_.owner().opset({}));
  }

 private:
  /// Gradients of gradients grow exponentially: a model of 20 nodes could need more memory than a machine has.
  static constexpr std::size_t most_nodes = 1 << 18, nodes_a_derivative = 8;

  template <class... Parts>
  status failed(fmt::format_string<Parts...> words, Parts&&... parts) const {
    return {status_code::not_implemented,
            fmt::format("{}: {}", describe(g_, g_[node_.id()]), fmt::format(words, std::forward<Parts>(parts)...))};
  }
  template <class... Parts>
  status invalid(fmt::format_string<Parts...> words, Parts&&... parts) const {
    return {status_code::invalid_graph,
            fmt::format("{}: {}", describe(g_, g_[node_.id()]), fmt::format(words, std::forward<Parts>(parts)...))};
  }
  dtype type_of(value_id v) const { return r_.at(v).element(); }
  static bool is_float(dtype t) { return t == dtype::f32 || t == dtype::f64 || t == dtype::f16 || t == dtype::bf16; }
  value_id now(value_id v) const {
    const auto found = now_.find(v);
    return found == now_.end() ? v : found->second;
  }
  value_id filled(value_id v, double number, dtype type) {
    return edit_.add<op::Expand>({edit_.scalar("number", type, number), edit_.add<op::Shape>({v})});
  }

  /// Reads the values that the attributes name, and the inputs that replace them.
  status read() {
    const auto a = node_.attributes<op::training::Gradient>();
    std::size_t count = 0;
    for (const auto* const names : {&a.xs, &a.zs}) {
      for (const std::string_view name : *names) {
        const value_id named = g_.find(name);
        if (named == value_id::none) return invalid("names '{}', and its graph has no such value", name);
        if (count >= node_.input_count() || !node_.input(count))
          return invalid("has no input for '{}', must have one for each of xs and zs", name);
        const value_id given = node_.input(count++).id();
        if (names == &a.xs) xs_.push_back(named);
        ends_.push_back(named);
        if (given != named) now_[named] = given, moved_ = true;
      }
    }
    if (node_.output_count() > xs_.size()) return invalid("has more outputs than xs has names");
    y_ = g_.find(a.y);
    if (y_ == value_id::none) return invalid("names '{}', and its graph has no such value", a.y);
    for (const value_id v : xs_)
      if (!is_float(type_of(v))) return invalid("differentiates by '{}', which must be a tensor of floats", g_[v].name);
    if (!is_float(type_of(y_))) return invalid("differentiates '{}', which must be a tensor of floats", a.y);
    return {};
  }

  bool is_end(value_id v) const { return std::find(ends_.begin(), ends_.end(), v) != ends_.end(); }

  /// Calls `work` with each value that a node or its subgraphs read.
  template <class Work>
  static void each_value_read(const node_view& n, const Work& work) {
    for (const value_view in : n.inputs())
      if (in) work(in.id());
    for (const value_view in : n.captures()) work(in.id());
  }

  /// The nodes between the independent values and y, as flags by node.
  std::vector<bool> nodes_before_y() const {
    std::vector<bool> needed(g_.node_capacity());
    std::vector<value_id> open{y_};
    while (!open.empty()) {
      const value_id v = open.back();
      open.pop_back();
      const node_id by = g_[v].producer;
      if (is_end(v) || by == node_id::none || needed[index_of(by)]) continue;
      needed[index_of(by)] = true;
      each_value_read(r_.node(by), [&](value_id in) { open.push_back(in); });
    }
    return needed;
  }

  /// Collects the nodes from the independent values to y, in order; those that compute with replaced values are copied.
  status walk_forward() {
    const std::vector<bool> needed = nodes_before_y();
    for (const value_id v : xs_) depends_[v] = true;
    for (const node_id id : detail::ordered_nodes(g_)) {
      if (index_of(id) >= needed.size() || !needed[index_of(id)]) continue;
      const node_view n = r_.node(id);
      bool depends = false, moves = false;
      each_value_read(
          n, [&](value_id in) { depends = depends || depends_.contains(in), moves = moves || now_.contains(in); });
      if (moves)
        if (status s = make_again(n); !s) return s;
      if (!depends) continue;
      const derivative_row* const row = n.op() && n.subgraphs().empty() ? find_derivative(n.op()->id) : nullptr;
      if (!row) return failed("cameo has no derivative of {}", n.op_type());
      if (!row->derive) continue;
      for (const value_view out : n.outputs())
        if (out && !is_end(out.id()) && is_float(out.element())) depends_[out.id()] = true;
      nodes_.push_back(id);
    }
    return {};
  }

  status make_again(const node_view& n) {
    if (!n.subgraphs().empty())
      return failed("'{}' has graphs, and is computed only for the values that xs and zs name", n.op_type());
    std::vector<value_id> inputs;
    for (const value_view in : n.inputs()) inputs.push_back(in ? now(in.id()) : value_id::none);
    edit_.add(n.domain(), n.op_type(), inputs, n.raw().attributes, n.output_count());
    for (std::size_t i = 0; i < n.output_count(); ++i)
      if (n.output(i) && !is_end(n.output(i).id())) now_[n.output(i).id()] = edit_.output(i);
    return {};
  }

  status walk_backward() {
    if (!depends_.contains(y_)) return {};
    gradients_[y_] = filled(now(y_), 1, type_of(y_));
    for (auto at = nodes_.rbegin(); at != nodes_.rend(); ++at) {
      const node_view n = r_.node(*at);
      std::vector<value_id> inputs, outputs, of_outputs;
      bool is_reached = false;
      for (const value_view out : n.outputs()) {
        outputs.push_back(out ? now(out.id()) : value_id::none);
        const auto found = out && !is_end(out.id()) ? gradients_.find(out.id()) : gradients_.end();
        // If y is an independent value, too, nothing before it counts.
        of_outputs.push_back(found == gradients_.end() ? value_id::none : found->second);
        is_reached = is_reached || found != gradients_.end();
      }
      if (!is_reached) continue;
      const auto flags = std::make_unique<bool[]>(n.input_count());
      for (std::size_t i = 0; i < n.input_count(); ++i) {
        const value_view in = n.input(i);
        inputs.push_back(in ? now(in.id()) : value_id::none);
        flags[i] = in && depends_.contains(in.id());
      }
      adjoint one{r_, edit_, n, {inputs, outputs, of_outputs, {flags.get(), n.input_count()}, moved_}};
      find_derivative(n.op()->id)->derive(one);
      if (!one.problem().empty()) return failed("cameo has no derivative of this {}: {}", n.op_type(), one.problem());
      for (std::size_t i = 0; i < n.input_count(); ++i) {
        if (one.given()[i] == value_id::none) continue;
        const auto [to, is_new] = gradients_.try_emplace(n.input(i).id(), one.given()[i]);
        if (!is_new) to->second = edit_.add<op::Add>({to->second, one.given()[i]});
      }
    }
    return {};
  }

  rewriter& r_;
  graph& g_;
  const node_view node_;
  edit edit_;
  std::vector<value_id> xs_, ends_;  // the independent values: xs, and all including zs
  value_id y_ = value_id::none;
  bool moved_ = false;                          // some are replaced by other values
  std::unordered_map<value_id, value_id> now_;  // what replaces a value
  std::unordered_map<value_id, bool> depends_;  // whether a value depends on the xs
  std::vector<node_id> nodes_;                  // nodes that depend on the xs, in order
  std::unordered_map<value_id, value_id> gradients_;
};

}  // namespace
}  // namespace derive

namespace {

/// Replaces all Gradient nodes; one that names the output of another comes after it.
struct derive_gradients {
  static constexpr std::string_view name = "Gradient";
  using roots = op_set<op::training::Gradient>;
  using makes = op_set<op::Abs, op::Add, op::Cast, op::Concat, op::Cos, op::Cosh, op::Div, op::Equal, op::Erf, op::Exp,
                       op::Expand, op::Gather, op::Gemm, op::Greater, op::Identity, op::Log, op::MatMul, op::Mul,
                       op::Neg, op::NonZero, op::Pad, op::Pow, op::Range, op::ReduceMean, op::ReduceSum, op::Reshape,
                       op::ScatterElements, op::Shape, op::Sigmoid, op::Sign, op::Sin, op::Sinh, op::Size, op::Slice,
                       op::Sqrt, op::Squeeze, op::Sub, op::Tanh, op::Transpose, op::Unsqueeze, op::Where>;

  static result<bool> run(rewriter& r) {
    bool changed = false;
    for (;;) {
      const auto order = r.in().order();
      const auto found = std::find_if(order.begin(), order.end(), [&](node_id n) {
        return r.may_touch(r.node(n)) && r.node(n).has_op<op::training::Gradient>();
      });
      if (found == order.end()) return changed;
      if (status s = derive::backward_walk{r, r.node(*found)}.run(); !s) return s;
      if (status s = r.refresh(); !s) return s;
      changed = true;
    }
  }
};

}  // namespace

const transform_table& detail::derivatives::table() { return transform_list<level, derive_gradients>::table(); }

}  // namespace CAMEO_NAMESPACE
