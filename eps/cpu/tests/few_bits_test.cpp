// MatMulBnb4, MatMulFpQ4, QMoE and MoE against their definitions, with weights that are packed when the kernel is
// bound, and with weights that are packed in each run, on each instruction set that runs here.
#include <doctest/doctest.h>
#include <cameo/eps/cpu/matmul_fp4.hpp>
#include <cameo/eps/cpu/mixture_of_experts.hpp>

#include <cmath>
#include <cstring>

#include "each_target.hpp"
#include "kernel_rig.hpp"

namespace cameo::test {
namespace {

std::vector<std::uint8_t> random_bytes(std::mt19937& random, std::int64_t count) {
  std::vector<std::uint8_t> made(static_cast<std::size_t>(count));
  for (std::uint8_t& each : made) each = std::uint8_t(random());
  return made;
}

/// The output of a kernel, and the memory that it took.
struct outcome {
  std::vector<float> y;
  std::size_t packed = 0, scratch = 0;
};
template <class K>
outcome outcome_of(kernel_rig& rig) {
  rig.share_packs();
  const status done = rig.run<K>({dtype::f32});
  REQUIRE_MESSAGE(bool(done), done.words());
  return {elements_of<float>(rig), rig.packed_bytes(), rig.scratch_bytes()};
}
bool same_bits(const outcome& a, const outcome& b) {
  return a.y.size() == b.y.size() && std::memcmp(a.y.data(), b.y.data(), a.y.size() * sizeof(float)) == 0;
}

/// True if y = a * b up to the rounding of float sums; b(i, j) is an element of k rows and n columns.
template <class B>
std::int64_t wrong_products(const std::vector<float>& a, const outcome& got, std::int64_t k, std::int64_t n,
                            const B& b) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < std::int64_t(a.size()) / k; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      double want = 0, sizes = 0;
      for (std::int64_t l = 0; l < k; ++l) {
        const double part = double(a[std::size_t(i * k + l)]) * b(l, j);
        want += part, sizes += std::fabs(part);
      }
      wrong += !(std::fabs(double(got.y[std::size_t(i * n + j)]) - want) <= sizes * 0x1p-19 + 1e-30);
    }
  return wrong;
}

/// Runs one call in all variants, whose outputs must have the same bits. `call(first row, rows, constant, lanes)`.
template <class Call>
outcome in_all_forms(std::int64_t m, std::int64_t n, const Call& call) {
  const outcome packed = call(0, m, true, 1), now = call(0, m, false, 1), threads = call(0, m, true, 3);
  CHECK(same_bits(packed, now));
  CHECK(same_bits(packed, threads));
  CHECK(now.packed == 0);
  const outcome last = call(m - 1, 1, true, 1);
  CHECK(std::memcmp(packed.y.data() + (m - 1) * n, last.y.data(), std::size_t(n) * sizeof(float)) == 0);
  return packed;
}

struct bnb4_case {
  std::int64_t m, k, n, block, type;
  std::vector<float> a, absmax;
  std::vector<std::uint8_t> codes;

  bnb4_case(std::mt19937& random, std::int64_t rows, std::int64_t depth, std::int64_t columns, std::int64_t size)
      : m{rows}, k{depth}, n{columns}, block{size}, type{std::int64_t(random() % 2)} {
    a = random_numbers<float>(random, m * k), absmax = random_numbers<float>(random, (n * k - 1) / block + 1);
    codes = random_bytes(random, (n * k + 1) / 2);
  }
  outcome run(std::int64_t first, std::int64_t rows, bool constant, std::size_t lanes) const {
    const std::vector<float> some(a.begin() + first * k, a.begin() + (first + rows) * k);
    kernel_rig rig{1, lanes};
    rig.attribute("K", k).attribute("N", n).attribute("block_size", block).attribute("quant_type", type);
    rig.input<float>({rows, k}, some).input<std::uint8_t>({(n * k + 1) / 2}, codes, constant);
    rig.input<float>({std::int64_t(absmax.size())}, absmax, constant);
    return outcome_of<eps::matmul_bnb4>(rig);
  }
  double weight(std::int64_t i, std::int64_t j) const {
    static constexpr double fp4[] = {0, 1.0 / 192, 2.0 / 3, 1, 1.0 / 3, 0.5, 1.0 / 6, 0.25};
    static constexpr double nf4[] = {-1.0,        -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343,
                                     -0.09105004, 0.0,        0.0795803,   0.1609302,  0.2461123,   0.33791524,
                                     0.44070983,  0.562617,   0.72295684,  1.0};
    const std::int64_t at = j * k + i;
    const int code = codes[std::size_t(at / 2)] >> (at % 2 ? 0 : 4) & 15;
    const double number = type == 1 ? nf4[code] : code < 8 ? fp4[code] : -fp4[code - 8];
    return number * double(absmax[std::size_t(at / block)]);
  }
};

