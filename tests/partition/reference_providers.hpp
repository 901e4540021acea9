#pragma once
#include <cameo/eps/cpu.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/session/runtime.hpp>

#include "graph/graph_maker.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>

/// The providers A and B of the specification of partitioning, and small models for them. Each hook can be replaced.
namespace cameo::test {

using groups_result = std::vector<node_group>;
using programs = result<std::vector<compiled_node>>;

/// y = max(a b, 0) for float matrices; with one input, b is a.
struct matmul_relu {
  status run(run_context& c) const {
    const auto a = c.input<float>(0), b = c.input<float>(c.input_count() - 1);
    auto y = c.output<float>(0, {a.dim(0), b.dim(1)});
    if (!y) return y.error();
    for (std::int64_t i = 0; i < a.dim(0); ++i)
      for (std::int64_t j = 0; j < b.dim(1); ++j) {
        float sum = 0;
        for (std::int64_t k = 0; k < a.dim(1); ++k) sum += a[i * a.dim(1) + k] * b[k * b.dim(1) + j];
        (*y)[i * b.dim(1) + j] = std::max(sum, 0.0f);
      }
    return {};
  }
};
inline status add_elements(run_context& c) {
  const auto a = c.input<float>(0), b = c.input<float>(c.input_count() - 1);
  auto y = c.output<float>(0, a.shape());
  if (!y) return y.error();
  for (std::int64_t i = 0; i < a.count(); ++i) (*y)[i] = a[i] + b[i];
  return {};
}
inline programs chains(std::span<const fused_view> groups) {
  return std::vector<compiled_node>(groups.size(), compiled(matmul_relu{}));
}

/// Fuses a MatMul and the Relu that alone reads it, even if they are assigned.
struct provider_a {
  static constexpr std::string_view name = "a", long_name = "A";
  bool insists = false;
  std::function<groups_result(const graph_view&)> choose = {};
  std::function<programs(std::span<const fused_view>)> make = {};

  result<groups_result> groups(const graph_view& g) const {
    if (choose) return choose(g);
    groups_result found;
    for (node_view n : g.nodes() | where(has_op<op::MatMul>))
      for (node_view reader : n.output(0).consumers())
        if (n.output(0).sole_use() && reader.has_op<op::Relu>())
          found.push_back({{n.id(), reader.id()}, "chain", insists});
    return found;
  }
  programs compile(std::span<const fused_view> fused) const { return make ? make(fused) : chains(fused); }
};

/// Takes single nodes: Relu and Add of float tensors.
struct provider_b {
  static constexpr std::string_view name = "b", long_name = "B";
  bool claims(const node_view& n) const { return n.has_op<op::Relu>() || n.has_op<op::Add>(); }
  status execute(const step_view& step, run_context& c) const {
    if (step.op_type == "Add") return add_elements(c);
    const auto x = c.input<float>(0);
    auto y = c.output<float>(0, x.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = std::max(x[i], 0.0f);
    return {};
  }
};

/// B as a compiling provider: every Add is a group.
struct group_of_adds {
  static constexpr std::string_view name = "b", long_name = "B";
  struct program {
    status run(run_context& c) const { return add_elements(c); }
  };
  result<groups_result> groups(const graph_view& g) const {
    groups_result found;
    for (node_view n : g.nodes() | where(has_op<op::Add>)) found.push_back({{n.id()}, "sums"});
    return found;
  }
  programs compile(std::span<const fused_view> fused) const {
    return std::vector<compiled_node>(fused.size(), compiled(program{}));
  }
};

/// Takes nodes by the names of their operators.
struct taker {
  static constexpr std::string_view name = "taker", long_name = "TakerExecutionProvider";
  std::set<std::string, std::less<>> names;
  std::function<void()> on_ask = {}, on_run = {};

