#include <cameo/eps/cpu/attention.hpp>
#include <cameo/eps/cpu/rotary_embedding.hpp>
#include <cameo/eps/cpu/tensor_scatter.hpp>
#include <cameo/op/onnx.hpp>

#include "each_target.hpp"
#include "rig_checks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace cameo;
using cameo::test::ints;
using cameo::test::kernel_rig;

namespace {

/// softmax(Q K^T / sqrt(size)) V; with `causal`, keys behind the position of the query are left out.
std::vector<double> naive_attention(const std::vector<float>& q, const std::vector<float>& k,
                                    const std::vector<float>& v, std::int64_t b, std::int64_t heads,
                                    std::int64_t shared, std::int64_t n, std::int64_t keys, std::int64_t size,
                                    bool causal) {
  std::vector<double> y;
  for (std::int64_t h = 0; h < b * heads; ++h)
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t from = h / heads * shared + h % heads / (heads / shared);
      std::vector<double> weight;
      double sum = 0;
      for (std::int64_t j = 0; j < keys; ++j) {
        double dot = 0;
        for (std::int64_t e = 0; e < size; ++e)
          dot += double(q[std::size_t((h * n + i) * size + e)]) * double(k[std::size_t((from * keys + j) * size + e)]);
        weight.push_back(causal && j > i ? 0 : std::exp(dot / std::sqrt(double(size))));
        sum += weight.back();
      }
      for (std::int64_t e = 0; e < size; ++e) {
        double total = 0;
        for (std::int64_t j = 0; j < keys; ++j)
          total += weight[std::size_t(j)] / sum * double(v[std::size_t((from * keys + j) * size + e)]);
        y.push_back(total);
      }
    }
  return y;
}

}  // namespace

TEST_CASE("attention follows its formula, for random shapes, shared heads and narrow floats") {
  std::mt19937 random{1};
  const auto upto = [&](int most) { return std::int64_t(random() % unsigned(most) + 1); };
  for (int i = 0; i < 40; ++i) {
    const std::int64_t b = upto(2), shared = upto(3), heads = shared * upto(3), n = upto(20), keys = upto(40);
    const std::int64_t size = upto(16);
    const bool causal = random() % 2;
    const auto q = test::random_numbers<float>(random, b * heads * n * size);
    const auto k = test::random_numbers<float>(random, b * shared * keys * size);
    const auto v = test::random_numbers<float>(random, b * shared * keys * size);
    kernel_rig rig{23, 3};
    rig.checked_as<op::Attention>();
    rig.attribute("is_causal", std::int64_t{causal}).input<float>({b, heads, n, size}, q);
    rig.input<float>({b, shared, keys, size}, k).input<float>({b, shared, keys, size}, v);
    REQUIRE(rig.run<eps::attention>({dtype::f32}));
    CHECK(test::near(rig.output<float>(0), naive_attention(q, k, v, b, heads, shared, n, keys, size, causal)));
  }
}

TEST_CASE("a query to which no key is visible gives zeros, whatever the keys are") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> q{1, 2}, k{nan, nan}, v{3, 4};
  kernel_rig rig{23};
  rig.checked_as<op::Attention>();
  const std::vector<float> mask{-std::numeric_limits<float>::infinity()};
  rig.input<float>({1, 1, 2, 1}, q).input<float>({1, 1, 1, 2}, k);
  CHECK(rig.input<float>({1, 1, 1, 2}, v).run<eps::attention>({dtype::f32}).code() == status_code::invalid_argument);
  kernel_rig masked{23};
  masked.checked_as<op::Attention>();
  masked.attribute("qk_matmul_output_mode", std::int64_t{3});
  masked.input<float>({1, 1, 1, 2}, q).input<float>({1, 1, 1, 2}, k).input<float>({1, 1, 1, 2}, v);
  masked.input<float>({1}, mask);
  REQUIRE(masked.run<eps::attention>({dtype::f32, dtype::undefined, dtype::undefined, dtype::f32}));
  CHECK(masked.output<float>(0)[0] == 0);
  CHECK(masked.output<float>(0)[1] == 0);
  CHECK(masked.output<float>(3)[0] == 0);
}

