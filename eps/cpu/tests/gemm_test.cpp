#include <cameo/eps/cpu/gemm.hpp>
#include <cameo/eps/cpu/matmul.hpp>

#include "each_target.hpp"
#include "rig_checks.hpp"

#include <doctest/doctest.h>

using namespace cameo;
using cameo::test::as_double;
using cameo::test::kernel_rig;

namespace {

/// alpha * A' * B' + beta * C, with C broadcast.
template <class T>
std::vector<double> naive_gemm(std::int64_t m, std::int64_t n, std::int64_t k, bool ta, bool tb,
                               const std::vector<T>& a, const std::vector<T>& b, double alpha, double beta,
                               const extents& c_shape, const std::vector<T>& c) {
  std::vector<double> y(std::size_t(m * n));
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < k; ++p)
        sum += as_double(a[std::size_t(ta ? p * m + i : i * k + p)]) *
               as_double(b[std::size_t(tb ? j * k + p : p * n + j)]);
      sum *= alpha;
      const std::int64_t columns = c_shape.rank() ? c_shape.back() : 1, rows = c_shape.rank() > 1 ? c_shape[0] : 1;
      if (!c.empty()) sum += beta * as_double(c[std::size_t((rows == 1 ? 0 : i) * columns + (columns == 1 ? 0 : j))]);
      y[std::size_t(i * n + j)] = sum;
    }
  return y;
}

template <class T>
void compare_gemm(int cases, unsigned seed, double tolerance) {
  std::mt19937 random{seed};
  const auto upto = [&](int most) { return std::int64_t(random() % unsigned(most) + 1); };
  for (int i = 0; i < cases; ++i) {
    const std::int64_t m = i % 5 ? upto(40) : 1, n = i % 7 ? upto(80) : 1, k = i % 9 ? upto(60) : 400 + upto(200);
    const bool ta = random() % 2, tb = random() % 2;
    const auto a = test::random_numbers<T>(random, m * k), b = test::random_numbers<T>(random, k * n);
    const extents shapes[] = {{}, {1}, {n}, {1, n}, {m, 1}, {m, n}, {1, 1}};
    const extents& c_shape = shapes[random() % 7];
    const auto c = test::random_numbers<T>(random, random() % 4 ? c_shape.count() : 0);
    const float alpha = random() % 2 ? 1.0f : 2.0f, beta = random() % 2 ? 1.0f : 0.5f;
    CAPTURE(i);
    std::vector<T> first;
    for (const std::size_t lanes : {1, 3}) {
      kernel_rig rig{13, lanes};
      rig.attribute("transA", std::int64_t(ta)).attribute("transB", std::int64_t(tb));
      rig.attribute("alpha", alpha).attribute("beta", std::is_integral_v<T> ? 1.0f : beta);
      const bool constant = i % 2 == 0;  // packed once, or in each run
      rig.input<T>(ta ? extents{k, m} : extents{m, k}, a)
          .template input<T>(tb ? extents{n, k} : extents{k, n}, b, constant);
      if (!c.empty()) rig.input<T>(c_shape, c);
      test::run_ok<eps::gemm<T>>(rig, {dtype_of<T>});
      const auto y = rig.output<T>(0);
      const double scale = std::is_integral_v<T> ? 1.0 : double(beta);
      CHECK(test::near(y, naive_gemm(m, n, k, ta, tb, a, b, double(alpha), scale, c_shape, c), tolerance));
      if (lanes == 1) first.assign(y.begin(), y.end());
      else CHECK(std::memcmp(first.data(), y.data(), y.size() * sizeof(T)) == 0);
    }
  }
}

}  // namespace

TEST_CASE("Gemm follows its formula for all transpositions and all broadcasts of C, on every instruction set") {
  test::for_each_target([] {
    compare_gemm<float>(300, 1, 1e-4);
    compare_gemm<double>(100, 2, 1e-10);
  });
  compare_gemm<float16>(40, 3, 2e-2);
  compare_gemm<bfloat16>(20, 4, 1e-1);
  compare_gemm<std::int32_t>(60, 5, 0);
  compare_gemm<std::int64_t>(20, 6, 0);
}

