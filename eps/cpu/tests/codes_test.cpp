// Elementwise operators and pools of quantized values against their definition, value by value: random scales, zero
// points, shapes, ends of ranges and ties, on each instruction set.
#include <doctest/doctest.h>
#include <cameo/eps/cpu/nhwc_max_pool.hpp>
#include <cameo/eps/cpu/pool.hpp>
#include <cameo/eps/cpu/qlinear.hpp>
#include <cameo/eps/cpu/quantize_linear.hpp>
#include <cameo/kernel/broadcast.hpp>

#include <cmath>

#include "each_target.hpp"
#include "kernel_rig.hpp"

namespace cameo::test {
namespace {

namespace ms = op::microsoft;

/// The definition of com.microsoft's operators: float, each step rounded, ties to even, saturated, NaN as 0.
template <class T>
struct coding {
  float scale;
  T zero;
  float number(T code) const { return float(int(code) - int(zero)) * scale; }
  T code(float v) const {
    float steps = v / scale;
    if (steps != steps) steps = 0;
    const double sum = std::nearbyint(double(std::clamp(steps, -1e9f, 1e9f))) + double(zero);
    return T(std::clamp<double>(sum, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()));
  }
};

template <class T>
struct code_source {
  std::mt19937 random;
  std::int64_t below(std::int64_t n) { return std::int64_t(random()) % n; }
  std::vector<T> codes(std::int64_t n) { return random_codes<T>(random, n); }
  /// Scales of all magnitudes; often powers of two, whose quotients are ties, and sometimes an invalid one.
  coding<T> scale() {
    constexpr float odd[] = {0, -0.5f, infinity, not_a_number, 1e-40f, 1e38f};
    const unsigned kind = random() % 16;
    const float s = kind == 0  ? odd[random() % 6]
                    : kind < 8 ? std::ldexp(1.0f, int(random() % 8) - 4)
                               : std::exp(float(random() % 1000) / 100 - 6);
    const T ends[] = {std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), T(0)};
    return {s, random() % 3 == 0 ? ends[random() % 3] : T(random())};
  }
};

/// Adds scales and zero points to a rig, as constants or as inputs of the run; owns their memory.
template <class T>
class coded_rig : public kernel_rig {
 public:
  explicit coded_rig(bool constants) : kernel_rig{1, 3}, constants_{constants} {}
  coded_rig& scale(const coding<T>& by) {
    input<float>({}, scales_.emplace_back(1, by.scale), constants_);
    if (by.zero == 0 && constants_) no_input();  // a zero point that is left out is 0
    else input<T>({1}, zeros_.emplace_back(1, by.zero), constants_);
    return *this;
  }
  coded_rig& codes(const extents& shape, const std::vector<T>& of) {
    input<T>(shape, of);
    return *this;
  }

 private:
  bool constants_;
  std::deque<std::vector<float>> scales_;
  std::deque<std::vector<T>> zeros_;
};

template <class T>
constexpr dtype type_of = dtype_of<T>;

/// Calls fn<T>(seed) for both types of quantized values and the seeds of for_each_target_and_seed().
template <class F>
void for_each_type_and_seed(std::uint32_t seeds, const F& fn) {
  for_each_target_and_seed(seeds, [&](std::uint32_t seed) {
    fn.template operator()<std::uint8_t>(seed);
    fn.template operator()<std::int8_t>(seed);
  });
}

template <class Op, class T>
void check_zip(std::uint32_t seed) {
  code_source<T> from{std::mt19937{seed}};
  const auto size = [&] { return std::int64_t(from.random() % 4 ? from.random() % 90 : from.random() % 3); };
  const std::int64_t m = size(), n = size();
  const extents shapes[][2] = {{{m, n}, {m, n}}, {{m, n}, {n}}, {{m, 1}, {n}},   {{m, n}, {1}},
                               {{1}, {m * n}},   {{}, {}},      {{m, n}, {m, 1}}};
  const auto& shape = shapes[from.random() % 7];
  const std::vector<T> a = from.codes(shape[0].count()), b = from.codes(shape[1].count());
  const coding<T> of_a = from.scale(), of_b = from.scale(), of_y = from.scale();
  coded_rig<T> rig{seed % 2 == 0};
  rig.codes(shape[0], a).scale(of_a).codes(shape[1], b).scale(of_b).scale(of_y);
  REQUIRE(rig.template run<eps::qlinear_binary<Op>>({type_of<T>}));
  broadcast_loops<2> loops;
  REQUIRE(bool(loops.make({&shape[0], &shape[1]})));
  const tensor_view<const T> y = rig.template output<T>(0);
  REQUIRE(y.count() == loops.count());
  std::int64_t wrong = 0;
  loops.rows(0, loops.count(), [&](std::int64_t out, const std::array<std::int64_t, 2>& in, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const float l = of_a.number(a[std::size_t(in[0] + i * loops.steps()[0])]);
      const float r = of_b.number(b[std::size_t(in[1] + i * loops.steps()[1])]);
      wrong += y[out + i] != of_y.code(std::is_same_v<Op, ms::QLinearMul> ? l * r : l + r);
    }
  });
  CHECK(wrong == 0);
}

