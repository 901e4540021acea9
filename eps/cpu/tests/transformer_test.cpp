#include <cameo/eps/cpu/group_query_attention.hpp>
#include <cameo/eps/cpu/layer_normalization.hpp>
#include <cameo/eps/cpu/multi_head_attention.hpp>
#include <cameo/eps/cpu/skip_layer_normalization.hpp>
#include <cameo/op/microsoft.hpp>

#include "each_target.hpp"
#include "rig_checks.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <limits>

using namespace cameo;
using namespace cameo::eps;
using cameo::test::floats;
using cameo::test::for_each_target;
using cameo::test::kernel_rig;

// Each operator against plain loops in double, which follow its definition and share no code with it.
namespace {

using int32s = std::vector<std::int32_t>;
using doubles = std::vector<double>;
constexpr double nowhere = -std::numeric_limits<double>::infinity();

struct dice {
  std::mt19937 random{11};
  std::int64_t upto(std::int64_t least, std::int64_t most) {
    return least + std::int64_t(random() % unsigned(most - least + 1));
  }
  bool coin() { return random() % 2; }
  floats numbers(std::int64_t count) { return test::random_numbers<float>(random, count); }
};

/// A tensor [batch, heads, length, size].
struct heads4 {
  std::int64_t batches, heads, length, size;
  doubles data{};
  heads4(std::int64_t b, std::int64_t h, std::int64_t l, std::int64_t s)
      : batches{b}, heads{h}, length{l}, size{s}, data(std::size_t(b * h * l * s)) {}
  double& at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t e) {
    return data[std::size_t(((b * heads + h) * length + i) * size + e)];
  }
};
using score_of = std::function<double(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j, double s)>;

/// softmax(change(scale * Q K^T)) V as [batch, queries, heads * size]; a score of -infinity hides a key; `sink` adds to
/// the denominator.
doubles attend_plainly(heads4& q, heads4& k, heads4& v, double scale, const score_of& change, const floats& sink = {}) {
  doubles y(std::size_t(q.batches * q.length * q.heads * v.size));
  for (std::int64_t b = 0; b < q.batches; ++b)
    for (std::int64_t h = 0; h < q.heads; ++h)
      for (std::int64_t i = 0; i < q.length; ++i) {
        const std::int64_t shared = h / (q.heads / k.heads);
        doubles scores;
        double most = sink.empty() ? nowhere : double(sink[std::size_t(h)]), sum = 0;
        for (std::int64_t j = 0; j < k.length; ++j) {
          double dot = 0;
          for (std::int64_t e = 0; e < q.size; ++e) dot += q.at(b, h, i, e) * k.at(b, shared, j, e);
          scores.push_back(change(b, h, i, j, dot * scale));
          most = std::max(most, scores.back());
        }
        if (most == nowhere) continue;
        if (!sink.empty()) sum = std::exp(double(sink[std::size_t(h)]) - most);
        for (double& s : scores) sum += s = std::exp(s - most);
        for (std::int64_t j = 0; j < k.length; ++j)
          for (std::int64_t e = 0; e < v.size; ++e)
            y[std::size_t(((b * q.length + i) * q.heads + h) * v.size + e)] +=
                scores[std::size_t(j)] / sum * v.at(b, shared, j, e);
      }
  return y;
}

/// Concatenates two tensors along the length.
heads4 joined(heads4& a, heads4& b) {
  heads4 all{b.batches, b.heads, a.length + b.length, b.size};
  for (std::int64_t n = 0; n < b.batches; ++n)
    for (std::int64_t h = 0; h < b.heads; ++h)
      for (std::int64_t i = 0; i < all.length; ++i)
        for (std::int64_t e = 0; e < b.size; ++e)
          all.at(n, h, i, e) = i < a.length ? a.at(n, h, i, e) : b.at(n, h, i - a.length, e);
  return all;
}

heads4 from_split(const floats& x, std::int64_t b, std::int64_t h, std::int64_t l, std::int64_t s) {
  heads4 made{b, h, l, s};
  std::copy(x.begin(), x.end(), made.data.begin());
  return made;
}
/// Heads from rows of `row` elements: the first head begins at `start`, and heads are `step` elements apart.
heads4 from_rows(const floats& x, std::int64_t b, std::int64_t h, std::int64_t l, std::int64_t s, std::int64_t row,
                 std::int64_t start, std::int64_t step, const floats& bias = {}, std::int64_t bias_start = 0) {
  heads4 made{b, h, l, s};
  for (std::int64_t n = 0; n < b; ++n)
    for (std::int64_t i = 0; i < l; ++i)
      for (std::int64_t j = 0; j < h; ++j)
        for (std::int64_t e = 0; e < s; ++e)
          made.at(n, j, i, e) = double(x[std::size_t((n * l + i) * row + start + j * step + e)]) +
                                (bias.empty() ? 0.0 : double(bias[std::size_t(bias_start + j * s + e)]));
  return made;
}

