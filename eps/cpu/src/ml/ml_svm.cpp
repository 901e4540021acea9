#include <cameo/eps/cpu/ml_linear.hpp>
#include <cameo/op/attributes/ml.hpp>

#include <algorithm>
#include <cmath>

#include "feature_walk.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Computes the probabilities p[n] of classes from those of pairs, r[n, n]: the fixed point of the second method of Wu,
/// Lin and Weng, "Probability Estimates for Multi-class Classification by Pairwise Coupling" (2004).
void couple(const double* r, std::int64_t n, double* p, double* q, double* qp) {
  for (std::int64_t i = 0; i < n; ++i) {
    p[i] = 1.0 / double(n);
    q[i * n + i] = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      if (j == i) continue;
      q[i * n + i] += r[j * n + i] * r[j * n + i];
      q[i * n + j] = -r[j * n + i] * r[i * n + j];
    }
  }
  const std::int64_t rounds = std::max<std::int64_t>(100, n);
  for (std::int64_t round = 0; round < rounds; ++round) {
    double whole = 0, worst = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      qp[i] = 0;
      for (std::int64_t j = 0; j < n; ++j) qp[i] += q[i * n + j] * p[j];
      whole += p[i] * qp[i];
    }
    for (std::int64_t i = 0; i < n; ++i) worst = std::max(worst, std::abs(qp[i] - whole));
    if (worst < 0.005 / double(n)) return;
    for (std::int64_t i = 0; i < n; ++i) {
      const double step = (whole - qp[i]) / q[i * n + i];
      p[i] += step;
      whole = (whole + step * (step * q[i * n + i] + 2 * qp[i])) / (1 + step) / (1 + step);
      for (std::int64_t j = 0; j < n; ++j) {
        qp[j] = (qp[j] + step * q[i * n + j]) / (1 + step);
        p[j] /= 1 + step;
      }
    }
  }
}

/// Checks that an attribute has so many elements at least.
status check_length(std::string_view name, std::span<const float> list, std::int64_t least) {
  return of_model(check_least_count(name, std::int64_t(list.size()), least));
}

status check_vectors(const svm_state& made) {
  return of_model(check_multiple("the number of support_vectors", std::int64_t(made.vectors.size()), made.supports));
}

/// Reads what both machines have.
template <class Attributes>
status read_machine(const Attributes& a, svm_state& made) {
  if (status s = check_length("rho", a.rho, 1); !s) return s;
  if (const std::span<const float> p = a.kernel_params; !p.empty()) {
    if (status s = check_length("kernel_params", p, 3); !s) return s;
    made.gamma = double(p[0]), made.coef0 = double(p[1]), made.degree = double(p[2]);
  }
  made.how = a.kernel_type, made.transform = a.post_transform;
  made.coefficients = a.coefficients, made.vectors = a.support_vectors, made.rho = a.rho;
  return {};
}

}  // namespace

double svm_state::kernel(const double* x, const float* vector, std::int64_t columns) const {
  double sum = 0;
  if (how == kernel_kind::rbf) {
    for (std::int64_t j = 0; j < columns; ++j) sum += (x[j] - double(vector[j])) * (x[j] - double(vector[j]));
    return std::exp(-gamma * sum);
  }
  for (std::int64_t j = 0; j < columns; ++j) sum += x[j] * double(vector[j]);
  if (how == kernel_kind::poly) return std::pow(gamma * sum + coef0, degree);
  return how == kernel_kind::sigmoid ? std::tanh(gamma * sum + coef0) : sum;
}

result<svm_regressor> svm_regressor::bind(bind_context& c) {
  const attributes_of<op::ml::SVMRegressor> a{c.attributes};
  svm_regressor made;
  if (status s = read_machine(a, made); !s) return s;
  made.one_class = a.one_class != 0, made.supports = a.n_supports;
  if (made.supports == 0) {
    made.how = kernel_kind::linear;
    return made;
  }
  const status fits = check_all({check_length("coefficients", made.coefficients, made.supports), check_vectors(made)});
  return fits ? result{made} : fits;
}

status svm_regressor::run(run_context& c) const {
  const feature_rows size = rows_of(c.input(0));
  const result<tensor_view<float>> y = c.output<float>(0, {size.rows, 1});
  if (!y) return y.error();
  const std::int64_t columns =
      supports > 0 ? std::int64_t(vectors.size()) / supports : std::int64_t(coefficients.size());
  return each_feature_row(c, size, columns, 2, 1, [&](std::int64_t row, const double* x, double* scores, std::size_t) {
    double sum = double(rho[0]);
    if (supports == 0) sum += kernel(x, coefficients.data(), columns);
    for (std::int64_t j = 0; j < supports; ++j)
      sum += double(coefficients[std::size_t(j)]) * kernel(x, vectors.data() + j * columns, columns);
    scores[0] = one_class ? sum > 0 ? 1 : -1 : sum;
    finish_scores(one_class ? score_transform::none : transform, second_class::none, scores, 1);
    (*y)[row] = float(scores[0]);
  });
}

/// The buffers for one row: scores, votes, the kernel function with each support vector, and the arguments of couple().
struct svm_classifier::row_scratch {
  double *scores, *votes, *kernels, *pairs, *q, *qp;
};