/// Scales of the magnitude that networks have, and some for which many sums are in the middle of two quantized values.
template <class T>
void check_sums_of_all_pairs(std::uint32_t seed) {
  code_source<T> from{std::mt19937{seed}};
  coding<T> of_a = from.scale(), of_b = from.scale(), of_y = from.scale();
  const auto scale = [&](float about) { return about * (0.5f + float(from.random() % 100'000) / 100'000); };
  of_a.scale = scale(0.05f), of_b.scale = scale(0.05f), of_y.scale = scale(0.07f);
  if (seed % 8 == 7) of_a.scale = 0.25f, of_b.scale = 0.5f, of_y.scale = 1.0f;
  if (seed % 8 == 6) of_a.scale = 9 * of_y.scale, of_b.scale = of_y.scale / 300;
  std::vector<T> a, b;
  for (int l = 0; l < 256; ++l)
    for (int r = 0; r < 256; ++r) a.push_back(T(l)), b.push_back(T(r));
  coded_rig<T> rig{true};
  rig.codes({256, 256}, a).scale(of_a).codes({256, 256}, b).scale(of_b).scale(of_y);
  REQUIRE(rig.template run<eps::qlinear_binary<ms::QLinearAdd>>({type_of<T>}));
  const tensor_view<const T> y = rig.template output<T>(0);
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    wrong += y[std::int64_t(i)] != of_y.code(of_a.number(a[i]) + of_b.number(b[i]));
  CHECK(wrong == 0);
}

TEST_CASE("sums of quantized values follow their definition for every pair of values") {
  for_each_type_and_seed(24, []<class T>(std::uint32_t seed) { check_sums_of_all_pairs<T>(seed); });
}

TEST_CASE("QLinearAdd and QLinearMul follow their definition, value by value") {
  for_each_type_and_seed(300, []<class T>(std::uint32_t seed) {
    check_zip<ms::QLinearAdd, T>(seed);
    check_zip<ms::QLinearMul, T>(seed);
  });
}

template <class T>
void check_map(std::uint32_t seed) {
  code_source<T> from{std::mt19937{seed}};
  const std::vector<T> x = from.codes(from.random() % 700);
  const coding<T> of_x = from.scale(), of_y = from.scale();
  coded_rig<T> rig{seed % 2 == 0};
  rig.attribute("alpha", 0.25f);
  rig.codes({std::int64_t(x.size())}, x).scale(of_x).scale(of_y);
  REQUIRE(rig.template run<eps::qlinear_map<ms::QLinearLeakyRelu>>({type_of<T>}));
  std::vector<T> want;
  for (const T v : x) {
    const float number = of_x.number(v);
    want.push_back(of_y.code(number < 0 ? 0.25f * number : number));
  }
  CHECK(elements_of<T>(rig) == want);
}

TEST_CASE("QLinearLeakyRelu follows its definition, value by value") {
  for_each_type_and_seed(100, []<class T>(std::uint32_t seed) { check_map<T>(seed); });
}

template <class T>
void check_concat(std::uint32_t seed) {
  code_source<T> from{std::mt19937{seed}};
  const std::int64_t outer = from.random() % 4, inner = 1 + from.random() % 3;
  const std::size_t parts = 1 + from.random() % 4;
  const coding<T> of_y = from.scale();
  std::deque<std::vector<T>> xs;
  std::vector<coding<T>> by;
  coded_rig<T> rig{seed % 2 == 0};
  rig.attribute("axis", std::int64_t{-2});
  rig.scale(of_y);
  std::int64_t total = 0;
  std::vector<std::int64_t> lengths;
  for (std::size_t p = 0; p < parts; ++p) {
    lengths.push_back(from.random() % 120), total += lengths.back();
    by.push_back(from.random() % 3 ? from.scale() : of_y);
    rig.codes({outer, lengths[p], inner}, xs.emplace_back(from.codes(outer * lengths[p] * inner))).scale(by[p]);
  }
  REQUIRE(rig.template run<eps::qlinear_concat>({type_of<T>}));
  std::vector<T> want;
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::size_t p = 0; p < parts; ++p)
      for (std::int64_t i = 0; i < lengths[p] * inner; ++i)
        want.push_back(of_y.code(by[p].number(xs[p][std::size_t(o * lengths[p] * inner + i)])));
  CHECK(elements_of<T>(rig) == want);
}

