#include <cameo/eps/cpu/lrn.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>
#include <cmath>

#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::int64_t columns = 512;

/// y = x / (bias + factor * sum)^beta, element by element.
template <class C>
void divide_by_power(const C* x, const C* sum, C* y, std::int64_t n, C bias, C factor, C beta) {
  if (beta == C(0.75)) {  // the value of all published models; compilers vectorize roots, but not powers
    for (std::int64_t i = 0; i < n; ++i) {
      const C root = std::sqrt(bias + factor * sum[i]);
      y[i] = x[i] / (root * std::sqrt(root));
    }
  } else {
    for (std::int64_t i = 0; i < n; ++i) y[i] = x[i] * std::pow(bias + factor * sum[i], -beta);
  }
}

}  // namespace

result<lrn> lrn::bind(bind_context& c) {
  const attributes_of<op::LRN> a{c.attributes};
  return lrn{a.alpha, a.beta, a.bias, a.size};
}

template <class C>
status lrn::run_as(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  const std::int64_t channels = x.shape[1], n = x.shape.count(2, x.shape.rank());
  const std::int64_t stretches = (n + columns - 1) / columns, width = std::min(n, columns);
  const auto from = row_rooms<C>::make(c, x, channels, width), y = row_rooms<C>::make(c, **out, channels, width);
  if (!from || !y) return status_code::out_of_memory;
  const std::int64_t before = std::min((size - 1) / 2, channels), after = std::min(size / 2, channels);
  const C factor = C(alpha) / C(size);
  parallel_each_row(c, x.shape[0] * stretches, 1, [&](std::int64_t unit, std::size_t lane) {
    const std::int64_t column = unit % stretches * columns, m = std::min(columns, n - column);
    const std::int64_t start = unit / stretches * channels * n + column;
    const row_block<const C> in = from->read(lane, start, n, channels, m);
    const row_block<C> to = y->room(lane, start, n);
    for (std::int64_t k = 0; k < channels; ++k) {
      C sum[columns];
      std::fill_n(sum, m, C(0));
      for (std::int64_t j = std::max<std::int64_t>(0, k - before); j <= std::min(channels - 1, k + after); ++j)
        for (std::int64_t i = 0; i < m; ++i) sum[i] += in.data[j * in.step + i] * in.data[j * in.step + i];
      divide_by_power(in.data + k * in.step, sum, to.data + k * to.step, m, C(bias), factor, C(beta));
    }
    y->store(lane, start, n, channels, m);
  });
  return {};
}

status lrn::run(run_context& c) const { return c.input(0).type == dtype::f64 ? run_as<double>(c) : run_as<float>(c); }

}  // namespace CAMEO_NAMESPACE::eps
