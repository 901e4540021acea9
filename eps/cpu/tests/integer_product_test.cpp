// Integer products and convolutions against their plain definitions, on every instruction set that runs here.
#include <doctest/doctest.h>
#include <cameo/eps/cpu/integer_conv.hpp>
#include <cameo/eps/cpu/integer_matmul.hpp>

#include <cmath>
#include <set>
#include <span>

#include "../src/products/integer_panels.hpp"
#include "all_instruction_sets.hpp"
#include "each_target.hpp"
#include "kernel_rig.hpp"

namespace cameo::test {
namespace {

using eps::integer_arithmetic;

class dice {
 public:
  explicit dice(unsigned seed) : engine_{seed} {}
  std::int64_t below(std::int64_t n) { return std::int64_t(engine_() % std::uint64_t(n)); }
  std::int64_t from_to(std::int64_t low, std::int64_t high) { return low + below(high - low + 1); }
  bool heads() { return below(2) == 0; }
  /// A random u8, or the byte of a random s8; the ends of the ranges are frequent.
  std::uint8_t code() {
    const std::int64_t which = below(6);
    return which == 0 ? 0 : which == 1 ? 255 : which == 2 ? 128 : which == 3 ? 127 : std::uint8_t(below(256));
  }
  std::vector<std::uint8_t> codes(std::int64_t n) {
    std::vector<std::uint8_t> made(std::size_t(n), 0);
    for (std::uint8_t& each : made) each = code();
    return made;
  }