TEST_CASE("QLinearConcat follows its definition, value by value") {
  for_each_type_and_seed(100, []<class T>(std::uint32_t seed) { check_concat<T>(seed); });
}

template <class T>
void check_where(std::uint32_t seed) {
  code_source<T> from{std::mt19937{seed}};
  const std::int64_t m = from.random() % 5, n = from.random() % 1500;
  const extents shapes[][3] = {
      {{m, n}, {m, n}, {m, n}}, {{m, 1}, {n}, {m, n}}, {{m, n}, {1}, {n}}, {{m, n}, {m, 1}, {}}};
  const auto& shape = shapes[from.random() % 4];
  const std::vector<T> x = from.codes(shape[1].count()), y = from.codes(shape[2].count());
  const coding<T> of_x = from.scale(), of_y = from.scale(), of_z = from.scale();
  const auto count = std::size_t(shape[0].count());
  const std::unique_ptr<bool[]> which{new bool[count + 1]};
  for (std::size_t i = 0; i < count; ++i) which[i] = from.random() % 2 != 0;
  coded_rig<T> rig{seed % 2 == 0};
  rig.input(value::tensor<bool>(shape[0], std::span<const bool>{which.get(), count}));
  rig.codes(shape[1], x).scale(of_x).codes(shape[2], y).scale(of_y).scale(of_z);
  REQUIRE(rig.template run<eps::qlinear_where>({type_of<T>}));
  broadcast_loops<3> loops;
  REQUIRE(bool(loops.make({&shape[0], &shape[1], &shape[2]})));
  std::int64_t wrong = 0;
  loops.rows(0, loops.count(), [&](std::int64_t out, const std::array<std::int64_t, 3>& in, std::int64_t length) {
    for (std::int64_t i = 0; i < length; ++i) {
      const auto at = [&](std::size_t k) { return std::size_t(in[k] + i * loops.steps()[k]); };
      const float v = which[at(0)] ? of_x.number(x[at(1)]) : of_y.number(y[at(2)]);
      wrong += rig.template output<T>(0)[out + i] != of_z.code(v);
    }
  });
  CHECK(wrong == 0);
}

TEST_CASE("QLinearWhere follows its definition, value by value") {
  for_each_type_and_seed(60, []<class T>(std::uint32_t seed) { check_where<T>(seed); });
}

