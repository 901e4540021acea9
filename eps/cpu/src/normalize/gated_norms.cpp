#include <cameo/eps/cpu/gated_norms.hpp>
#include <cameo/op/onnx.hpp>

#include <array>
#include <cmath>

#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/float_output.hpp"
#include "skeletons/map.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// A float rounded to a floating-point type.
float rounded_to(dtype type, float x) {
  std::uint64_t bytes = float_element(type, x);
  convert_floats(type, &bytes, &x, 1);
  return x;
}

/// 1 / sqrt(mean of x² + epsilon).
float inverse_rms(const float* x, std::int64_t n, float epsilon) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += double(x[i]) * double(x[i]);
  return float(1 / std::sqrt(sum / double(n) + double(epsilon)));
}

/// The sizes of streams (..., C, H), or (..., C * H) if the attribute num_branches is C: rows of C runs (`branches`) of
/// H elements (`size`).
struct stream_sizes {
  std::int64_t rows = 0, branches = 0, size = 0;
  extents outer;  // the axes before C

  static status read(const value& x, std::int64_t branches, stream_sizes& out) {
    const extents& s = x.shape;
    const std::size_t inner = branches ? 1 : 2;
    if (status ranked = check_at_least("the rank", std::int64_t(s.rank()), std::int64_t(inner)); !ranked) return ranked;
    if (status usable = usable_sizes("the input", s); !usable) return usable;
    out.outer = s;
    out.outer.resize(s.rank() - inner);
    out.branches = branches ? branches : s[s.rank() - 2];
    out.size = branches ? s.back() / branches : s.back();
    out.rows = out.outer.count();
    return {};
  }
};

/// Computes the elements of an output, block by block, on several workers: calls f(first, n, from, to), where `from`
/// has the elements of inputs of the same shape, and `to` is stored. All are floats.
template <std::size_t N, class F>
void each_block(run_context& c, const std::array<const value*, N>& in, const value& out, const F& f) {
  parallel_elements(c, out.shape.count(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    float from[N][narrow_block], to[narrow_block];
    for (; first < last; first += narrow_block) {
      const std::int64_t n = std::min(narrow_block, last - first);
      for (std::size_t i = 0; i < N; ++i) load_floats(*in[i], first, from[i], n);
      f(first, n, from, to);
      save_floats(to, out, first, n);
    }
  });
}

/// The factors of streams: one for each run, or one for each element.
struct stream_gates {
  const float* all = nullptr;
  bool per_element = false;

  static status read(run_context& c, const value& v, const stream_sizes& s, std::string_view name, stream_gates& out) {
    extents one = s.outer, each;
    one.push_back(s.branches);
    extents with_1 = one;
    with_1.push_back(1), each = one, each.push_back(s.size);
    extents flat = s.outer;
    flat.push_back(s.branches * s.size);
    if (v.shape != one && v.shape != with_1 && v.shape != each && v.shape != flat)
      return bad_input(name, " ", v.shape, " must be ", one, ", ", with_1, " or ", each);
    const result<const float*> factors = wide_vector<float>(c, v);
    if (!factors) return factors.error();
    out.all = *factors, out.per_element = v.shape == each || (v.shape == flat && v.shape != one);
    return {};
  }
  float at(std::int64_t run, std::int64_t size, std::int64_t i) const {
    return all[per_element ? run * size + i : run];
  }
};

}  // namespace

result<gated_rms_norm> gated_rms_norm::bind(bind_context& c) {
  const attributes_of<op::microsoft::GatedRMSNorm> a{c.attributes};
  return gated_rms_norm{a.epsilon, a.activation != op::gated_rms_norm_activation_choice::sigmoid};
}

