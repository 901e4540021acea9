#include <cameo/eps/cpu/pool.hpp>
#include <cameo/op/onnx.hpp>

#include "rig_checks.hpp"

#include <doctest/doctest.h>

using namespace cameo;
using cameo::test::ints;
using cameo::test::kernel_rig;

namespace {

struct pool_axis {
  std::int64_t in, kernel, stride, dilation, pad_begin, pad_end;
  std::int64_t out(bool ceil) const {
    const std::int64_t room = in + pad_begin + pad_end - (kernel - 1) * dilation - 1;
    std::int64_t n = (room + (ceil ? stride - 1 : 0)) / stride + 1;
    if (ceil && (n - 1) * stride >= in + pad_begin) --n;
    return n;
  }
};

/// The contents of one window: the elements and their offsets; and the number of elements including padding.
struct seen {
  std::vector<double> values;
  ints places;
  std::int64_t with_pads = 0;
};

seen look(const std::vector<pool_axis>& axes, bool ceil, const std::vector<double>& plane, std::int64_t output) {
  seen s;
  std::int64_t taps = 1;
  for (const pool_axis& a : axes) taps *= a.kernel;
  for (std::int64_t t = 0; t < taps; ++t) {
    std::int64_t rest_o = output, rest_t = t, at = 0, scale = 1;
    bool inside = true, padded = true;
    for (std::size_t i = axes.size(); i-- > 0;) {
      const pool_axis& a = axes[i];
      const std::int64_t p = rest_o % a.out(ceil) * a.stride - a.pad_begin + rest_t % a.kernel * a.dilation;
      inside = inside && p >= 0 && p < a.in, padded = padded && p < a.in + a.pad_end;
      at += p * scale, scale *= a.in, rest_o /= a.out(ceil), rest_t /= a.kernel;
    }
    s.with_pads += padded;
    if (inside) s.values.push_back(plane[std::size_t(at)]), s.places.push_back(at);
  }
  return s;
}

template <class T, class K, class F>
void compare_pool(int cases, unsigned seed, double tolerance, const F& f, auto configure) {
  std::mt19937 random{seed};
  const auto upto = [&](int most) { return std::int64_t(random() % unsigned(most) + 1); };
  for (int i = 0; i < cases; ++i) {
    std::vector<pool_axis> axes;
    const std::int64_t rank = upto(3);
    const bool ceil = random() % 2;
    for (std::int64_t r = 0; r < rank; ++r) {
      pool_axis a{upto(rank == 3 ? 6 : 40), upto(4), upto(3), upto(2), 0, 0};
      a.pad_begin = std::int64_t(random()) % a.kernel, a.pad_end = std::int64_t(random()) % a.kernel;
      a.in = std::max(a.in, (a.kernel - 1) * a.dilation + 1);
      axes.push_back(a);
    }
    extents x_shape{upto(2), upto(3)}, y_shape = x_shape;
    ints kernel, strides, dilations, pads, ends;
    for (const pool_axis& a : axes) {
      x_shape.push_back(a.in), y_shape.push_back(a.out(ceil));
      kernel.push_back(a.kernel), strides.push_back(a.stride), dilations.push_back(a.dilation);
      pads.push_back(a.pad_begin), ends.push_back(a.pad_end);
    }
    pads.insert(pads.end(), ends.begin(), ends.end());
    const auto x = test::random_numbers<T>(random, x_shape.count());
    const std::int64_t in = x_shape.count(2, x_shape.rank()), out = y_shape.count(2, y_shape.rank());
    std::vector<double> want;
    for (std::int64_t plane = 0; plane < x_shape[0] * x_shape[1]; ++plane) {
      std::vector<double> part;
      for (std::int64_t e = 0; e < in; ++e) part.push_back(double(float(x[std::size_t(plane * in + e)])));
      for (std::int64_t o = 0; o < out; ++o) want.push_back(f(look(axes, ceil, part, o)));
    }
    CAPTURE(i);
    kernel_rig rig{22, 3};
    rig.attribute("kernel_shape", kernel).attribute("strides", strides).attribute("dilations", dilations);
    rig.attribute("pads", pads).attribute("ceil_mode", std::int64_t{ceil}).template input<T>(x_shape, x);
    configure(rig);
    test::run_ok<K>(rig, {dtype_of<T>});
    CHECK(rig.template output<T>(0).shape() == y_shape);
    CHECK(test::near(rig.template output<T>(0), want, tolerance));
  }
}

double largest(const seen& s) { return *std::max_element(s.values.begin(), s.values.end()); }
double total(const seen& s) {
  double sum = 0;
  for (double v : s.values) sum += v;
  return sum;
}
void as_it_is(kernel_rig&) {}

}  // namespace