namespace {

struct gemm_case {
  std::int64_t m, n, k;
  bool ta, tb, constant;
};

/// One product with a bias and Relu, against loops in double; one thread and three give the same bits.
template <class T>
void compare_fused(const gemm_case& g, std::mt19937& random, double tolerance) {
  INFO("m n k " << g.m << " " << g.n << " " << g.k << ", transposed " << g.ta << g.tb << ", constant " << g.constant);
  const auto a = test::random_numbers<T>(random, g.m * g.k), b = test::random_numbers<T>(random, g.k * g.n);
  const auto bias = test::random_numbers<T>(random, g.n);
  std::vector<double> want = naive_gemm<T>(g.m, g.n, g.k, g.ta, g.tb, a, b, 1, 1, {g.n}, bias);
  for (double& v : want) v = std::max(v, 0.0);
  std::vector<T> first;
  for (const std::size_t lanes : {1, 3}) {
    kernel_rig rig{1, lanes};
    rig.attribute("activation", "Relu").attribute("transA", std::int64_t{g.ta}).attribute("transB", std::int64_t{g.tb});
    rig.input<T>(g.ta ? extents{g.k, g.m} : extents{g.m, g.k}, a);
    rig.input<T>(g.tb ? extents{g.n, g.k} : extents{g.k, g.n}, b, g.constant).template input<T>({g.n}, bias);
    test::run_ok<eps::fused_gemm<T>>(rig, {dtype_of<T>});
    const auto y = rig.output<T>(0);
    CHECK(test::near(y, want, tolerance));
    if (lanes == 1) first.assign(y.begin(), y.end());
    else CHECK(std::memcmp(first.data(), y.data(), y.size() * sizeof(T)) == 0);
  }
}

}  // namespace

TEST_CASE("tiles exist for the instruction sets of the build: their accumulators fill the registers") {
  cameo::test::for_each_target([] {
    const eps::gemm_tile tile = eps::tile_of<float>();
    const std::int64_t lanes = tile.columns / 2;
    bool many = lanes == 16;  // AVX-512
#if HWY_ARCH_ARM_A64
    many = true;
#endif
    CHECK(tile.rows == (many ? 12 : 6));
  });
}

TEST_CASE("products of few rows with panels that plans share have the same bits as with weights that are not packed") {
  test::for_each_target([] {
    std::mt19937 random{33};
    const std::int64_t panel = eps::tile_of<float>().columns;
    for (std::int64_t m = 1; m <= 5; ++m)
      for (const std::int64_t n : {std::int64_t{2}, panel - 1, panel, panel + 1, 3 * panel + 7, std::int64_t{1030}})
        for (const bool tb : {false, true}) {
          const std::int64_t k = std::int64_t(random() % 70) + 1;
          INFO("m ", m, ", n ", n, ", k ", k, ", tb ", tb);
          const auto a = test::random_numbers<float>(random, m * k), b = test::random_numbers<float>(random, k * n);
          const auto bias = test::random_numbers<float>(random, n);
          std::vector<float> alone;
          for (const std::size_t lanes : {1, 3})
            for (const bool shared : {false, true}) {
              kernel_rig rig{13, lanes};
              rig.attribute("transB", std::int64_t{tb});
              if (shared) rig.share_packs();
              rig.input<float>({m, k}, a).input<float>(tb ? extents{n, k} : extents{k, n}, b, true);
              rig.input<float>({n}, bias);
              REQUIRE(rig.run<eps::gemm<float>>({dtype::f32}));
              const auto y = rig.output<float>(0);
              if (alone.empty()) alone.assign(y.begin(), y.end());
              CHECK(std::memcmp(alone.data(), y.data(), y.size() * sizeof(float)) == 0);
            }
        }
  });
}

TEST_CASE("tiles of every height and width, from panels and from B in place") {
  test::for_each_target([] {
    std::mt19937 random{21};
    const eps::gemm_tile tile = eps::tile_of<float>();
    for (std::int64_t n = 1; n <= 2 * tile.columns + 1; ++n)
      for (const bool tb : {false, true}) {
        const std::int64_t m = std::int64_t(random() % unsigned(2 * tile.rows + 1)) + 1;
        compare_fused<float>({m, n, std::int64_t(random() % 37) + 1, n % 2 == 0, tb, n % 3 != 0}, random, 1e-4);
      }
    for (std::int64_t m = 1; m <= 2 * tile.rows + 2; ++m)
      for (const bool constant : {false, true}) {
        compare_fused<float>({m, tile.columns + 5, 19, false, m % 2 == 0, constant}, random, 1e-4);
        compare_fused<double>({m, tile.columns + 3, 19, m % 3 == 0, m % 2 == 0, constant}, random, 1e-10);
      }
  });
}

