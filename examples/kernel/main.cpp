// A kernel for an operator of ONNX that has priority over the kernel of cpu: an approximate, fast hyperbolic tangent.
// Prints the provider of each node, and the largest error:
//
//     shifted  Add    cpu
//     bent     Tanh   mine
//     largest error: 9.6e-05
#include "../build_model.hpp"

#include <cameo/eps/cpu.hpp>
#include <cameo/op/onnx.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace {

/// y[i] = tanh(x[i]) with an error below 1e-4, by the first terms of Lambert's continued fraction. NaN stays NaN. y has
/// the shape of x and may be x.
template <class T>
struct fast_tanh {
  static cameo::result<fast_tanh> bind(cameo::bind_context& c) {
    c.may_overwrite(0, 0);  // the planner may give y the memory of x
    return fast_tanh{};
  }
  cameo::status run(cameo::run_context& c) const {
    const cameo::tensor_view<const T> x = c.input<T>(0);
    const cameo::result<cameo::tensor_view<T>> y = c.output<T>(0, x.shape());
    if (!y) return y.error();
    cameo::parallel_for(c, x.count(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) (*y)[i] = one(x[i]);
    });
    return {};
  }
  static T one(T x) {
    const T s = x * x;
    const T value = x * (135135 + s * (17325 + s * (378 + s))) / (135135 + s * (62370 + s * (3150 + s * 28)));
    return s > T(24.7) ? std::copysign(T(1), x) : value;  // the fraction exceeds 1 there
  }
};

/// A provider with this kernel for float. Other types and operators run on cpu.
struct mine {
  static constexpr std::string_view name = "mine", long_name = "MineExecutionProvider";
  using kernels = cameo::kernel_list<
      cameo::kernel_entry<cameo::op::Tanh, cameo::since<6>, cameo::constrain<"T", float>, fast_tanh>>;
};

using runtime = cameo::runtime<mine, cameo::eps::cpu>;  // in order of priority

}  // namespace

int main() {
  examples::model_builder net;
  net.input("x", cameo::dtype::f32, {-1}).constant<float>("half", {}, {0.5f});
  net.node("Add", {"x", "half"}, "shifted").node("Tanh", {"shifted"}, "bent").output("bent");
  auto session = runtime{}.load(net.finish());
  if (!session) return cameo::report(session.error());
  for (const cameo::placement_info& node : session->placements())
    std::printf("%-8s %-6s %s\n", node.node.c_str(), node.op_type.c_str(), node.provider.c_str());

  std::vector<float> x;
  for (int i = -1000; i <= 1000; ++i) x.push_back(float(i) / 100);
  auto outputs = session->run({{"x", x}});
  if (!outputs) return cameo::report(outputs.error());
  const auto bent = outputs->get<float>("bent");  // a view; an error for other types
  if (!bent) return cameo::report(bent.error());
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i)
    largest = std::max(largest, std::abs(double((*bent)[std::int64_t(i)]) - std::tanh(double(x[i]) + 0.5)));
  std::printf("largest error: %.1e\n", largest);
  return bent->size() == x.size() && largest < 1.5e-4 ? 0 : 1;
}