status gated_rms_norm::run(run_context& c) const {
  const value &x = c.input(0), &scale = c.input(1), &gate = c.input(2);
  const std::int64_t n = scale.shape[0];
  if (status s = check_least_count("scale", n, 1); !s) return s;
  if (status s = check_shape("gate", gate.shape, x.shape); !s) return s;
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  const result<const float*> factors = wide_vector<float>(c, scale);
  using rooms = row_rooms<float>;
  const auto from = rooms::make(c, x, 1, n), gates = rooms::make(c, gate, 1, n), y = rooms::make(c, **out, 1, n);
  if (!factors || !from || !gates || !y) return status_code::out_of_memory;
  parallel_each_row(c, x.shape.count() / n, 1 + (1 << 13) / n, [&](std::int64_t r, std::size_t lane) {
    const float *const in = from->read(lane, r * n, n), *const g = gates->read(lane, r * n, n);
    float* const to = y->room(lane, r * n);
    const float inverse = inverse_rms(in, n, epsilon);
    const auto gate_at = [&](std::int64_t i) { return g[i]; };
    const auto put = [&](std::int64_t i, float gated) { to[i] = in[i] * inverse * (*factors)[i] * gated; };
    if (silu) map_values<op::Swish, float>(n, {1}, gate_at, put);
    else map_values<op::Sigmoid, float>(n, {}, gate_at, put);
    y->store(lane, r * n, n);
  });
  return {};
}

result<branchwise_rms_norm> branchwise_rms_norm::bind(bind_context& c) {
  const attributes_of<op::microsoft::BranchwiseRMSNorm> a{c.attributes};
  return branchwise_rms_norm{a.num_branches, a.epsilon};
}

status branchwise_rms_norm::run(run_context& c) const {
  const value &x = c.input(0), &scale = c.input(1);
  stream_sizes s;
  if (status fits = stream_sizes::read(x, branches, s); !fits) return fits;
  const bool shared = scale && scale.shape == extents{s.size} && s.branches != 1;
  if (scale && !shared && scale.shape != extents{s.branches * s.size} && scale.shape != extents{s.branches, s.size})
    return bad_input("scale ", scale.shape, " must be ", extents{s.size}, ", ", extents{s.branches, s.size}, " or ",
                     extents{s.branches * s.size});
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  const std::int64_t n = s.size;
  if (x.shape.count() == 0) return {};
  const result<const float*> factors = wide_vector<float>(c, scale);
  if (!factors) return factors.error();
  return map_rows<float>(c, x, **out, n, 1 + (1 << 13) / n, [&](const float* in, float* to, std::int64_t r) {
    const float* const factor = *factors ? *factors + (shared ? 0 : r % s.branches * n) : nullptr;
    const float inverse = inverse_rms(in, n, epsilon);
    for (std::int64_t i = 0; i < n; ++i) to[i] = in[i] * inverse * (factor ? factor[i] : 1);
  });
}

status gated_add::run(run_context& c) const {
  const value &x = c.input(0), &y = c.input(1), &gate = c.input(2);
  extents rows = x.shape;
  rows[rows.rank() - 1] = 1;
  if (status s = check_shape("Y", y.shape, x.shape); !s) return s;
  if (status s = check_shape("gate", gate.shape, rows); !s) return s;
  const result<value*> out = c.output(0, x.shape);
  const result<const float*> gates = wide_vector<float>(c, gate);
  if (!out) return out.error();
  if (!gates) return gates.error();
  const std::int64_t row = x.shape.back();
  const bool narrow = x.type != dtype::f32;
  each_block<2>(c, {&x, &y}, **out, [&](std::int64_t first, std::int64_t n, const auto& from, float* to) {
    for (std::int64_t i = 0; i < n; ++i) {
      const float product = from[1][i] * (*gates)[(first + i) / row];
      to[i] = from[0][i] + (narrow ? rounded_to(x.type, product) : product);
    }
  });
  return {};
}

status scaled_silu::run(run_context& c) const {
  const value &x = c.input(0), &scale = c.input(1);
  const float factor = scale ? float_at<float>(scale, 0) : alpha;
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  const bool narrow = x.type != dtype::f32;
  each_block<1>(c, {&x}, **out, [&](std::int64_t, std::int64_t n, const auto& from, float* to) {
    const auto scaled = [&](std::int64_t i) {
      return narrow ? rounded_to(x.type, factor * from[0][i]) : factor * from[0][i];
    };
    map_values<op::Sigmoid, float>(n, {}, scaled, [&](std::int64_t i, float gate) {
      to[i] = scaled(i) * (narrow ? rounded_to(x.type, gate) : gate);
    });
  });
  return {};
}

