// Eigen and cameo on the same memory: inputs and outputs are Eigen's matrices, and the output is compared with the
// result of Eigen. The second run writes directly to a matrix of the program.
//
//     largest difference to Eigen: 6.0e-08
//     bound without copies: yes
//     a matrix of a vector: INVALID_ARGUMENT
#include "../build_model.hpp"

#include <cameo/eps/cpu.hpp>
#include <cameo/interop/eigen.hpp>

#include <cstdio>

namespace {

// ONNX's tensors are row-major, and so must be the matrices: as_tensor does not compile for Eigen's column-major types,
// which are Eigen's default.
using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr Eigen::Index rows = 5, inner = 8, columns = 3;

/// y = relu(x * w + b), where x, w and b are inputs.
std::unique_ptr<cameo::model> make_model() {
  examples::model_builder net;
  net.input("x", cameo::dtype::f32, {-1, inner}).input("w", cameo::dtype::f32, {inner, columns});
  net.input("b", cameo::dtype::f32, {columns});
  net.node("MatMul", {"x", "w"}, "product").node("Add", {"product", "b"}, "sum").node("Relu", {"sum"}, "y");
  net.output("y");
  return net.finish();
}

}  // namespace

int main() {
  auto session = cameo::runtime<cameo::eps::cpu>{}.load(make_model());
  if (!session) return cameo::report(session.error());

  const matrix x = matrix::Random(rows, inner), w = matrix::Random(inner, columns);
  const Eigen::RowVectorXf b = Eigen::RowVectorXf::Random(columns);
  auto outputs = session->run({{"x", cameo::as_tensor(x)}, {"w", cameo::as_tensor(w)}, {"b", cameo::as_tensor(b)}});
  if (!outputs) return cameo::report(outputs.error());
  const auto output = outputs->get<float>("y");
  if (!output) return cameo::report(output.error());
  const auto y = cameo::as_eigen_matrix(*output);  // a Map over the output
  if (!y) return cameo::report(y.error());
  const matrix expected = ((x * w).rowwise() + b).cwiseMax(0);
  if (y->rows() != rows || y->cols() != columns) return 1;
  const float difference = (*y - expected).cwiseAbs().maxCoeff();
  std::printf("largest difference to Eigen: %.1e\n", double(difference));

  matrix result(rows, columns);
  auto binding = session->bind();
  if (!binding) return cameo::report(binding.error());
  for (const auto& [name, from] :
       {std::pair{"x", cameo::as_tensor(x)}, {"w", cameo::as_tensor(w)}, {"b", cameo::as_tensor(b)}})
    if (cameo::status s = binding->bind_input(name, from); !s) return cameo::report(s);
  if (cameo::status s = binding->bind_output("y", cameo::as_tensor(result)); !s) return cameo::report(s);
  if (cameo::status s = session->run(*binding); !s) return cameo::report(s);
  const bool bound = binding->output(0).data == result.data() && result.isApprox(expected);
  std::printf("bound without copies: %s\n", bound ? "yes" : "no");

  const auto refused = cameo::as_eigen_matrix(cameo::as_tensor(b).as_unchecked<float>());
  std::printf("a matrix of a vector: %s\n", refused.error().name());
  return difference < 1e-5f && bound && !refused ? 0 : 1;
}