TEST_CASE("products of few rows read B in place: widths, depths, and a B that is larger than the caches") {
  test::for_each_target([] {
    std::mt19937 random{22};
    for (std::int64_t m = 1; m <= 17; ++m)
      for (const bool tb : {false, true})
        for (const std::int64_t n : {1, 3, 16, 31, 67})
          compare_fused<float>({m, n, m * 5 % 43 + n % 5, false, tb, m % 2 == 0}, random, 1e-4);
    compare_fused<double>({3, 45, 67, false, true, false}, random, 1e-10);
    compare_fused<double>({5, 45, 67, true, false, false}, random, 1e-10);
    for (const std::int64_t m : {1, 2, 7})
      for (const bool tb : {false, true}) compare_fused<float>({m, 1100, 263, false, tb, m == 1}, random, 1e-4);
    compare_fused<float>({700, 1, 413, false, false, false}, random, 1e-4);
  });
}

TEST_CASE("blocks of rows and of depth, and a B that is packed in parts") {
  test::for_each_target([] {
    std::mt19937 random{23};
    for (const bool transposed : {false, true}) {
      compare_fused<float>({eps::gemm_block_rows + 9, 70, eps::gemm_block_depth + 7, transposed, false, true}, random,
                           1e-4);
      compare_fused<float>({20, 150, 2 * eps::gemm_block_depth + 3, transposed, true, false}, random, 1e-4);
      compare_fused<float>({5, 40, eps::gemm_block_depth + 100, transposed, false, true}, random, 1e-4);
    }
  });
  std::mt19937 random{24};
  for (const bool tb : {false, true}) compare_fused<float>({20, 2200, 1000, false, tb, false}, random, 1e-4);
}

TEST_CASE("integers wrap, and alpha saturates to their range") {
  const std::vector<std::int32_t> a{std::numeric_limits<std::int32_t>::max()}, b{2};
  kernel_rig rig{13};
  rig.input<std::int32_t>({1, 1}, a).input<std::int32_t>({1, 1}, b);
  REQUIRE(bool(rig.run<eps::gemm<std::int32_t>>({dtype::i32})));
  CHECK(rig.output<std::int32_t>(0)[0] == -2);
  kernel_rig large{13};
  large.attribute("alpha", 1e30f).input<std::int32_t>({1, 1}, b).input<std::int32_t>({1, 1}, b);
  REQUIRE(bool(large.run<eps::gemm<std::int32_t>>({dtype::i32})));
  CHECK(large.output<std::int32_t>(0)[0] == std::numeric_limits<std::int32_t>::max());
}

namespace {

void compare_activations() {
  std::mt19937 random{7};
  const auto a = test::random_numbers<float>(random, 5 * 30), b = test::random_numbers<float>(random, 30 * 40);
  const std::vector<double> plain = naive_gemm<float>(5, 40, 30, false, false, a, b, 1, 0, {}, {});
  for (const auto& [name, f] :
       {std::pair{"", +[](double v) { return v; }}, std::pair{"Relu", +[](double v) { return std::max(v, 0.0); }},
        std::pair{"LeakyRelu", +[](double v) { return v < 0 ? v * 0.25 : v; }},
        std::pair{"HardSigmoid", +[](double v) { return std::clamp(0.25 * v + 0.75, 0.0, 1.0); }},
        std::pair{"Elu", +[](double v) { return v < 0 ? 0.25 * std::expm1(v) : v; }},
        std::pair{"Selu", +[](double v) { return 2 * (v > 0 ? v : 0.25 * std::expm1(v)); }},
        std::pair{"Softplus", +[](double v) { return std::log1p(std::exp(v)); }},
        std::pair{"Softsign", +[](double v) { return v / (1 + std::abs(v)); }}}) {
    std::vector<double> want = plain;
    for (double& v : want) v = f(v);
    kernel_rig rig{1};
    rig.attribute("activation", name).attribute("activation_alpha", 0.25f).attribute("activation_beta", 0.75f);
    rig.attribute("activation_gamma", 2.0f).input<float>({5, 30}, a).input<float>({30, 40}, b, true);
    REQUIRE(bool(rig.run<eps::fused_gemm<float>>({dtype::f32})));
    const std::string which = name;  // clang 14 cannot capture structured bindings
    CHECK_MESSAGE(test::near(rig.output<float>(0), want, 1e-5), which);
  }
}

}  // namespace

TEST_CASE("FusedGemm applies its activations") {
  test::for_each_target([] { compare_activations(); });
}

