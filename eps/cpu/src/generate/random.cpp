#include <cameo/eps/cpu/random.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <bit>

#include "functions/random_places.hpp"
#include "operands/operand_values.hpp"
#include "skeletons/float_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::int64_t drawn_at_once = 1 << 12;

/// Sets output element i to number(i), converted to its type.
template <class Elements, class F>
status fill_each(run_context& c, value& y, F&& number) {
  Elements::call(y.type, [&]<class T>(std::type_identity<T>) {
    T* const to = static_cast<T*>(y.data);
    parallel_for(c, y.shape.count(), drawn_at_once, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) to[i] = as_element<T>(number(i));
    });
  });
  return {};
}

/// Returns the class that a number in [0, 1) selects; the probability of a class is its share of the sum of weights.
std::int64_t pick(std::span<const double> sums, double at) {
  const double place = at * sums.back();
  const auto found = std::upper_bound(sums.begin(), sums.end(), place);
  return std::min<std::int64_t>(found - sums.begin(), std::int64_t(sums.size()) - 1);
}

status draw_classes(run_context& c, const random_places& numbers, std::int64_t samples) {
  const value& x = c.input(0);
  if (status s = check_least_count("a row of input", x.shape[1], 1); !s) return s;
  const result<value*> y = c.output(0, extents{x.shape[0], samples});
  if (!y) return y.error();
  const auto logs = c.scratch<double>(std::size_t(x.shape[1])), sums = c.scratch<double>(std::size_t(x.shape[1]));
  if (!logs || !sums) return status_code::out_of_memory;
  for (std::int64_t b = 0; b < x.shape[0]; ++b) {
    double* const row = logs->data();
    load_floats(x, b * x.shape[1], row, x.shape[1]);
    const double largest = *std::max_element(row, row + x.shape[1]);
    double sum = 0;
    for (std::int64_t k = 0; k < x.shape[1]; ++k) (*sums)[std::size_t(k)] = sum += std::exp(row[k] - largest);
    if (!(sum > 0 && sum < 1e300)) return bad_input("row ", b, " of input has no weights to choose by");
    for (std::int64_t i = b * samples; i < (b + 1) * samples; ++i) {
      const std::int64_t drawn = pick(*sums, numbers.uniform(i));
      if ((*y)->type == dtype::i64) static_cast<std::int64_t*>((*y)->data)[i] = drawn;
      else static_cast<std::int32_t*>((*y)->data)[i] = std::int32_t(drawn);
    }
  }
  return {};
}

}  // namespace

template <class Op>
result<random<Op>> random<Op>::bind(bind_context& c) {
  const attributes_of<Op> a{c.attributes};
  random made;
  made.has_seed = a.seed.has_value(), made.seed = a.seed.value_or(0);
  if constexpr (is_normal) made.first = a.mean, made.second = a.scale;
  else if constexpr (requires { a.low; }) made.first = a.low, made.second = a.high;
  else if constexpr (requires { a.sample_size; }) made.samples = a.sample_size;
  if constexpr (has_shape) {
    if (status s = of_model(check_rank(a.shape.size())); !s) return s;
    made.shape = extents{std::span<const std::int64_t>{a.shape}};
  }
  return made;
}

template <class Op>
status random<Op>::run(run_context& c) const {
  const random_places numbers = random_places::make(has_seed, std::bit_cast<std::uint32_t>(seed));
  if constexpr (std::is_same_v<Op, op::Multinomial>) {
    return draw_classes(c, numbers, samples);
  } else {
    const result<value*> y = c.output(0, has_shape ? shape : c.input(0).shape);
    if (!y) return y.error();
    if constexpr (std::is_same_v<Op, op::Bernoulli>) {
      const value& chances = c.input(0);
      return fill_each<elements>(
          c, **y, [&](std::int64_t i) { return numbers.uniform(i) < float_at<double>(chances, i) ? 1.0f : 0.0f; });
    } else if constexpr (is_normal) {
      return fill_each<elements>(c, **y,
                                 [&](std::int64_t i) { return double(first) + double(second) * numbers.normal(i); });
    } else {
      return fill_each<elements>(c, **y, [&](std::int64_t i) {
        return double(first) + (double(second) - double(first)) * numbers.uniform(i);
      });
    }
  }
}

template struct random<op::RandomNormal>;
template struct random<op::RandomUniform>;
template struct random<op::RandomNormalLike>;
template struct random<op::RandomUniformLike>;
template struct random<op::Bernoulli>;
template struct random<op::Multinomial>;

}  // namespace CAMEO_NAMESPACE::eps