TEST_CASE("MatMulBnb4 follows its definition, packed or not, row by row or together, on every instruction set") {
  for_each_target([] {
    std::mt19937 random{11};
    const std::int64_t shapes[][4] = {{1, 64, 40, 64},   {5, 128, 33, 32}, {3, 48, 70, 64}, {9, 256, 17, 16},
                                      {2, 96, 65, 4096}, {1, 37, 9, 16},   {7, 20, 11, 32}};
    for (const auto& each : shapes) {  // clang 14 cannot capture structured bindings
      const std::int64_t m = each[0], k = each[1], n = each[2], block = each[3];
      CAPTURE(k);
      CAPTURE(n);
      CAPTURE(block);
      const bnb4_case p{random, m, k, n, block};
      const outcome got = in_all_forms(m, n, [&](auto... of) { return p.run(of...); });
      CHECK(wrong_products(p.a, got, k, n, [&](std::int64_t i, std::int64_t j) { return p.weight(i, j); }) == 0);
    }
  });
}

TEST_CASE("a step of MatMulBnb4 and MatMulFpQ4 reads packed weights without converting them to floats") {
  std::mt19937 random{12};
  const bnb4_case p{random, 1, 512, 640, 64};
  const outcome got = p.run(0, 1, true, 1);
  CHECK(got.packed >= 512 * 640 / 2);
  CHECK(got.packed <= 512 * 640 * 5 / 8);  // quantized values, and a float for each 64 of them
  CHECK(got.scratch < 512 * 640 / 2);
}

TEST_CASE("MatMulFpQ4 follows its definition, packed or not, row by row or together, on every instruction set") {
  for_each_target([] {
    std::mt19937 random{13};
    const std::int64_t shapes[][4] = {{1, 64, 40, 1}, {5, 100, 33, 0}, {3, 31, 7, 1}, {8, 200, 65, 0}, {2, 1, 1, 1}};
    for (const auto& each : shapes) {
      const std::int64_t m = each[0], k = each[1], n = each[2], zeros = each[3];
      CAPTURE(k);
      CAPTURE(n);
      const std::int64_t depth = (k + 31) / 32, head = zeros ? 5 : 4, bytes = head + 16;
      std::vector<std::uint8_t> b = random_bytes(random, n * depth * bytes);
      const std::vector<float> scales = random_numbers<float>(random, n * depth);
      for (std::int64_t i = 0; i < n * depth; ++i)
        std::memcpy(b.data() + i * bytes, &scales[std::size_t(i)], sizeof(float));
      const std::vector<float> a = random_numbers<float>(random, m * k);
      const std::vector<std::int64_t> sizes{k, n};
      const auto call = [&](std::int64_t first, std::int64_t rows, bool constant, std::size_t lanes) {
        const std::vector<float> some(a.begin() + first * k, a.begin() + (first + rows) * k);
        kernel_rig rig{1, lanes};
        rig.attribute("blk_quant_type", zeros).input<float>({rows, k}, some);
        rig.input<std::uint8_t>({std::int64_t(b.size())}, b, constant).input<std::int64_t>({2}, sizes, true);
        return outcome_of<eps::matmul_fpq4>(rig);
      };
      const outcome got = in_all_forms(m, n, call);
      const auto weight = [&, zeros = zeros](std::int64_t i, std::int64_t j) {
        const std::uint8_t* const block = b.data() + (j * depth + i / 32) * bytes;
        const std::int64_t at = i % 32;
        const int code = block[head + at % 16] >> (at < 16 ? 0 : 4) & 15;
        return double(code - (zeros ? int(block[4]) : 8)) * double(scales[std::size_t(j * depth + i / 32)]);
      };
      CHECK(wrong_products(a, got, k, n, weight) == 0);
      if (m == 1) CHECK(got.scratch < std::size_t(4 * depth * 32 * n));
    }
  });
}