TEST_CASE("Gemm without depth is beta * C, without rows is empty; a beta of 0 ignores an infinite C") {
  const std::vector<float> none, c{1, 2}, one{1}, inf{std::numeric_limits<float>::infinity()};
  kernel_rig depth{13};
  depth.attribute("beta", 2.0f).input<float>({3, 0}, none).input<float>({0, 2}, none, true).input<float>({2}, c);
  REQUIRE(bool(depth.run<eps::gemm<float>>({dtype::f32})));
  CHECK(test::near(depth.output<float>(0), {2, 4, 2, 4, 2, 4}));
  kernel_rig rows{13};
  rows.input<float>({0, 2}, none).input<float>({2, 1}, c, true);
  REQUIRE(bool(rows.run<eps::gemm<float>>({dtype::f32})));
  CHECK(rows.output<float>(0).shape() == extents{0, 1});
  kernel_rig beta{13};
  beta.attribute("beta", 0.0f).input<float>({1, 1}, one).input<float>({1, 1}, one).input<float>({1}, inf);
  REQUIRE(bool(beta.run<eps::gemm<float>>({dtype::f32})));
  CHECK(beta.output<float>(0)[0] == 1.0f);
}

TEST_CASE("Gemm reports what does not fit") {
  const std::vector<float> six(6), two(2);
  const auto words_of = [&](const extents& a, const extents& b, const extents& c) {
    kernel_rig rig{13};
    rig.input<float>(a, six).input<float>(b, six, true).input<float>(c, two);
    const status s = rig.run<eps::gemm<float>>({dtype::f32});
    CHECK(s.code() == status_code::invalid_argument);
    return std::string{s.words()};
  };
  CHECK(words_of({2, 3}, {2, 3}, {1}).find("A has 3 columns, B must have 3 rows, but has 2") != std::string::npos);
  CHECK(words_of({6}, {2, 3}, {1}).find("rank 2") != std::string::npos);
  CHECK(words_of({2, 3}, {3, 2}, {3}).find("broadcast") != std::string::npos);
  CHECK(words_of({2, 3}, {3, 2}, {1, 1, 2}).find("broadcast") != std::string::npos);
}

namespace {

struct matmul_case {
  extents a, b, y;
};

/// numpy's definition of matmul, element by element.
template <class T>
std::vector<double> naive_matmul(const matmul_case& s, const std::vector<T>& a, const std::vector<T>& b) {
  extents as = s.a, bs = s.b, ys = s.y;
  if (as.rank() == 1) as.insert(0, 1), ys.insert(s.b.rank() == 1 ? ys.rank() : ys.rank() - 1, 1);
  if (bs.rank() == 1) bs.push_back(1), ys.push_back(1);
  const std::int64_t m = as[as.rank() - 2], k = as.back(), n = bs.back();
  std::vector<double> y(std::size_t(ys.count()));
  for (std::int64_t at = 0; at < ys.count(); ++at) {
    std::int64_t batch = at / (m * n), a_at = 0, b_at = 0, a_step = m * k, b_step = k * n;
    for (std::size_t i = 2; i < ys.rank(); ++i) {
      const std::int64_t dim = ys[ys.rank() - 1 - i], index = batch % dim;
      batch /= dim;
      if (i < as.rank()) {
        const std::int64_t own = as[as.rank() - 1 - i];
        a_at += (own == 1 ? 0 : index) * a_step, a_step *= own;
      }
      if (i < bs.rank()) {
        const std::int64_t own = bs[bs.rank() - 1 - i];
        b_at += (own == 1 ? 0 : index) * b_step, b_step *= own;
      }
    }
    const std::int64_t i = at / n % m, j = at % n;
    for (std::int64_t p = 0; p < k; ++p)
      y[std::size_t(at)] += as_double(a[std::size_t(a_at + i * k + p)]) * as_double(b[std::size_t(b_at + p * n + j)]);
  }
  return y;
}

template <class T>
void compare_matmul(double tolerance) {
  std::mt19937 random{11};
  for (const matmul_case& s :
       {matmul_case{{5}, {5}, {}}, matmul_case{{5}, {5, 7}, {7}}, matmul_case{{7, 5}, {5}, {7}},
        matmul_case{{7, 50}, {50, 9}, {7, 9}}, matmul_case{{3, 7, 5}, {5, 9}, {3, 7, 9}},
        matmul_case{{3, 7, 5}, {3, 5, 9}, {3, 7, 9}}, matmul_case{{2, 1, 7, 5}, {3, 5, 9}, {2, 3, 7, 9}},
        matmul_case{{7, 5}, {2, 3, 5, 33}, {2, 3, 7, 33}}, matmul_case{{5}, {2, 3, 5, 9}, {2, 3, 9}},
        matmul_case{{2, 3, 9, 5}, {5}, {2, 3, 9}}, matmul_case{{2, 3, 40, 70}, {1, 1, 70, 40}, {2, 3, 40, 40}},
        matmul_case{{4, 70, 30}, {4, 30, 80}, {4, 70, 80}}, matmul_case{{2, 3, 0}, {2, 0, 4}, {2, 3, 4}},
        matmul_case{{0, 3, 2}, {2, 4}, {0, 3, 4}}, matmul_case{{1, 300}, {300, 2000}, {1, 2000}},
        matmul_case{{6, 300}, {300, 1100}, {6, 1100}}, matmul_case{{300, 40}, {40, 1}, {300, 1}},
        matmul_case{{3, 31, 7}, {3, 7, 37}, {3, 31, 37}}, matmul_case{{5, 13, 3}, {5, 3, 3}, {5, 13, 3}}}) {
    const auto a = test::random_numbers<T>(random, s.a.count()), b = test::random_numbers<T>(random, s.b.count());
    for (const bool constant : {false, true}) {
      CAPTURE(s.y.count());
      kernel_rig rig{13, 3};
      rig.input<T>(s.a, a).template input<T>(s.b, b, constant);
      test::run_ok<eps::matmul<T>>(rig, {dtype_of<T>});
      CHECK(rig.output<T>(0).shape() == s.y);
      CHECK(test::near(rig.output<T>(0), naive_matmul(s, a, b), tolerance));
    }
  }
}

}  // namespace

