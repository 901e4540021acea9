#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/dropout.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <atomic>
#include <random>

#include "operands/refuse.hpp"
#include "skeletons/float_values.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// A number in [0, 1) with 53 bits, made from the generator as numpy's RandomState(seed) makes it, because the expected
/// masks of ONNX's tests were made by numpy.
double uniform(std::mt19937& random) {
  const auto high = std::uint32_t(random()) >> 5, low = std::uint32_t(random()) >> 6;
  return (high * 0x1p26 + low) * 0x1p-53;
}

bool is_true(const value& v) { return v && v.shape.count() == 1 && *static_cast<const std::uint8_t*>(v.data) != 0; }

double read_ratio(const value& v) {
  double ratio = 0.5;
  if (v && v.shape.count() == 1)
    any_float_elements::call(v.type, [&]<class T>(std::type_identity<T>) {
      using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
      ratio = double(C(*static_cast<const T*>(v.data)));
    });
  return ratio;
}

void drop(const value& x, value& y, std::uint8_t* mask, std::uint32_t seed, double ratio) {
  any_float_elements::call(x.type, [&]<class T>(std::type_identity<T>) {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    std::mt19937 random{seed};
    const tensor_view<const T> from = x.as_unchecked<T>();
    const tensor_view<T> to = y.as_mutable_unchecked<T>();
    const C scale = C(1 / (1 - ratio));
    for (std::int64_t i = 0; i < from.count(); ++i) {
      const bool kept = uniform(random) >= ratio;
      to[i] = kept ? T(C(from[i]) * scale) : T(0.0f);
      if (mask) mask[i] = kept;
    }
  });
}

}  // namespace

result<dropout> dropout::bind(bind_context& c) {
  dropout made;
  made.mask_of_numbers = c.since < 10;
  if (c.since >= 12 && c.has_input(2)) {
    const value* const training = c.constant(2);
    made.may_train = !training || is_true(*training);
  }
  made.seed = attributes_of<op::Dropout>{c.attributes}.seed;
  if (!made.may_train) c.views(0, 0);
  return made;
}

status dropout::run(run_context& c) const {
  const value& x = c.input(0);
  const bool trains = may_train && is_true(c.input(2));
  const double ratio = trains ? read_ratio(c.input(1)) : 0;
  if (!(ratio >= 0 && ratio < 1)) return bad_input("ratio must be in [0, 1)");
  value* mask = nullptr;
  if (c.has_output(1)) {
    const result<value*> made = c.output(1, x.shape);
    if (!made) return made.error();
    mask = *made;
  }
  if (ratio == 0) {
    const std::uint64_t one = mask && mask_of_numbers ? float_element(mask->type, 1) : 0x0101010101010101;
    if (mask) fill(c, mask->data, mask->shape.count(), &one, element_bytes(mask->type));
    return c.forward(0, x, x.shape);
  }
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  static std::atomic<std::uint32_t> runs{0};
  const std::uint32_t from = seed ? std::uint32_t(*seed) : runs.fetch_add(1, std::memory_order_relaxed) + 1;
  drop(x, **y, mask ? static_cast<std::uint8_t*>(mask->data) : nullptr, from, ratio);
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