/// A mask in one of com.microsoft's formats: its shape and elements, and its meaning.
struct some_mask {
  int form;  // 0 none, 1 lengths, 2 ends and starts, 3 per key, 4 per query and key
  extents shape{};
  int32s data{};
  some_mask(dice& d, int what, std::int64_t b, std::int64_t s, std::int64_t t) : form{what} {
    if (form == 1 || form == 2) {
      shape = {form * b};
      for (std::int64_t i = 0; i < b; ++i) data.push_back(std::int32_t(d.upto(1, t)));
      for (std::int64_t i = 0; form == 2 && i < b; ++i)
        data.push_back(std::int32_t(d.upto(0, data[std::size_t(i)] - 1)));
    } else if (form) {
      shape = form == 3 ? extents{b, t} : extents{b, s, t};
      for (std::int64_t i = 0; i < shape.count(); ++i) data.push_back(std::int32_t(i % t == 0 || d.upto(0, 2) > 0));
    }
    keys_ = t, batches_ = b, queries_ = s;
  }
  bool hides(std::int64_t b, std::int64_t i, std::int64_t j) const {
    const auto at = [&](std::int64_t n) { return std::int64_t(data[std::size_t(n)]); };
    if (form == 1 || form == 2) return j >= at(b) || (form == 2 && j < at(batches_ + b));
    if (form == 3) return at(b * keys_ + j) == 0;
    return form == 4 && at((b * queries_ + i) * keys_ + j) == 0;
  }
  void give(kernel_rig& rig) const { rig.input_if(form != 0, shape, data); }

 private:
  std::int64_t keys_, batches_, queries_;
};

/// An attention bias [1 or batch, 1 or heads, queries, keys], or none.
struct some_bias {
  extents shape{};
  floats data{};
  some_bias(dice& d, bool any, std::int64_t b, std::int64_t h, std::int64_t s, std::int64_t t) {
    if (!any) return;
    shape = {d.coin() ? b : 1, d.coin() ? h : 1, s, t};
    data = d.numbers(shape.count());
  }
  double at(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
    if (data.empty()) return 0;
    const std::int64_t n = shape[0] == 1 ? 0 : b, m = shape[1] == 1 ? 0 : h;
    return double(data[std::size_t(((n * shape[1] + m) * shape[2] + i) * shape[3] + j)]);
  }
  void give(kernel_rig& rig) const { rig.input_if(!data.empty(), shape, data); }
};

/// Runs a kernel on 1, 2 and 5 threads, which must give the same bits, and compares the outputs with `want`.
template <class K>
void check_with_threads(const std::function<void(kernel_rig&)>& fill, int since, const std::vector<dtype>& outputs,
                        const std::vector<doubles>& want, double tolerance = 2e-5) {
  kernel_rig one{since}, two{since, 2}, five{since, 5};
  for (kernel_rig* rig : {&one, &two, &five}) {
    fill(*rig);
    REQUIRE(rig->run<K>(outputs));
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] != dtype::f32) continue;
    const auto a = one.output<float>(i), b = two.output<float>(i), c = five.output<float>(i);
    CHECK(std::equal(a.begin(), a.end(), b.begin()));
    CHECK(std::equal(a.begin(), a.end(), c.begin()));
    if (i < want.size()) CHECK(test::near(a, want[i], tolerance));
  }
}

