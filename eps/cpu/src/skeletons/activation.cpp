#include <cameo/eps/cpu/detail/activation.hpp>

#include <limits>

#include "map.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// An operator that can be fused as an activation, with the defaults of its parameters.
struct activation_row {
  std::string_view name;
  activation_kind kind;
  float a, b;                // the defaults of the operator's parameters
  unary_row (*loop)(dtype);  // the loop for float or double
  std::uint8_t takes;        // the number of parameters that a node may give
};
constexpr activation_row activation_rows[] = {
    {"Relu", activation_kind::bounds, 0, std::numeric_limits<float>::infinity(), float_loop<op::Clip>, 0},
    {"LeakyRelu", activation_kind::stored, 0.01f, 0, float_loop<op::LeakyRelu>, 1},
    {"Clip", activation_kind::bounds, -3.402823466e+38f, 3.402823466e+38f, float_loop<op::Clip>, 2},
    {"HardSigmoid", activation_kind::stored, 0.2f, 0.5f, float_loop<op::HardSigmoid>, 2},
    {"Sigmoid", activation_kind::stored, 0, 0, float_loop<op::Sigmoid>, 0},
    {"Tanh", activation_kind::stored, 0, 0, float_loop<op::Tanh>, 0},
    {"Elu", activation_kind::stored, 1.0f, 0, float_loop<op::Elu>, 1},
    {"Selu", activation_kind::stored, 1.67326319f, 1.05070102f, float_loop<op::Selu>, 2},
    {"Softplus", activation_kind::stored, 0, 0, float_loop<op::Softplus>, 0},
    {"Softsign", activation_kind::stored, 0, 0, float_loop<op::Softsign>, 0},
    {"ThresholdedRelu", activation_kind::stored, 1.0f, 0, float_loop<op::ThresholdedRelu>, 1},
};

}  // namespace

result<activation> activation_named(std::string_view name, dtype type) {
  if (name.empty()) return activation{};
  for (const activation_row& row : activation_rows)
    if (row.name == name) return activation{row.kind, row.a, row.b, row.loop(type), row.takes};
  return status{status_code::invalid_graph,
                "activation is none of Relu LeakyRelu Clip HardSigmoid Sigmoid Tanh Elu Selu Softplus Softsign "
                "ThresholdedRelu"};
}

}  // namespace CAMEO_NAMESPACE::eps
