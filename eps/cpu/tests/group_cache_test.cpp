#include <cameo/eps/cpu/group_query_attention.hpp>
#include <cameo/eps/cpu/multi_head_attention.hpp>
#include <cameo/op/microsoft.hpp>

#include "each_target.hpp"
#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <cmath>

using namespace cameo;
using namespace cameo::eps;
using cameo::test::floats;
using cameo::test::for_each_target;
using cameo::test::kernel_rig;

// Caches of attention other than plain rows of floats: quantized ones, ones that discard old rows, ones with space for
// new rows; and the outputs with the scores.
namespace {

using int32s = std::vector<std::int32_t>;
using doubles = std::vector<double>;

/// One sequence: queries [rows, heads * size], keys and values [rows, key_heads * size].
struct sequence {
  std::int64_t heads, key_heads, size, rows;
  floats q, k, v;
  sequence(std::mt19937& random, std::int64_t groups, std::int64_t shared, std::int64_t size, std::int64_t rows)
      : heads{groups * shared}, key_heads{shared}, size{size}, rows{rows} {
    q = test::random_numbers<float>(random, rows * heads * size);
    k = test::random_numbers<float>(random, rows * key_heads * size);
    v = test::random_numbers<float>(random, rows * key_heads * size);
  }
  floats part(const floats& all, std::int64_t n, std::int64_t first, std::int64_t count) const {
    return {all.begin() + first * n * size, all.begin() + (first + count) * n * size};
  }
};

/// The attention of query row i to the rows [begin, end) of keys and values, [rows, key_heads, size].
doubles attend_rows(const sequence& s, std::int64_t i, std::int64_t begin, std::int64_t end, const doubles& keys,
                    const doubles& values) {
  doubles y;
  for (std::int64_t h = 0; h < s.heads; ++h) {
    const std::int64_t shared = h / (s.heads / s.key_heads);
    const auto at = [&](std::int64_t j, std::int64_t e) {
      return std::size_t((j * s.key_heads + shared) * s.size + e);
    };
    doubles weights;
    double sum = 0;
    for (std::int64_t j = begin; j < end; ++j) {
      double dot = 0;
      for (std::int64_t e = 0; e < s.size; ++e)
        dot += double(s.q[std::size_t((i * s.heads + h) * s.size + e)]) * keys[at(j, e)];
      sum += weights.emplace_back(std::exp(dot / std::sqrt(double(s.size))));
    }
    for (std::int64_t e = 0; e < s.size; ++e) {
      double total = 0;
      for (std::int64_t j = begin; j < end; ++j) total += weights[std::size_t(j - begin)] / sum * values[at(j, e)];
      y.push_back(total);
    }
  }
  return y;
}

/// The attention of row i to the rows [begin, i].
doubles attend_row(const sequence& s, std::int64_t i, std::int64_t begin, const doubles& keys, const doubles& values) {
  return attend_rows(s, i, begin, i + 1, keys, values);
}

void check_near(tensor_view<const float> y, std::int64_t first, const doubles& want) {
  double worst = 0;
  for (std::size_t i = 0; i < want.size(); ++i)
    worst = std::max(worst, std::abs(double(y[std::size_t(first) + i]) - want[i]));
  CHECK(worst < 2e-5);
}

/// A quantized type: the number of bits, and the conversions from and to a number.
struct coding {
  dtype type;
  std::int64_t bits;
  std::uint8_t code(float v) const {
    if (type == dtype::f8e4m3fn) return float8e4m3fn{v}.bits;
    const float least = bits == 4 ? -8.0f : -128.0f, whole = std::nearbyint(v);
    const int code = int(std::min(std::max(whole, least), -1 - least));
    return std::uint8_t(bits == 4 ? code + 8 : code & 255);
  }
  double number(std::uint8_t code) const {
    if (type == dtype::f8e4m3fn) return double(float(float8e4m3fn::from_bits(code)));
    return bits == 4 ? double(code) - 8 : double(std::int8_t(code));
  }
};

/// The quantized value number i of a cache.
std::uint8_t code_at(const coding& c, const std::uint8_t* codes, std::int64_t i) {
  return c.bits == 4 ? std::uint8_t(codes[i / 2] >> (i % 2 ? 4 : 0) & 15) : codes[i];
}

/// A prompt of some rows, then the others one per step: the cache has the quantized keys and values, and attention
/// reads the numbers that they represent.
void try_codes(std::mt19937& random, const coding& how, bool per_channel) {
  const sequence s{random, 2, 2, 16, 9};
  const std::int64_t prompt = 4, width = how.bits == 4 ? s.size / 2 : s.size;
  floats scales(std::size_t(per_channel ? s.key_heads * s.size : 1));
  for (float& scale : scales) scale = (0.01f + 0.03f * float(random() % 100) / 100) * (how.bits == 4 ? 8 : 1);
  const auto scale_of = [&](std::int64_t channel) { return scales[per_channel ? std::size_t(channel) : 0]; };
  std::vector<std::uint8_t> wanted[2];
  doubles numbers[2];
  for (int which = 0; which < 2; ++which)
    for (std::size_t i = 0; i < s.k.size(); ++i) {
      const float scale = scale_of(std::int64_t(i) % (s.key_heads * s.size));
      wanted[which].push_back(how.code((which ? s.v : s.k)[i] * (1 / scale)));
      numbers[which].push_back(how.number(wanted[which].back()) * double(scale));
    }
  std::vector<std::uint8_t> past[2];
  for (std::int64_t first = 0; first < s.rows;) {
    const std::int64_t count = first == 0 ? prompt : 1, total = first + count;
    const int32s lengths{std::int32_t(total - 1)}, all{std::int32_t(total)};
    const floats q = s.part(s.q, s.heads, first, count), k = s.part(s.k, s.key_heads, first, count),
                 v = s.part(s.v, s.key_heads, first, count);
    kernel_rig rig{1, 3};
    rig.checked_as<op::microsoft::GroupQueryAttention>();
    rig.attribute("num_heads", s.heads)
        .attribute("kv_num_heads", s.key_heads)
        .attribute("kv_cache_bit_width", how.bits);
    for (const char* name : {"k_quant_type", "v_quant_type"})
      rig.attribute(name, std::string_view{per_channel ? "PER_CHANNEL" : "PER_TENSOR"});
    rig.input({1, count, s.heads * s.size}, q).input({1, count, s.key_heads * s.size}, k);
    rig.input({1, count, s.key_heads * s.size}, v);
    for (const auto& each : past) {
      value cache = value::tensor<std::uint8_t>({1, s.key_heads, first, width}, each);
      cache.type = how.type;
      rig.input(cache);
    }
    rig.input({1}, lengths).input({}, all).no_inputs(5);
    const extents shape = per_channel ? extents{1, s.key_heads, 1, s.size} : extents{1};
    rig.input(shape, scales).input(shape, scales);
    REQUIRE(rig.run<group_query_attention>({dtype::f32, how.type, how.type}));
    for (std::int64_t i = first; i < total; ++i)
      check_near(rig.output<float>(0), (i - first) * s.heads * s.size, attend_row(s, i, 0, numbers[0], numbers[1]));
    std::int64_t wrong = 0;
    for (std::size_t which = 0; which < 2; ++which) {
      const auto* const codes = rig.output<std::uint8_t>(1 + which).data();
      past[which].assign(codes, codes + s.key_heads * total * width);
      for (std::int64_t h = 0; h < s.key_heads; ++h)
        for (std::int64_t j = 0; j < total; ++j)
          for (std::int64_t e = 0; e < s.size; ++e)
            wrong += code_at(how, codes + (h * total + j) * width, e) !=
                     wanted[which][std::size_t((j * s.key_heads + h) * s.size + e)];
    }
    CHECK(wrong == 0);
    first = total;
  }
}

/// The number of rows that a cache keeps, by the operator's documentation.
std::int64_t kept_rows(std::int64_t tokens, std::int64_t capacity, std::int64_t window) {
  if (tokens <= capacity) return tokens;
  const std::int64_t at_once = capacity - window + 1;
  return tokens - at_once * ((tokens - capacity + at_once - 1) / at_once);
}

/// Steps of random lengths with a cache that discards old rows equal attention to the last `window` of all keys.
void try_forgetting(std::mt19937& random) {
  const sequence s{random, 2, 1 + std::int64_t(random() % 2), 8, 24};
  const std::int64_t window = 1 + std::int64_t(random() % 6), capacity = window + std::int64_t(random() % 5);
  const doubles keys(s.k.begin(), s.k.end()), values(s.v.begin(), s.v.end());
  const auto cells = std::size_t(s.key_heads * capacity * s.size);
  floats past[2] = {floats(cells, 7.0f), floats(cells, 7.0f)};
  for (std::int64_t first = 0; first < s.rows;) {
    const std::int64_t count =
        std::min<std::int64_t>(s.rows - first, 1 + (random() % 3 == 0 ? std::int64_t(random() % 9) : 0));
    const std::int64_t total = first + count, rows = kept_rows(total, capacity, window);
    const int32s lengths{std::int32_t(total - 1)}, all{std::int32_t(total)};
    const floats q = s.part(s.q, s.heads, first, count), k = s.part(s.k, s.key_heads, first, count),
                 v = s.part(s.v, s.key_heads, first, count);
    kernel_rig rig{1, 3};
    rig.checked_as<op::microsoft::GroupQueryAttention>();
    rig.attribute("num_heads", s.heads).attribute("kv_num_heads", s.key_heads);
    rig.attribute("local_window_size", window).attribute("sliding_window_cache", std::int64_t{1});
    rig.input({1, count, s.heads * s.size}, q).input({1, count, s.key_heads * s.size}, k);
    rig.input({1, count, s.key_heads * s.size}, v);
    for (const floats& each : past) rig.input({1, s.key_heads, capacity, s.size}, each);
    rig.input({1}, lengths).input({}, all);
    REQUIRE(rig.run<group_query_attention>({dtype::f32, dtype::f32, dtype::f32}));
    for (std::int64_t i = first; i < total; ++i)
      check_near(rig.output<float>(0), (i - first) * s.heads * s.size,
                 attend_row(s, i, std::max<std::int64_t>(0, i - window + 1), keys, values));
    bool same = rig.output<float>(1).shape() == extents{1, s.key_heads, capacity, s.size};
    for (std::int64_t h = 0; h < s.key_heads; ++h)
      for (std::int64_t j = 0; j < rows; ++j)
        for (std::int64_t e = 0; e < s.size; ++e)
          same = same && rig.output<float>(1)[std::size_t((h * capacity + j) * s.size + e)] ==
                             s.k[std::size_t(((total - rows + j) * s.key_heads + h) * s.size + e)];
    CHECK(same);
    for (std::size_t which = 0; which < 2; ++which) {
      const auto* const made = rig.output<float>(1 + which).data();
      past[which].assign(made, made + cells);
    }
    first = total;
  }
}

}  // namespace