TEST_CASE("MatMul broadcasts as numpy's does, operands of one axis and empty ones included") {
  test::for_each_target([] {
    compare_matmul<float>(1e-4);
    compare_matmul<double>(1e-10);
  });
  compare_matmul<float16>(2e-2);
  compare_matmul<std::int32_t>(0);
  compare_matmul<std::uint64_t>(0);
}

TEST_CASE("FusedMatMul scales, transposes, and takes batches from the axis before the last (transBatch)") {
  std::mt19937 random{12};
  const auto a = test::random_numbers<float>(random, 2 * 3 * 4), b = test::random_numbers<float>(random, 2 * 5 * 4);
  for (const bool batch : {false, true}) {
    kernel_rig rig{1};
    rig.attribute("alpha", 0.5f).attribute("transB", std::int64_t{1}).attribute("transBatchA", std::int64_t{batch});
    rig.input<float>(batch ? extents{3, 2, 4} : extents{2, 3, 4}, a).input<float>({2, 5, 4}, b);
    REQUIRE(bool(rig.run<eps::matmul<float>>({dtype::f32})));
    REQUIRE(rig.output<float>(0).shape() == extents{2, 3, 5});
    std::vector<double> want;
    for (int g = 0; g < 2; ++g)
      for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 5; ++j) {
          double sum = 0;
          for (int k = 0; k < 4; ++k)
            sum += double(a[std::size_t(batch ? (i * 2 + g) * 4 + k : (g * 3 + i) * 4 + k)]) *
                   double(b[std::size_t((g * 5 + j) * 4 + k)]);
          want.push_back(sum / 2);
        }
    CHECK(test::near(rig.output<float>(0), want));
  }
}

TEST_CASE("MatMul reports what does not fit") {
  const std::vector<float> x(6);
  for (const auto& [a, b] : {std::pair{extents{2, 3}, extents{2, 3}}, std::pair{extents{}, extents{6}},
                             std::pair{extents{2, 1, 3}, extents{3, 3, 1}}}) {
    kernel_rig rig{13};
    rig.input<float>(a, x).input<float>(b, x);
    const status s = rig.run<eps::matmul<float>>({dtype::f32});
    CHECK(s.code() == status_code::invalid_argument);
    CHECK(!s.words().empty());
  }
}