 private:
  std::mt19937_64 engine_;
};

std::int32_t number(std::uint8_t code, bool is_signed) { return is_signed ? std::int32_t(std::int8_t(code)) : code; }

/// A tensor of u8 or s8.
value tensor_of(const extents& shape, const std::vector<std::uint8_t>& codes, bool is_signed) {
  value v = value::tensor<std::uint8_t>(shape, codes);
  if (is_signed) v.type = dtype::i8;
  return v;
}

TEST_CASE("lines of integer sums are exact for each arithmetic that runs here, also at the ends of ranges") {
  dice random{7};
  for (const eps::instruction_set* set : all_with(&eps::instruction_set::integers))
    for (const integer_arithmetic* by : {&set->integers->bytes, &set->integers->shorts}) {
      CAPTURE(set->name);
      CAPTURE(by->per_cell);
      const std::int64_t per = by->per_cell;
      std::int64_t products = 0, wrong = 0;
      std::array<std::int64_t, eps::panel_kinds::count + 1> seen{};  // groups of each kind
      while (products < 1'000'000) {
        const std::int64_t rows = random.from_to(1, 40), columns = random.from_to(1, by->columns);
        const std::int64_t runs = random.from_to(1, 3), cells_of_run = random.from_to(0, 20);
        const std::int64_t depth = runs * cells_of_run * per, gap = 4 * random.below(3);
        // Weights minus the zero point of a column are s8, or numbers of 9 bits. Small weights, with two large ones of
        // one sign in some dot-product groups, make all kinds of groups.
        const bool bytes = per == 4;
        const std::int64_t largest = random.heads() ? 127 : random.from_to(1, 60);
        std::vector<std::int32_t> zeros(std::size_t(by->columns), 0);
        if (!bytes)
          for (std::int32_t& each : zeros) each = random.code();
        const auto weight = [&] {
          const std::uint8_t code = random.code();
          return bytes ? std::uint8_t(std::clamp<std::int64_t>(number(code, true), -largest - 1, largest)) : code;
        };
        const auto factor = [&]() -> std::int32_t {
          if (bytes) return random.code();
          return number(random.code(), random.heads()) - number(random.code(), random.heads());
        };
        const std::int64_t row_step = cells_of_run * 4 * runs + gap;
        const std::int64_t stretch = by->takes_stretches ? random.from_to(1, rows) : rows;
        const std::int64_t stretch_step = stretch * row_step + 4 * random.below(5);
        std::vector<std::byte> x(std::size_t((rows / stretch + 1) * stretch_step + 4));
        std::vector<std::int32_t> xs(std::size_t(rows * depth)), ws(std::size_t(columns * depth));
        const auto put = [&](std::byte* to, std::int64_t i, std::int32_t v) {
          if (per == 4) to[i] = std::byte(std::uint8_t(v));
          else {
            const auto half = std::int16_t(v);
            std::memcpy(to + 2 * i, &half, 2);
          }
        };
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t d = 0; d < depth; ++d)
            put(x.data() + r / stretch * stretch_step + r % stretch * row_step, d,
                xs[std::size_t(r * depth + d)] = factor());
        std::vector<std::uint8_t> codes_of_w(ws.size());
        for (std::uint8_t& each : codes_of_w) each = weight();
        for (std::int64_t cell = 0; cell < (bytes ? depth / per : 0); cell += random.from_to(1, 3))
          for (std::int64_t some = random.below(4); some > 0; --some) {
            const std::int64_t at = random.below(columns) * depth + cell * per, first = random.below(per);
            for (const std::int64_t place : {first, (first + random.from_to(1, 3)) % per})
              codes_of_w[std::size_t(at + place)] = largest % 2 ? 100 : std::uint8_t(-100);
          }
        for (std::int64_t i = 0; i < columns * depth; ++i)
          ws[std::size_t(i)] = number(codes_of_w[std::size_t(i)], bytes) - zeros[std::size_t(i / depth)];
        eps::integer_panels form{by, nullptr, columns, runs, cells_of_run * per};
        std::size_t packed = 0;
        REQUIRE(form.size(packed));
        std::vector<std::byte> w(packed);
        eps::pack_integers(form, {codes_of_w.data(), bytes, zeros.data(), 1}, depth, w.data(),
                           [&](std::int64_t t, std::int64_t r) { return t * form.numbers + r; });
        form.data = w.data();
        const eps::panel_kinds kinds{runs, cells_of_run};
        for (std::int64_t i = 0; i < (by->sort ? kinds.all() : 0); ++i) ++seen.at(std::size_t(form.panel(0)[i]));
        std::vector<std::int64_t> taps;
        for (std::int64_t t = 0; t < runs; ++t) taps.push_back(t * cells_of_run * 4);
        std::vector<std::int64_t> list(by->sort ? kinds.listed() : 0);
        if (by->sort) kinds.list(form.panel(0), taps.data(), list.data());
        std::vector<std::int32_t> start(std::size_t(by->columns), 0);
        for (std::int32_t& each : start) each = std::int32_t(random.from_to(-1000, 1000));
        std::vector<std::int32_t> begin(std::size_t(form.width()), 0);
        eps::start_sums(form, start.data(), 0, begin.data());
        std::vector<float> scale(std::size_t(by->columns), 1);
        const float step = random.below(4) == 0 ? 1048576 : 1.0f / 1048576;  // the larger: beyond int32
        for (float& each : scale) each = float(random.from_to(1, 4000)) * step;
        const std::int32_t zero = std::int32_t(random.below(256));
        std::vector<std::int32_t> sums(std::size_t(rows * columns));
        std::vector<std::uint8_t> codes(std::size_t(rows * columns));
        std::vector<float> bias(std::size_t(by->columns)), floats(std::size_t(rows * columns));
        for (float& each : bias) each = float(random.from_to(-4000, 4000)) * step;
        eps::integer_line line{};
        line.x = x.data(), line.row_step = row_step, line.stretch = stretch, line.stretch_step = stretch_step;
        line.taps = taps.data(), line.tap_count = runs, line.cells = cells_of_run;
        line.w = form.panel(0), line.list = list.data(), line.rows = rows, line.columns = columns;
        line.start = begin.data(), line.sums = sums.data(), line.step = columns;
        line.scale = scale.data(), line.low = float(-zero), line.high = float(255 - zero), line.zero = zero;
        line.bias = bias.data();
        by->line(line);
        line.sums = nullptr, line.codes = codes.data();
        by->line(line);
        line.codes = nullptr, line.floats = floats.data();
        by->line(line);
        for (std::int64_t r = 0; r < rows; ++r)
          for (std::int64_t j = 0; j < columns; ++j) {
            std::int32_t sum = start[std::size_t(j)];
            for (std::int64_t d = 0; d < depth; ++d)
              sum += xs[std::size_t(r * depth + d)] * ws[std::size_t(j * depth + d)];
            const auto at = std::size_t(r * columns + j);
            const float scaled = float(sum) * scale[std::size_t(j)];
            const double code = double(std::nearbyint(scaled)) + zero;
            wrong += floats[at] != scaled + bias[std::size_t(j)];
            wrong += sums[at] != sum || codes[at] != std::uint8_t(std::clamp(code, 0.0, 255.0));
          }
        products += rows * columns * depth + 1;
      }
      CHECK(wrong == 0);
      if (!by->sort) continue;
      CHECK(*std::min_element(seen.begin(), seen.end()) > 0);
    }
}

TEST_CASE("whatever kinds a panel has for its groups, no offset is outside the runs, and no group is read twice") {
  dice random{8};
  for (int i = 0; i < 500; ++i) {
    const eps::panel_kinds kinds{random.from_to(0, 4), random.from_to(0, 300)};
    std::vector<std::byte> panel(std::size_t(kinds.bytes()));
    const bool any = random.heads();
    for (std::byte& each : panel) each = std::byte(any ? random.code() : std::uint8_t(random.below(2)));
    std::vector<std::int64_t> taps(std::size_t(kinds.runs)), list(kinds.listed(), -1);
    for (std::int64_t t = 0; t < kinds.runs; ++t) taps[std::size_t(t)] = 10'000 * t;
    kinds.list(panel.data(), taps.data(), list.data());
    std::set<std::int64_t> seen;
    for (std::size_t kind = 0; kind < eps::panel_kinds::count; ++kind) {
      const std::int64_t* const of = list.data() + std::int64_t(kind) * (1 + kinds.all());
      REQUIRE((*of >= 0 && *of <= kinds.all()));
      for (const std::int64_t place : std::span{of + 1, std::size_t(*of)}) {
        CHECK((place / 10'000 < kinds.runs && place % 10'000 % 4 == 0));
        const std::int64_t last = place % 10'000 / 4 + (eps::cell_kind(kind) == eps::cell_kind::joined ? 1 : 0);
        CHECK(last < kinds.cells);
        CHECK(seen.insert(place).second);
      }
    }
  }
}

// --- kernels ---

struct product_case {
  std::int64_t m, k, n, stack;
  bool a_signed, b_signed, a_rows, b_columns, stacked_b, constant;
  std::vector<std::uint8_t> a, b, a_zero, b_zero;
  explicit product_case(dice& random)
      : m{random.from_to(1, 40)},
        k{random.from_to(0, 70)},
        n{random.from_to(1, 70)},
        stack{random.from_to(1, 3)},
        a_signed{random.heads()},
        b_signed{random.heads()},
        a_rows{random.below(4) == 0},
        b_columns{random.heads()},
        stacked_b{random.below(3) == 0},
        constant{random.heads()} {
    a = random.codes(stack * m * k), b = random.codes((stacked_b ? stack : 1) * k * n);
    a_zero = random.codes(a_rows ? m : 1), b_zero = random.codes(b_columns ? n : 1);
    if (random.heads()) std::fill(b_zero.begin(), b_zero.end(), std::uint8_t(b_signed ? 0 : 128));
  }
  extents a_shape() const { return {stack, m, k}; }
  extents b_shape() const { return stacked_b ? extents{stack, k, n} : extents{k, n}; }
  std::int32_t sum(std::int64_t s, std::int64_t i, std::int64_t j) const {
    std::int32_t made = 0;
    for (std::int64_t p = 0; p < k; ++p) {
      const std::int32_t x =
          number(a[std::size_t((s * m + i) * k + p)], a_signed) - number(a_zero[std::size_t(a_rows ? i : 0)], a_signed);
      const std::int32_t w = number(b[std::size_t(((stacked_b ? s : 0) * k + p) * n + j)], b_signed) -
                             number(b_zero[std::size_t(b_columns ? j : 0)], b_signed);
      made += x * w;
    }
    return made;
  }
};

TEST_CASE(
    "MatMulInteger and QLinearMatMul are what ONNX says on each instruction set, for any zero points and threads") {
  for_each_target([] {
    dice random{11};
    for (int round = 0; round < 60; ++round) {
      const product_case p{random};
      const value a = tensor_of(p.a_shape(), p.a, p.a_signed), b = tensor_of(p.b_shape(), p.b, p.b_signed);
      const value a_zero = tensor_of(p.a_rows ? extents{p.m} : extents{}, p.a_zero, p.a_signed);
      const value b_zero = tensor_of(p.b_columns ? extents{p.n} : extents{}, p.b_zero, p.b_signed);
      kernel_rig sums{10, 3};
      sums.input(a).input(b, p.constant).input(a_zero).input(b_zero, p.constant);
      REQUIRE(sums.run<eps::matmul_integer>({dtype::i32}));
      const float a_scale = 0.25f, y_scale = 3.5f;
      std::vector<float> b_scale;
      for (std::int64_t j = 0; j < (p.b_columns ? p.n : 1); ++j)
        b_scale.push_back(float(random.from_to(1, 99)) / float(100 * (p.k + 1)));
      const bool y_signed = p.a_signed;
      const std::vector<std::uint8_t> y_zero{random.code()};
      const std::vector<float> one{a_scale}, y_one{y_scale};
      kernel_rig codes{10, 3};
      codes.input(a).input<float>({}, one).input(a_zero).input(b, p.constant);
      codes.input<float>(p.b_columns ? extents{p.n} : extents{}, b_scale).input(b_zero, p.constant);
      codes.input<float>({}, y_one).input(tensor_of({}, y_zero, y_signed));
      REQUIRE(codes.run<eps::qlinear_matmul>({y_signed ? dtype::i8 : dtype::u8}));
      const auto* const made = static_cast<const std::uint8_t*>(codes.output_value(0).data);
      std::int64_t wrong = 0;
      for (std::int64_t s = 0; s < p.stack; ++s)
        for (std::int64_t i = 0; i < p.m; ++i)
          for (std::int64_t j = 0; j < p.n; ++j) {
            const std::int32_t sum = p.sum(s, i, j);
            const std::int64_t at = (s * p.m + i) * p.n + j;
            const float v = float(sum) * (a_scale * b_scale[std::size_t(p.b_columns ? j : 0)] / y_scale);
            const double code = double(std::nearbyint(v)) + number(y_zero[0], y_signed);
            const double want = std::clamp(code, y_signed ? -128.0 : 0.0, y_signed ? 127.0 : 255.0);
            wrong += sums.output<std::int32_t>(0)[at] != sum || double(number(made[at], y_signed)) != want;
          }
      CHECK_MESSAGE(wrong == 0, "round ", round, ": ", p.stack, " * ", p.m, " * ", p.k, " * ", p.n);
    }
  });
}

struct conv_case {
  std::size_t rank;
  std::int64_t images, groups, channels, maps;  // of one group of the convolution
  std::int64_t in[3], kernel[3], stride[3], dilation[3], pad_begin[3], pad_end[3], out[3];
  bool x_signed, w_signed, w_zeros, constant;
  std::vector<std::uint8_t> x, w, x_zero, w_zero;
  std::int64_t ins = 1, outs = 1, taps = 1;