TEST_CASE("quantized caches have the quantized keys and values, and attention reads the numbers that they represent") {
  for_each_target([] {
    std::mt19937 random{5};
    for (const coding& how : {coding{dtype::i8, 8}, coding{dtype::u8, 4}, coding{dtype::f8e4m3fn, 8}})
      for (const bool per_channel : {false, true}) try_codes(random, how, per_channel);
  });
}

TEST_CASE("a cache that discards old rows keeps those of the window, however tokens are distributed over steps") {
  for_each_target([] {
    std::mt19937 random{6};
    for (int i = 0; i < 12; ++i) try_forgetting(random);
  });
}

TEST_CASE("q_norm_weight and k_norm_weight divide by the root of the mean square") {
  std::mt19937 random{7};
  const sequence s{random, 3, 2, 8, 5};
  const floats weights_q = test::random_numbers<float>(random, s.size),
               weights_k = test::random_numbers<float>(random, s.size);
  const auto normalized = [&](floats x, const floats& w) {
    for (std::size_t row = 0; row < x.size(); row += std::size_t(s.size)) {
      double sum = 0;
      for (std::size_t e = 0; e < std::size_t(s.size); ++e) sum += double(x[row + e]) * double(x[row + e]);
      for (std::size_t e = 0; e < std::size_t(s.size); ++e)
        x[row + e] = float(double(x[row + e]) / std::sqrt(sum / double(s.size) + 1e-6) * double(w[e]));
    }
    return x;
  };
  sequence by_hand = s;
  by_hand.q = normalized(s.q, weights_q), by_hand.k = normalized(s.k, weights_k);
  const int32s lengths{4}, all{5};
  kernel_rig rig{1, 2};
  rig.checked_as<op::microsoft::GroupQueryAttention>();
  rig.attribute("num_heads", s.heads).attribute("kv_num_heads", s.key_heads);
  rig.input({1, 5, s.heads * s.size}, s.q)
      .input({1, 5, s.key_heads * s.size}, s.k)
      .input({1, 5, s.key_heads * s.size}, s.v);
  rig.no_input().no_input().input({1}, lengths).input({}, all);
  for (int i = 7; i < 14; ++i) rig.no_input();
  rig.input({s.size}, weights_q).input({s.size}, weights_k);
  REQUIRE(rig.run<group_query_attention>({dtype::f32, dtype::f32, dtype::f32}));
  const doubles keys(by_hand.k.begin(), by_hand.k.end()), values(s.v.begin(), s.v.end());
  for (std::int64_t i = 0; i < s.rows; ++i)
    check_near(rig.output<float>(0), i * s.heads * s.size, attend_row(by_hand, i, 0, keys, values));
}

