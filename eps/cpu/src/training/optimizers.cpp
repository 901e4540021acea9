#include <cameo/eps/cpu/optimizers.hpp>
#include <cameo/kernel/run_context.hpp>
#include <cameo/op/attributes/training.hpp>

#include <cmath>

#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The factors of a step, which are the same for all elements.
template <class T>
struct step_factors {
  T rate, norm, norm_post, epsilon, alpha, beta;
};

/// A tensor that is optimized: x, its gradient, and the optimizer's state for it (`kept` is that before the step, and
/// `keep` that after it).
template <class T>
struct optimized_tensor {
  const T *x, *gradient, *kept[2];
  T *y, *keep[2];

  void step(const optimizer& how, const step_factors<T>& by, std::int64_t i) const {
    const T g = by.norm * x[i] + gradient[i];
    switch (how.how) {
      case optimizer::method::adagrad: {
        const T squares = kept[0][i] + g * g;
        y[i] = x[i] - by.rate * g / (std::sqrt(squares) + by.epsilon);
        keep[0][i] = squares;
        break;
      }
      case optimizer::method::adam: {
        const T mean = by.alpha * kept[0][i] + (1 - by.alpha) * g,
                squares = by.beta * kept[1][i] + (1 - by.beta) * g * g;
        y[i] = (1 - by.norm_post) * (x[i] - by.rate * mean / (std::sqrt(squares) + by.epsilon));
        keep[0][i] = mean, keep[1][i] = squares;
        break;
      }
      case optimizer::method::momentum:
      case optimizer::method::nesterov: {
        const T v = by.alpha * kept[0][i] + by.beta * g;
        y[i] = x[i] - by.rate * (how.how == optimizer::method::nesterov ? g + by.alpha * v : v);
        keep[0][i] = v;
        break;
      }
    }
  }
};

template <class T>
status run_steps(const optimizer& how, run_context& c, std::size_t tensors, double rate, double beta) {
  const step_factors<T> by{T(rate), T(how.norm), T(how.norm_post), T(how.epsilon), T(how.alpha), T(beta)};
  for (std::size_t t = 0; t < tensors; ++t) {
    const value &x = c.input(2 + t), &gradient = c.input(2 + tensors + t);
    optimized_tensor<T> one{static_cast<const T*>(x.data), static_cast<const T*>(gradient.data), {}, nullptr, {}};
    if (status s = check_shape("a gradient", gradient.shape, x.shape); !s) return s;
    const result<tensor_view<T>> y = c.output<T>(t, x.shape);
    if (!y) return y.error();
    one.y = y->data();
    for (std::size_t k = 0; k < how.kept; ++k) {
      const value& from = c.input(2 + (2 + k) * tensors + t);
      if (status s = check_shape("a state", from.shape, x.shape); !s) return s;
      const result<tensor_view<T>> to = c.output<T>((1 + k) * tensors + t, x.shape);
      if (!to) return to.error();
      one.kept[k] = static_cast<const T*>(from.data), one.keep[k] = to->data();
    }
    parallel_elements(c, x.shape.count(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) one.step(how, by, i);
    });
  }
  return {};
}

template <class Op>
void read_method(const attributes_of<Op>& a, optimizer& made) {
  using enum optimizer::method;
  made.norm = double(a.norm_coefficient);
  if constexpr (std::is_same_v<Op, op::training::Adagrad>) {
    made.how = adagrad, made.decay = double(a.decay_factor), made.epsilon = double(a.epsilon);
  } else {
    made.alpha = double(a.alpha), made.beta = double(a.beta);
    if constexpr (std::is_same_v<Op, op::training::Adam>) {
      made.how = adam, made.kept = 2;
      made.epsilon = double(a.epsilon), made.norm_post = double(a.norm_coefficient_post);
    } else {
      made.how = a.mode == op::momentum_mode_choice::nesterov ? nesterov : momentum;
    }
  }
}

}  // namespace

template <class Op>
result<optimizer_of<Op>> optimizer_of<Op>::bind(bind_context& c) {
  optimizer_of made;
  read_method<Op>(attributes_of<Op>{c.attributes}, made);
  const std::size_t each = 2 + made.kept, given = c.inputs.size() < 2 ? 0 : c.inputs.size() - 2;
  if (given == 0 || given % each != 0 || c.outputs.size() != given / each * (1 + made.kept))
    return bad_attribute("has ", given, " inputs after the rate and the count, and ", c.outputs.size(),
                         " outputs; each tensor needs ", each, " and ", 1 + made.kept);
  for (std::size_t i = 0; i < c.outputs.size(); ++i)
    if (status s = check_given("all outputs", c.has_output(i)); !s) return s;
  for (const std::span<const operand> tensors : {c.inputs.subspan(2), c.outputs})
    for (const operand& tensor : tensors)
      if (status s = of_model(check_type("a tensor", tensor.type, c.inputs[2].type)); !s) return s;
  return made;
}
template struct optimizer_of<op::training::Adagrad>;
template struct optimizer_of<op::training::Adam>;
template struct optimizer_of<op::training::Momentum>;

status optimizer::run(run_context& c) const {
  const value &r = c.input(0), &t = c.input(1);
  double rate = r.type == dtype::f64 ? r.as_unchecked<double>()[0] : double(r.as_unchecked<float>()[0]);
  const auto updates = double(t.as_unchecked<std::int64_t>()[0]);
  double factor = beta;
  if (how == method::adagrad) rate /= 1 + updates * decay;
  else if (how != method::adam) factor = updates > 0 ? beta : 1;
  else if (updates > 0) rate *= std::sqrt(1 - std::pow(beta, updates)) / (1 - std::pow(alpha, updates));
  const std::size_t tensors = (c.input_count() - 2) / (2 + kept);
  if (c.input(2).type == dtype::f64) return run_steps<double>(*this, c, tensors, rate, factor);
  return run_steps<float>(*this, c, tensors, rate, factor);
}

}  // namespace CAMEO_NAMESPACE::eps