namespace {

/// Gemm with A and B in 16 bits gives the bits of Gemm in float on the same numbers, rounded once at the end.
template <class T>
void compare_narrow(const gemm_case& g, std::mt19937& random, bool share) {
  INFO("m n k " << g.m << " " << g.n << " " << g.k << ", transposed " << g.ta << g.tb << ", constant " << g.constant
                << ", shared " << share);
  const extents a = g.ta ? extents{g.k, g.m} : extents{g.m, g.k}, b = g.tb ? extents{g.n, g.k} : extents{g.k, g.n};
  const auto set = [&](kernel_rig& rig) {
    rig.attribute("transA", std::int64_t{g.ta}).attribute("transB", std::int64_t{g.tb});
    if (share) rig.share_packs();
  };
  const auto is_constant = [&](std::size_t input, std::size_t) { return input == 1 && g.constant; };
  test::check_like_float<T, eps::gemm>(13, {a, b, {g.n}}, random, set, is_constant);
}

/// Few rows and many, from panels and in place, a single column, and the edges of panels; less than a block that is
/// transposed at once, and more than one block of depth.
template <class T>
void compare_narrow_shapes(unsigned seed) {
  std::mt19937 random{seed};
  const std::int64_t panel = eps::tile_of<float>().columns, rows = eps::tile_of<float>().rows;
  for (const std::int64_t m : {std::int64_t{1}, std::int64_t{3}, std::int64_t{4}, std::int64_t{5}, rows, 2 * rows + 1})
    for (const std::int64_t n : {std::int64_t{1}, std::int64_t{9}, panel, 2 * panel + 7})
      for (const std::int64_t k : {1, 7, 37, 96, 700})
        for (const bool tb : {false, true})
          for (const bool constant : {false, true}) {
            compare_narrow<T>({m, n, k, false, tb, constant}, random, false);
            if (constant) compare_narrow<T>({m, n, k, false, tb, true}, random, true);
          }
  compare_narrow<T>({eps::gemm_block_rows + 9, 70, 600, true, false, true}, random, false);
  compare_narrow<T>({3, 1100, 130, true, false, false}, random, false);
}

}  // namespace

TEST_CASE("weights of 16 bits give the same bits as in float, whatever the shape and the threads") {
  test::for_each_target([] {
    compare_narrow_shapes<float16>(41);
    compare_narrow_shapes<bfloat16>(42);
  });
  std::mt19937 random{43};
  compare_narrow<float16>({20, 2200, 1000, false, false, false}, random, false);  // panels are packed block by block
  compare_narrow<float16>({20, 2200, 1000, false, true, false}, random, false);
}

namespace {

template <class T>
void compare_narrow_batches(std::mt19937& random) {
  for (const std::int64_t m : {1, 5, 13, 40})  // more products than lanes, and fewer
    for (const std::int64_t n : {1, 9, 70, 230})
      for (const std::int64_t batch : {2, 7})
        for (const bool ta : {false, true})
          for (const bool tb : {false, true}) {
            INFO("m n " << m << " " << n << ", batch " << batch << ", transposed " << ta << tb);
            const extents a = ta ? extents{batch, 37, m} : extents{batch, m, 37};
            const extents b = tb ? extents{batch, n, 37} : extents{batch, 37, n};
            const auto set = [&](kernel_rig& rig) {
              rig.attribute("transA", std::int64_t{ta}).attribute("transB", std::int64_t{tb});
            };
            test::check_like_float<T, eps::matmul>(1, {a, b}, random, set, test::no_constants);
          }
}

}  // namespace

TEST_CASE("batches of 16 bits give the same bits as in float") {
  std::mt19937 random{45};
  compare_narrow_batches<float16>(random);
  compare_narrow_batches<bfloat16>(random);
}

TEST_CASE("a C of 16 bits as large as Y is added before the activation, with the bits of float") {
  std::mt19937 random{46};
  for (const std::string_view f : {"", "Relu", "Tanh"})
    for (const std::int64_t m : {1, 3, 70})
      for (const std::int64_t n : {1, 5, 130}) {
        INFO(f << " m n " << m << " " << n);
        const auto set = [&](kernel_rig& rig) { rig.attribute("activation", f).attribute("beta", 0.7f); };
        test::check_like_float<float16, eps::fused_gemm>(1, {{m, 40}, {40, n}, {m, n}}, random, set,
                                                         test::no_constants);
      }
}

TEST_CASE("the panels of a constant of 16 bits stay in 16 bits, and no copy in float is kept") {
  std::mt19937 random{44};
  const std::int64_t k = 96, n = 3 * eps::tile_of<float>().columns;
  const auto a = test::random_numbers<float16>(random, 7 * k), b = test::random_numbers<float16>(random, k * n);
  kernel_rig rig{13};
  rig.share_packs().input<float16>({7, k}, a).input<float16>({k, n}, b, true);
  REQUIRE(rig.run<eps::gemm<float16>>({dtype::f16}));
  CHECK(rig.packed_bytes() == std::size_t(k * n) * sizeof(float16));
  CHECK(rig.kept_bytes() < std::size_t(k * n) * sizeof(float));
}
