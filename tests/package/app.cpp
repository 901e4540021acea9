// The program that the projects in tests/package build: it has a provider with a new operator, and a rewrite rule, so
// that tables of the program are used together with those of the library, with and without exceptions and RTTI. Prints
// "ok".
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>
#include <cameo/op/infer.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rule.hpp>

#include <cmath>
#include <cstdio>
#include <string>

namespace acme {

/// An operator with Z[..., i] = X[..., 2 i] + X[..., 2 i + 1].
struct SumPairs {
  static constexpr std::string_view domain = "acme", name = "SumPairs";
  static constexpr cameo::parameter inputs[] = {{"X", "T"}}, outputs[] = {{"Z", "T"}};
  static constexpr cameo::type_rule types[] = {{"T", cameo::mask_of<float, double>}};
  static constexpr cameo::op_version versions[] = {{1, inputs, outputs, types, {}, 1, 1}};
  static cameo::status infer(cameo::infer_context& c) {
    if (!c.shape(0)) return {};
    auto shape = *c.shape(0);
    if (shape.empty()) return {cameo::status_code::invalid_graph, "a scalar has no pairs"};
    shape.back() = shape.back().known() ? cameo::dim::fixed(shape.back().size / 2) : c.fresh_symbol();
    c.set_output(0, cameo::value_type::tensor(c.element(0), shape));
    return {};
  }
};

template <class T>
struct sum_pairs {
  static cameo::result<sum_pairs> bind(cameo::bind_context&) { return sum_pairs{}; }
  cameo::status run(cameo::run_context& c) const {
    const auto x = c.input<T>(0);
    cameo::extents shape = x.shape();
    if (shape.rank() == 0 || shape.back() % 2 != 0) return {cameo::status_code::invalid_argument, "an odd last axis"};
    shape[shape.rank() - 1] /= 2;
    auto z = c.output<T>(0, shape);
    if (!z) return z.error();
    for (std::int64_t i = 0; i < z->count(); ++i) (*z)[i] = x[2 * i] + x[2 * i + 1];
    return {};
  }
};

template <class T>
struct negate {
  static cameo::result<negate> bind(cameo::bind_context&) { return negate{}; }
  cameo::status run(cameo::run_context& c) const {
    const auto x = c.input<T>(0);
    auto y = c.output<T>(0, x.shape());
    if (!y) return y.error();
    for (std::int64_t i = 0; i < x.count(); ++i) (*y)[i] = -x[i];
    return {};
  }
};

struct npu {
  static constexpr std::string_view name = "acme_npu", long_name = "AcmeNpuExecutionProvider";
  static constexpr auto reals = cameo::constrain<"T", float, double>;
  using kernels = cameo::kernel_list<cameo::kernel_entry<SumPairs, cameo::since<1>, reals, sum_pairs>,
                                     cameo::kernel_entry<cameo::op::Neg, cameo::since<6>, reals, negate>>;
};

using namespace cameo::pattern;

bool is_positive(const cameo::match_result& m, const cameo::value_view& v) {
  const std::optional<double> number = cameo::number_of(m.in->constant(v));
  return number && *number > 0;
}

constexpr cameo::rule relu_before_scale{
    "AcmeReluBeforeScale", match<cameo::op::Relu>(any_order(sole_use(match<cameo::op::Mul>(x, constant{c})))),
    make<cameo::op::Mul>(make<cameo::op::Relu>(x), c), when(check<is_positive>(c))};

using rules = cameo::transform_list<cameo::optimization_level::basic, cameo::rule_of<relu_before_scale>>;

}  // namespace acme