/// One case of MultiHeadAttention. `form` is the format of its inputs: 0 separate, 1 keys split by heads, 2 packed keys
/// and values, 3 all packed, 4 with a past.
void try_multi_head(dice& d, int form, int mask_form) {
  const std::int64_t b = d.upto(1, 2), n = d.upto(1, 3), s = d.upto(1, d.coin() ? 9 : 80), size = d.upto(1, 37);
  const std::int64_t length = form >= 3 ? s : d.upto(1, d.coin() ? 12 : 200), past = form == 4 ? d.upto(1, 20) : 0;
  const std::int64_t wide = form == 2 || form == 3 ? size : d.upto(1, 37), t = past + length;
  const std::int64_t row = n * size, value_row = n * wide;
  const bool causal = d.coin(), has_bias = d.coin();
  const some_mask mask{d, mask_form, b, s, t};
  const some_bias added{d, d.coin(), b, n, s, t};
  const floats bias = has_bias ? d.numbers(2 * row + value_row) : floats{};
  const floats q = d.numbers(b * s * row * (form == 3 ? 3 : 1));
  const floats k = d.numbers(form == 3 ? 0 : b * length * row * (form == 2 ? 2 : 1));
  const floats v = d.numbers(form == 2 || form == 3 ? 0 : b * length * value_row);
  const floats old_k = d.numbers(b * n * past * size), old_v = d.numbers(b * n * past * wide);
  const auto fill = [&](kernel_rig& rig) {
    rig.checked_as<op::microsoft::MultiHeadAttention>();
    rig.attribute("num_heads", n).attribute("unidirectional", std::int64_t{causal}).attribute("scale", 0.4f);
    rig.attribute("mask_filter_value", -30.0f);
    if (form == 3) rig.input({b, s, n, 3, size}, q).no_input().no_input();
    else if (form == 2) rig.input({b, s, row}, q).input({b, length, n, 2, size}, k).no_input();
    else if (form == 1) rig.input({b, s, row}, q).input({b, n, length, size}, k).input({b, n, length, wide}, v);
    else rig.input({b, s, row}, q).input({b, length, row}, k).input({b, length, value_row}, v);
    rig.input_if(has_bias, {2 * row + value_row}, bias);
    mask.give(rig), added.give(rig);
    if (form == 4) rig.input({b, n, past, size}, old_k).input({b, n, past, wide}, old_v);
  };
  heads4 queries = form == 3 ? from_rows(q, b, n, s, size, 3 * row, 0, 3 * size, bias)
                             : from_rows(q, b, n, s, size, row, 0, size, bias);
  heads4 keys{1, 1, 0, 1}, values = keys;
  if (form == 3) {
    keys = from_rows(q, b, n, s, size, 3 * row, size, 3 * size, bias, row);
    values = from_rows(q, b, n, s, size, 3 * row, 2 * size, 3 * size, bias, 2 * row);
  } else if (form == 2) {
    keys = from_rows(k, b, n, length, size, 2 * row, 0, 2 * size, bias, row);
    values = from_rows(k, b, n, length, size, 2 * row, size, 2 * size, bias, 2 * row);
  } else if (form == 1) {
    keys = from_split(k, b, n, length, size), values = from_split(v, b, n, length, wide);
  } else {
    keys = from_rows(k, b, n, length, size, row, 0, size, bias, row);
    values = from_rows(v, b, n, length, wide, value_row, 0, wide, bias, 2 * row);
  }
  heads4 before_k = from_split(old_k, b, n, past, size), before_v = from_split(old_v, b, n, past, wide);
  keys = joined(before_k, keys), values = joined(before_v, values);
  const doubles y = attend_plainly(queries, keys, values, double(0.4f), [&](auto bb, auto h, auto i, auto j, double x) {
    if (causal && j > past + i && i + 1 < s) return nowhere;
    return x + added.at(bb, h, i, j) + (mask.hides(bb, i, j) ? -30.0 : 0.0);
  });
  INFO("form ", form, ", mask ", mask_form);
  check_with_threads<multi_head_attention>(fill, 1, {dtype::f32, dtype::f32, dtype::f32}, {y, keys.data, values.data});
}

void try_projected(dice& d, int mask_form, bool with_past) {
  const std::int64_t b = d.upto(1, 2), n = d.upto(1, 3), s = d.upto(1, d.coin() ? 9 : 70), size = d.upto(1, 33);
  const std::int64_t in = d.upto(1, 20), past = with_past ? d.upto(0, 9) : 0, t = past + s, row = n * size;
  const bool causal = d.coin();
  const some_mask mask{d, mask_form, b, s, t};
  const some_bias added{d, d.coin(), b, n, s, t};
  const floats x = d.numbers(b * s * in), w = d.numbers(in * 3 * row), bias = d.numbers(3 * row);
  const floats old = d.numbers(2 * b * n * past * size);
  const bool constant = d.coin();
  const auto fill = [&](kernel_rig& rig) {
    rig.checked_as<op::microsoft::Attention>();
    rig.attribute("num_heads", n).attribute("unidirectional", std::int64_t{causal});
    rig.input({b, s, in}, x).input({in, 3 * row}, w, constant).input({3 * row}, bias);
    mask.give(rig);
    rig.input_if(with_past, {2, b, n, past, size}, old);
    added.give(rig);
  };
  floats all(std::size_t(b * s * 3 * row));
  for (std::int64_t r = 0; r < b * s; ++r)
    for (std::int64_t j = 0; j < 3 * row; ++j) {
      double sum = double(bias[std::size_t(j)]);
      for (std::int64_t i = 0; i < in; ++i)
        sum += double(x[std::size_t(r * in + i)]) * double(w[std::size_t(i * 3 * row + j)]);
      all[std::size_t(r * 3 * row + j)] = float(sum);
    }
  const auto half = std::ptrdiff_t(old.size() / 2);
  heads4 q = from_rows(all, b, n, s, size, 3 * row, 0, size), k = from_rows(all, b, n, s, size, 3 * row, row, size);
  heads4 v = from_rows(all, b, n, s, size, 3 * row, 2 * row, size);
  heads4 old_k = from_split({old.begin(), old.begin() + half}, b, n, past, size);
  heads4 old_v = from_split({old.begin() + half, old.end()}, b, n, past, size);
  k = joined(old_k, k), v = joined(old_v, v);
  const doubles y =
      attend_plainly(q, k, v, 1 / std::sqrt(double(size)), [&](auto bb, auto h, auto i, auto j, double score) {
        if (causal && j > past + i) return nowhere;
        return score + added.at(bb, h, i, j) + (mask.hides(bb, i, j) ? -10000.0 : 0.0);
      });
  doubles present = k.data;
  present.insert(present.end(), v.data.begin(), v.data.end());
  // Rows in which all visible keys are masked lose digits to the -10000.
  check_with_threads<projected_attention>(fill, 1, {dtype::f32, dtype::f32}, {y, present},
                                          mask_form == 2 ? 5e-3 : 5e-5);
}

