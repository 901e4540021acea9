// Products with weights of 2, 4 and 8 bits against their definition, on each instruction set that runs here.
#include <doctest/doctest.h>
#include <cameo/eps/cpu/matmul_nbits.hpp>
#include <cameo/op/microsoft.hpp>

#include <array>
#include <cmath>

#include "../src/microkernels/nbits_loops.hpp"
#include "all_instruction_sets.hpp"
#include "each_target.hpp"
#include "rig_checks.hpp"

namespace cameo::test {
namespace {

enum class zero_kind { none, packed, floats };

/// The operands of a product of random shape, and the numbers that they represent.
struct nbits_case {
  std::int64_t m, k, n, bits, block, level;
  zero_kind zeros_are;
  bool has_bias, grouped, constant;
  std::vector<float> a, scales, float_zeros, bias;
  std::vector<std::uint8_t> codes, zeros;
  std::vector<std::int32_t> groups;

  std::int64_t blocks() const { return (k + block - 1) / block; }
  std::int64_t code(const std::vector<std::uint8_t>& from, std::int64_t column_bytes, std::int64_t j,
                    std::int64_t i) const {
    return from[std::size_t(j * column_bytes + i * bits / 8)] >> i * bits % 8 & ((1 << bits) - 1);
  }
  double weight(std::int64_t i, std::int64_t j) const {
    const std::int64_t b = grouped ? groups[std::size_t(i)] : i / block;
    const auto at = std::size_t(j * blocks() + b);
    const double zero = zeros_are == zero_kind::none     ? double(std::int64_t{1} << (bits - 1))
                        : zeros_are == zero_kind::packed ? double(code(zeros, (blocks() * bits + 7) / 8, j, b))
                                                         : double(float_zeros[at]);
    return (double(code(codes, blocks() * block * bits / 8, j, i)) - zero) * double(scales[at]);
  }

  explicit nbits_case(std::mt19937& random) {
    const auto up_to = [&](std::int64_t most) { return 1 + std::int64_t(random() % std::uint64_t(most)); };
    m = up_to(20), k = up_to(300), n = up_to(90), bits = 1 << up_to(3), block = 8 << up_to(5);
    level = up_to(2) == 1 ? 4 : up_to(4) - 1;
    zeros_are = zero_kind(up_to(3) - 1), has_bias = up_to(2) == 1, grouped = up_to(8) == 1, constant = up_to(4) > 1;
    a = random_numbers<float>(random, m * k), bias = random_numbers<float>(random, n);
    scales = random_numbers<float>(random, n * blocks()), float_zeros = random_numbers<float>(random, n * blocks());
    for (float& zero : float_zeros) zero = (zero + 1) * float(1 << (bits - 1));
    const auto bytes = [&](std::int64_t count) {
      std::vector<std::uint8_t> made(std::size_t(count), 0);
      for (std::uint8_t& each : made) each = up_to(4) == 1 ? 255 : std::uint8_t(random());
      return made;
    };
    codes = bytes(n * blocks() * block * bits / 8), zeros = bytes(n * ((blocks() * bits + 7) / 8));
    for (std::int64_t i = 0; i < k; ++i) groups.push_back(std::int32_t(up_to(blocks()) - 1));
  }

