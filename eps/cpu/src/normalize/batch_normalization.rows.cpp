#include <cameo/eps/cpu/batch_normalization.hpp>
#include <cameo/geometry/reduction.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <cmath>

#include "functions/moments.hpp"
#include "operands/refuse.hpp"
#include "skeletons/float_output.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Computes a scale and a shift for each channel from scale, bias, mean and variance, which are consecutive in `from`.
void fold(std::span<const double> from, std::int64_t channels, double epsilon, double* coefficients) {
  const double *scale = from.data(), *bias = scale + channels, *mean = bias + channels, *variance = mean + channels;
  for (std::int64_t i = 0; i < channels; ++i) {
    coefficients[i] = scale[i] / std::sqrt(variance[i] + epsilon);
    coefficients[channels + i] = bias[i] - mean[i] * coefficients[i];
  }
}

void read_parameters(const value* const (&parameters)[4], std::int64_t channels, double* to) {
  for (std::int64_t i = 0; i < 4; ++i)
    convert_floats(parameters[i]->type, parameters[i]->data, to + i * channels, channels);
}

/// Computes the mean and the variance of each channel over the batch.
template <class C>
void measure(run_context& c, const row_rooms<C>& x, const geometry::slices& layout, double* mean, double* variance) {
  const std::int64_t n = layout.inner;
  const auto count = double(layout.outer * n);
  parallel_rows(c, layout.size, 1, [&](std::int64_t channel, std::int64_t, std::size_t lane) {
    const auto sum = [&](auto f) {
      double total = 0;
      for (std::int64_t b = 0; b < layout.outer; ++b)
        total += sum_of(x.read(lane, (b * layout.size + channel) * n, n), n, f);
      return total;
    };
    const double m = sum([](double v) { return v; }) / count;
    mean[channel] = m;
    variance[channel] = sum([m](double v) { return (v - m) * (v - m); }) / count;
  });
}

}  // namespace

result<batch_normalization> batch_normalization::bind(bind_context& c) {
  const attributes_of<op::BatchNormalization> a{c.attributes};
  batch_normalization made;
  made.epsilon = double(a.epsilon), made.momentum = double(a.momentum), made.spatial = a.spatial != 0;
  bool has_more_outputs = false;
  for (std::size_t i = 1; i < c.outputs.size(); ++i) has_more_outputs = has_more_outputs || c.has_output(i);
  made.trains = c.since >= 14 ? a.training_mode != 0 : has_more_outputs && a.is_test == 0;
  c.may_overwrite(0, 0);

  const value* const parameters[4] = {c.constant(1), c.constant(2), c.constant(3), c.constant(4)};
  for (const value* p : parameters)
    if (made.trains || !p || p->shape.count() != (parameters[0] ? parameters[0]->shape.count() : 0)) return made;
  const std::int64_t channels = parameters[0]->shape.count();
  const result<std::span<double>> kept = c.keep<double>(std::size_t(channels) * 4);
  if (!kept) return kept.error();
  read_parameters(parameters, channels, kept->data());
  // This works in place: the parameters of a channel are read before its coefficients overwrite scale and bias.
  fold(*kept, channels, made.epsilon, kept->data());
  made.coefficients = kept->first(std::size_t(channels) * 2);
  return made;
}

template <class C>
status batch_normalization::run_as(run_context& c) const {
  const value& x = c.input(0);
  const value* const parameters[4] = {&c.input(1), &c.input(2), &c.input(3), &c.input(4)};
  const geometry::named_shape<std::int64_t> shapes[] = {{"scale", parameters[0]->shape},
                                                        {"B", parameters[1]->shape},
                                                        {"mean", parameters[2]->shape},
                                                        {"var", parameters[3]->shape}};
  const auto made = geometry::batch_normalization_of<std::int64_t>(x.shape, spatial, shapes);
  if (!made) return made.error();
  const geometry::slices& layout = *made;
  const std::int64_t channels = layout.size;
  if (trains)
    if (status s = check_least_count("X", x.shape.count(), 1); !s) return s;
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  const std::int64_t n = layout.inner;
  const auto from = row_rooms<C>::make(c, x, 1, n), y = row_rooms<C>::make(c, **out, 1, n);
  if (!from || !y) return status_code::out_of_memory;
  std::span<const double> used = coefficients;
  if (used.size() != std::size_t(channels) * 2) {
    const result<std::span<double>> scratch = c.scratch<double>(std::size_t(channels) * 8);
    if (!scratch) return scratch.error();
    double *const mean = scratch->data() + 2 * channels, *const variance = mean + channels,
                  *const batch = scratch->data() + 4 * channels, *const folded = scratch->data() + 6 * channels;
    read_parameters(parameters, channels, scratch->data());
    if (trains) {
      measure(c, *from, layout, batch, batch + channels);
      for (std::int64_t i = 0; i < channels; ++i) {
        const double running[2] = {mean[i] * momentum + batch[i] * (1 - momentum),
                                   variance[i] * momentum + batch[channels + i] * (1 - momentum)};
        mean[i] = batch[i], variance[i] = batch[channels + i];
        batch[i] = running[0], batch[channels + i] = running[1];
      }
      const double* const statistics[] = {batch, batch + channels, mean, variance};
      for (std::size_t i = 0; i < 4; ++i)
        if (status done = write_optional(c, i + 1, extents{channels}, statistics[i]); !done) return done;
    }
    fold(scratch->first(std::size_t(channels) * 4), channels, epsilon, folded);
    used = {folded, std::size_t(channels) * 2};
  }
  parallel_each_row(c, layout.outer * channels, grain_of(1 << 15, n), [&](std::int64_t row, std::size_t lane) {
    const auto channel = std::size_t(row % channels);
    scale_and_shift(from->read(lane, row * n, n), y->room(lane, row * n), n, used[channel],
                    used[std::size_t(channels) + channel]);
    y->store(lane, row * n, n);
  });
  return {};
}

status batch_normalization::run(run_context& c) const {
  return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c);
}

}  // namespace CAMEO_NAMESPACE::eps