TEST_CASE("a mask of integers is added to the scores, as one of floats is") {
  std::mt19937 random{1};
  const auto q = test::random_numbers<float>(random, 6), k = test::random_numbers<float>(random, 8);
  const auto v = test::random_numbers<float>(random, 8);
  const auto masked_by = [&]<class T>(std::type_identity<T>) {
    const std::vector<T> mask{0, 2, 1, 0, 3, 0, 0, 1, 1, 1, 5, 0};
    kernel_rig rig{23, 3};
    rig.checked_as<op::Attention>();
    rig.input<float>({1, 1, 3, 2}, q).input<float>({1, 1, 4, 2}, k).input<float>({1, 1, 4, 2}, v);
    REQUIRE(rig.input<T>({3, 4}, mask).template run<eps::attention>({dtype::f32}));
    return test::elements_of<float>(rig);
  };
  const std::vector<float> expected = masked_by(std::type_identity<float>{});
  for (const dtype type :
       {dtype::i8, dtype::u8, dtype::i16, dtype::u16, dtype::i32, dtype::u32, dtype::i64, dtype::u64})
    eps::integer_elements::call(type,
                                [&]<class T>(std::type_identity<T> element) { CHECK(masked_by(element) == expected); });
}

TEST_CASE("attention of empty tensors: no queries, no keys, no batches, huge sizes beside a 0") {
  const std::vector<float> none, two{1, 2};
  const auto run = [&](extents q, const std::vector<float>& q_data, extents k, const std::vector<float>& k_data) {
    auto rig = std::make_unique<kernel_rig>(23, 2);
    rig->checked_as<op::Attention>();
    rig->input<float>(q, q_data).input<float>(k, k_data).input<float>(k, k_data);
    return std::pair{rig->run<eps::attention>({dtype::f32, dtype::f32, dtype::f32, dtype::f32}).code(), std::move(rig)};
  };
  CHECK(run({1, 1, 0, 2}, none, {1, 1, 1, 2}, two).first == status_code::ok);
  CHECK(run({0, 1, 1, 2}, none, {0, 1, 1, 2}, none).first == status_code::ok);
  const auto [code, rig] = run({1, 1, 1, 2}, two, {1, 1, 0, 2}, none);
  CHECK(code == status_code::ok);
  CHECK(rig->output<float>(0)[0] == 0);
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  CHECK(run({1, 1, 0, 0}, none, {1, 1, huge, 0}, none).first == status_code::ok);
  CHECK(run({huge, 1, 0, 0}, none, {huge, 1, 1, 0}, none).first == status_code::ok);
  CHECK(run({huge, huge, 0, 1}, none, {huge, huge, 0, 1}, none).first == status_code::invalid_argument);
}

TEST_CASE("hostile lengths and windows of attention only hide keys") {
  const std::vector<float> q{1, 1}, kv{1, 2, 3, 4};
  for (const std::int64_t length : {std::int64_t{0}, std::int64_t{-5}, std::int64_t{4}, INT64_MAX, INT64_MIN})
    for (const std::int64_t window : {std::int64_t{-1}, std::int64_t{0}, INT64_MAX}) {
      const ints lengths{length};
      kernel_rig rig{25};
      rig.checked_as<op::Attention>();
      rig.attribute("is_causal", std::int64_t{1}).attribute("left_window_size", window);
      rig.attribute("right_window_size", window).input<float>({1, 1, 2, 1}, q);
      rig.input<float>({1, 1, 4, 1}, kv).input<float>({1, 1, 4, 1}, kv).no_inputs(3);
      REQUIRE(rig.input<std::int64_t>({1}, lengths).run<eps::attention>({dtype::f32}));
      if (length <= 0) CHECK(rig.output<float>(0)[1] == 0);
    }
}

TEST_CASE("rotary embedding refuses positions outside its tables and odd rotations") {
  const std::vector<float> x(8, 1), table(4, 0.5f);
  const auto at = [&](std::int64_t position) {
    const ints ids{position, 0};
    kernel_rig rig{23};
    rig.checked_as<op::RotaryEmbedding>();
    rig.input<float>({1, 1, 2, 4}, x).input<float>({2, 2}, table).input<float>({2, 2}, table);
    return rig.input<std::int64_t>({1, 2}, ids).run<eps::rotary_embedding>({dtype::f32}).code();
  };
  CHECK(at(1) == status_code::ok);
  for (const std::int64_t bad : {std::int64_t{2}, std::int64_t{-1}, INT64_MAX, INT64_MIN})
    CHECK(at(bad) == status_code::invalid_argument);
  kernel_rig odd{23};
  odd.checked_as<op::RotaryEmbedding>();
  odd.attribute("rotary_embedding_dim", std::int64_t{3});
  odd.input<float>({1, 1, 2, 4}, x).input<float>({2, 2}, table).input<float>({2, 2}, table);
  CHECK(odd.run<eps::rotary_embedding>({dtype::f32}).code() == status_code::invalid_graph);
}