template <class T>
void check_softmax(std::uint32_t seed) {
  code_source<T> from{std::mt19937{seed}};
  const std::int64_t outer = 1 + from.random() % 7, inner = from.random() % 2 ? 1 : 1 + from.random() % 5;
  const std::int64_t length = from.random() % 2 ? 1 + from.random() % 40 : 200 + from.random() % 400;
  const std::vector<T> x = from.codes(outer * length * inner);
  coding<T> of_x = from.scale(), of_y = from.scale();
  if (seed % 3) of_x.scale = 0.01f + float(seed) * 1e-3f, of_y.scale = 1 / 256.0f;
  coded_rig<T> rig{seed % 2 == 0};
  rig.attribute("axis", std::int64_t{1}).attribute("opset", std::int64_t{13});
  rig.codes({outer, length, inner}, x).scale(of_x).scale(of_y);
  REQUIRE(rig.template run<eps::qlinear_softmax>({type_of<T>}));
  const float steps = 1 / of_y.scale;
  double start = double(std::log(std::numeric_limits<float>::max() / float(length))) - 5;
  if (!std::isfinite(float(std::exp(start)) * steps)) start = 0;
  std::int64_t wrong = 0;
  for (std::int64_t row = 0; row < outer * inner; ++row) {
    const auto at = [&](std::int64_t i) { return std::size_t((row / inner * length + i) * inner + row % inner); };
    const auto code = [&](std::int64_t i) { return of_x.scale < 0 ? -int(x[at(i)]) : int(x[at(i)]); };
    int most = code(0);
    for (std::int64_t i = 0; i < length; ++i) most = std::max(most, code(i));
    const auto power = [&](std::int64_t i) {
      return float(std::exp(start - double(std::abs(of_x.scale)) * (most - code(i))));
    };
    float sum = 0;
    for (std::int64_t i = 0; i < length; ++i) sum += power(i);
    for (std::int64_t i = 0; i < length; ++i)
      wrong += rig.template output<T>(0)[std::int64_t(at(i))] != coding<T>{1, of_y.zero}.code(power(i) * steps / sum);
  }
  CHECK(wrong == 0);
}

TEST_CASE("QLinearSoftmax follows its definition, value by value") {
  for_each_type_and_seed(60, []<class T>(std::uint32_t seed) { check_softmax<T>(seed); });
}

/// The offset of (n, c, y, x) in an image whose channels are first or last.
struct image {
  std::int64_t batch, channels, height, width;
  bool last;
  std::int64_t at(std::int64_t n, std::int64_t c, std::int64_t y, std::int64_t x) const {
    return last ? ((n * height + y) * width + x) * channels + c : ((n * channels + c) * height + y) * width + x;
  }
  std::int64_t count() const { return batch * channels * height * width; }
  extents shape() const {
    return last ? extents{batch, height, width, channels} : extents{batch, channels, height, width};
  }
};
struct pool_window {
  axis_case y, x;
  explicit pool_window(std::mt19937& random, std::int64_t height, std::int64_t width)
      : y{axis(random, height)}, x{axis(random, width)} {}
  static axis_case axis(std::mt19937& random, std::int64_t in) {
    const std::int64_t kernel = 1 + std::int64_t(random() % 3), dilation = 1 + std::int64_t(random() % 2);
    const std::int64_t stride = 1 + std::int64_t(random() % 3), begin = std::int64_t(random()) % kernel;
    return {in, kernel, stride, dilation, begin, std::int64_t(random()) % kernel};
  }
  template <class R>
  void give(R& rig) const {
    rig.attribute("kernel_shape", std::vector<std::int64_t>{y.kernel, x.kernel});
    rig.attribute("strides", std::vector<std::int64_t>{y.stride, x.stride});
    rig.attribute("dilations", std::vector<std::int64_t>{y.dilation, x.dilation});
    rig.attribute("pads", std::vector<std::int64_t>{y.pad_begin, x.pad_begin, y.pad_end, x.pad_end});
  }
  /// Calls f(row, column) for each element inside the image of the window for the output (a, b).
  template <class F>
  void each(std::int64_t a, std::int64_t b, const F& f) const {
    for (std::int64_t i = 0; i < y.kernel; ++i)
      for (std::int64_t j = 0; j < x.kernel; ++j) {
        const std::int64_t row = a * y.stride - y.pad_begin + i * y.dilation;
        const std::int64_t column = b * x.stride - x.pad_begin + j * x.dilation;
        if (row >= 0 && row < y.in && column >= 0 && column < x.in) f(row, column);
      }
  }
};