TEST_CASE("GroupQueryAttention refuses caches whose types, widths and sizes contradict its attributes") {
  const floats x(64, 0.5f), scale{0.1f}, scales(3, 0.1f);
  const int32s lengths{4}, all{5};
  struct call {
    std::int64_t bits = 8, width = 8, rows = 4, window = -1, forgets = 0, shown = 0;
    std::string_view k_type = "PER_TENSOR", v_type = "PER_TENSOR";
    dtype cache = dtype::i8;
    bool scales = true;
    const floats* given = nullptr;
  };
  const auto code = [&](const call& how) {
    const std::vector<std::uint8_t> bytes(std::size_t(how.rows * how.width) * 4, 1);
    value past = value::tensor<std::uint8_t>({1, 1, how.rows, how.width}, bytes);
    past.type = how.cache;
    kernel_rig rig{1};
    rig.checked_as<op::microsoft::GroupQueryAttention>();
    rig.attribute("num_heads", std::int64_t{2}).attribute("kv_num_heads", std::int64_t{1});
    rig.attribute("kv_cache_bit_width", how.bits).attribute("local_window_size", how.window);
    rig.attribute("sliding_window_cache", how.forgets).attribute("qk_output", how.shown);
    rig.attribute("k_quant_type", how.k_type).attribute("v_quant_type", how.v_type);
    rig.input({1, 1, 16}, x).input({1, 1, 8}, x).input({1, 1, 8}, x).input(past).input(past);
    rig.input({1}, lengths).input({}, all).no_inputs(5);
    const floats& of = how.given ? *how.given : scale;
    if (how.scales) rig.input({std::int64_t(of.size())}, of).input({std::int64_t(of.size())}, of);
    return rig.run<group_query_attention>({dtype::f32, how.cache, how.cache}).code();
  };
  CHECK(code({}) == status_code::ok);
  CHECK(code({.bits = 4, .width = 4, .cache = dtype::u8}) == status_code::ok);
  CHECK(code({.window = 3, .forgets = 1}) == status_code::ok);
  CHECK(code({.bits = 4, .width = 8, .cache = dtype::u8}) == status_code::invalid_argument);
  CHECK(code({.bits = 8, .cache = dtype::u8}) == status_code::invalid_argument);
  CHECK(code({.bits = 0}) == status_code::invalid_graph);
  CHECK(code({.bits = 5}) == status_code::invalid_graph);
  CHECK(code({.v_type = "NONE"}) == status_code::invalid_graph);
  CHECK(code({.k_type = "PER_ROW", .v_type = "PER_ROW"}) == status_code::invalid_graph);
  CHECK(code({.bits = 0, .k_type = "NONE", .v_type = "NONE"}) == status_code::invalid_argument);
  CHECK(code({.cache = dtype::f32}) == status_code::invalid_argument);
  CHECK(code({.scales = false}) == status_code::invalid_argument);
  CHECK(code({.given = &scales}) == status_code::invalid_argument);
  CHECK(code({.k_type = "PER_CHANNEL", .v_type = "PER_CHANNEL"}) == status_code::invalid_argument);
  CHECK(code({.window = 5, .forgets = 1}) == status_code::invalid_argument);
  CHECK(code({.window = -1, .forgets = 1}) == status_code::invalid_graph);
  CHECK(code({.shown = 1}) == status_code::invalid_graph);
}

