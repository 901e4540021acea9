#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/eps/cpu/dropout.hpp>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "common/refuse.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// The Mersenne twister (MT19937) as numpy's RandomState(seed) uses it, from which ONNX's expected masks come.
class random_numbers {
 public:
  explicit random_numbers(std::uint32_t seed) {
    for (std::uint32_t i = 0; i < size; ++i) {
      state_[i] = seed;
      seed = 1812433253u * (seed ^ seed >> 30) + i + 1;
    }
  }
  /// In [0, 1), of 53 bits.
  double uniform() {
    const std::uint32_t high = next() >> 5, low = next() >> 6;
    return (high * 0x1p26 + low) * 0x1p-53;
  }

 private:
  static constexpr std::uint32_t size = 624, middle = 397;

  std::uint32_t next() {
    if (used_ == size) refill();
    std::uint32_t x = state_[used_++];
    x ^= x >> 11;
    x ^= x << 7 & 0x9D2C5680u;
    x ^= x << 15 & 0xEFC60000u;
    return x ^ x >> 18;
  }
  void refill() {
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint32_t joined = (state_[i] & 0x80000000u) | (state_[(i + 1) % size] & 0x7FFFFFFFu);
      state_[i] = state_[(i + middle) % size] ^ joined >> 1 ^ (joined & 1 ? 0x9908B0DFu : 0u);
    }
    used_ = 0;
  }

  std::uint32_t state_[size];
  std::uint32_t used_ = size;
};

void fill_with_ones(value& mask, bool numbers) {
  if (!numbers) {
    std::memset(mask.data, 1, std::size_t(mask.shape.count()));
    return;
  }
  float_elements::call(mask.type, [&]<class T>(std::type_identity<T>) {
    const tensor_view<T> ones = mask.as_mutable_unchecked<T>();
    std::fill(ones.begin(), ones.end(), T(1));
  });
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
    random_numbers random{seed};
    const tensor_view<const T> from = x.as_unchecked<T>();
    const tensor_view<T> to = y.as_mutable_unchecked<T>();
    const C scale = C(1 / (1 - ratio));
    for (std::int64_t i = 0; i < from.count(); ++i) {
      const bool kept = random.uniform() >= ratio;
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
  const attribute* const seed = c.find("seed");
  made.has_seed = seed && seed->kind == attribute_kind::i;
  made.seed = c.int_or("seed", 0);
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
    if (mask) fill_with_ones(*mask, mask_of_numbers);
    return c.forward(0, x, x.shape);
  }
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  static std::atomic<std::uint32_t> runs{0};
  const std::uint32_t from = has_seed ? std::uint32_t(seed) : runs.fetch_add(1, std::memory_order_relaxed) + 1;
  drop(x, **y, mask ? static_cast<std::uint8_t*>(mask->data) : nullptr, from, ratio);
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