  bool claims(const node_view& n) const {
    if (on_ask) on_ask();
    return names.count(n.op_type()) != 0;
  }
  status execute(const step_view&, run_context&) const {
    if (on_run) on_run();
    return status_code::not_implemented;
  }
};

/// One device of a kind, for the providers above.
inline std::vector<provider_device> one_device(device_kind kind) {
  provider_device made;
  made.name = detail::name_of(kind);
  made.hardware.kind = kind;
  return {made};
}
struct a_on_cpu : provider_a {
  result<std::vector<provider_device>> devices() const { return one_device(device_kind::cpu); }
};
inline constexpr std::string_view names_by_kind[3] = {"on_cpu", "on_gpu", "on_npu"};
inline constexpr std::string_view long_names_by_kind[3] = {"OnCpu", "OnGpu", "OnNpu"};
template <device_kind Kind>
struct taker_on : taker {
  static constexpr std::string_view name = names_by_kind[std::size_t(Kind)];
  static constexpr std::string_view long_name = long_names_by_kind[std::size_t(Kind)];
  explicit taker_on(std::set<std::string, std::less<>> taken = {}) : taker{std::move(taken)} {}
  result<std::vector<provider_device>> devices() const { return one_device(Kind); }
};
using on_cpu = taker_on<device_kind::cpu>;
using on_gpu = taker_on<device_kind::gpu>;
using on_npu = taker_on<device_kind::npu>;

inline std::unique_ptr<model> make_model() {
  auto m = std::make_unique<model>();
  m->ir_version = 10;
  m->imports = {{"", 17}, {"fun", 1}};
  return m;
}
inline void float_input(graph& g, std::string_view name) {
  g.add_input(g.add_value(name, g.owner().keep(value_type::tensor(dtype::f32, {dim::fixed(2), dim::fixed(2)}))));
}
/// Adds an ONNX node named `as`, whose only output is `as`, too, or `output`.
inline void onnx(graph& g, std::string_view op, std::initializer_list<std::string_view> in, std::string_view as,
                 std::string_view output = {}) {
  g[add(g, op, in, {output.empty() ? as : output}, {}, {}, "", 17)].name = *g.owner().memory.copy(as);
}
inline void output(graph& g, std::string_view name) { g.add_output(g.find(name)); }

/// y = relu(x w) + b, with nodes matmul, relu, add; matrices are 2 x 2.
inline std::unique_ptr<model> chain() {
  auto m = make_model();
  graph& g = m->main();
  for (const char* name : {"x", "w", "b"}) float_input(g, name);
  onnx(g, "MatMul", {"x", "w"}, "matmul", "xw");
  onnx(g, "Relu", {"xw"}, "relu", "positive");
  onnx(g, "Add", {"positive", "b"}, "add", "y");
  output(g, "y");
  return m;
}

/// sum = relu(x x) + (condition ? relu(x x) : relu(x x)), all three chains for A.
inline std::unique_ptr<model> branches() {
  auto m = make_model();
  graph& g = m->main();
  float_input(g, "x");
  g.add_input(g.add_value("condition", m->keep(value_type::tensor(dtype::boolean, std::vector<dim>{}))));
  onnx(g, "MatMul", {"x", "x"}, "m0");
  onnx(g, "Relu", {"m0"}, "r0");
  graph *const yes = &m->add_graph(&g), *const no = &m->add_graph(&g);
  onnx(*yes, "MatMul", {"x", "x"}, "m1");
  onnx(*yes, "Relu", {"m1"}, "r1");
  output(*yes, "r1");
  onnx(*no, "MatMul", {"x", "x"}, "m2");
  onnx(*no, "Relu", {"m2"}, "r2");
  output(*no, "r2");
  attribute first{"then_branch", attribute_kind::g}, second{"else_branch", attribute_kind::g};
  second.i = 1;
  add(g, "If", {"condition"}, {"choice"}, {first, second}, {yes, no}, "", 17);
  onnx(g, "Add", {"r0", "choice"}, "sum");
  output(g, "sum");
  return m;
}

/// y = Dense(x, w, b), a function of the model with chain()'s nodes.
inline std::unique_ptr<model> calls_function() {
  auto m = make_model();
  function& dense = add_function(*m, "Dense");
  const std::vector<opset_import>& imports = m->imports;
  dense.imports = *m->memory.copy(std::span<const opset_import>{imports});
  graph& body = *dense.body;
  for (const char* name : {"fx", "fw", "fb"}) body.add_input(body.add_value(name));
  onnx(body, "MatMul", {"fx", "fw"}, "xw");
  onnx(body, "Relu", {"xw"}, "positive");
  onnx(body, "Add", {"positive", "fb"}, "fy");
  output(body, "fy");
  graph& g = m->main();
  for (const char* name : {"x", "w", "b"}) float_input(g, name);
  g[add(g, "Dense", {"x", "w", "b"}, {"y"}, {}, {}, "fun", 1)].name = "call";
  output(g, "y");
  return m;
}

inline node_id named(const graph& g, std::string_view name) {
  for (std::size_t i = 0; i < g.node_capacity(); ++i)
    if (!g[node_id(i)].removed && g[node_id(i)].name == name) return node_id(i);
  FAIL("there is no node '", std::string{name}, "'");
  return node_id::none;
}
/// Sets the `layer_ann` of a node.
inline void annotate(graph& g, std::string_view node, std::string_view text) {
  const detail::property said[] = {{"layer_ann", *g.owner().memory.copy(text)}};
  g[named(g, node)].metadata = *g.owner().memory.copy(std::span<const detail::property>{said});
}

template <class Runtime>
result<session> load(const Runtime& r, std::unique_ptr<model> m, const session_options& options = {}) {
  auto s = r.load(std::move(m), options);
  INFO((s ? "" : s.error().words()));
  REQUIRE(s);
  return s;
}
/// "CODE: message" of a load that must fail.
template <class Runtime>
std::string failure(const Runtime& r, std::unique_ptr<model> m, const session_options& options = {}) {
  const auto s = r.load(std::move(m), options);
  return s ? "loaded" : std::string{s.error().name()} + ": " + std::string{s.error().words()};
}
/// "node:provider" of all nodes, in order of execution.
inline std::string placed(const result<session>& s) {
  std::string all;
  for (const placement_info& p : s->placements()) all += (all.empty() ? "" : " ") + p.node + ":" + p.provider;
  return all;
}
inline std::string op_types(const result<session>& s) {
  std::string all;
  for (const placement_info& p : s->placements()) all += (all.empty() ? "" : " ") + p.op_type;
  return all;
}

/// Runs a session on numbers that differ from input to input; conditions are true.
inline result<named_values> run(const session& s) {
  std::vector<any_value> values;
  for (const io_info& in : s.inputs()) {
    const float n = float(values.size());
    if (in.type.type == dtype::boolean) values.push_back(any_value::tensor<bool>({}, {true}));
    else values.push_back(any_value::tensor<float>({2, 2}, {1 + n, -2, 0.5f, 3 - n}));
  }
  std::vector<named_input> inputs;
  for (std::size_t i = 0; i < values.size(); ++i) inputs.emplace_back(s.inputs()[i].name, values[i]);
  return s.run(inputs);
}
/// True if the session computes what cpu alone computes for an equal model.
inline bool agrees_with_cpu(const result<session>& s, std::unique_ptr<model> same) {
  const auto reference = load(runtime<eps::cpu>{}, std::move(same));
  const auto got = run(*s), want = run(*reference);
  if (!got || !want || got->size() != want->size()) return false;
  for (std::size_t i = 0; i < want->size(); ++i) {
    const auto a = (*got)[i].value.as_unchecked<float>(), b = (*want)[i].value.as_unchecked<float>();
    if (a.shape() != b.shape()) return false;
    for (std::int64_t k = 0; k < b.count(); ++k)
      if (!(std::abs(a[k] - b[k]) < 1e-5f)) return false;
  }
  return true;
}

}  // namespace cameo::test
