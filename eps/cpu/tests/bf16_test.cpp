// Products in bfloat16, which a session enables with ep.cpu.math.
#include <cameo/eps/cpu.hpp>
#include <cameo/eps/cpu/detail/math_choice.hpp>
#include <cameo/eps/cpu/gemm.hpp>
#include <cameo/eps/cpu/matmul.hpp>
#include <cameo/os/heap_arena.hpp>

#include "../../../tests/session/models.hpp"
#include "../src/microkernels/bf16_loops.hpp"
#include "each_target.hpp"
#include "kernel_rig.hpp"
#include "run_kernel.hpp"

#include <doctest/doctest.h>

using namespace cameo;
using cameo::test::kernel_rig;

namespace {

struct bf16_case {
  std::int64_t m, n, k;
  bool ta, tb;
  std::string_view activation;
};

template <class T>
std::vector<T> multiply_case(const bf16_case& g, const std::vector<T>& a, const std::vector<T>& b,
                             const std::vector<T>& bias, std::size_t lanes, std::uint32_t choice) {
  kernel_rig rig{1, lanes};
  rig.choose(choice).attribute("transA", std::int64_t{g.ta}).attribute("transB", std::int64_t{g.tb});
  rig.attribute("alpha", 0.5f).attribute("beta", 2.0f).attribute("activation", g.activation);
  rig.input<T>(g.ta ? extents{g.k, g.m} : extents{g.m, g.k}, a);
  rig.input<T>(g.tb ? extents{g.n, g.k} : extents{g.k, g.n}, b, true).template input<T>({g.n}, bias);
  const status done = rig.run<eps::fused_gemm<T>>({dtype_of<T>});
  REQUIRE_MESSAGE(bool(done), done.words());
  const auto y = rig.output<T>(0);
  return {y.begin(), y.end()};
}

float rounded_to_bf16(float x) { return float(bfloat16{x}); }

/// True if y is Gemm of the rounded operands, summed in double.
bool is_product_of_rounded(const bf16_case& g, const std::vector<float>& a, const std::vector<float>& b,
                           const std::vector<float>& bias, const std::vector<float>& y) {
  for (std::int64_t i = 0; i < g.m; ++i)
    for (std::int64_t j = 0; j < g.n; ++j) {
      double sum = 0;
      for (std::int64_t p = 0; p < g.k; ++p)
        sum += double(rounded_to_bf16(a[std::size_t(g.ta ? p * g.m + i : i * g.k + p)])) *
               double(rounded_to_bf16(b[std::size_t(g.tb ? j * g.k + p : p * g.n + j)]));
      double want = 0.5 * sum + 2 * double(bias[std::size_t(j)]);
      if (g.activation == "Relu") want = std::max(want, 0.0);
      if (g.activation == "Tanh") want = std::tanh(want);
      const double got = double(y[std::size_t(i * g.n + j)]);
      if (!(std::abs(got - want) <= 1e-4 * (1 + std::abs(want)))) return false;
    }
  return true;
}

}  // namespace