TEST_CASE("a cache is written only inside: linear to its end, circular round it") {
  const std::vector<float> cache(4, 0), update{1, 2};
  const auto at = [&](std::string_view mode, std::int64_t index) {
    const ints start{index};
    auto rig = std::make_unique<kernel_rig>(24);
    rig->attribute("mode", mode).input<float>({1, 4, 1}, cache).input<float>({1, 2, 1}, update);
    rig->input<std::int64_t>({1}, start);
    return std::pair{rig->run<eps::tensor_scatter>({dtype::f32}).code(), std::move(rig)};
  };
  CHECK(at("linear", 2).first == status_code::ok);
  CHECK(at("linear", 3).first == status_code::invalid_argument);
  CHECK(at("circular", 4).first == status_code::invalid_argument);
  for (const std::string_view mode : {"linear", "circular"})
    for (const std::int64_t bad : {std::int64_t{-1}, INT64_MAX, INT64_MIN})
      CHECK(at(mode, bad).first == status_code::invalid_argument);
  const auto [code, rig] = at("circular", 3);
  REQUIRE(code == status_code::ok);
  CHECK(test::elements_of<float>(*rig) == std::vector<float>{2, 0, 0, 1});
}

namespace {

/// One step of ONNX's Attention with a past: the output, both presents and, if requested, the scores.
template <class T>
struct cached_step {
  static constexpr std::int64_t heads = 2, shared = 4, past = 150, size = 40;
  std::vector<std::vector<T>> outputs;
  std::size_t scratch;

  cached_step(std::int64_t queries, const std::vector<std::vector<T>>& in, bool scores, std::size_t lanes) {
    kernel_rig rig{23, lanes};
    rig.checked_as<op::Attention>();
    rig.attribute("is_causal", std::int64_t{1});
    const extents now{1, heads, queries, size}, before{1, heads, past, size};
    rig.input<T>({1, shared, queries, size}, in[0]).template input<T>(now, in[1]).template input<T>(now, in[2]);
    rig.no_input().template input<T>(before, in[3]).template input<T>(before, in[4]);
    std::vector<dtype> types(scores ? 4 : 3, dtype_of<T>);
    test::run_ok<eps::attention>(rig, types);
    for (std::size_t i = 0; i < types.size(); ++i) outputs.push_back(test::elements_of<T>(rig, i));
    scratch = rig.scratch_bytes();
  }
};

template <class T>
void compare_steps() {
  std::mt19937 random{71};
  for (const std::int64_t queries : {1, 3, 30}) {
    std::vector<std::vector<T>> in;
    std::vector<std::vector<float>> wide;
    for (const std::int64_t rows : {2 * queries, queries, queries, cached_step<T>::past, cached_step<T>::past}) {
      in.push_back(test::random_numbers<T>(random, 2 * rows * cached_step<T>::size));
      wide.emplace_back(in.back().begin(), in.back().end());
    }
    for (const bool scores : {false, true}) {
      INFO("queries ", queries, ", scores ", scores);
      const cached_step<float> want{queries, wide, scores, 1};
      for (const std::size_t lanes : {1, 3}) {
        const cached_step<T> got{queries, in, scores, lanes};
        for (std::size_t o = 0; o < got.outputs.size(); ++o) {
          std::size_t wrong = 0;
          for (std::size_t i = 0; i < got.outputs[o].size(); ++i)
            wrong += got.outputs[o][i].bits != T{want.outputs[o][i]}.bits;
          CHECK(wrong == 0);
        }
        // The scratch memory must not hold the keys and the values as floats, which would be as many bytes each.
        if (queries == 1) CHECK(got.scratch < 2 * cached_step<T>::past * cached_step<T>::size * sizeof(float));
      }
    }
  }
}

}  // namespace

TEST_CASE("ONNX's Attention reads a cache of 16 bits in place, with the same bits as for that cache in float") {
  test::for_each_target([] {
    compare_steps<float16>();
    compare_steps<bfloat16>();
  });
}