/// Quantized experts: fc2 * relu(fc1 * x + bias), each row with its best expert.
struct qmoe_case {
  std::int64_t rows, experts, size, inner, bits, block;
  bool has_zeros;
  std::vector<float> x, scores, scales[2], bias[2];
  std::vector<std::uint8_t> codes[2], zeros[2];

  std::int64_t n(int layer) const { return layer == 0 ? inner : size; }
  std::int64_t k(int layer) const { return layer == 0 ? size : inner; }
  std::int64_t blocks(int layer) const { return block ? k(layer) / block : 1; }
  std::int64_t zero_bytes(std::int64_t numbers) const { return (numbers * bits + 7) / 8; }

  void fill(std::mt19937& random) {
    x = random_numbers<float>(random, rows * size), scores = random_numbers<float>(random, rows * experts);
    for (int i = 0; i < 2; ++i) {
      codes[i] = random_bytes(random, experts * n(i) * k(i) * bits / 8);
      scales[i] = random_numbers<float>(random, experts * n(i) * blocks(i));
      bias[i] = random_numbers<float>(random, experts * n(i));
      zeros[i] = random_bytes(random, block ? experts * n(i) * zero_bytes(blocks(i)) : experts * zero_bytes(n(i)));
    }
  }
  int code(const std::uint8_t* from, std::int64_t i) const {
    return from[i * bits / 8] >> i * bits % 8 & ((1 << bits) - 1);
  }
  double weight(int layer, std::int64_t e, std::int64_t j, std::int64_t i) const {
    const std::int64_t row = e * n(layer) + j, b = block ? i / block : 0;
    const std::uint8_t* const z = zeros[layer].data();
    const int zero = !has_zeros ? 1 << (bits - 1)
                     : block    ? code(z + row * zero_bytes(blocks(layer)), b)
                                : code(z + e * zero_bytes(n(layer)), j);
    return double(code(codes[layer].data() + row * (k(layer) * bits / 8), i) - zero) *
           double(scales[layer][std::size_t(row * blocks(layer) + b)]);
  }
  outcome run(std::int64_t first, std::int64_t count, bool constant, std::size_t lanes) const {
    const std::vector<float> some(x.begin() + first * size, x.begin() + (first + count) * size);
    const std::vector<float> chosen(scores.begin() + first * experts, scores.begin() + (first + count) * experts);
    kernel_rig rig{1, lanes};
    rig.attribute("k", std::int64_t{1}).attribute("expert_weight_bits", bits);
    if (block) rig.attribute("block_size", block);
    rig.input<float>({count, size}, some).input<float>({count, experts}, chosen);
    for (int i = 0; i < 2; ++i) {
      rig.input<std::uint8_t>({experts, n(i), k(i) * bits / 8}, codes[i], constant);
      const extents of_scales = block ? extents{experts, n(i), blocks(i)} : extents{experts, n(i)};
      rig.input<float>(of_scales, scales[i], constant).input<float>({experts, n(i)}, bias[i], constant);
    }
    for (int i = 0; i < 3; ++i) rig.no_input();
    for (int i = 0; has_zeros && i < 2; ++i) {
      const extents shape = block ? extents{experts, n(i), zero_bytes(blocks(i))} : extents{experts, zero_bytes(n(i))};
      rig.input<std::uint8_t>(shape, zeros[i], constant);
    }
    return outcome_of<eps::qmoe>(rig);
  }
  std::int64_t wrong(const outcome& got) const {
    std::int64_t all = 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* const of = scores.data() + r * experts;
      const std::int64_t e = std::max_element(of, of + experts) - of;
      std::vector<double> hidden;
      for (std::int64_t j = 0; j < inner; ++j) {
        double sum = double(bias[0][std::size_t(e * inner + j)]);
        for (std::int64_t i = 0; i < size; ++i) sum += double(x[std::size_t(r * size + i)]) * weight(0, e, j, i);
        hidden.push_back(std::max(sum, 0.0));
      }
      for (std::int64_t j = 0; j < size; ++j) {
        double want = double(bias[1][std::size_t(e * size + j)]), sizes = std::fabs(want);
        for (std::int64_t i = 0; i < inner; ++i) {
          const double part = hidden[std::size_t(i)] * weight(1, e, j, i);
          want += part, sizes += std::fabs(part);
        }
        all += !(std::fabs(double(got.y[std::size_t(r * size + j)]) - want) <= sizes * 1e-5);
      }
    }
    return all;
  }
};