template <class T>
void check_average_pool(std::uint32_t seed) {
  code_source<T> from{std::mt19937{seed}};
  const std::int64_t channels = 1 + from.below(seed % 5 ? 40 : 300);
  const image in{1 + from.below(2), channels, 5 + from.below(9), 5 + from.below(30), seed % 2 == 0};
  pool_window w{from.random, in.height, in.width};
  w.y.dilation = w.x.dilation = 1;  // the operator has no dilations
  const bool include = from.random() % 2 != 0, global = seed % 4 >= 2;
  const std::vector<T> x = from.codes(in.count());
  const coding<T> of_x = from.scale(), of_y = from.scale();
  coded_rig<T> rig{seed % 3 == 0};
  rig.attribute("channels_last", std::int64_t{in.last});
  if (!global) rig.attribute("count_include_pad", std::int64_t{include}), w.give(rig);
  rig.codes(in.shape(), x).scale(of_x).scale(of_y);
  if (global) REQUIRE(rig.template run<eps::qlinear_global_average_pool>({type_of<T>}));
  else REQUIRE(rig.template run<eps::qlinear_average_pool>({type_of<T>}));
  const image out{in.batch, channels, global ? 1 : w.y.out(), global ? 1 : w.x.out(), in.last};
  const tensor_view<const T> y = rig.template output<T>(0);
  REQUIRE(y.count() == out.count());
  std::int64_t wrong = 0;
  for (std::int64_t n = 0; n < in.batch; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t a = 0; a < out.height; ++a)
        for (std::int64_t b = 0; b < out.width; ++b) {
          std::int64_t sum = 0, inside = 0;
          const auto see = [&](std::int64_t row, std::int64_t column) {
            sum += x[std::size_t(in.at(n, c, row, column))], ++inside;
          };
          if (global) {
            for (std::int64_t i = 0; i < in.height * in.width; ++i) see(i / in.width, i % in.width);
          } else {
            w.each(a, b, see);
          }
          const double scale = of_x.scale;
          const float mean = global ? float((double(sum) / double(inside) - double(of_x.zero)) * scale)
                                    : float(double(sum - inside * of_x.zero) * scale /
                                            double(include ? w.y.kernel * w.x.kernel : inside));
          wrong += y[out.at(n, c, a, b)] != of_y.code(mean);
        }
  CHECK(wrong == 0);
}

TEST_CASE("average pools of quantized values follow their definition, value by value") {
  for_each_type_and_seed(120, []<class T>(std::uint32_t seed) { check_average_pool<T>(seed); });
}

template <class T>
void check_max_pool(std::uint32_t seed) {
  code_source<T> from{std::mt19937{seed}};
  const std::int64_t channels = 1 + from.below(seed % 5 ? 40 : 300);
  const image in{1 + from.below(2), channels, 5 + from.below(9), 5 + from.below(90), seed % 2 == 0};
  const pool_window w{from.random, in.height, in.width};
  const std::vector<T> x = from.codes(in.count());
  coded_rig<T> rig{false};
  w.give(rig);
  rig.codes(in.shape(), x);
  if (in.last) REQUIRE(rig.template run<eps::nhwc_max_pool<T>>({type_of<T>}));
  else REQUIRE(rig.template run<eps::max_pool<T>>({type_of<T>}));
  const image out{in.batch, channels, w.y.out(), w.x.out(), in.last};
  const tensor_view<const T> y = rig.template output<T>(0);
  REQUIRE(y.count() == out.count());
  std::int64_t wrong = 0;
  for (std::int64_t n = 0; n < in.batch; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t a = 0; a < out.height; ++a)
        for (std::int64_t b = 0; b < out.width; ++b) {
          T most = std::numeric_limits<T>::lowest();
          w.each(a, b, [&](std::int64_t row, std::int64_t column) {
            most = std::max(most, x[std::size_t(in.at(n, c, row, column))]);
          });
          wrong += y[out.at(n, c, a, b)] != most;
        }
  CHECK(wrong == 0);
}

TEST_CASE("MaxPool and NhwcMaxPool of quantized values follow their definition") {
  for_each_type_and_seed(120, []<class T>(std::uint32_t seed) { check_max_pool<T>(seed); });
}