TEST_CASE(
    "lines of bfloat16 are sums of products on each instruction set that runs here, whatever is computed beside them") {
  std::mt19937 random{50};
  const auto from_to = [&](std::int64_t low, std::int64_t high) {
    return low + std::int64_t(random() % std::uint64_t(high - low + 1));
  };
  for (const eps::instruction_set* set : eps::runnable_instruction_sets()) {
    const eps::bf16_loops* const by = set->bf16;
    if (!by) continue;
    CAPTURE(set->name);
    std::int64_t wrong = 0, differ = 0;
    for (int round = 0; round < 300; ++round) {
      constexpr std::int64_t block = eps::bf16_block, lanes = eps::bf16_lanes;
      const std::int64_t vectors = from_to(1, 3), rows = from_to(1, 70), cells = from_to(1, 40), taps = from_to(1, 3);
      const std::int64_t last = from_to(1, lanes), columns = (vectors - 1) * lanes + last, width = vectors * lanes;
      const std::int64_t blocks = (cells + block - 1) / block;
      // x has one row per output, and the rows behind it that the taps reach; the taps of a tile are in the tile's
      // rows.
      const std::int64_t tile = by->tile_rows(rows, vectors), tiles = (rows + tile - 1) / tile,
                         in_tile = tile + taps - 1;
      const auto numbers = test::random_numbers<float>(random, (rows + taps) * cells * 2);
      const auto weights = test::random_numbers<float>(random, taps * cells * 2 * columns);
      const auto bias = test::random_numbers<float>(random, width),
                 add = test::random_numbers<float>(random, rows * width);
      const auto bits = [](float v) { return std::uint32_t(bfloat16{v}.bits); };
      const auto number = [&](std::int64_t row, std::int64_t i) { return numbers[std::size_t(row * cells * 2 + i)]; };
      const auto weight = [&](std::int64_t t, std::int64_t i, std::int64_t j) {
        return weights[std::size_t((t * cells * 2 + i) * columns + j)];
      };
      std::vector<std::uint32_t> x(std::size_t(tiles * blocks * in_tile * block), 0);
      for (std::int64_t r = 0; r < tiles * in_tile; ++r)
        for (std::int64_t c = 0; c < cells; ++c) {
          const std::int64_t row = r / in_tile * tile + r % in_tile,
                             place = (r / in_tile * blocks + c / block) * in_tile;
          if (row < rows + taps)
            x[std::size_t((place + r % in_tile) * block + c % block)] =
                bits(number(row, 2 * c)) | bits(number(row, 2 * c + 1)) << 16;
        }
      std::vector<std::uint32_t> w(std::size_t(taps * cells * width), 0);
      for (std::int64_t c = 0; c < cells; ++c)
        for (std::int64_t t = 0; t < taps; ++t)
          for (std::int64_t j = 0; j < columns; ++j) {
            const std::int64_t first = c / block * block, size = std::min(block, cells - first);
            w[std::size_t((first * taps + t * size + c % block) * width + j)] =
                bits(weight(t, 2 * c, j)) | bits(weight(t, 2 * c + 1, j)) << 16;
          }
      std::vector<std::int64_t> at;
      for (std::int64_t t = 0; t < taps; ++t) at.push_back(t * block);
      std::vector<float> y = add;
      eps::bf16_line line{};
      line.rows = rows, line.tile_rows = tile, line.x = x.data();
      line.tile_step = blocks * in_tile * block, line.block_step = in_tile * block;
      line.cells = cells, line.taps = at.data(), line.tap_count = line.w_taps = taps, line.w = w.data();
      line.vectors = vectors, line.lanes = last, line.y = y.data(), line.y_row = width, line.y_vector = lanes;
      line.alpha = round % 3 == 0 ? 0.5f : 1.0f, line.beta = 2, line.bias = bias.data(), line.bias_column = 1;
      line.bias_row = 0, line.low = -3, line.high = round % 2 == 0 ? 4 : std::numeric_limits<float>::infinity();
      line.add = y.data(), line.add_row = width, line.add_vector = lanes;  // the sums are added to y itself
      by->line(line);
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t j = 0; j < columns; ++j) {
          double sum = 0;
          for (std::int64_t t = 0; t < taps; ++t)
            for (std::int64_t i = 0; i < 2 * cells; ++i)
              sum += double(rounded_to_bf16(number(r + t, i))) * double(rounded_to_bf16(weight(t, i, j)));
          const auto place = std::size_t(r * width + j);
          sum = double(line.alpha) * sum + 2 * double(bias[std::size_t(j)]) + double(add[place]);
          const double want = std::clamp(sum, double(line.low), double(line.high));
          wrong += !(std::abs(double(y[place]) - want) <= 1e-4);
        }
      const std::int64_t row = from_to(0, tile - 1);  // a row of the first tile, computed alone
      if (row >= rows) continue;
      std::vector<float> alone(add.begin() + row * width, add.begin() + (row + 1) * width);
      line.rows = line.tile_rows = 1, line.x = x.data() + row * block, line.y = alone.data(), line.add = alone.data();
      by->line(line);
      differ += std::memcmp(alone.data(), y.data() + row * width, std::size_t(columns) * sizeof(float)) != 0;
    }
    CHECK(wrong == 0);
    CHECK(differ == 0);
  }
}

TEST_CASE(
    "products of bfloat16 are sums of products of rounded numbers, with the same bits for any number of threads") {
  if (test::no_bf16_here()) return;
  std::mt19937 random{51};
  for (const std::int64_t m : {1, 2, 5, 12, 13, 31})
    for (const std::int64_t n : {1, 15, 16, 17, 32, 33, 100})
      for (const std::int64_t k : {1, 2, 15, 33, 300}) {
        const bf16_case g{m, n, k, random() % 2 == 0, random() % 2 == 0, m % 2 ? "Relu" : n % 2 ? "Tanh" : ""};
        CAPTURE(m);
        CAPTURE(n);
        CAPTURE(k);
        const auto a = test::random_numbers<float>(random, m * k), b = test::random_numbers<float>(random, k * n);
        const auto bias = test::random_numbers<float>(random, n);
        const auto y = multiply_case(g, a, b, bias, 1, eps::cpu_math_is_bf16);
        CHECK(is_product_of_rounded(g, a, b, bias, y));
        CHECK(y == multiply_case(g, a, b, bias, 3, eps::cpu_math_is_bf16));
      }
}

TEST_CASE("a row has the same bits alone and among other rows in products of bfloat16") {
  if (test::no_bf16_here()) return;
  std::mt19937 random{52};
  const std::int64_t m = 29, n = 70, k = 1001;
  const auto a = test::random_numbers<float>(random, m * k), b = test::random_numbers<float>(random, k * n);
  const auto bias = test::random_numbers<float>(random, n);
  const auto all = multiply_case({m, n, k, false, false, ""}, a, b, bias, 1, eps::cpu_math_is_bf16);
  CHECK(all != multiply_case({m, n, k, false, false, ""}, a, b, bias, 1, 0));
  for (std::int64_t i = 0; i < m; ++i) {
    const std::vector<float> row(a.begin() + i * k, a.begin() + (i + 1) * k);
    const auto alone = multiply_case({1, n, k, false, false, ""}, row, b, bias, 1, eps::cpu_math_is_bf16);
    CHECK(std::memcmp(alone.data(), all.data() + i * n, std::size_t(n) * sizeof(float)) == 0);
  }
}

