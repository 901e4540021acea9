// A custom rewrite rule: exp(a) * exp(b) becomes exp(a + b), which has one exponential less. The program loads a model
// without and with the rule, and prints what the rule changed:
//
//     5 nodes, 3 of them Exp
//     4 nodes, 2 of them Exp, after 1 OneExp
//     largest error: 1.9e-07
#include "../build_model.hpp"

#include <cameo/eps/cpu.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rule.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

namespace op = cameo::op;
using namespace cameo::pattern;

/// Both factors are removed, so they must not have another use. (The results differ if a factor overflows: infinity
/// times zero is NaN, while the exponential of the sum is finite.)
constexpr cameo::rule one_exp{"OneExp", match<op::Mul>(sole_use(match<op::Exp>(x)), sole_use(match<op::Exp>(y))),
                              make<op::Exp>(make<op::Add>(x, y))};

using my_rules = cameo::transform_list<cameo::optimization_level::basic, cameo::rule_of<one_exp>>;
using plain_runtime = cameo::runtime<cameo::eps::cpu>;
using ruled_runtime = cameo::runtime<cameo::with<my_rules>, cameo::eps::cpu>;  // the standard rules and my_rules

/// The rule rewrites joined = exp(p) * exp(q). It does not match kept = shared * joined, because one factor is not an
/// exponential and shared is also an output.
std::unique_ptr<cameo::model> make_model() {
  examples::model_builder net;
  net.input("p", cameo::dtype::f32, {-1}).input("q", cameo::dtype::f32, {-1});
  net.node("Exp", {"p"}, "exp_p").node("Exp", {"q"}, "exp_q").node("Mul", {"exp_p", "exp_q"}, "joined");
  net.node("Exp", {"joined"}, "shared").node("Mul", {"shared", "joined"}, "kept");
  net.output("kept").output("shared");
  return net.finish();
}

void show(const cameo::session& session) {
  const auto nodes = session.placements();
  const auto exps = std::count_if(nodes.begin(), nodes.end(), [](const auto& node) { return node.op_type == "Exp"; });
  std::printf("%zu nodes, %d of them Exp", nodes.size(), int(exps));
  for (const cameo::transform_log::entry& each : session.rewrites().transforms)
    std::printf(", after %zu %.*s", each.changes, int(each.name.size()), each.name.data());
  std::printf("\n");
}

}  // namespace

int main() {
  auto plain = plain_runtime{}.load(make_model());
  auto ruled = ruled_runtime{}.load(make_model());
  if (!plain) return cameo::report(plain.error());
  if (!ruled) return cameo::report(ruled.error());
  show(*plain);
  show(*ruled);

  std::vector<float> p, q;
  for (int i = 0; i < 100; ++i) p.push_back(float(i) / 50 - 1), q.push_back(float(i % 7) / 10 - 1);
  auto outputs = ruled->run({{"p", p}, {"q", q}});
  if (!outputs) return cameo::report(outputs.error());
  const auto got_kept = outputs->get<float>("kept"), got_shared = outputs->get<float>("shared");
  if (!got_kept || !got_shared) return 1;
  double largest = 0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    const double joined = std::exp(double(p[i]) + double(q[i])), shared = std::exp(joined);
    const double errors[] = {double((*got_kept)[std::int64_t(i)]) / (shared * joined) - 1,
                             double((*got_shared)[std::int64_t(i)]) / shared - 1};
    for (const double error : errors) largest = std::max(largest, std::abs(error));
  }
  std::printf("largest error: %.1e\n", largest);
  const bool fired = ruled->placements().size() + 1 == plain->placements().size();
  return fired && largest < 1e-6 ? 0 : 1;
}