TEST_CASE("MultiHeadAttention: a past with space for the new keys, and the beams that a step continues") {
  std::mt19937 random{8};
  const std::int64_t batches = 4, heads = 2, size = 3, room = 6, past = 4, wide = heads * size;
  const auto row = [&] { return test::random_numbers<float>(random, batches * wide); };
  const floats q = row(), k = row(), v = row();
  const floats old_k = test::random_numbers<float>(random, batches * heads * room * size),
               old_v = test::random_numbers<float>(random, batches * heads * room * size);
  const int32s length{std::int32_t(past)};
  int32s beams;
  for (std::int64_t i = 0; i < batches * room; ++i) beams.push_back(std::int32_t(random() % 2));
  const extents cache{batches, heads, room, size}, given{batches, 1, wide};
  const auto at = [&](std::int64_t b, std::int64_t h, std::int64_t j) {
    return std::size_t(((b * heads + h) * room + j) * size);
  };
  kernel_rig rig{1, 2};
  rig.checked_as<op::microsoft::MultiHeadAttention>();
  rig.attribute("num_heads", heads).input(given, q).input(given, k).input(given, v).no_inputs(3);
  rig.input(cache, old_k).input(cache, old_v).input({1}, length).input({2, 2, room}, beams);
  REQUIRE(rig.run<multi_head_attention>({dtype::f32, dtype::f32, dtype::f32, dtype::f32}));
  bool kept = true;
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t h = 0; h < heads; ++h) {
      doubles weights;
      double sum = 0;
      const auto key = [&](std::int64_t j, const floats& old, const floats& now, std::int64_t e) {
        const std::int64_t from = b / 2 * 2 + beams[std::size_t(b * room + j)];
        return double(j < past ? old[at(from, h, j) + std::size_t(e)] : now[std::size_t(b * wide + h * size + e)]);
      };
      for (std::int64_t j = 0; j <= past; ++j) {
        double dot = 0;
        for (std::int64_t e = 0; e < size; ++e)
          dot += double(q[std::size_t(b * wide + h * size + e)]) * key(j, old_k, k, e);
        dot /= std::sqrt(double(size));
        CHECK(double(rig.output<float>(3)[std::size_t((b * heads + h) * (past + 1) + j)]) ==
              doctest::Approx(dot).epsilon(1e-5));
        sum += weights.emplace_back(std::exp(dot));
      }
      for (std::int64_t e = 0; e < size; ++e) {
        double y = 0;
        for (std::int64_t j = 0; j <= past; ++j) y += weights[std::size_t(j)] / sum * key(j, old_v, v, e);
        CHECK(double(rig.output<float>(0)[std::size_t(b * wide + h * size + e)]) == doctest::Approx(y).epsilon(1e-5));
      }
      for (std::int64_t j = 0; j < room; ++j)
        for (std::int64_t e = 0; e < size; ++e) {
          const float want = j == past ? k[std::size_t(b * wide + h * size + e)] : old_k[at(b, h, j) + std::size_t(e)];
          kept = kept && rig.output<float>(1)[at(b, h, j) + std::size_t(e)] == want;
        }
    }
  CHECK(kept);
  const auto refused = [&](std::int32_t rows, std::int32_t beam) {
    const int32s bad_length{rows}, bad_beams(std::size_t(batches * room), beam);
    kernel_rig bad{1};
    bad.checked_as<op::microsoft::MultiHeadAttention>();
    bad.attribute("num_heads", heads).input(given, q).input(given, k).input(given, v).no_inputs(3);
    bad.input(cache, old_k).input(cache, old_v).input({1}, bad_length).input({2, 2, room}, bad_beams);
    return bad.run<multi_head_attention>({dtype::f32, dtype::f32, dtype::f32}).code();
  };
  CHECK(refused(5, 1) == status_code::ok);
  CHECK(refused(6, 1) == status_code::invalid_argument);
  CHECK(refused(-1, 1) == status_code::invalid_argument);
  CHECK(refused(3, 2) == status_code::invalid_argument);
  CHECK(refused(3, -1) == status_code::invalid_argument);
}