TEST_CASE("an instruction set without bfloat16 computes the bits of float if bfloat16 is requested") {
  std::mt19937 random{53};
  const auto a = test::random_numbers<float>(random, 5 * 40), b = test::random_numbers<float>(random, 40 * 33);
  const auto bias = test::random_numbers<float>(random, 33);
  test::for_each_target([&] {
    const auto asked = multiply_case({5, 33, 40, false, false, ""}, a, b, bias, 1, eps::cpu_math_is_bf16);
    const bool same = asked == multiply_case({5, 33, 40, false, false, ""}, a, b, bias, 1, 0);
    CHECK(same == (eps::best_bf16_loops() == nullptr));
  });
}

TEST_CASE("weights that are float16 give the same products as in float") {
  if (test::no_bf16_here()) return;
  std::mt19937 random{54};
  const bf16_case g{7, 50, 90, false, true, "Relu"};
  const auto a = test::random_numbers<float16>(random, 7 * 90), b = test::random_numbers<float16>(random, 90 * 50);
  const auto bias = test::random_numbers<float16>(random, 50);
  const auto wide = [](const std::vector<float16>& x) { return std::vector<float>(x.begin(), x.end()); };
  const auto y = multiply_case(g, a, b, bias, 1, eps::cpu_math_is_bf16);
  const auto want = multiply_case(g, wide(a), wide(b), wide(bias), 1, eps::cpu_math_is_bf16);
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(y[i].bits == float16{want[i]}.bits);
}

namespace {

/// The choice for a node of this name in a session with this value of ep.cpu.math; -1 if the value is refused.
int choice_for(std::string_view value, std::string_view name) {
  provider_options options{eps::cpu::options};
  options.set("math", value);
  const result<eps::cpu> made = eps::cpu{}.configured(options);
  if (!made) return -1;
  detail::heap_arena memory;
  detail::arena_vector<detail::output_hint> hints{memory};
  bind_context c{"MatMul", name, 13, {}, {}, {}, 0, memory, true, hints};
  made->before_bind(c);
  return int(c.choice);
}

}  // namespace

TEST_CASE("ep.cpu.math selects bfloat16 for all nodes, or for those whose names fit a pattern") {
  CHECK(choice_for("float32", "/a/MatMul") == 0);
  CHECK(choice_for("bf16", "/a/MatMul") == 1);
  CHECK(choice_for("bf16", "") == 1);
  CHECK(choice_for("bf16:/a/MatMul", "/a/MatMul") == 1);
  CHECK(choice_for("bf16:/a/MatMul", "/a/MatMul_1") == 0);
  CHECK(choice_for("bf16:/a/*", "/a/MatMul_1") == 1);
  CHECK(choice_for("bf16:/b/*,*MatMul*", "/a/MatMul_1") == 1);
  CHECK(choice_for("bf16:/b/*,*Conv", "/a/MatMul_1") == 0);
  CHECK(choice_for("bf16:*a*b*c", "xaxbxbxc") == 1);
  CHECK(choice_for("bf16:*a*b*c", "xaxbxbxcx") == 0);
  for (const std::string_view wrong : {"", "bf16:", "bf17", "bf16x", "float16"}) CHECK(choice_for(wrong, "a") == -1);
}

TEST_CASE("a session multiplies in bfloat16 only in the nodes that ep.cpu.math names") {
  if (test::no_bf16_here()) return;
  const auto run = [](const char* math) {
    test::model_builder b;
    const value_id x = b.input("x", dtype::f32, {dim::fixed(3), dim::fixed(40)});
    b.output(b.node("MatMul", {x, b.constant("v", {40, 20}, test::ramp(800))}));
    b.output(b.node("MatMul", {x, b.constant("w", {40, 20}, test::ramp(800, 0.007f))}));
    session_options options;
    options.config = {{"ep.cpu.math", math}};
    const result<session> s = runtime<eps::cpu>{}.load(b.take(), options);
    REQUIRE(s);
    const std::vector<float> numbers = test::ramp(120);
    const auto out = s->run({{"x", value::tensor<float>({3, 40}, std::span<const float>{numbers})}});
    REQUIRE(out);
    std::vector<std::vector<float>> all;
    for (std::size_t i = 0; i < 2; ++i) all.push_back(test::elements_of<float>((*out)[i].value.view()));
    return all;
  };
  const auto plain = run("float32"), all = run("bf16"), second = run("bf16:*_1");
  CHECK((all[0] != plain[0] && all[1] != plain[1]));
  CHECK(second[0] == plain[0]);
  CHECK(second[1] == all[1]);
}