/// Rotates pairs of elements of each row by the angles of its position.
heads4 rotated(heads4 x, const floats& co, const floats& si, bool interleaved,
               const std::function<std::int64_t(std::int64_t, std::int64_t)>& position) {
  const std::int64_t half = x.size / 2;
  heads4 y = x;
  for (std::int64_t b = 0; b < x.batches; ++b)
    for (std::int64_t h = 0; h < x.heads; ++h)
      for (std::int64_t i = 0; i < x.length; ++i)
        for (std::int64_t e = 0; e < half; ++e) {
          const std::int64_t one = interleaved ? 2 * e : e, other = interleaved ? 2 * e + 1 : e + half;
          const auto at = std::size_t(position(b, i) * half + e);
          y.at(b, h, i, one) = x.at(b, h, i, one) * double(co[at]) - x.at(b, h, i, other) * double(si[at]);
          y.at(b, h, i, other) = x.at(b, h, i, one) * double(si[at]) + x.at(b, h, i, other) * double(co[at]);
        }
  return y;
}

void try_group_query(dice& d, bool first) {
  const std::int64_t b = d.upto(1, 3), shared = d.upto(1, 3), n = shared * d.upto(1, 3), size = 2 * d.upto(1, 20);
  const std::int64_t s = first ? d.upto(1, 60) : d.coin() ? 1 : d.upto(1, 20), past = first ? 0 : d.upto(1, 70);
  const std::int64_t total = past + s, room = past + (first ? 0 : d.upto(0, 4));
  const bool packed = d.coin(), turns = d.coin(), interleaved = d.coin(), sinks = d.coin();
  const std::int64_t window = d.coin() ? d.upto(1, 30) : -1;
  const float softcap = d.coin() ? 2.0f : 0.0f;
  int32s lengths(static_cast<std::size_t>(b), std::int32_t(total - 1));
  for (std::size_t i = 1; i < lengths.size() && !first; ++i) lengths[i] = std::int32_t(d.upto(s, total) - 1);
  const int32s all{std::int32_t(total)};
  const std::int64_t row = (packed ? n + 2 * shared : n) * size, key_row = packed ? row : shared * size;
  const floats q = d.numbers(b * s * row), k = packed ? q : d.numbers(b * s * key_row);
  const floats v = packed ? q : d.numbers(b * s * key_row), co = d.numbers(total * size / 2),
               si = d.numbers(total * size / 2), sink = d.numbers(n);
  const floats old_k = d.numbers(b * shared * room * size), old_v = d.numbers(b * shared * room * size);
  const some_bias added{d, d.coin(), b, n, s, total};
  const auto fill = [&](kernel_rig& rig) {
    rig.checked_as<op::microsoft::GroupQueryAttention>();
    rig.attribute("num_heads", n).attribute("kv_num_heads", shared).attribute("do_rotary", std::int64_t{turns});
    rig.attribute("rotary_interleaved", std::int64_t{interleaved}).attribute("local_window_size", window);
    rig.attribute("softcap", softcap).input({b, s, row}, q);
    const extents now{b, s, key_row}, before{b, shared, room, size}, table{total, size / 2};
    rig.input_if(!packed, now, k).input_if(!packed, now, v).input_if(!first, before, old_k);
    rig.input_if(!first, before, old_v).input({b}, lengths).input({1}, all);
    rig.input_if(turns, table, co).input_if(turns, table, si).no_input();
    added.give(rig);
    if (sinks) rig.input({n}, sink);
  };
  const auto past_of = [&](std::int64_t i) { return first ? 0 : std::int64_t(lengths[std::size_t(i)]) + 1 - s; };
  heads4 queries = from_rows(q, b, n, s, size, row, 0, size);
  heads4 keys = from_rows(k, b, shared, s, size, key_row, packed ? n * size : 0, size);
  const heads4 values = from_rows(v, b, shared, s, size, key_row, packed ? (n + shared) * size : 0, size);
  if (turns) {
    const auto position = [&](std::int64_t i, std::int64_t at) { return past_of(i) + at; };
    queries = rotated(queries, co, si, interleaved, position), keys = rotated(keys, co, si, interleaved, position);
  }
  const auto present = [&](const floats& old, heads4 now) {
    heads4 before = from_split(old, b, shared, room, size), to{b, shared, std::max(room, total), size};
    for (std::int64_t i = 0; i < b; ++i)
      for (std::int64_t h = 0; h < shared; ++h)
        for (std::int64_t j = 0; j < past_of(i) + s; ++j)
          for (std::int64_t e = 0; e < size; ++e)
            to.at(i, h, j, e) = j < past_of(i) ? before.at(i, h, j, e) : now.at(i, h, j - past_of(i), e);
    return to;
  };
  heads4 k_all = present(old_k, keys), v_all = present(old_v, values);
  const doubles y = attend_plainly(
      queries, k_all, v_all, 1 / std::sqrt(double(size)),
      [&](auto bb, auto h, auto i, auto j, double score) {
        const std::int64_t place = past_of(bb) + i;
        if (j > place || (window > 0 && j <= place - window)) return nowhere;
        if (softcap > 0) score = double(softcap) * std::tanh(score / double(softcap));
        return score + added.at(bb, h, i, j);
      },
      sinks ? sink : floats{});
  check_with_threads<group_query_attention>(fill, 1, {dtype::f32, dtype::f32, dtype::f32}, {y, k_all.data, v_all.data});
}