/// The granularity of the scales of x [outer, axis, inner].
struct scale_case {
  std::int64_t outer, axis, inner, block;  // 0: one scale per index of the axis; -1: one for all elements
  extents x() const { return {outer, axis, inner}; }
  extents scales() const {
    if (block < 0) return {};
    return block == 0 ? extents{axis} : extents{outer, (axis + block - 1) / block, inner};
  }
  std::size_t index_of(std::int64_t i) const {
    const std::int64_t a = i / inner % axis;
    if (block < 0) return 0;
    if (block == 0) return std::size_t(a);
    return std::size_t((i / inner / axis * ((axis + block - 1) / block) + a / block) * inner + i % inner);
  }
  template <class R>
  void give(R& rig) const {
    rig.attribute("axis", std::int64_t{1}).attribute("block_size", std::max<std::int64_t>(block, 0));
  }
  static scale_case random(std::mt19937& from) {
    const std::int64_t kind = std::int64_t(from() % 3) - 1;
    return {1 + std::int64_t(from() % 3), 1 + std::int64_t(from() % 200),
            from() % 2 ? 1 : 1 + std::int64_t(from() % 60), kind == 1 ? 1 + std::int64_t(from() % 40) : kind};
  }
};

template <class F>
std::vector<F> random_scales(std::mt19937& random, std::size_t n) {
  std::vector<F> made;
  for (std::size_t i = 0; i < n; ++i)
    made.push_back(F(random() % 2 ? std::ldexp(1.0f, int(random() % 6) - 3) : 0.01f * float(1 + random() % 300)));
  return made;
}

/// x has the type X, the scales have the type F, the quantized values the type T.
template <class X, class F, class T>
void check_quantize(std::uint32_t seed) {
  std::mt19937 random{seed};
  const scale_case places = scale_case::random(random);
  const std::int64_t count = places.x().count();
  std::vector<X> x;
  for (std::int64_t i = 0; i < count; ++i) {
    const unsigned kind = random() % 32;
    const float v = kind == 0   ? not_a_number
                    : kind == 1 ? infinity
                    : kind == 2 ? -3e38f
                    : kind < 16 ? float(int(random() % 4001) - 2000) / 8
                                : float(int(random() % 2000001) - 1000000) / 777;
    if constexpr (std::is_same_v<X, std::int32_t>) x.push_back(std::int32_t(random()));
    else x.push_back(X(v));
  }
  const std::vector<F> scales = random_scales<F>(random, std::size_t(places.scales().count()));
  std::vector<T> zeros;
  for (std::size_t i = 0; i < scales.size(); ++i) zeros.push_back(T(random()));
  kernel_rig rig{21, 3};
  places.give(rig);
  rig.input<X>(places.x(), x).template input<F>(places.scales(), scales, seed % 2 == 0);
  REQUIRE(rig.input<T>(places.scales(), zeros, seed % 2 == 0).template run<eps::quantize_linear>({dtype_of<T>}));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto s = places.index_of(i);
    const float steps = float(F(float(x[std::size_t(i)]) / float(scales[s])));
    wrong += rig.output<T>(0)[i] != coding<T>{1, zeros[s]}.code(steps);
  }
  CHECK(wrong == 0);
}

TEST_CASE("QuantizeLinear follows its definition, value by value") {
  for_each_target_and_seed(60, [](std::uint32_t seed) {
    check_quantize<float, float, std::uint8_t>(seed);
    check_quantize<float, float, std::int8_t>(seed);
    check_quantize<float, float, std::uint16_t>(seed);
    check_quantize<float, float, std::int16_t>(seed);
    check_quantize<float16, float16, std::int8_t>(seed);
    check_quantize<bfloat16, bfloat16, std::uint8_t>(seed);
    check_quantize<std::int32_t, float, std::uint8_t>(seed);
  });
}

template <class T, class F>
void check_dequantize(std::uint32_t seed) {
  code_source<T> from{std::mt19937{seed}};
  const scale_case places = scale_case::random(from.random);
  const std::int64_t count = places.x().count();
  const std::vector<T> x = from.codes(count);
  const std::vector<F> scales = random_scales<F>(from.random, std::size_t(places.scales().count()));
  const std::vector<T> zeros =
      from.codes(std::is_same_v<T, std::int32_t> && seed % 4 == 0 ? 0 : std::int64_t(scales.size()));
  kernel_rig rig{21, 3};
  places.give(rig);
  rig.input<T>(places.x(), x).template input<F>(places.scales(), scales, seed % 2 == 0);
  if (zeros.empty()) rig.no_input();
  else rig.input<T>(places.scales(), zeros, seed % 2 == 0);
  REQUIRE(rig.run<eps::dequantize_linear>({dtype_of<F>}));
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto s = places.index_of(i);
    const std::int64_t distance = std::int64_t{x[std::size_t(i)]} - (zeros.empty() ? 0 : std::int64_t{zeros[s]});
    wrong += float(rig.output<F>(0)[i]) != float(F(float(distance) * float(scales[s])));
  }
  CHECK(wrong == 0);
}