TEST_CASE("pools follow the definition: random kernels, strides, dilations, pads, both ways to round") {
  compare_pool<float, eps::max_pool<float>>(200, 1, 0, largest, as_it_is);
  compare_pool<float16, eps::max_pool<float16>>(30, 2, 0, largest, as_it_is);
  compare_pool<std::int8_t, eps::max_pool<std::int8_t>>(30, 3, 0, largest, as_it_is);
  const auto mean = [](const seen& s) { return s.values.empty() ? 0 : total(s) / double(s.values.size()); };
  compare_pool<float, eps::average_pool<float>>(200, 4, 1e-5, mean, as_it_is);
  compare_pool<float16, eps::average_pool<float16>>(30, 5, 2e-3, mean, as_it_is);
  compare_pool<float, eps::average_pool<float>>(
      200, 6, 1e-5, [](const seen& s) { return total(s) / double(s.with_pads); },
      [](kernel_rig& rig) { rig.attribute("count_include_pad", std::int64_t{1}); });
  for (const std::int64_t p : {1, 2, 3})
    compare_pool<float, eps::lp_pool<float>>(
        60, 7, 1e-4,
        [p](const seen& s) {
          double sum = 0;
          for (double v : s.values) sum += std::pow(std::abs(v), double(p));
          return std::pow(sum, 1 / double(p));
        },
        [p](kernel_rig& rig) { rig.attribute("p", p); });
}

TEST_CASE("MaxPool outputs the index of the largest, in row-major and in column-major order; the first of equals") {
  const std::vector<float> x{1, 5, 2, 3, 4, 5, 0, 0, 7, 7, 1, 2};  // two planes of 2 x 3
  for (const std::int64_t order : {0, 1}) {
    kernel_rig rig{12};
    rig.attribute("kernel_shape", ints{2, 2}).attribute("storage_order", order).input<float>({1, 2, 2, 3}, x);
    REQUIRE(bool(rig.run<eps::max_pool<float>>({dtype::f32, dtype::i64})));
    CHECK(test::near(rig.output<float>(0), {5, 5, 7, 7}));
    const auto where = rig.output<std::int64_t>(1);
    CHECK(std::vector<std::int64_t>(where.begin(), where.end()) == (order ? ints{2, 2, 7, 10} : ints{1, 1, 9, 8}));
  }
}

TEST_CASE("a NaN is the largest, minus infinity the least, and a window of padding alone gives no error") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x{nan, 1, -inf, -inf};
  for (const bool indices : {false, true}) {
    kernel_rig rig{12};
    rig.attribute("kernel_shape", ints{2}).attribute("strides", ints{2}).input<float>({1, 1, 4}, x);
    REQUIRE(bool(rig.run<eps::max_pool<float>>({dtype::f32, indices ? dtype::i64 : dtype::undefined})));
    CHECK(std::isnan(rig.output<float>(0)[0]));
    CHECK(rig.output<float>(0)[1] == -inf);
  }
  kernel_rig far{19};
  far.attribute("kernel_shape", ints{1}).attribute("pads", ints{2, 2}).input<float>({1, 1, 4}, x);
  REQUIRE(bool(far.run<eps::average_pool<float>>({dtype::f32})));
  CHECK(far.output<float>(0)[0] == 0);
}

TEST_CASE("global pools reduce whole images of any size") {
  std::mt19937 random{9};
  for (const std::int64_t n : {1, 7, 16, 49, 1000}) {
    const auto x = test::random_numbers<float>(random, 6 * n);
    std::vector<double> mean, most, norm;
    for (std::int64_t p = 0; p < 6; ++p) {
      double sum = 0, squares = 0, top = -1e9;
      for (std::int64_t i = 0; i < n; ++i) {
        const double v = double(x[std::size_t(p * n + i)]);
        sum += v, squares += v * v, top = std::max(top, v);
      }
      mean.push_back(sum / double(n)), most.push_back(top), norm.push_back(std::sqrt(squares));
    }
    const auto check = [&]<class K>(std::type_identity<K>, const std::vector<double>& want) {
      kernel_rig rig{22, 2};
      rig.input<float>({2, 3, n, 1}, x);
      REQUIRE(bool(rig.run<K>({dtype::f32})));
      CHECK(rig.output<float>(0).shape() == extents{2, 3, 1, 1});
      CHECK(test::near(rig.output<float>(0), want));
    };
    check(std::type_identity<eps::global_average_pool<float>>{}, mean);
    check(std::type_identity<eps::global_max_pool<float>>{}, most);
    check(std::type_identity<eps::global_lp_pool<float>>{}, norm);
  }
}