status linear_attention_gate::run(run_context& c) const {
  const value &a = c.input(0), &bias = c.input(1), &scale = c.input(2), &b = c.input(3);
  const std::int64_t heads = a.shape.back();
  if (status s = check_input("b", b, a.shape); !s) return s;
  const float* const add = bias.as_unchecked<float>().data();
  const float* const factor = scale.as_unchecked<float>().data();
  const result<value*> decay = c.output(0, a.shape);
  if (!decay) return decay.error();
  each_block<1>(c, {&a}, **decay, [&](std::int64_t first, std::int64_t n, const auto& from, float* to) {
    map_values<op::Softplus, float>(
        n, {}, [&](std::int64_t i) { return from[0][i] + add[(first + i) % heads]; },
        [&](std::int64_t i, float softplus) { to[i] = factor[(first + i) % heads] * softplus; });
  });
  const result<value*> beta = optional_output(c, 1, a.shape);
  if (!beta || !*beta) return beta ? status{} : beta.error();
  each_block<1>(c, {&b}, **beta, [&](std::int64_t, std::int64_t n, const auto& from, float* to) {
    map_loop<op::Sigmoid, float>()({}, from[0], to, n);
  });
  return {};
}

result<hyper_connection_pre_mix> hyper_connection_pre_mix::bind(bind_context& c) {
  const attributes_of<op::microsoft::HyperConnectionPreMix> a{c.attributes};
  return hyper_connection_pre_mix{a.num_branches, a.reduction_scale};
}

status hyper_connection_pre_mix::run(run_context& c) const {
  stream_sizes s;
  if (status fits = stream_sizes::read(c.input(0), branches, s); !fits) return fits;
  stream_gates gates;
  if (status fits = stream_gates::read(c, c.input(1), s, "pre_mix", gates); !fits) return fits;
  extents shape = s.outer;
  shape.push_back(s.size);
  const result<value*> out = c.output(0, shape);
  if (!out) return out.error();
  const std::int64_t width = s.branches * s.size;
  const auto x = row_rooms<float>::make(c, c.input(0), 1, width), y = row_rooms<float>::make(c, **out, 1, s.size);
  if (!x || !y) return status_code::out_of_memory;
  parallel_each(c, s.rows, 1 + (1 << 14) / (width + 1), [&](std::int64_t r, std::size_t lane) {
    const float* const in = x->read(lane, r * width, width);
    float* const to = y->room(lane, r * s.size);
    for (std::int64_t h = 0; h < s.size; ++h) {
      float sum = 0;
      for (std::int64_t b = 0; b < s.branches; ++b) sum += in[b * s.size + h] * gates.at(r * s.branches + b, s.size, h);
      to[h] = scale * sum;
    }
    y->store(lane, r * s.size, s.size);
  });
  return {};
}

result<hyper_connection_post_mix> hyper_connection_post_mix::bind(bind_context& c) {
  return hyper_connection_post_mix{attributes_of<op::microsoft::HyperConnectionPostMix>{c.attributes}.num_branches};
}