result<svm_classifier> svm_classifier::bind(bind_context& c) {
  const attributes_of<op::ml::SVMClassifier> a{c.attributes};
  svm_classifier made;
  if (status s = read_machine(a, made); !s) return s;
  made.labels = {a.classlabels_strings, a.classlabels_ints};
  made.per_class = a.vectors_per_class, made.prob_a = a.prob_a, made.prob_b = a.prob_b;
  const std::int64_t n = made.labels.count(), pairs = n * (n - 1) / 2;
  if (status s = of_model(check_number("the number of classlabels", n, 1, 4096)); !s) return s;
  if (made.per_class.empty()) {
    made.how = kernel_kind::linear;
    const auto count = std::int64_t(made.coefficients.size());
    if (status s = of_model(check_multiple("the number of coefficients", count, n)); !s) return s;
    return made;
  }
  const auto classes = std::int64_t(made.per_class.size());
  if (status s = of_model(check_count("vectors_per_class", classes, n)); !s) return s;
  const result<std::span<std::int64_t>> starts = c.keep<std::int64_t>(std::size_t(n));
  if (!starts) return starts.error();
  bool fits = true;
  for (std::size_t i = 0; i < std::size_t(n); ++i) {
    (*starts)[i] = made.supports;
    fits = fits && checked_add(made.supports, made.per_class[i], made.supports);
  }
  made.starts = *starts;
  std::int64_t needed = 0;
  fits = fits && checked_multiply(made.supports, n - 1, needed);
  const std::int64_t coupled = made.prob_a.empty() ? 0 : pairs;
  const status lengths = check_all({of_model(check_fits("vectors_per_class", fits)),
                                    check_length("coefficients", made.coefficients, needed), check_vectors(made),
                                    check_length("rho", made.rho, pairs), check_length("prob_a", made.prob_a, coupled),
                                    check_length("prob_b", made.prob_b, coupled)});
  return lengths ? result{made} : lengths;
}

/// Writes the classes' probabilities to `scores`, if the node has them, or else the pairs' scores. Returns the class
/// with most votes.
std::int64_t svm_classifier::decide(const double* x, std::int64_t columns, const row_scratch& s) const {
  const std::int64_t n = labels.count();
  for (std::int64_t v = 0; v < supports; ++v) s.kernels[v] = kernel(x, vectors.data() + v * columns, columns);
  std::fill_n(s.votes, n, 0.0);
  std::int64_t pair = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j < n; ++j, ++pair) {
      double sum = double(rho[std::size_t(pair)]);
      const std::int64_t a = starts[std::size_t(i)], b = starts[std::size_t(j)];
      for (std::int64_t v = 0; v < per_class[std::size_t(i)]; ++v)
        sum += double(coefficients[std::size_t((j - 1) * supports + a + v)]) * s.kernels[a + v];
      for (std::int64_t v = 0; v < per_class[std::size_t(j)]; ++v)
        sum += double(coefficients[std::size_t(i * supports + b + v)]) * s.kernels[b + v];
      s.scores[pair] = sum;
      ++s.votes[sum > 0 ? i : j];
    }
  const std::int64_t winner = std::max_element(s.votes, s.votes + n) - s.votes;
  if (prob_a.empty()) return winner;
  for (std::int64_t i = 0, p = 0; i < n; ++i)
    for (std::int64_t j = i + 1; j < n; ++j, ++p) {
      const double v = logistic(-(s.scores[p] * double(prob_a[std::size_t(p)]) + double(prob_b[std::size_t(p)])));
      s.pairs[i * n + j] = std::clamp(v, 1e-7, 1 - 1e-7);
      s.pairs[j * n + i] = 1 - s.pairs[i * n + j];
    }
  couple(s.pairs, n, s.scores, s.q, s.qp);
  return winner;
}

status svm_classifier::run(run_context& c) const {
  const feature_rows size = rows_of(c.input(0));
  const std::int64_t n = labels.count(), pairs = n * (n - 1) / 2;
  const bool linear = per_class.empty(), single = !linear && prob_a.empty() && pairs == 1;
  const std::int64_t count = linear || !prob_a.empty() ? n : pairs;
  const std::int64_t width = single && transform != score_transform::probit ? 2 : count;
  const auto outputs = classifier_outputs::make(c, labels, size.rows, width);
  if (!outputs) return outputs.error();
  const std::int64_t columns = linear ? std::int64_t(coefficients.size()) / n : std::int64_t(vectors.size()) / supports;
  const std::int64_t room = std::max(pairs, n) + 2;
  const std::int64_t more = room + n + supports + (prob_a.empty() ? 0 : 2 * n * n + n);
  return each_feature_row(c, size, columns, more, 1, [&](std::int64_t row, const double* x, double* from, std::size_t) {
    row_scratch s{from, from + room, from + room + n, nullptr, nullptr, nullptr};
    s.pairs = s.kernels + supports, s.q = s.pairs + n * n, s.qp = s.q + n * n;
    std::int64_t best = 0;
    if (linear) {
      for (std::int64_t k = 0; k < n; ++k)
        s.scores[k] = double(rho[0]) + kernel(x, coefficients.data() + k * columns, columns);
      best = std::max_element(s.scores, s.scores + n) - s.scores;
    } else {
      best = decide(x, columns, s);
    }
    outputs->put_label(row, best);
    const second_class pair = transform == score_transform::none ? second_class::opposite : second_class::complement;
    outputs->put_scores(row, s.scores, finish_scores(transform, single ? pair : second_class::none, s.scores, count));
  });
}

}  // namespace CAMEO_NAMESPACE::eps