  /// The largest error of an element of A as a byte: half a step, which is the largest magnitude in its block / 127.
  double rounding_error(std::int64_t row, std::int64_t i) const {
    if (level != 4 || grouped) return 0;
    double most = 0;
    for (std::int64_t l = i / block * block; l < std::min(k, (i / block + 1) * block); ++l)
      most = std::max(most, std::fabs(double(a[std::size_t(row * k + l)])));
    return most / 254;
  }
};

template <class T>
std::vector<T> as_type(const std::vector<float>& from) {
  return {from.begin(), from.end()};
}

/// The operands of a case, rounded to the type T. The rounded numbers replace those of the case, whose expected results
/// are then exact.
template <class T>
struct typed_case {
  std::vector<T> a, scales, float_zeros, bias;
  explicit typed_case(nbits_case& p)
      : a(as_type<T>(p.a)),
        scales(as_type<T>(p.scales)),
        float_zeros(as_type<T>(p.float_zeros)),
        bias(as_type<T>(p.bias)) {
    const auto back = [](const std::vector<T>& from) {
      std::vector<float> made;
      for (const T v : from) made.push_back(float(v));
      return made;
    };
    p.a = back(a), p.scales = back(scales), p.float_zeros = back(float_zeros), p.bias = back(bias);
  }
};

template <class T>
std::vector<T> run_case(const nbits_case& p, const typed_case<T>& of, std::size_t lanes, std::int64_t first,
                        std::int64_t rows) {
  const std::vector<T> a(of.a.begin() + first * p.k, of.a.begin() + (first + rows) * p.k);
  kernel_rig rig{1, lanes};
  rig.attribute("K", p.k).attribute("N", p.n).attribute("bits", p.bits).attribute("block_size", p.block);
  rig.attribute("accuracy_level", p.level);
  rig.input<T>({rows, p.k}, a);
  rig.input<std::uint8_t>({p.n, p.blocks(), p.block * p.bits / 8}, p.codes, p.constant);
  rig.input<T>({p.n, p.blocks()}, of.scales, p.constant);
  if (p.zeros_are == zero_kind::none) rig.no_input();
  else if (p.zeros_are == zero_kind::packed)
    rig.input<std::uint8_t>({p.n, (p.blocks() * p.bits + 7) / 8}, p.zeros, p.constant);
  else rig.input<T>({p.n * p.blocks()}, of.float_zeros, p.constant);
  rig.input_if<std::int32_t>(p.grouped, {p.k}, p.groups, p.constant);
  if (p.has_bias) rig.input<T>({p.n}, of.bias);
  run_ok<eps::matmul_nbits>(rig, {dtype_of<T>});
  return elements_of<T>(rig);
}

template <class T>
std::int64_t wrong_elements(const nbits_case& p, const std::vector<T>& y) {
  constexpr double narrow = std::is_same_v<T, float> ? 0 : std::is_same_v<T, float16> ? 0x1p-11 : 0x1p-8;
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < p.m; ++i)
    for (std::int64_t j = 0; j < p.n; ++j) {
      double want = p.has_bias ? double(p.bias[std::size_t(j)]) : 0, sizes = std::fabs(want), off = 0;
      for (std::int64_t l = 0; l < p.k; ++l) {
        const double x = double(p.a[std::size_t(i * p.k + l)]), w = p.weight(l, j);
        want += x * w, sizes += std::fabs(x * w), off += p.rounding_error(i, l) * std::fabs(w);
      }
      const double allowed = off * 1.00001 + sizes * 0x1p-20 + std::fabs(want) * narrow + (narrow > 0 ? 1e-7 : 1e-30);
      wrong += !(std::fabs(double(float(y[std::size_t(i * p.n + j)])) - want) <= allowed);
    }
  return wrong;
}

template <class T>
void check_cases(int rounds) {
  std::mt19937 random{5};
  for (int round = 0; round < rounds; ++round) {
    nbits_case p{random};
    const typed_case<T> of{p};
    INFO("round ", round, ", m ", p.m, ", k ", p.k, ", n ", p.n, ", bits ", p.bits, ", block ", p.block, ", level ",
         p.level, ", zero points ", int(p.zeros_are), ", grouped ", p.grouped);
    const std::vector<T> y = run_case(p, of, 1, 0, p.m);
    CHECK(wrong_elements(p, y) == 0);
    const std::vector<T> more = run_case(p, of, 3, 0, p.m);
    CHECK(std::memcmp(y.data(), more.data(), y.size() * sizeof(T)) == 0);
    if (p.grouped) continue;
    const std::int64_t row = std::int64_t(random() % std::uint64_t(p.m));
    const std::vector<T> alone = run_case(p, of, 1, row, 1);
    CHECK(std::memcmp(y.data() + row * p.n, alone.data(), alone.size() * sizeof(T)) == 0);
  }
}

TEST_CASE(
    "MatMulNBits follows its documentation, for all bits, blocks, zero points, levels and types, rows and threads") {
  for_each_target([] {
    check_cases<float>(120);
    check_cases<float16>(30);
    check_cases<bfloat16>(30);
  });
}

TEST_CASE("a large MatMulNBits, divided into tasks, has the same bits for any number of threads") {
  for_each_target([] {
    std::mt19937 random{9};
    for (const std::int64_t level : {0, 4}) {
      nbits_case p{random};
      while (p.grouped || p.bits != 4) p = nbits_case{random};
      p.m = 50, p.n = 700, p.k = 512, p.block = 32, p.level = level, p.zeros_are = zero_kind::none, p.has_bias = false;
      p.a = random_numbers<float>(random, p.m * p.k), p.scales = random_numbers<float>(random, p.n * p.blocks());
      p.codes.resize(std::size_t(p.n * p.k / 2));
      for (std::uint8_t& each : p.codes) each = std::uint8_t(random());
      const typed_case<float> of{p};
      const std::vector<float> y = run_case(p, of, 1, 0, p.m), more = run_case(p, of, 4, 0, p.m);
      CHECK(wrong_elements(p, y) == 0);
      CHECK(std::memcmp(y.data(), more.data(), y.size() * sizeof(float)) == 0);
    }
  });
}

/// The panels of a case for one instruction set, by the definition of their layout.
struct panel_of {
  std::vector<std::byte> codes;
  std::vector<float> scales;
  std::vector<std::uint8_t> zeros;
  panel_of(const nbits_case& p, std::int64_t columns) {
    const std::int64_t group = 32 / p.bits;
    for (std::int64_t at = 0; at < p.k; at += group)
      for (std::int64_t j = 0; j < columns; ++j) {
        std::uint32_t bits = 0;
        for (std::int64_t i = 0; i < group; ++i)
          bits |= std::uint32_t(p.code(p.codes, p.k * p.bits / 8, j, at + i)) << i * p.bits;
        for (int i = 0; i < 4; ++i) codes.push_back(std::byte(bits >> 8 * i & 0xFF));
      }
    for (std::int64_t b = 0; b < p.blocks(); ++b)
      for (std::int64_t j = 0; j < columns; ++j) {
        scales.push_back(p.scales[std::size_t(j * p.blocks() + b)]);
        zeros.push_back(std::uint8_t(p.code(p.zeros, (p.blocks() * p.bits + 7) / 8, j, b)));
      }
  }
};

/// A case of whole blocks and 32 columns for tests of lines; A is the same numbers as bytes and as floats.
struct line_case : nbits_case {
  std::vector<std::int8_t> bytes;
  std::vector<eps::nbits_scale> scales_of_a;

