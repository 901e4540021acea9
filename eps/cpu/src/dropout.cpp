#include <cameo/eps/cpu/dropout.hpp>

#include <atomic>
#include <cmath>
#include <cstring>

#include "refuse.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// Number i of a sequence in [0, 1): splitmix64, which any thread can enter anywhere.
float uniform(std::uint64_t seed, std::int64_t i) {
  std::uint64_t x = seed + (std::uint64_t(i) + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return float((x ^ x >> 31) >> 40) * 0x1p-24f;
}

template <class F>
void with_float_type(dtype type, F&& f) {
  switch (type) {
    case dtype::f64: return f(std::type_identity<double>{});
    case dtype::f16: return f(std::type_identity<float16>{});
    case dtype::bf16: return f(std::type_identity<bfloat16>{});
    default: return f(std::type_identity<float>{});
  }
}

void fill_with_ones(value& mask, bool numbers) {
  if (!numbers) {
    std::memset(mask.data, 1, std::size_t(mask.shape.count()));
    return;
  }
  with_float_type(mask.type, [&]<class T>(std::type_identity<T>) {
    const tensor_view<T> ones = mask.as_mutable<T>();
    std::fill(ones.begin(), ones.end(), T(1));
  });
}

float read_ratio(const value& v) {
  float ratio = 0.5f;
  if (v && v.shape.count() == 1)
    with_float_type(v.type, [&]<class T>(std::type_identity<T>) { ratio = float(*static_cast<const T*>(v.data)); });
  return ratio;
}

void drop(const value& x, value& y, std::uint8_t* mask, std::uint64_t seed, float ratio) {
  with_float_type(x.type, [&]<class T>(std::type_identity<T>) {
    using C = std::conditional_t<std::is_same_v<T, double>, double, float>;
    const tensor_view<const T> from = x.as<T>();
    const tensor_view<T> to = y.as_mutable<T>();
    const C scale = C(1) / (C(1) - C(ratio));
    for (std::int64_t i = 0; i < from.count(); ++i) {
      const bool kept = uniform(seed, i) >= ratio;
      to[i] = kept ? T(C(from[i]) * scale) : T(0);
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
    made.may_train = !training || (*training && training->shape.count() == 1 &&
                                   *static_cast<const std::uint8_t*>(training->data) != 0);
  }
  const attribute* const seed = c.find("seed");
  made.has_seed = seed && seed->kind == attribute_kind::i;
  made.seed = c.int_or("seed", 0);
  if (!made.may_train) c.views(0, 0);
  return made;
}

status dropout::run(run_context& c) const {
  const value& x = c.input(0);
  bool trains = false;
  float ratio = 0;
  if (may_train) {
    const value& training = c.input(2);
    trains = training && training.shape.count() == 1 && *static_cast<const std::uint8_t*>(training.data) != 0;
    ratio = read_ratio(c.input(1));
    if (trains && !(ratio >= 0 && ratio < 1)) return bad_input("ratio must be in [0, 1)");
  }
  value* mask = nullptr;
  if (c.has_output(1)) {
    const result<value*> made = c.output(1, x.shape);
    if (!made) return made.error();
    mask = *made;
  }
  if (!trains || ratio == 0) {
    if (mask) fill_with_ones(*mask, mask_of_numbers);
    return c.forward(0, x, x.shape);
  }
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  static std::atomic<std::uint64_t> runs{0};
  const std::uint64_t from = has_seed ? std::uint64_t(seed) : runs.fetch_add(1) * 0xD1B54A32D192ED03u;
  drop(x, **y, mask ? static_cast<std::uint8_t*>(mask->data) : nullptr, from, ratio);
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