TEST_CASE("QMoE follows its definition for all bits, blocks and zero points, packed or not, on every instruction set") {
  for_each_target([] {
    std::mt19937 random{14};
    for (const std::int64_t bits : {2, 4, 8})
      for (const std::int64_t block : {0, 16, 32})
        for (const bool has_zeros : {false, true}) {
          CAPTURE(bits);
          CAPTURE(block);
          CAPTURE(has_zeros);
          // With one scale per row, the sizes are not multiples of 16.
          qmoe_case p{9, 3, block ? 96 : 44, block ? 64 : 100, bits, block, has_zeros, {}, {}, {}, {}, {}, {}};
          p.fill(random);
          const outcome got = in_all_forms(p.rows, p.size, [&](auto... of) { return p.run(of...); });
          CHECK(p.wrong(got) == 0);
        }
  });
}

TEST_CASE("a step of QMoE reads its packed experts without converting them to floats") {
  std::mt19937 random{15};
  qmoe_case p{1, 4, 256, 512, 4, 32, false, {}, {}, {}, {}, {}, {}};
  p.fill(random);
  const outcome got = p.run(0, 1, true, 1);
  const std::size_t codes = 2 * 4 * 256 * 512 / 2;
  CHECK(got.packed == codes + codes / 16 * sizeof(float));
  CHECK(got.scratch < 256 * 512 / 2);
}

template <class T>
void check_moe() {
  std::mt19937 random{16};
  const std::int64_t rows = 12, experts = 3, size = 40, inner = 70;
  const auto x = random_numbers<T>(random, rows * size), scores = random_numbers<T>(random, rows * experts);
  const auto first = random_numbers<T>(random, experts * inner * size);
  const auto second = random_numbers<T>(random, experts * inner * size);
  std::vector<T> made[3];
  for (int form = 0; form < 3; ++form) {
    kernel_rig rig{1, form == 2 ? std::size_t{3} : 1};
    rig.attribute("k", std::int64_t{1}).template input<T>({rows, size}, x).template input<T>({rows, experts}, scores);
    rig.template input<T>({experts, inner, size}, first, form != 1).no_input();
    rig.template input<T>({experts, size, inner}, second, form != 1).share_packs();
    const status done = rig.run<eps::moe>({dtype_of<T>});
    REQUIRE_MESSAGE(bool(done), done.words());
    made[form] = elements_of<T>(rig);
    CHECK((rig.packed_bytes() >= 2 * std::size_t(experts * inner * size) * sizeof(T)) == (form != 1));
  }
  CHECK(std::memcmp(made[0].data(), made[2].data(), made[0].size() * sizeof(T)) == 0);
  std::int64_t wrong = 0;
  for (std::int64_t r = 0; r < rows; ++r) {
    std::int64_t e = 0;
    for (std::int64_t i = 1; i < experts; ++i)
      if (float(scores[std::size_t(r * experts + i)]) >= float(scores[std::size_t(r * experts + e)])) e = i;
    std::vector<double> hidden;
    for (std::int64_t j = 0; j < inner; ++j) {
      double sum = 0;
      for (std::int64_t i = 0; i < size; ++i)
        sum += as_double(x[std::size_t(r * size + i)]) * as_double(first[std::size_t((e * inner + j) * size + i)]);
      hidden.push_back(std::max(sum, 0.0));
    }
    double all = 0;
    for (std::int64_t e2 = 0; e2 < experts; ++e2)
      all +=
          std::exp(as_double(scores[std::size_t(r * experts + e2)]) - as_double(scores[std::size_t(r * experts + e)]));
    for (std::int64_t j = 0; j < size; ++j) {
      double want = 0;
      for (std::int64_t i = 0; i < inner; ++i)
        want += hidden[std::size_t(i)] * as_double(second[std::size_t((e * size + j) * inner + i)]);
      const double narrow = std::is_same_v<T, float> ? 1e-5 : std::is_same_v<T, float16> ? 1e-3 : 8e-3;
      for (const std::vector<T>& y : made)
        wrong += !(std::fabs(as_double(y[std::size_t(r * size + j)]) - want / all) <= narrow * (1 + std::fabs(want)));
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("MoE packs constant weights without changing their type, and reads others in place") {
  for_each_target([] {
    check_moe<float>();
    check_moe<float16>();
    check_moe<bfloat16>();
  });
}

}  // namespace
}  // namespace cameo::test
