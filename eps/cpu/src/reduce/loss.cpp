#include <cameo/eps/cpu/loss.hpp>

#include <cmath>
#include <limits>

#include "common/float_values.hpp"
#include "common/operand_values.hpp"
#include "common/usable_sizes.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// y = log(softmax(x)) along the middle axis of [outer, classes, inner].
template <class C>
void log_softmax(run_context& c, const C* x, C* y, std::int64_t outer, std::int64_t classes, std::int64_t inner) {
  parallel_for(c, outer * inner, std::max<std::int64_t>(1, (1 << 12) / std::max<std::int64_t>(1, classes)),
               [&](std::int64_t first, std::int64_t last) {
                 for (std::int64_t row = first; row < last; ++row) {
                   const std::int64_t start = row / inner * classes * inner + row % inner;
                   C largest = -std::numeric_limits<C>::infinity();
                   for (std::int64_t k = 0; k < classes; ++k) largest = std::max(largest, x[start + k * inner]);
                   double sum = 0;
                   for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(double(x[start + k * inner] - largest));
                   const C below = C(std::log(sum));
                   for (std::int64_t k = 0; k < classes; ++k)
                     y[start + k * inner] = x[start + k * inner] - largest - below;
                 }
               });
}

}  // namespace

result<loss> loss::bind(bind_context& c) {
  loss made;
  const std::string_view how = c.string_or("reduction", "mean");
  if (how == "none") made.reduce = reduction::none;
  else if (how == "sum") made.reduce = reduction::sum;
  else if (how != "mean") return bad_attribute("reduction must be none, mean or sum, not '", how, "'");
  const attribute* const ignored = c.find("ignore_index");
  made.ignores = ignored && ignored->kind == attribute_kind::i;
  made.ignored = c.int_or("ignore_index", 0);
  made.softmax = c.op_type == "SoftmaxCrossEntropyLoss";
  return made;
}

template <class C>
status loss::run_as(run_context& c) const {
  const value &x = c.input(0), &labels = c.input(1), &weights = c.input(2);
  const std::size_t rank = x.shape.rank();
  if (rank < 2) return bad_input("scores ", x.shape, " must have at least two axes, [N, C, ...]");
  extents wanted = x.shape;
  wanted.erase(1);
  const std::int64_t outer = x.shape[0], classes = x.shape[1], inner = x.shape.count(2, rank);
  if (labels.shape != wanted) return bad_input("labels ", labels.shape, " must be ", wanted);
  if (weights && weights.shape != extents{classes})
    return bad_input("weights ", weights.shape, " must be ", extents{classes}, ", one for each class");
  if (status s = usable_sizes("scores", x.shape); !s) return s;
  const integers label{labels};
  for (std::int64_t i = 0; i < label.count(); ++i)
    if (!(ignores && label[i] == ignored) && (label[i] < 0 || label[i] >= classes))
      return bad_input("label ", label[i], " is not a class in [0,", classes, ")");

  const auto from = read_floats<C>(c, x);
  if (!from) return from.error();
  std::span<const C> weight;
  if (weights) {
    const auto read = read_floats<C>(c, weights);
    if (!read) return read.error();
    weight = *read;
  }
  const auto y = write_floats<C>(c, 0, reduce == reduction::none ? wanted : extents{});
  if (!y) return y.error();
  const C* scores = from->data();
  if (softmax) {
    float_output<C> logs;
    if (c.has_output(1)) {
      const auto made = write_floats<C>(c, 1, x.shape);
      if (!made) return made.error();
      logs = *made;
    } else {
      const auto made = c.scratch<C>(from->size());
      if (!made) return made.error();
      logs.data = made->data();
    }
    if (!from->empty()) log_softmax(c, scores, logs.data, outer, classes, inner);
    if (logs.tensor) logs.store();
    scores = logs.data;
  }
  double sum = 0, total = 0;
  for (std::int64_t i = 0; i < label.count(); ++i) {
    const bool counts = !(ignores && label[i] == ignored);
    const double w = !counts ? 0 : weights ? double(weight[std::size_t(label[i])]) : 1;
    const double part = counts ? -w * double(scores[(i / inner * classes + label[i]) * inner + i % inner]) : 0;
    if (reduce == reduction::none) y->data[i] = C(part);
    sum += part, total += w;
  }
  if (reduce == reduction::sum) *y->data = C(sum);
  if (reduce == reduction::mean) *y->data = total != 0 ? C(sum / total) : std::numeric_limits<C>::quiet_NaN();
  y->store();
  return {};
}

status loss::run(run_context& c) const { return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c); }

}  // namespace cameo::inline CAMEO_ABI::eps
