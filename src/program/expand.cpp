#include "program/expand.hpp"

#include <cameo/format/onnx.hpp>
#include <cameo/op/function_bodies.hpp>

#include <algorithm>
#include <deque>
#include <map>

namespace cameo::program {
namespace {

// Operators without a kernel in ONNX Runtime 1.31 whose definition does not depend on the node.
constexpr std::string_view without_kernel[] = {
    "CausalConvWithState", "HardSwish", "LinearAttention", "Mish", "SwiGLU", "Swish"};

class expander {
 public:
  expander(model& of, const op_table& ops) : model_{of}, ops_{ops} {}

  status run(graph& g) {
    bool changed = false;
    const std::vector<node_id> nodes(g.order().begin(), g.order().end());
    for (node_id n : nodes) {
      for (graph* sub : g[n].subgraphs)
        if (status s = run(*sub); !s) return s;
      if (g[n].domain.empty() && g[n].op_type == "CastLike") {
        if (status s = cast(g, n, changed); !s) return s;
        continue;
      }
      const bool wanted = g[n].domain.empty() && std::ranges::count(without_kernel, g[n].op_type) != 0;
      const result<const function*> body = wanted ? body_of(g[n]) : result<const function*>{nullptr};
      if (!body) return status{body.error()};
      if (!*body) continue;
      if (const auto made = inline_call(g, n, **body, ops_); !made) return made.error();
      changed = true;
    }
    if (!changed) return {};
    if (status s = g.sort(); !s) return s;
    return infer_types(g);
  }

 private:
  /// The newest definition that the node's opset can have.
  result<const function*> body_of(const graph_node& node) {
    const function_body_row* best = nullptr;
    for (const function_body_row& row : standard_function_bodies())
      if (row.op == node.op->id && row.since == node.version->since &&
          row.needs_opset <= std::max<std::int64_t>(node.opset, row.since))
        best = &row;
    if (!best) return static_cast<const function*>(nullptr);
    const auto [at, is_new] = known_.try_emplace(best, nullptr);
    if (is_new) {
      result<function> body = read_function(model_, std::as_bytes(std::span{best->function_proto}));
      if (!body) return std::move(body.error());
      bodies_.push_back(std::move(*body));
      at->second = &bodies_.back();
    }
    return at->second;
  }

  /// CastLike(x, like) is Cast(x) to the type of `like`.
  status cast(graph& g, node_id n, bool& changed) {
    const value_id like = g.input(n, 1);
    if (like == value_id::none || !g[like].type || !g[like].type->is_tensor()) return {};
    attribute to;
    to.name = "to";
    to.kind = attribute_kind::i;
    to.i = std::int64_t(g[like].type->type);
    std::vector<attribute> attributes{to};
    for (const attribute& a : g[n].attributes) attributes.push_back(a);
    const graph_node old = g[n];
    const std::vector<value_id> inputs{g.input(n, 0)}, outputs(old.outputs.begin(), old.outputs.end());
    g.remove_node(n);
    node_spec spec;
    spec.name = old.name;
    spec.op_type = "Cast";
    spec.doc_string = old.doc_string;
    spec.opset = old.opset;
    spec.inputs = inputs;
    spec.outputs = outputs;
    spec.attributes = attributes;
    changed = true;
    return resolve_and_check_node(g, g.add_node(spec), ops_);
  }

  model& model_;
  const op_table& ops_;
  std::deque<function> bodies_;
  std::map<const function_body_row*, const function*> known_;
};

}  // namespace

status expand_for_ort(model& m, const op_table& ops) { return expander{m, ops}.run(m.main()); }

}  // namespace cameo::program