/// Layer normalization of all rows: the input, the output, and the statistics of each row.
struct normal {
  doubles sum, y, means, inverses;
};
normal normalize_plainly(const doubles& t, std::int64_t n, const floats& scale, const floats& bias, bool centers,
                         double epsilon) {
  normal made{t, {}, {}, {}};
  for (std::size_t r = 0; r * std::size_t(n) < t.size(); ++r) {
    double mean = 0, variance = 0;
    for (std::int64_t i = 0; centers && i < n; ++i) mean += t[r * std::size_t(n) + std::size_t(i)] / double(n);
    for (std::int64_t i = 0; i < n; ++i)
      variance += std::pow(t[r * std::size_t(n) + std::size_t(i)] - mean, 2) / double(n);
    made.means.push_back(mean), made.inverses.push_back(1 / std::sqrt(variance + epsilon));
    for (std::size_t i = 0; i < std::size_t(n); ++i)
      made.y.push_back((t[r * std::size_t(n) + i] - mean) * made.inverses.back() * double(scale[i]) +
                       (bias.empty() ? 0.0 : double(bias[i])));
  }
  return made;
}

}  // namespace

TEST_CASE("MultiHeadAttention: all formats of inputs, masks and pasts, on every instruction set") {
  for_each_target([] {
    dice d;
    for (int form = 0; form < 5; ++form)
      for (int mask = 0; mask < 5; ++mask)
        for (int i = 0; i < 3; ++i) try_multi_head(d, form, mask);
  });
}

TEST_CASE("com.microsoft's Attention: masks, pasts, constant weights or not, on every instruction set") {
  for_each_target([] {
    dice d;
    for (int mask = 0; mask < 5; ++mask)
      for (int i = 0; i < 6; ++i) try_projected(d, mask, i % 2);
  });
}

TEST_CASE("GroupQueryAttention: prompts and pasts of different lengths, on every instruction set") {
  for_each_target([] {
    dice d;
    for (int i = 0; i < 40; ++i) try_group_query(d, i % 2);
  });
}

TEST_CASE("attention of many keys and queries: several blocks of keys, several tiles, remainders of both") {
  for_each_target([] {
    dice d;
    for (int i = 0; i < 12; ++i) {
      const std::int64_t n = d.upto(1, 2), s = d.upto(1, 140), t = d.upto(100, 400), size = d.upto(1, 70);
      const floats q = d.numbers(s * n * size), k = d.numbers(t * n * size), v = d.numbers(t * n * size);
      heads4 a = from_rows(q, 1, n, s, size, n * size, 0, size), b = from_rows(k, 1, n, t, size, n * size, 0, size);
      heads4 c = from_rows(v, 1, n, t, size, n * size, 0, size);
      const doubles y = attend_plainly(a, b, c, 1.5, [](auto, auto, auto, auto, double x) { return x; });
      const auto fill = [&](kernel_rig& rig) {
        rig.checked_as<op::microsoft::MultiHeadAttention>();
        rig.attribute("num_heads", n).attribute("scale", 1.5f).input({1, s, n * size}, q);
        rig.input({1, t, n * size}, k).input({1, t, n * size}, v);
      };
      check_with_threads<multi_head_attention>(fill, 1, {dtype::f32}, {y}, 1e-4);
    }
  });
}

