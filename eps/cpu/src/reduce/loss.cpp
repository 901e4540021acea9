#include <cameo/eps/cpu/loss.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <cmath>
#include <limits>

#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::int64_t loss_columns = 64;

/// Computes what log(softmax(x)) subtracts from each element, for n columns (loss_columns at most), whose elements are
/// `step` apart: the largest element, and the logarithm of the sum of exponentials.
template <class C>
void log_sums(const C* x, std::int64_t classes, std::int64_t step, std::int64_t n, C* largest, C* below) {
  for (std::int64_t i = 0; i < n; ++i) {
    largest[i] = -std::numeric_limits<C>::infinity();
    for (std::int64_t k = 0; k < classes; ++k) largest[i] = std::max(largest[i], x[k * step + i]);
    double sum = 0;
    for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(double(x[k * step + i] - largest[i]));
    below[i] = C(std::log(sum));
  }
}

/// Computes log(softmax(x)) of the class that each label selects (0 for ignored labels), and, if `logs` is not null, of
/// all classes.
template <class C, class Label>
status pick_logs(run_context& c, const value& x, const value* logs, const Label& label_of, C* picked) {
  const std::int64_t classes = x.shape[1], inner = x.shape.count(2, x.shape.rank());
  const std::int64_t stretches = (inner + loss_columns - 1) / loss_columns, width = std::min(inner, loss_columns);
  const auto from = row_rooms<C>::make(c, x, classes, width),
             to = row_rooms<C>::make(c, logs ? *logs : x, classes, width);
  if (!from || !to) return status_code::out_of_memory;
  const auto grain = std::max<std::int64_t>(1, (1 << 12) / std::max<std::int64_t>(1, classes * width));
  parallel_rows(c, x.shape[0] * stretches, grain, [&](std::int64_t first, std::int64_t last, std::size_t lane) {
    for (std::int64_t unit = first; unit < last; ++unit) {
      const std::int64_t outer = unit / stretches, column = unit % stretches * loss_columns;
      const std::int64_t start = outer * classes * inner + column, n = std::min(loss_columns, inner - column);
      const row_block<const C> in = from->read(lane, start, inner, classes, n);
      C largest[loss_columns], below[loss_columns];
      log_sums(in.data, classes, in.step, n, largest, below);
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t at = outer * inner + column + i, k = label_of(at);
        picked[at] = k < 0 ? C(0) : in.data[k * in.step + i] - largest[i] - below[i];
      }
      if (!logs) continue;
      const row_block<C> out = to->room(lane, start, inner);
      for (std::int64_t k = 0; k < classes; ++k)
        for (std::int64_t i = 0; i < n; ++i)
          out.data[k * out.step + i] = in.data[k * in.step + i] - largest[i] - below[i];
      to->store(lane, start, inner, classes, n);
    }
  });
  return {};
}

/// The labels, some of which are ignored.
struct counted_labels {
  integers label;
  std::optional<std::int64_t> ignored;

  bool counts(std::int64_t i) const { return label[i] != ignored; }
  status check(std::int64_t classes) const {
    for (std::int64_t i = 0; i < label.count(); ++i)
      if (counts(i) && (label[i] < 0 || label[i] >= classes)) return check_element("labels", label[i], 0, classes - 1);
    return {};
  }
};

}  // namespace

result<loss> loss::bind(bind_context& c) {
  const attributes_of<op::SoftmaxCrossEntropyLoss> a{c.attributes};
  return loss{a.reduction, c.op_type == "SoftmaxCrossEntropyLoss", a.ignore_index};
}

template <class C>
status loss::run_as(run_context& c) const {
  const value &x = c.input(0), &labels = c.input(1), &weights = c.input(2);
  const std::size_t rank = x.shape.rank();
  extents wanted = x.shape;
  wanted.erase(1);
  const std::int64_t classes = x.shape[1], inner = x.shape.count(2, rank);
  if (status s = check_shape("labels", labels.shape, wanted); !s) return s;
  if (status s = usable_sizes("scores", x.shape); !s) return s;
  const counted_labels all{integers{labels}, ignored};
  const integers& label = all.label;
  if (status s = all.check(classes); !s) return s;
  const result<value*> y = c.output(0, reduce == reduction::none ? wanted : extents{});
  if (!y) return y.error();
  result<value*> logs = static_cast<value*>(nullptr);
  if (softmax && c.has_output(1)) logs = c.output(1, x.shape);
  if (!logs) return logs.error();
  const auto picked = c.scratch<C>(std::size_t(label.count()));
  if (!picked) return picked.error();
  C* const parts = picked->data();
  if (softmax && x.shape.count() != 0) {
    const auto label_of = [&](std::int64_t i) { return all.counts(i) ? label[i] : -1; };
    if (status done = pick_logs(c, x, *logs, label_of, parts); !done) return done;
  }
  double sum = 0, total = 0;
  for (std::int64_t i = 0; i < label.count(); ++i) {
    if (!all.counts(i)) {
      parts[i] = 0;
      continue;
    }
    const double w = weights ? double(float_at<C>(weights, label[i])) : 1;
    if (!softmax) parts[i] = float_at<C>(x, (i / inner * classes + label[i]) * inner + i % inner);
    const double part = -w * double(parts[i]);
    parts[i] = C(part);
    sum += part, total += w;
  }
  if (reduce == reduction::none) return save_floats(parts, **y, 0, label.count()), status{};
  const C one = reduce == reduction::sum ? C(sum) : total != 0 ? C(sum / total) : std::numeric_limits<C>::quiet_NaN();
  return save_floats(&one, **y, 0, 1), status{};
}

status loss::run(run_context& c) const { return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c); }

}  // namespace CAMEO_NAMESPACE::eps