TEST_CASE("padding rows of a prompt attend to the keys of their sequence, and no row attends to the keys of padding") {
  for_each_target([] {
    std::mt19937 random{9};
    for (const std::int64_t rows : {4, 9})
      for (const std::int64_t keys : {1, 3, 4})
        for (const std::int64_t window : {-1, 2})
          for (const bool causal : {true, false}) {
            if (window > 0 && !causal) continue;
            const sequence s{random, 2, 2, 16, rows};
            const int32s less_one{std::int32_t(keys - 1)}, total{std::int32_t(rows)};
            kernel_rig rig{1};
            rig.checked_as<op::microsoft::GroupQueryAttention>();
            rig.attribute("num_heads", s.heads).attribute("kv_num_heads", s.key_heads);
            rig.attribute("local_window_size", window).attribute("causal", std::int64_t{causal});
            rig.input<float>({1, rows, s.heads * s.size}, s.q).input<float>({1, rows, s.key_heads * s.size}, s.k);
            rig.input<float>({1, rows, s.key_heads * s.size}, s.v).no_input().no_input();
            rig.input<std::int32_t>({1}, less_one).input<std::int32_t>({1}, total);
            REQUIRE(rig.run<group_query_attention>({dtype::f32, dtype::f32, dtype::f32}));
            for (std::int64_t i = 0; i < rows; ++i) {
              const std::int64_t begin = window > 0 ? std::max<std::int64_t>(0, i - window + 1) : 0;
              const std::int64_t end = causal ? std::min(i + 1, keys) : keys;
              check_near(rig.output<float>(0), i * s.heads * s.size,
                         attend_rows(s, i, begin, end, {s.k.begin(), s.k.end()}, {s.v.begin(), s.v.end()}));
            }
          }
  });
}