TEST_CASE("attention refuses what does not fit, and masks with lengths out of range hide all keys or none") {
  const floats x(24, 0.5f);
  const auto code = [&](extents q, extents k, extents v) {
    kernel_rig rig{1};
    rig.checked_as<op::microsoft::MultiHeadAttention>();
    rig.attribute("num_heads", std::int64_t{2}).input(q, x).input(k, x).input(v, x);
    return rig.run<multi_head_attention>({dtype::f32}).code();
  };
  CHECK(code({1, 3, 4}, {1, 2, 4}, {1, 2, 4}) == status_code::ok);
  CHECK(code({1, 3, 5}, {1, 2, 4}, {1, 2, 4}) == status_code::invalid_argument);
  CHECK(code({1, 3, 4}, {2, 2, 4}, {1, 2, 4}) == status_code::invalid_argument);
  CHECK(code({1, 3, 4}, {1, 2, 4}, {1, 3, 4}) == status_code::invalid_argument);
  CHECK(code({1, 3, 4}, {1, 2, 2, 2}, {1, 2, 4}) == status_code::invalid_argument);
  CHECK(code({3, 4}, {1, 2, 4}, {1, 2, 4}) == status_code::invalid_argument);
  for (const std::int32_t end : {INT32_MIN, -1, 0, 2, INT32_MAX}) {
    const int32s ends{end};
    kernel_rig rig{1};
    rig.checked_as<op::microsoft::MultiHeadAttention>();
    rig.attribute("num_heads", std::int64_t{2}).input({1, 3, 4}, x).input({1, 2, 4}, x).input({1, 2, 4}, x).no_input();
    REQUIRE(rig.input({1}, ends).run<multi_head_attention>({dtype::f32}));
    CHECK(rig.output<float>(0)[0] == doctest::Approx(0.5));
  }
  kernel_rig none{1};
  none.checked_as<op::microsoft::MultiHeadAttention>();
  CHECK(none.attribute("num_heads", std::int64_t{0}).run<multi_head_attention>({dtype::f32}).code() ==
        status_code::invalid_graph);
}

TEST_CASE("GroupQueryAttention refuses lengths that don't fit and positions outside its tables") {
  const floats x(16, 0.25f), table(4, 0.5f);
  const auto code = [&](std::int32_t length, std::int32_t total, bool turns) {
    const int32s lengths{length}, all{total};
    kernel_rig rig{1};
    rig.checked_as<op::microsoft::GroupQueryAttention>();
    rig.attribute("num_heads", std::int64_t{2}).attribute("kv_num_heads", std::int64_t{1});
    rig.attribute("do_rotary", std::int64_t{turns}).input({1, 1, 4}, x).input({1, 1, 2}, x).input({1, 1, 2}, x);
    rig.input({1, 1, 4, 2}, x).input({1, 1, 4, 2}, x).input({1}, lengths).input({1}, all);
    if (turns) rig.input({4, 1}, table).input({4, 1}, table);
    return rig.run<group_query_attention>({dtype::f32, dtype::f32, dtype::f32}).code();
  };
  CHECK(code(3, 4, true) == status_code::ok);
  CHECK(code(4, 5, false) == status_code::ok);
  CHECK(code(4, 5, true) == status_code::invalid_argument);
  CHECK(code(5, 5, false) == status_code::invalid_argument);
  CHECK(code(-1, 4, false) == status_code::invalid_argument);
  CHECK(code(INT32_MAX, INT32_MAX, false) != status_code::ok);
  CHECK(code(0, INT32_MIN, false) == status_code::invalid_argument);
}

TEST_CASE("skip and simplified layer normalization of rows of every width, with statistics and sums") {
  for_each_target([] {
    dice d;
    for (std::int64_t n = 1; n <= 300; n += n < 70 ? 1 : 57) {
      const std::int64_t b = d.upto(1, 3), s = d.upto(1, 4);
      const extents shape{b, s, n}, repeated = d.coin() ? extents{s, n} : extents{1, s, n};
      const bool repeats = d.coin(), has_bias = d.coin(), has_beta = d.coin(), simple = d.coin();
      floats x = d.numbers(b * s * n);
      for (float& v : x) v += 30;  // the mean is large against the deviation
      const floats skip = d.numbers(repeats ? s * n : b * s * n), gamma = d.numbers(n);
      const floats beta = has_beta && !simple ? d.numbers(n) : floats{}, bias = has_bias ? d.numbers(n) : floats{};
      doubles t;
      for (std::size_t i = 0; i < x.size(); ++i)
        t.push_back(double(x[i]) + double(skip[i % skip.size()]) + (has_bias ? double(bias[i % std::size_t(n)]) : 0.0));
      const normal want = normalize_plainly(t, n, gamma, beta, !simple, 1e-5);
      const auto fill = [&](kernel_rig& rig) {
        rig.attribute("epsilon", 1e-5f).input(shape, x).input(repeats ? repeated : shape, skip).input({n}, gamma);
        if (!simple && has_beta) rig.input({n}, beta);
        else if (!simple) rig.no_input();
        if (has_bias) rig.input({n}, bias);
      };
      const std::vector<dtype> all{dtype::f32, dtype::f32, dtype::f32, dtype::f32};
      const std::vector<dtype> three{dtype::f32, dtype::undefined, dtype::f32, dtype::f32};
      if (simple)
        check_with_threads<skip_layer_normalization<op::microsoft::SkipSimplifiedLayerNormalization>>(
            fill, 1, three, {want.y, {}, want.inverses, want.sum}, 1e-4);
      else
        check_with_threads<skip_layer_normalization<op::microsoft::SkipLayerNormalization>>(
            fill, 1, all, {want.y, want.means, want.inverses, want.sum}, 2e-3);
    }
  });
}