namespace {

using runtime = cameo::runtime<cameo::with<acme::rules>, acme::npu, cameo::eps::cpu>;

struct builder {
  cameo::graph& g;
  cameo::value_id node(std::string_view domain, std::string_view op, std::initializer_list<cameo::value_id> inputs,
                       std::string_view output) {
    const cameo::value_id made = g.add_value(output);
    cameo::node_spec spec;
    spec.name = output, spec.domain = domain, spec.op_type = op, spec.opset = domain.empty() ? 17 : 1;
    spec.inputs = {inputs.begin(), inputs.size()}, spec.outputs = {&made, 1};
    g.add_node(spec);
    return made;
  }
};

/// A model y = exp(-relu(2 * sum_pairs(x))), with x of [2, 8].
cameo::result<std::string> make_model() {
  static constexpr float two[] = {2};
  cameo::model m;
  m.ir_version = 10;
  m.imports = {{"", 17}, {acme::SumPairs::domain, 1}};
  cameo::graph& g = m.main();
  g.name = "package";
  const cameo::value constant = cameo::value::tensor<float>({}, two);
  const cameo::value_id x = g.add_value(
      "x", m.keep(cameo::value_type::tensor(cameo::dtype::f32, {cameo::dim::fixed(2), cameo::dim::fixed(8)})));
  g.add_input(x);
  const cameo::value_id scale = g.add_value("scale", m.keep(cameo::value_type::tensor(cameo::dtype::f32)));
  g.add_initializer(scale, &constant);
  builder b{g};
  const cameo::value_id scaled = b.node("", "Mul", {b.node("acme", "SumPairs", {x}, "summed"), scale}, "scaled");
  const cameo::value_id y =
      b.node("", "Exp", {b.node("", "Neg", {b.node("", "Relu", {scaled}, "kept")}, "negated")}, "y");
  g[y].type = m.keep(cameo::value_type::tensor(cameo::dtype::f32));
  g.add_output(y);
  if (cameo::status sorted = g.sort(); !sorted) return sorted;
  return cameo::write_onnx(m);
}

int wrong(const char* what) {
  std::fprintf(stderr, "wrong: %s\n", what);
  return 1;
}

int check_run(const cameo::session& session) {
  for (const cameo::placement_info& node : session.placements())
    if ((node.op_type == "SumPairs" || node.op_type == "Neg") != (node.provider == "acme_npu"))
      return wrong("a node is where it should not be");
  bool fired = false;
  for (const auto& each : session.rewrites().transforms) fired = fired || each.name == "AcmeReluBeforeScale";
  if (!fired) return wrong("the rule did not fire");

  std::vector<float> x(16);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = (float(i) - 7) / 4;
  auto outputs = session.run({{"x", cameo::value::tensor<float>({2, 8}, x)}});
  if (!outputs) return cameo::report(outputs.error());
  const auto y = (*outputs)[0].value.as_unchecked<float>();
  if (y.count() != 8) return wrong("the output has another size");
  for (std::int64_t i = 0; i < 8; ++i) {
    const float sum = 2 * (x[std::size_t(2 * i)] + x[std::size_t(2 * i) + 1]);
    if (std::abs(y[i] - std::exp(-std::max(sum, 0.0f))) > 1e-6f) return wrong("an element of the output");
  }
  return 0;
}

/// Checks messages that the library formats, with numbers and names in them.
int check_errors(const cameo::session& session) {
  const std::vector<float> x(6);
  const auto refused = session.run({{"x", cameo::value::tensor<float>({2, 3}, x)}});
  if (refused) return wrong("a run with a wrong shape");
  if (refused.error().code() != cameo::status_code::invalid_argument) return wrong("the code of a wrong shape");
  const std::string_view words = refused.error().words();
  if (words.find("'x'") == words.npos || words.find('3') == words.npos) return wrong("the words for a wrong shape");
  const auto absent = runtime{}.load("no such file.onnx");
  if (absent || absent.error().code() != cameo::status_code::no_suchfile) return wrong("a file that is not there");
  return 0;
}

}  // namespace

int main() {
  const cameo::result<std::string> bytes = make_model();
  if (!bytes) return cameo::report(bytes.error());
  const auto session = runtime{}.load(std::as_bytes(std::span{*bytes}));
  if (!session) return cameo::report(session.error());
  if (const int failed = check_run(*session) + check_errors(*session)) return failed;
  std::puts("ok");
  return 0;
}