  explicit conv_case(dice& random)
      : rank{std::size_t(random.below(8) == 0 ? 3 : random.from_to(1, 2))},
        images{random.from_to(1, 2)},
        groups{random.below(3) == 0 ? random.from_to(2, random.heads() ? 150 : 20) : 1},
        channels{groups > 1 && random.below(3) != 0 ? 1 : random.from_to(1, groups > 1 ? 5 : 40)},
        maps{groups > 1 && random.below(3) != 0 ? 1 : random.from_to(1, groups > 1 ? 5 : 70)},
        x_signed{random.heads()},
        w_signed{random.heads()},
        w_zeros{random.below(3) == 0},
        constant{random.heads()} {
    const bool simple = random.below(4) == 0;  // a pointwise convolution
    for (std::size_t i = 0; i < rank; ++i) {
      kernel[i] = simple ? 1 : random.from_to(1, 5), stride[i] = random.from_to(1, simple ? 1 : 3);
      dilation[i] = random.below(4) == 0 ? random.from_to(1, 3) : 1;
      pad_begin[i] = random.heads() ? random.below(kernel[i]) : 0,
      pad_end[i] = random.heads() ? random.below(kernel[i]) : 0;
      in[i] = (kernel[i] - 1) * dilation[i] + 1 + random.below(rank == 1 ? 60 : 12);
      out[i] = (in[i] + pad_begin[i] + pad_end[i] - (kernel[i] - 1) * dilation[i] - 1) / stride[i] + 1;
      ins *= in[i], outs *= out[i], taps *= kernel[i];
    }
    fill(random);
    if (random.heads()) std::fill(w_zero.begin(), w_zero.end(), std::uint8_t(w_signed ? 0 : 128));
  }
  /// One s8 filter per channel; some images are smaller than the window.
  conv_case(dice& random, std::int64_t single_channels)
      : rank{2},
        images{random.from_to(1, 2)},
        groups{single_channels},
        channels{1},
        maps{1},
        x_signed{random.below(3) == 0},
        w_signed{true},
        w_zeros{random.heads()},
        constant{random.heads()} {
    const std::int64_t columns = random.heads() ? 3 : 5;
    for (std::size_t i = 0; i < rank; ++i) {
      kernel[i] = i == 1 || random.heads() ? columns : random.from_to(1, 5);
      stride[i] = random.from_to(1, 2), dilation[i] = 1;
      pad_begin[i] = random.below(kernel[i]), pad_end[i] = random.below(kernel[i]);
      in[i] = std::max(kernel[i] - pad_begin[i] - pad_end[i], random.from_to(1, i == 0 ? 6 : 24));
      out[i] = (in[i] + pad_begin[i] + pad_end[i] - kernel[i]) / stride[i] + 1;
      ins *= in[i], outs *= out[i], taps *= kernel[i];
    }
    fill(random);
    std::fill(w_zero.begin(), w_zero.end(), std::uint8_t(0));
  }
  void fill(dice& random) {
    x = random.codes(images * groups * channels * ins), w = random.codes(groups * maps * channels * taps);
    x_zero = random.codes(1), w_zero = random.codes(w_zeros ? groups * maps : 1);
  }
  extents shape(std::int64_t first, std::int64_t second, const std::int64_t* dims, bool last = false) const {
    extents made{first};
    if (!last) made.push_back(second);
    for (std::size_t i = 0; i < rank; ++i) made.push_back(dims[i]);
    if (last) made.push_back(second);
    return made;
  }
  void give(kernel_rig& to) const {
    std::vector<std::int64_t> pads;
    for (std::size_t i = 0; i < rank; ++i) pads.push_back(pad_begin[i]);
    for (std::size_t i = 0; i < rank; ++i) pads.push_back(pad_end[i]);
    to.attribute("group", groups).attribute("pads", pads);
    to.attribute("strides", std::vector<std::int64_t>(stride, stride + rank));
    to.attribute("dilations", std::vector<std::int64_t>(dilation, dilation + rank));
  }
  /// Output `o` of a map of an image, by the definition.
  std::int32_t sum(std::int64_t image, std::int64_t map, std::int64_t o) const {
    std::int32_t made = 0;
    const std::int64_t group = map / maps;
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t t = 0; t < taps; ++t) {
        std::int64_t rest_o = o, rest_t = t, at = 0, step = 1;
        bool inside = true;
        for (std::size_t i = rank; i-- > 0; rest_o /= out[i], rest_t /= kernel[i]) {
          const std::int64_t p = rest_o % out[i] * stride[i] - pad_begin[i] + rest_t % kernel[i] * dilation[i];
          inside = inside && p >= 0 && p < in[i];
          at += p * step, step *= in[i];
        }
        if (!inside) continue;
        const std::int64_t x_at = ((image * groups + group) * channels + c) * ins + at;
        made += (number(x[std::size_t(x_at)], x_signed) - number(x_zero[0], x_signed)) *
                (number(w[std::size_t((map * channels + c) * taps + t)], w_signed) -
                 number(w_zero[std::size_t(w_zeros ? map : 0)], w_signed));
      }
    return made;
  }
};