TEST_CASE("layer normalization of rows of every width, also far from zero") {
  for_each_target([] {
    dice d;
    for (std::int64_t n = 1; n <= 9000; n = n < 70 ? n + 1 : n * 3 + 1) {
      floats x = d.numbers(3 * n);
      const floats scale = d.numbers(n), bias = d.numbers(n);
      const float away = d.coin() ? 0.0f : 1000.0f;
      for (float& v : x) v += away;
      const normal want = normalize_plainly({x.begin(), x.end()}, n, scale, bias, true, 1e-5);
      const auto fill = [&](kernel_rig& rig) { rig.input({3, n}, x).input({n}, scale).input({n}, bias); };
      check_with_threads<layer_normalization<op::LayerNormalization>>(fill, 17, {dtype::f32, dtype::f32, dtype::f32},
                                                                      {want.y, want.means, want.inverses}, 1e-4);
      const normal simple = normalize_plainly({x.begin(), x.end()}, n, scale, {}, false, 1e-5);
      const auto less = [&](kernel_rig& rig) { rig.input({3, n}, x).input({n}, scale); };
      check_with_threads<layer_normalization<op::contrib::SimplifiedLayerNormalization>>(
          less, 1, {dtype::f32, dtype::f32}, {simple.y, simple.inverses}, 1e-5);
    }
  });
}

TEST_CASE("embeddings, summed and normalized; ids outside their tables are refused") {
  dice d;
  const auto run = [&](std::int32_t id, bool segments, bool positions) {
    const std::int64_t b = 2, s = 3, n = d.upto(1, 40);
    const int32s ids{0, 1, 2, 3, 2, id}, kinds{0, 1, 1, 0, 0, 1}, places{2, 1, 0}, mask{1, 1, 0, 1, 1, 1};
    const floats words = d.numbers(4 * n), rows = d.numbers(5 * n), types = d.numbers(2 * n), gamma = d.numbers(n);
    const floats beta = d.numbers(n);
    kernel_rig rig{1};
    rig.attribute("epsilon", 1e-5f).input({b, s}, ids).input_if(segments, {b, s}, kinds);
    rig.input({4, n}, words).input({5, n}, rows).input_if(segments, {2, n}, types);
    rig.input({n}, gamma).input({n}, beta).input({b, s}, mask);
    if (positions) rig.input({1, s}, places);
    const status ran = rig.run<embed_layer_normalization>({dtype::f32, dtype::i32, dtype::f32});
    if (!ran) return ran.code();
    doubles t;
    for (std::size_t i = 0; i < 6; ++i)
      for (std::size_t e = 0; e < std::size_t(n); ++e) {
        const std::size_t place = positions ? std::size_t(places[i % 3]) : i % 3;
        t.push_back(double(words[std::size_t(ids[i]) * std::size_t(n) + e]) + double(rows[place * std::size_t(n) + e]) +
                    (segments ? double(types[std::size_t(kinds[i]) * std::size_t(n) + e]) : 0.0));
      }
    const normal want = normalize_plainly(t, n, gamma, beta, true, 1e-5);
    CHECK(test::near(rig.output<float>(0), want.y, 1e-4));
    CHECK(test::near(rig.output<float>(2), want.sum, 1e-5));
    CHECK(rig.output<std::int32_t>(1)[0] == 2);
    CHECK(rig.output<std::int32_t>(1)[1] == 3);
    return status_code::ok;
  };
  for (int i = 0; i < 8; ++i) CHECK(run(1, i % 2, i / 2 % 2) == status_code::ok);
  CHECK(run(4, true, true) == status_code::invalid_argument);
  CHECK(run(-1, false, false) == status_code::invalid_argument);
}