namespace {

/// A pool in 16 bits gives the bits of the same pool in float, rounded once at the end.
template <class T, template <class> class Pool>
void compare_narrow(const extents& shape, const ints& kernel, bool indices, std::mt19937& random) {
  CAPTURE(shape.count());
  const auto set = [&](kernel_rig& rig) {
    if (kernel.empty()) return;
    rig.attribute("kernel_shape", kernel).attribute("strides", ints(kernel.size(), 2));
    rig.attribute("pads", ints(2 * kernel.size(), 1));
  };
  test::check_like_float<T, Pool>(22, {shape}, random, set, test::no_constants,
                                  {indices ? dtype::i64 : dtype::undefined});
}
template <class T>
void compare_narrow_pools() {
  std::mt19937 random{10};
  // The shapes have planes that are converted as a whole and planes that are converted line by line, several planes in
  // one buffer, and a plane in several parts.
  for (const extents& shape : {extents{2, 3, 9, 11}, extents{1, 30, 20, 7}, extents{1, 2, 150, 130}}) {
    compare_narrow<T, eps::max_pool>(shape, {3, 2}, false, random);
    compare_narrow<T, eps::max_pool>(shape, {3, 2}, true, random);
    compare_narrow<T, eps::average_pool>(shape, {2, 3}, false, random);
    compare_narrow<T, eps::lp_pool>(shape, {2, 3}, false, random);
    compare_narrow<T, eps::global_average_pool>(shape, {}, false, random);
    compare_narrow<T, eps::global_max_pool>(shape, {}, false, random);
    compare_narrow<T, eps::global_lp_pool>(shape, {}, false, random);
  }
  for (const std::int64_t length : {50, 20000}) compare_narrow<T, eps::max_pool>({1, 3, length}, {3}, true, random);
}

}  // namespace

TEST_CASE("pools of 16 bits have the bits of pools in float, however large planes are") {
  compare_narrow_pools<float16>();
  compare_narrow_pools<bfloat16>();
}

TEST_CASE("pools report what does not fit, and an empty input gives an empty output") {
  const std::vector<float> x(9), none;
  const auto with = [&](auto change, const extents& shape, status_code code, std::string_view words) {
    kernel_rig rig{12};
    change(rig);
    test::check_refused<eps::max_pool<float>>(rig.input<float>(shape, x), code, words);
  };
  const auto kernel = [](ints k) { return [k](kernel_rig& r) { r.attribute("kernel_shape", k); }; };
  with(as_it_is, {1, 1, 3, 3}, status_code::invalid_argument, "kernel");
  with([](kernel_rig& r) { r.checked_as<op::MaxPool>().attribute("kernel_shape", ints{0, 1}); }, {1, 1, 3, 3},
       status_code::invalid_graph, "kernel_shape");
  with(kernel({2}), {1, 1, 3, 3}, status_code::invalid_argument, "kernel");
  with(kernel({5, 1}), {1, 1, 3, 3}, status_code::invalid_argument, "the kernel reaches over 5 elements");
  with(kernel({1}), {3, 3}, status_code::invalid_argument, "must have rank 3 or more");
  // The kernel is larger than the input by less than a stride: ONNX Runtime has one window with the elements inside.
  const std::vector<float> three{1, 9, 5};
  kernel_rig one{12};
  one.attribute("kernel_shape", ints{4}).attribute("strides", ints{3}).input<float>({1, 1, 3}, three);
  REQUIRE(bool(one.run<eps::max_pool<float>>({dtype::f32})));
  CHECK(one.output<float>(0).shape() == extents{1, 1, 1});
  CHECK(one.output<float>(0)[0] == 9);
  // If the kernel is larger than the input by a stride or more, but less than two strides, there is no window along
  // that axis.
  for (const std::int64_t stride : {1, 2}) {
    kernel_rig no_window{12};
    no_window.attribute("kernel_shape", ints{3 + stride}).attribute("strides", ints{stride});
    no_window.input<float>({1, 1, 3}, three);
    REQUIRE(bool(no_window.run<eps::max_pool<float>>({dtype::f32})));
    CHECK(no_window.output<float>(0).shape() == extents{1, 1, 0});
  }
  kernel_rig empty{12};
  empty.attribute("kernel_shape", ints{2}).input<float>({0, 3, 4}, none);
  REQUIRE(bool(empty.run<eps::max_pool<float>>({dtype::f32, dtype::i64})));
  CHECK(empty.output<float>(0).shape() == extents{0, 3, 3});
  kernel_rig p{2};
  p.checked_as<op::LpPool>()
      .attribute("kernel_shape", ints{1})
      .attribute("p", std::int64_t{0})
      .input<float>({1, 1, 9}, x);
  CHECK(p.run<eps::lp_pool<float>>({dtype::f32}).code() == status_code::invalid_graph);
}