status hyper_connection_post_mix::run(run_context& c) const {
  const value &streams = c.input(0), &block = c.input(1), &mix = c.input(3);
  stream_sizes s;
  if (status fits = stream_sizes::read(streams, branches, s); !fits) return fits;
  stream_gates gates;
  if (status fits = stream_gates::read(c, c.input(2), s, "post_mix", gates); !fits) return fits;
  extents of_block = s.outer, of_mix = s.outer;
  of_block.push_back(s.size);
  of_mix.push_back(s.branches), of_mix.push_back(s.branches);
  if (status fits = check_shape("block_output", block.shape, of_block); !fits) return fits;
  if (status fits = check_input("stream_mix", mix, of_mix); !fits) return fits;
  const result<value*> out = c.output(0, streams.shape);
  if (!out) return out.error();
  const std::int64_t count = s.branches, n = s.size, width = count * n;
  const auto x = row_rooms<float>::make(c, streams, 1, width), y = row_rooms<float>::make(c, **out, 1, width);
  const auto added = row_rooms<float>::make(c, block, 1, n);
  const result<const float*> mixed = wide_vector<float>(c, mix);
  if (!x || !y || !added || !mixed) return status_code::out_of_memory;
  parallel_each(c, s.rows, 1 + (1 << 14) / (count * width + 1), [&](std::int64_t r, std::size_t lane) {
    const float *const in = x->read(lane, r * width, width), *const branch = added->read(lane, r * n, n);
    float* const to = y->room(lane, r * width);
    for (std::int64_t k = 0; k < count; ++k)
      for (std::int64_t h = 0; h < n; ++h) {
        float sum = *mixed ? 0 : in[k * n + h];
        for (std::int64_t b = 0; *mixed && b < count; ++b) sum += (*mixed)[(r * count + b) * count + k] * in[b * n + h];
        to[k * n + h] = sum + gates.at(r * count + k, n, h) * branch[h];
      }
    y->store(lane, r * width, width);
  });
  return {};
}

status engram_gate::run(run_context& c) const {
  const value &key = c.input(0), &query = c.input(1), &values = c.input(2), &key_scale = c.input(3),
              &query_scale = c.input(4), &out_scale = c.input(5);
  const extents& s = key.shape;
  if (status usable = usable_sizes("key", s); !usable) return usable;
  const result<value*> out = c.output(0, s);
  if (!out) return out.error();
  const result<value*> normed_out = optional_output(c, 1, s, *out);
  if (!normed_out) return normed_out.error();
  if (s.count() == 0) return {};
  const std::int64_t n = s[3];
  using rooms = row_rooms<float>;
  const auto k = rooms::make(c, key, 1, n), q = rooms::make(c, query, 1, n), v = rooms::make(c, values, 1, n);
  const auto y = rooms::make(c, **out, 1, n), normed = rooms::make(c, **normed_out, 1, n);
  const auto by_k = wide_vector<float>(c, key_scale), by_q = wide_vector<float>(c, query_scale);
  const auto by_out = wide_vector<float>(c, out_scale);
  if (!k || !q || !v || !y || !normed || !by_k || !by_q || !by_out) return status_code::out_of_memory;
  parallel_each(c, s.count() / n, 1 + (1 << 13) / n, [&](std::int64_t r, std::size_t lane) {
    const float *const a = k->read(lane, r * n, n), *const b = q->read(lane, r * n, n);
    const float* const from = v->read(lane, r / s[2] * n, n);
    const float of_a = inverse_rms(a, n, epsilon);
    const std::int64_t branch = r % s[2] * n;
    const float of_b = inverse_rms(b, n, epsilon);
    double dot = 0;
    for (std::int64_t i = 0; i < n; ++i)
      dot += double(a[i] * of_a * (*by_k)[branch + i]) * double(b[i] * of_b * (*by_q)[branch + i]);
    const float d = float(dot / std::sqrt(double(n))), root = std::sqrt(std::max(std::abs(d), 1e-6f));
    float gate = d > 0 ? root : d < 0 ? -root : 0;
    map_loop<op::Sigmoid, float>()({}, &gate, &gate, 1);
    float* const to = y->room(lane, r * n);
    for (std::int64_t i = 0; i < n; ++i) to[i] = gate * from[i];
    if (*normed_out != *out) {
      float* const norm = normed->room(lane, r * n);
      const float of_y = inverse_rms(to, n, epsilon);
      for (std::int64_t i = 0; i < n; ++i) norm[i] = to[i] * of_y * (*by_out)[branch + i];
      normed->store(lane, r * n, n);
    }
    y->store(lane, r * n, n);
  });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