/// Transposes [N, C, ...] to [N, ..., C].
std::vector<std::uint8_t> turned(const std::vector<std::uint8_t>& from, std::int64_t images, std::int64_t channels) {
  std::vector<std::uint8_t> made(from.size());
  const std::int64_t plane = std::int64_t(from.size()) / (images * channels);
  for (std::int64_t i = 0; i < images; ++i)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t p = 0; p < plane; ++p)
        made[std::size_t((i * plane + p) * channels + c)] = from[std::size_t((i * channels + c) * plane + p)];
  return made;
}

void check_conv(const conv_case& p, dice& random, int round) {
  const std::int64_t all_maps = p.groups * p.maps, all_channels = p.groups * p.channels;
  const value w = tensor_of(p.shape(all_maps, p.channels, p.kernel), p.w, p.w_signed);
  const value x = tensor_of(p.shape(p.images, all_channels, p.in), p.x, p.x_signed);
  const value x_zero = tensor_of({}, p.x_zero, p.x_signed);
  const value w_zero = tensor_of(p.w_zeros ? extents{all_maps} : extents{}, p.w_zero, p.w_signed);
  kernel_rig sums{10, 3};
  p.give(sums);
  sums.input(x).input(w, p.constant).input(x_zero).input(w_zero, p.constant);
  REQUIRE(sums.run<eps::conv_integer>({dtype::i32}));
  // With the smaller y scale, sums in units of it exceed int32.
  const std::vector<float> x_scale{0.5f}, y_scale{random.below(4) ? float(p.taps * p.channels) * 9 : 1e-7f};
  std::vector<float> w_scale;
  std::vector<std::int32_t> bias;
  for (std::int64_t m = 0; m < all_maps; ++m) {
    w_scale.push_back(float(random.from_to(1, 99)) / 64);
    bias.push_back(std::int32_t(random.from_to(-5000, 5000)));
  }
  const std::vector<std::uint8_t> y_zero{random.code()}, x_last = turned(p.x, p.images, all_channels);
  std::int64_t wrong = 0;
  for (const bool last : {false, true}) {
    kernel_rig codes{10, 3};
    p.give(codes);
    codes.attribute("channels_last", std::int64_t{last});
    codes.input(last ? tensor_of(p.shape(p.images, all_channels, p.in, true), x_last, p.x_signed) : x);
    const bool all = p.constant && round % 2 == 0;  // constant, or read in each run
    codes.input<float>({}, x_scale, all).input(x_zero, all).input(w, p.constant);
    codes.input<float>({all_maps}, w_scale, all).input(w_zero, p.constant).input<float>({}, y_scale, all);
    codes.input(tensor_of({}, y_zero, p.x_signed), all).input<std::int32_t>({all_maps}, bias, all);
    REQUIRE(codes.run<eps::qlinear_conv>({p.x_signed ? dtype::i8 : dtype::u8}));
    const auto* const made = static_cast<const std::uint8_t*>(codes.output_value(0).data);
    for (std::int64_t i = 0; i < p.images; ++i)
      for (std::int64_t m = 0; m < all_maps; ++m)
        for (std::int64_t o = 0; o < p.outs; ++o) {
          const std::int32_t sum = p.sum(i, m, o);
          if (!last) wrong += sums.output<std::int32_t>(0)[(i * all_maps + m) * p.outs + o] != sum;
          const float v = (x_scale[0] * w_scale[std::size_t(m)] / y_scale[0]) * float(sum + bias[std::size_t(m)]);
          const double code = double(std::nearbyint(v)) + number(y_zero[0], p.x_signed);
          const double want = std::clamp(code, p.x_signed ? -128.0 : 0.0, p.x_signed ? 127.0 : 255.0);
          const std::uint8_t got = last ? made[(i * p.outs + o) * all_maps + m] : made[(i * all_maps + m) * p.outs + o];
          wrong += double(number(got, p.x_signed)) != want;
        }
  }
  CHECK_MESSAGE(wrong == 0, "round ", round, ", rank ", p.rank, ", groups ", p.groups, ", channels ", p.channels,
                " to ", p.maps);
}

TEST_CASE("ConvInteger and QLinearConv follow ONNX's definition on each instruction set, channels last or second") {
  for_each_target([] {
    dice random{13};
    for (int round = 0; round < 120; ++round) check_conv(conv_case{random}, random, round);
  });
}

TEST_CASE("depthwise filters follow ONNX's definition for every width of blocks, at every edge of an image") {
  for_each_target([] {
    dice random{17};
    constexpr std::int64_t widths[] = {8, 16, 24, 32, 40, 64, 96, 100, 144};
    for (int round = 0; round < 90; ++round) {
      conv_case p{random, widths[round % std::int64_t(std::size(widths))]};
      check_conv(p, random, round);
    }
  });
}

}  // namespace
}  // namespace cameo::test