  line_case(std::mt19937& random, bool whole_scales) : nbits_case{random} {
    n = 32, k = blocks() * block, zeros_are = m % 2 ? zero_kind::packed : zero_kind::none, grouped = has_bias = false;
    scales.assign(std::size_t(n * blocks()), 1.0f), codes.resize(std::size_t(n * k * bits / 8));
    if (!whole_scales) scales = random_numbers<float>(random, n * blocks());
    zeros.resize(std::size_t(n * ((blocks() * bits + 7) / 8)));
    for (std::uint8_t& each : codes)
      each = std::array<std::uint8_t, 4>{255, 0, 128, std::uint8_t(random())}[random() % 4];
    for (std::uint8_t& each : zeros) each = std::uint8_t(random());
    a.assign(std::size_t(m * k), 0), bytes.resize(a.size());
    scales_of_a.assign(std::size_t(m * blocks()), {1, 0});
    for (std::int64_t i = 0; i < m * k; ++i) {
      const int code = std::array{127, -127, 127, int(random() % 255) - 127}[random() % 4];
      a[std::size_t(i)] = float(code), scales_of_a[std::size_t(i / block)].sum += code;
      bytes[std::size_t(i / block * block + eps::cell_place(i % block, bits))] = std::int8_t(code);
    }
    if (whole_scales) return;
    for (float& each : a) each *= 0.0123f;
    for (eps::nbits_scale& each : scales_of_a) each.scale = 0.0123f;
  }
  std::vector<float> run(const eps::nbits_loops& by, std::int64_t columns, bool as_bytes) const {
    const panel_of panel{*this, by.columns};
    std::vector<float> y(std::size_t(m * columns));
    eps::nbits_line line{};
    line.rows = m, line.columns = columns, line.blocks = blocks(), line.block = block;
    line.a = as_bytes ? static_cast<const void*>(bytes.data()) : a.data(), line.row_step = k;
    line.a_scales = scales_of_a.data(), line.codes = panel.codes.data(), line.scales = panel.scales.data();
    if (zeros_are == zero_kind::packed) line.zeros = panel.zeros.data();
    line.y = y.data(), line.step = columns;
    (as_bytes ? by.bytes : by.floats)[eps::nbits_index(bits)](line);
    return y;
  }
};

TEST_CASE("lines of few bits are exact at the ends of the ranges, for each instruction set that runs here") {
  std::mt19937 random{3};
  for (const eps::instruction_set* set : all_with(&eps::instruction_set::few_bits)) {
    CAPTURE(set->name);
    std::int64_t wrong = 0, products = 0;
    while (products < 3'000'000) {
      const line_case p{random, true};
      const std::int64_t columns = 1 + std::int64_t(random() % std::uint64_t(set->few_bits->columns));
      for (const bool as_bytes : {true, false}) {
        const std::vector<float> y = p.run(*set->few_bits, columns, as_bytes);
        for (std::int64_t i = 0; i < p.m; ++i)
          for (std::int64_t j = 0; j < columns; ++j) {
            double want = 0;  // integers that float can represent: each step is exact
            for (std::int64_t l = 0; l < p.k; ++l) want += double(p.a[std::size_t(i * p.k + l)]) * p.weight(l, j);
            wrong += double(y[std::size_t(i * columns + j)]) != want;
          }
        products += p.m * columns * p.k;
      }
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("lines of few bits have the same bits on all instruction sets with fused multiply-add") {
  std::mt19937 random{4};
  for (int round = 0; round < 60; ++round) {
    const line_case p{random, false};
    for (const bool as_bytes : {true, false}) {
      std::vector<float> first;
      for (const eps::instruction_set* set : all_with(&eps::instruction_set::few_bits)) {
        if (!set->name.starts_with("avx")) continue;
        const std::vector<float> y = p.run(*set->few_bits, 16, as_bytes);
        if (first.empty()) first = y;
        CHECK(std::memcmp(first.data(), y.data(), y.size() * sizeof(float)) == 0);
      }
    }
  }
}

TEST_CASE(
    "indices of a codebook give its numbers, with the same bits on all instruction sets with fused multiply-add") {
  std::mt19937 random{6};
  const std::vector<float> book = random_numbers<float>(random, 16);
  for (int round = 0; round < 40; ++round) {
    line_case p{random, false};
    if (p.bits != 4) continue;
    std::vector<float> first;
    for (const eps::instruction_set* set : all_with(&eps::instruction_set::few_bits)) {
      CAPTURE(set->name);
      const std::int64_t columns = std::min<std::int64_t>(16, set->few_bits->columns);
      const panel_of panel{p, set->few_bits->columns};
      std::vector<float> y(std::size_t(p.m * columns));
      eps::nbits_line line{};
      line.rows = p.m, line.columns = columns, line.blocks = p.blocks(), line.block = p.block;
      line.a = p.a.data(), line.row_step = p.k, line.codes = panel.codes.data(), line.scales = panel.scales.data();
      line.book = book.data(), line.y = y.data(), line.step = columns;
      set->few_bits->book(line);
      std::int64_t wrong = 0;
      for (std::int64_t i = 0; i < p.m; ++i)
        for (std::int64_t j = 0; j < columns; ++j) {
          double want = 0, sizes = 0;
          for (std::int64_t l = 0; l < p.k; ++l) {
            const double number = double(book[std::size_t(p.code(p.codes, p.k / 2, j, l))]);
            const double part = double(p.a[std::size_t(i * p.k + l)]) * number *
                                double(p.scales[std::size_t(j * p.blocks() + l / p.block)]);
            want += part, sizes += std::fabs(part);
          }
          wrong += !(std::fabs(double(y[std::size_t(i * columns + j)]) - want) <= sizes * 0x1p-20);
        }
      CHECK(wrong == 0);
      if (!set->name.starts_with("avx")) continue;
      if (first.empty()) first = y;
      CHECK(std::memcmp(first.data(), y.data(), y.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("MatMulNBits refuses invalid sizes, shapes and attributes") {
  std::mt19937 random{1};
  const std::vector<float> a = random_numbers<float>(random, 64), scales = random_numbers<float>(random, 8);
  const std::vector<std::uint8_t> codes(64, 7);
  const auto answer = [&](auto change, std::int64_t codes_of_b = 64) {
    kernel_rig rig{1};
    rig.checked_as<op::microsoft::MatMulNBits>().attribute("K", std::int64_t{32}).attribute("N", std::int64_t{4});
    change(rig);
    rig.input<float>({2, 32}, a).input<std::uint8_t>({codes_of_b}, codes, true).input<float>({4}, scales, true);
    return rig.run<eps::matmul_nbits>({dtype::f32});
  };
  const auto with = [](std::int64_t bits, std::int64_t block, std::int64_t level, std::int64_t form) {
    return [=](kernel_rig& rig) {
      rig.attribute("bits", bits).attribute("block_size", block).attribute("accuracy_level", level);
      rig.attribute("weight_prepacked", form);
    };
  };
  CHECK(bool(answer(with(4, 32, 0, 0))));
  CHECK(answer(with(3, 32, 0, 0)).words().find("bits is 3") != std::string_view::npos);
  CHECK(answer(with(4, 24, 0, 0)).words().find("block_size is 24") != std::string_view::npos);
  CHECK(answer(with(4, 8, 0, 0)).words().find("block_size is 8") != std::string_view::npos);
  CHECK(answer(with(4, 32, 5, 0)).words().find("accuracy_level") != std::string_view::npos);
  CHECK(answer(with(4, 32, 0, 1)).words().find("weight_prepacked") != std::string_view::npos);
  CHECK(answer(with(4, 32, 0, 0), 63).words().find("B has 63 elements") != std::string_view::npos);
}

TEST_CASE("MatMulNBits in int8: a row of A with a number that is not finite gives NaN, the others do not") {
  for_each_target([] {
    std::mt19937 random{2};
    std::vector<float> a = random_numbers<float>(random, 4 * 40);
    a[40 + 7] = infinity, a[2 * 40 + 39] = not_a_number;
    std::fill(a.begin() + 3 * 40, a.end(), 1e-42f);
    const std::vector<float> scales = random_numbers<float>(random, 4);
    const std::vector<std::uint8_t> codes(64, 0x31);
    kernel_rig rig{1};
    rig.attribute("K", std::int64_t{40}).attribute("N", std::int64_t{2}).attribute("block_size", std::int64_t{32});
    rig.attribute("accuracy_level", std::int64_t{4});
    rig.input<float>({4, 40}, a).input<std::uint8_t>({2, 2, 16}, codes, true).input<float>({2, 2}, scales, true);
    REQUIRE(bool(rig.run<eps::matmul_nbits>({dtype::f32})));
    for (std::int64_t i = 0; i < 8; ++i) CHECK(std::isnan(rig.output<float>(0)[i]) == (i / 2 == 1 || i / 2 == 2));
    CHECK(rig.output<float>(0)[6] == 0.0f);
  });
}

}  // namespace
}  // namespace cameo::test