namespace {

struct cache_case {
  std::int64_t heads, queries, past, size;
  bool presents;
};

/// MultiHeadAttention with keys and values in 16 bits: its output, and the two presents if they are requested.
template <class T>
std::vector<std::vector<T>> attend_to_cache(const cache_case& k, const std::vector<std::vector<T>>& in,
                                            std::size_t lanes) {
  kernel_rig rig{1, lanes};
  rig.checked_as<op::microsoft::MultiHeadAttention>();
  rig.attribute("num_heads", k.heads).attribute("unidirectional", std::int64_t{1});
  const extents now{2, k.queries, k.heads * k.size}, past{2, k.heads, k.past, k.size};
  rig.input<T>(now, in[0]).template input<T>(now, in[1]).template input<T>(now, in[2]);
  rig.no_inputs(3);
  if (k.past) rig.input<T>(past, in[3]).template input<T>(past, in[4]);
  const dtype shown = k.presents ? dtype_of<T> : dtype::undefined;
  test::run_ok<eps::multi_head_attention>(rig, {dtype_of<T>, shown, shown});
  std::vector<std::vector<T>> made{test::elements_of<T>(rig)};
  for (std::size_t i = 1; k.presents && i < 3; ++i) made.push_back(test::elements_of<T>(rig, i));
  return made;
}

template <class T>
void compare_caches(unsigned seed) {
  std::mt19937 random{seed};
  for (const cache_case& k :
       {cache_case{3, 1, 200, 64, true}, cache_case{2, 1, 5, 33, true}, cache_case{2, 3, 131, 16, false},
        cache_case{1, 40, 90, 64, true}, cache_case{2, 9, 0, 20, false}, cache_case{2, 70, 0, 48, true}}) {
    INFO("queries ", k.queries, ", past ", k.past, ", size ", k.size);
    std::vector<std::vector<T>> in;
    std::vector<std::vector<float>> wide;
    for (int i = 0; i < 5; ++i) {
      const std::int64_t rows = i < 3 ? k.queries : k.past;
      in.push_back(test::random_numbers<T>(random, 2 * k.heads * rows * k.size));
      wide.emplace_back(in.back().begin(), in.back().end());
    }
    const auto want = attend_to_cache<float>(k, wide, 1);
    for (const std::size_t lanes : {1, 3}) {
      const auto got = attend_to_cache<T>(k, in, lanes);
      REQUIRE(got.size() == want.size());
      for (std::size_t o = 0; o < got.size(); ++o) {
        bool same = got[o].size() == want[o].size();
        for (std::size_t i = 0; same && i < got[o].size(); ++i) same = got[o][i].bits == T{want[o][i]}.bits;
        CHECK(same);
      }
    }
  }
}

}  // namespace

TEST_CASE("keys and values in 16 bits are read in place, with the same bits as in float") {
  test::for_each_target([] {
    compare_caches<float16>(61);
    compare_caches<bfloat16>(62);
  });
}

namespace {

/// com.microsoft's Attention for one new row after a past: the output and the present.
template <class T>
struct projected_step {
  static constexpr std::int64_t batch = 2, heads = 2, size = 24, past = 90, width = heads * size;
  std::vector<T> y, present;
  std::size_t scratch;

  projected_step(const std::vector<std::vector<T>>& in, bool presents, std::size_t lanes) {
    kernel_rig rig{1, lanes};
    rig.checked_as<op::microsoft::Attention>();
    rig.attribute("num_heads", heads).attribute("unidirectional", std::int64_t{1});
    rig.input<T>({batch, 1, 8}, in[0]).template input<T>({8, 3 * width}, in[1], true);
    rig.template input<T>({3 * width}, in[2]).no_input();
    rig.template input<T>({2, batch, heads, past, size}, in[3]);
    test::run_ok<eps::projected_attention>(rig, {dtype_of<T>, presents ? dtype_of<T> : dtype::undefined});
    y = test::elements_of<T>(rig), scratch = rig.scratch_bytes();
    if (presents) present = test::elements_of<T>(rig, 1);
  }
};

template <class T>
void compare_projected(double tolerance) {
  using step = projected_step<T>;
  std::mt19937 random{81};
  std::vector<std::vector<T>> in;
  std::vector<std::vector<float>> wide;
  for (const std::int64_t count : {step::batch * 8, 8 * 3 * step::width, 3 * step::width,
                                   2 * step::batch * step::heads * step::past * step::size}) {
    in.push_back(test::random_numbers<T>(random, count));
    wide.emplace_back(in.back().begin(), in.back().end());
  }
  const projected_step<float> want{wide, true, 1};
  for (const std::size_t lanes : {1, 3}) {
    const step got{in, true, lanes}, hidden{in, false, lanes};
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < got.present.size(); ++i) wrong += got.present[i].bits != T{want.present[i]}.bits;
    CHECK(wrong == 0);
    CHECK(std::memcmp(got.y.data(), hidden.y.data(), got.y.size() * sizeof(T)) == 0);
    for (std::size_t i = 0; i < got.y.size(); ++i) CHECK(std::fabs(float(got.y[i]) - want.y[i]) <= tolerance);
    CHECK(got.scratch < in[3].size() * sizeof(float) / 2);
  }
}

}  // namespace

TEST_CASE(
    "com.microsoft's Attention keeps a past of 16 bits in 16 bits, and reads new rows rounded, as later steps do") {
  test::for_each_target([] {
    compare_projected<float16>(0.002);
    compare_projected<bfloat16>(0.02);
  });
}