TEST_CASE("DequantizeLinear follows its definition, value by value") {
  for_each_target_and_seed(60, [](std::uint32_t seed) {
    check_dequantize<std::uint8_t, float>(seed);
    check_dequantize<std::int8_t, float>(seed);
    check_dequantize<std::uint16_t, float>(seed);
    check_dequantize<std::int16_t, float>(seed);
    check_dequantize<std::int32_t, float>(seed);
    check_dequantize<std::int8_t, float16>(seed);
    check_dequantize<std::uint8_t, bfloat16>(seed);
  });
}

/// Quantized values of a few bits become floats, and quantized again they are the same.
void check_packed(dtype type, unsigned bits, bool is_signed, std::uint32_t seed) {
  code_source<std::uint8_t> from{std::mt19937{seed}};
  const std::int64_t per_byte = 8 / bits, count = per_byte * (1 + from.below(700));
  const std::vector<std::uint8_t> bytes = from.codes(count / per_byte);
  const std::vector<float> scale{0.5f};
  value codes = value::tensor<std::uint8_t>({std::int64_t(bytes.size())}, bytes);
  codes.type = type, codes.shape = {count};
  kernel_rig numbers{21, 3}, again{21, 3};
  REQUIRE(numbers.input(codes).input<float>({}, scale).run<eps::dequantize_linear>({dtype::f32}));
  const std::vector<float> got = elements_of<float>(numbers);
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const int code = bytes[std::size_t(i / per_byte)] >> i % per_byte * bits & ((1 << bits) - 1),
              sign = 1 << (bits - 1);
    wrong += got[std::size_t(i)] != float(is_signed ? (code ^ sign) - sign : code) / 2;
  }
  CHECK(wrong == 0);
  REQUIRE(again.input<float>({count}, got).input<float>({}, scale).run<eps::quantize_linear>({type}));
  CHECK(std::equal(bytes.begin(), bytes.end(), again.output<std::uint8_t>(0).data()));
}

TEST_CASE("quantized values of 4 and 2 bits are unpacked and packed again") {
  for_each_target_and_seed(30, [](std::uint32_t seed) {
    check_packed(dtype::u4, 4, false, seed);
    check_packed(dtype::i4, 4, true, seed);
    check_packed(dtype::u2, 2, false, seed);
    check_packed(dtype::i2, 2, true, seed);
  });
}

TEST_CASE("DynamicQuantizeLinear finds the range of a long tensor, ignoring NaN") {
  for_each_target_and_seed(30, [](std::uint32_t seed) {
    std::mt19937 random{seed};
    const std::int64_t count = 1 + std::int64_t(random() % 40000);
    std::vector<float> x = random_numbers<float>(random, count);
    for (int i = 0; i < 5; ++i) x[random() % x.size()] = i % 2 ? not_a_number : float(int(random() % 100) - 30);
    float low = 0, high = 0;
    for (const float v : x)
      if (v == v) low = std::min(low, v), high = std::max(high, v);
    const float scale = (high - low) / 255;
    const coding<std::uint8_t> by{scale, coding<std::uint8_t>{1, 0}.code(-low / scale)};
    kernel_rig rig{11, 3};
    REQUIRE(rig.input<float>({count}, x).run<eps::dynamic_quantize_linear>({dtype::u8, dtype::f32, dtype::u8}));
    CHECK(elements_of<float>(rig, 1) == std::vector<float>{scale});
    CHECK(elements_of<std::uint8_t>(rig, 2) == std::vector<std::uint8_t>{by.zero});
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < count; ++i) wrong += rig.output<std::uint8_t>(0)[i] != by.code(x[std::size_t(i)]);
    CHECK(wrong == 0);
  });
}

}  // namespace
}  // namespace cameo::test
