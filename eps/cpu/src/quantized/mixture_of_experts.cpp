#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/mixture_of_experts.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "functions/form.hpp"
#include "functions/quantized.hpp"
#include "operands/operand_values.hpp"
#include "operands/usable_sizes.hpp"
#include "products/nbits_panels.hpp"
#include "products/nbits_product.hpp"
#include "skeletons/float_output.hpp"
#include "skeletons/map.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

using function = op::activation_type_choice;

/// The names of the inputs of a layer.
struct layer_names {
  std::string_view weights, bias, scales, zeros;
};
constexpr layer_names names_of_layers[] = {
    {"fc1_experts_weights", "fc1_experts_bias", "fc1_scales", "fc1_zero_points"},
    {"fc2_experts_weights", "fc2_experts_bias", "fc2_scales", "fc2_zero_points"},
    {"fc3_experts_weights", "fc3_experts_bias", "fc3_scales", "fc3_zero_points"}};

/// The weights of one layer of all experts, [experts, n, k], which are not copied. `bits` is 0 if they are not
/// quantized.
struct expert_weights {
  const value *codes, *scales, *bias, *zeros;
  std::int64_t experts = 0, n = 0, k = 0, bits = 0, blocks = 1;

  bool present() const { return bool(*codes); }
  std::int64_t zero_bytes(std::int64_t numbers) const { return (numbers * bits + 7) / 8; }

  status check(const layer_names& names) const {
    if (status s = check_shape(names.weights, codes->shape, {experts, n, bits ? k * bits / 8 : k}); !s) return s;
    if (status s = check_input(names.bias, *bias, {experts, n}); !s) return s;
    if (!bits) return {};
    if (k * bits % 8 != 0) return bad_input(names.weights, " has rows of ", k, " elements, must have whole bytes");
    if (status s = check_count(names.scales, *scales ? scales->shape.count() : 0, experts * n * blocks); !s) return s;
    const std::int64_t bytes = whole_rows() ? experts * zero_bytes(n) : experts * n * zero_bytes(blocks);
    return check_count(names.zeros, *zeros ? zeros->shape.count() : bytes, bytes);
  }
  /// True if the zero points of an expert are packed without gaps between rows.
  bool whole_rows() const { return scales->shape.rank() == 2; }

  /// The sizes for packing `count` experts as panels. If a row has one scale, it is divided into blocks that repeat the
  /// scale, so that several sums can be computed in parallel.
  nbits_matrix matrix(std::int64_t count) const {
    const std::int64_t even = k & -k;
    return {k, n, bits, blocks > 1 ? k / blocks : even < 16 ? 32 : std::min<std::int64_t>(even, 256), count};
  }
};

/// The layout of the quantized weights of experts from `first` on, for pack_panels().
struct expert_form {
  const expert_weights& w;
  std::size_t codes, scales, zeros;
  std::int64_t first = 0;
  dtype zero_type = *w.zeros ? dtype::u8 : dtype::undefined;

  std::uint32_t group(const value& from, std::int64_t j, std::int64_t g) const {
    const std::int64_t bytes = w.k * w.bits / 8, at = g * 4;
    std::uint32_t bits = 0;
    if (at < bytes)
      std::memcpy(&bits, static_cast<const std::uint8_t*>(from.data) + (first * w.n + j) * bytes + at,
                  std::size_t(std::min<std::int64_t>(sizeof bits, bytes - at)));
    return bits;
  }
  float scale(const value& from, std::int64_t j, std::int64_t b) const {
    return float_at<float>(from, (first * w.n + j) * w.blocks + (w.blocks > 1 ? b : 0));
  }
  std::uint8_t zero(const value& from, std::int64_t j, std::int64_t b) const {
    const auto* const all = static_cast<const std::uint8_t*>(from.data);
    const std::int64_t row = first * w.n + j;
    if (w.whole_rows()) return packed_code(all + row / w.n * w.zero_bytes(w.n), row % w.n, w.bits);
    return packed_code(all + row * w.zero_bytes(w.blocks), w.blocks > 1 ? b : 0, w.bits);
  }
};

/// The experts that are chosen for each row, `k` of them, and the factors of their results.
struct routes {
  std::span<std::int64_t> experts;
  std::span<float> factors;
  std::span<std::int64_t> rows;  // a buffer for the indices of the routes of one expert

  static result<routes> make(run_context& c, const mixture_of_experts& how, const value& scores, const value& weights,
                             std::int64_t rows, std::int64_t count) {
    const auto all = wide_vector<float>(c, scores);
    const auto experts = c.scratch<std::int64_t>(std::size_t(rows * how.k));
    const auto factors = c.scratch<float>(std::size_t(rows * how.k));
    const auto room = c.scratch<std::int64_t>(std::size_t(std::max(rows, count)));
    if (!all || !experts || !factors || !room) return status_code::out_of_memory;
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* const row = *all + r * count;
      const auto before = [&](std::int64_t a, std::int64_t b) { return row[a] != row[b] ? row[a] > row[b] : a > b; };
      for (std::int64_t e = 0; e < count; ++e) {
        if (std::isnan(row[e])) return bad_input("router_probs has a NaN in row ", r);
        (*room)[std::size_t(e)] = e;
      }
      std::partial_sort(room->begin(), room->begin() + how.k, room->begin() + count, before);
      std::copy_n(room->begin(), how.k, experts->begin() + r * how.k);
      weigh(how, row, weights ? &weights : nullptr, r * count, count, experts->data() + r * how.k,
            factors->data() + r * how.k);
    }
    return routes{*experts, *factors, *room};
  }

 private:
  static void weigh(const mixture_of_experts& how, const float* scores, const value* weights, std::int64_t first,
                    std::int64_t count, const std::int64_t* chosen, float* factors) {
    float sum = 0, all = 0;
    for (std::int64_t i = 0; i < how.k; ++i) {
      factors[i] =
          weights ? float_at<float>(*weights, first + chosen[i]) : std::exp(scores[chosen[i]] - scores[chosen[0]]);
      sum += factors[i];
    }
    for (std::int64_t e = 0; !weights && e < count; ++e) all += std::exp(scores[e] - scores[chosen[0]]);
    const float by = how.normalized ? sum : weights ? 1 : all;
    for (std::int64_t i = 0; i < how.k; ++i) factors[i] = by != 0 ? factors[i] / by : 0;
  }
};

/// The indices of the inputs of MoE and QMoE for the layers fc1, fc2 and fc3: weights, scales, bias, zero points (99:
/// none).
constexpr std::size_t inputs_of_moe[3][4] = {{2, 99, 3, 99}, {4, 99, 5, 99}, {6, 99, 7, 99}};
constexpr std::size_t inputs_of_qmoe[3][4] = {{2, 3, 4, 11}, {5, 6, 7, 12}, {8, 9, 10, 13}};

expert_form form_of(const expert_weights& w, std::size_t layer, std::int64_t first) {
  const std::size_t* const at = inputs_of_qmoe[layer];
  return {w, at[0], at[1], at[3], first};
}

/// Computes experts one after the other, each for the rows that are routed to it.
class expert_run {
 public:
  expert_run(run_context& c, const mixture_of_experts& how, const expert_weights* layers)
      : c_{c}, how_{how}, layers_{layers} {}

  status make_rooms(std::int64_t rows) {
    std::int64_t width = 0;
    std::size_t codes = 0, parameters = 0;  // the size of panels that the run packs
    for (std::size_t i = 0; i < 3; ++i) {
      const expert_weights& w = layers_[i];
      if (!w.present()) continue;
      width = std::max({width, w.k, width_of_panels(w.n)});
      if (!w.bits || how_.packed[i].few_bits.codes) continue;
      const nbits_matrix m = w.matrix(1);
      std::size_t more_codes = 0, more_parameters = 0;
      if (!panel_elements(m, m.groups(), more_codes) || !panel_elements(m, m.blocks(), more_parameters))
        return status_code::out_of_memory;
      codes = std::max(codes, more_codes), parameters = std::max(parameters, more_parameters);
    }
    std::int64_t cells = 0;
    if (!checked_multiply(rows, width, cells)) return status_code::out_of_memory;
    status made = make(bias_, std::size_t(width));
    for (std::span<float>* room : {&x_, &first_, &second_})
      if (made) made = make(*room, std::size_t(cells));
    if (made) made = make(rooms_.codes, codes);
    if (made) made = make(rooms_.scales, parameters);
    return made ? make(rooms_.zeros, parameters) : made;
  }
  float* x() { return x_.data(); }
  /// The results of expert `e` for the first `rows` rows of x(), valid until the next call.
  result<const float*> run(std::int64_t e, std::int64_t rows) {
    if (status s = multiply_by(0, e, rows, x_.data(), first_.data()); !s) return s;
    if (layers_[2].present())
      if (status s = multiply_by(2, e, rows, x_.data(), second_.data()); !s) return s;
    activate(rows);
    if (status s = multiply_by(1, e, rows, first_.data(), second_.data()); !s) return s;
    return static_cast<const float*>(second_.data());
  }

 private:
  template <class T>
  status make(std::span<T>& room, std::size_t size) {
    const result<std::span<T>> made = c_.scratch<T>(size);
    if (!made) return made.error();
    room = *made;
    return {};
  }

  status multiply_by(std::size_t layer, std::int64_t e, std::int64_t rows, const float* x, float* y) {
    const expert_weights& w = layers_[layer];
    const float* bias = nullptr;
    if (*w.bias) {
      load_floats(*w.bias, e * w.n, bias_.data(), w.n);
      std::fill(bias_.begin() + w.n, bias_.end(), 0.0f);
      bias = bias_.data();
    }
    if (w.bits) return multiply_codes(layer, e, rows, x, bias, y);
    status done;
    mixture_of_experts::elements::call(
        w.codes->type, [&]<class T>(std::type_identity<T>) { done = multiply_floats<T>(layer, e, rows, x, bias, y); });
    return done;
  }
  status multiply_codes(std::size_t layer, std::int64_t e, std::int64_t rows, const float* x, const float* bias,
                        float* y) {
    const expert_weights& w = layers_[layer];
    const nbits_matrix m = w.matrix(1);
    result<nbits_factor> factor = how_.packed[layer].few_bits;
    if (!factor->codes) {
      factor = pack_panels(c_, m, form_of(w, layer, e), rooms_);
      if (!factor) return factor.error();
    } else {
      const std::int64_t columns = e * width_of_panels(w.n);
      factor->codes += columns * m.groups() * std::int64_t(sizeof(std::uint32_t));
      factor->scales += columns * m.blocks();
      if (factor->zeros) factor->zeros += columns * m.blocks();
    }
    const value rows_of_x = value::tensor<float>({rows, w.k}, std::span{x, std::size_t(rows * w.k)});
    return multiply_few_bits(c_, m, *factor, {rows_of_x, rows}, bias, y);
  }
  /// Multiplies by weights of a floating-point type; those of 16 bits are widened as they are read.
  template <class T>
  status multiply_floats(std::size_t layer, std::int64_t e, std::int64_t rows, const float* x, const float* bias,
                         float* y) {
    const expert_weights& w = layers_[layer];
    const T* panels = static_cast<const T*>(how_.packed[layer].floats);
    std::size_t size = 0;
    if (panels && !packed_b_size<float>(w.k, w.n, size)) return status_code::out_of_memory;
    if (panels) panels += std::size_t(e) * size;
    const T* const plain = panels ? nullptr : static_cast<const T*>(w.codes->data) + e * w.n * w.k;
    gemm_problem<float, T> p{rows, w.n, w.k, {x, w.k, 1}, {plain, 1, w.k}, panels, y};
    if (bias) p.epilogue.bias = bias, p.epilogue.bias_column_stride = 1;
    return multiply(c_, p);
  }
  /// Applies the activation to the results of fc1 (and fc3), into first_, whose rows then have as many elements as fc2
  /// takes.
  void activate(std::int64_t rows) {
    const std::int64_t n = layers_[1].k, width = layers_[0].n;
    parallel_each(c_, rows, 1 + 2048 / (n + 1), [&](std::int64_t r, std::size_t) {
      float* const h = first_.data() + r * width;  // compacted afterwards, as other workers still read their rows
      const float* const third = layers_[2].present() ? second_.data() + r * n : nullptr;
      if (how_.f != function::swiglu) {
        activate_row(h, n);
        for (std::int64_t i = 0; third && i < n; ++i) h[i] *= third[i];
        return;
      }
      const auto gate = [&](std::int64_t i) { return std::min(how_.fusion == 1 ? h[2 * i] : h[i], how_.limit); };
      map_values<op::Swish, float>(n, {how_.alpha}, gate, [&](std::int64_t i, float gated) {
        const float linear = how_.fusion == 1 ? h[2 * i + 1] : how_.fusion == 2 ? h[n + i] : third[i];
        h[i] = gated * (std::clamp(linear, -how_.limit, how_.limit) + how_.beta);
      });
    });
    for (std::int64_t r = 1; width != n && r < rows; ++r)
      std::copy_n(first_.data() + r * width, n, first_.data() + r * n);
  }
  void activate_row(float* h, std::int64_t n) const {
    switch (how_.f) {
      case function::relu: return map_loop<op::Relu, float>()({}, h, h, n);
      case function::gelu: return map_loop<form<op::Gelu, "tanh">, float>()({}, h, h, n);
      case function::silu: return map_loop<op::Swish, float>()({1}, h, h, n);
      default: return;
    }
  }

  run_context& c_;
  const mixture_of_experts& how_;
  const expert_weights* layers_;  // fc1, fc2, fc3
  std::span<float> bias_, x_, first_, second_;
  nbits_rooms rooms_;
};

status read_layers(run_context& c, const mixture_of_experts& how, std::int64_t experts, std::int64_t width,
                   expert_weights* layers) {
  const bool quantized = how.bits[0] != 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t* const at = (quantized ? inputs_of_qmoe : inputs_of_moe)[i];
    layers[i] = {&c.input(at[0]), &c.input(at[1]), &c.input(at[2]), &c.input(at[3]), experts, 0, 0, how.bits[i], 1};
  }
  const bool swiglu = how.f == function::swiglu, fused = swiglu && how.fusion != 0;
  if (swiglu && fused == layers[2].present())
    return bad_input("swiglu_fusion is ", how.fusion, ", so fc3 must", fused ? " not" : "", " be given");
  const std::int64_t inner = layers[0].codes->shape[1] / (fused ? 2 : 1);
  layers[0].n = layers[0].codes->shape[1], layers[0].k = width;
  layers[1].n = width, layers[1].k = inner, layers[2].n = inner, layers[2].k = width;
  if (inner < 1 || width < 1 || (fused && layers[0].n % 2 != 0))
    return bad_input("fc1_experts_weights has shape ", layers[0].codes->shape, ", must have rows for fc2");
  for (std::size_t i = 0; i < 3; ++i) {
    expert_weights& w = layers[i];
    if (!w.present()) continue;
    if (w.k > std::int64_t{1} << 40) return status_code::out_of_memory;
    if (quantized && how.block) {
      if (w.k % how.block != 0)
        return bad_input(names_of_layers[i].weights, " has rows of ", w.k, " elements, must have a multiple of ",
                         "block_size, ", how.block);
      w.blocks = w.k / how.block;
    }
    if (status fits = w.check(names_of_layers[i]); !fits) return fits;
  }
  return {};
}

}  // namespace

template <class Attributes>
void mixture_of_experts::read(const Attributes& a) {
  f = a.activation_type, k = a.k, fusion = a.swiglu_fusion;
  normalized = a.normalize_routing_weights != 0;
  alpha = a.activation_alpha, beta = a.activation_beta;
  limit = a.swiglu_limit.value_or(std::numeric_limits<float>::infinity());
}

/// Packs constant weights of a floating-point type as panels, expert by expert.
template <class T>
status mixture_of_experts::keep_floats(bind_context& c, std::size_t input, const void*& panels) {
  const extents& s = c.inputs[input].constant->shape;
  if (s.rank() != 3 || s[0] < 1 || s[1] < 2 || s[2] < 1) return {};
  const std::int64_t experts = s[0], n = s[1], k = s[2];
  std::size_t size = 0, all = 0;
  if (!packed_b_size<float>(k, n, size) || !checked_multiply(size, std::size_t(experts), all))
    return status_code::out_of_memory;
  const result<std::span<const T>> packed = c.pack<T>(input, all, [&](const value& from, std::span<T> to) -> status {
    const T* const weights = from.as_unchecked<T>().data();
    for (std::int64_t e = 0; e < experts; ++e)
      pack_b(matrix_ref<T>{weights + e * n * k, 1, k}, k, n, to.data() + std::size_t(e) * size);
    return {};
  });
  if (!packed) return packed.error();
  panels = packed->data();
  return {};
}

result<moe> moe::bind(bind_context& c) {
  moe made;
  made.read(attributes_of<op::microsoft::MoE>{c.attributes});
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t at = inputs_of_moe[i][0];
    if (!c.prepack || !c.is_constant(at)) continue;
    status kept;
    elements::call(c.inputs[at].type,
                   [&]<class T>(std::type_identity<T>) { kept = keep_floats<T>(c, at, made.packed[i].floats); });
    if (!kept) return kept;
  }
  return made;
}

/// Packs quantized weights as panels, if they, their scales and zero points are constant. The run reports errors of
/// shapes.
status mixture_of_experts::keep_codes(bind_context& c, std::size_t layer, nbits_factor& panels) const {
  const value none{};
  const auto constant = [&](std::size_t i) { return c.is_constant(i) ? c.inputs[i].constant : &none; };
  const std::size_t* const at = inputs_of_qmoe[layer];
  if (!c.prepack || !c.is_constant(at[0]) || !c.is_constant(at[1]) || c.has_input(at[3]) != c.is_constant(at[3]))
    return {};
  const extents& s = constant(at[0])->shape;
  if (s.rank() != 3 || s[0] < 1 || s[1] < 1 || s[2] < 1 || s[2] > std::int64_t{1} << 40) return {};
  expert_weights w{constant(at[0]),        constant(at[1]), &none, constant(at[3]), s[0], s[1],
                   s[2] * 8 / bits[layer], bits[layer]};
  if (block && w.k % block != 0) return {};
  if (block) w.blocks = w.k / block;
  if (!w.check(names_of_layers[layer])) return {};
  const result<nbits_factor> packed = pack_panels(c, w.matrix(w.experts), form_of(w, layer, 0));
  if (!packed) return packed.error();
  panels = *packed;
  return {};
}

bool qmoe::accepts(const bind_context& c) {
  const attributes_of<op::microsoft::QMoE> a{c.attributes};
  return a.quant_type == "int" && a.weights_prepacked != 1 && c.inputs[2].type == dtype::u8;
}
result<qmoe> qmoe::bind(bind_context& c) {
  const attributes_of<op::microsoft::QMoE> a{c.attributes};
  qmoe made;
  made.read(a);
  std::int64_t* bits = made.bits;
  for (const auto& given : {a.fc1_expert_weight_bits, a.fc2_expert_weight_bits, a.fc3_expert_weight_bits})
    *bits++ = given.value_or(a.expert_weight_bits);
  made.block = a.block_size.value_or(0);
  if (status s = check_power_of_two("block_size", made.block ? made.block : 16, 16); !s) return s;
  // Without router_weights, the factors of the chosen experts are always normalized.
  if (!c.has_input(14)) made.normalized = true;
  for (std::size_t i = 0; i < 3; ++i)
    if (status kept = made.keep_codes(c, i, made.packed[i].few_bits); !kept) return kept;
  return made;
}

status mixture_of_experts::run(run_context& c) const {
  const value &x = c.input(0), &scores = c.input(1), &weights = c.input(bits[0] ? 14 : 99);
  const std::size_t rank = x.shape.rank();
  if (status s = usable_sizes("input", x.shape); !s) return s;
  const std::int64_t width = x.shape.back(), rows = x.shape.count(0, rank - 1);
  const std::int64_t experts = scores.shape[1];
  if (status s = check_shape("router_probs", scores.shape, {rows, experts}); !s) return s;
  if (status s = check_number("k", k, 1, experts); !s) return s;
  expert_weights layers[3];
  if (status s = read_layers(c, *this, experts, width, layers); !s) return s;
  const auto y = float_output<float>::make(c, 0, x.shape);
  if (!y) return y.error();
  if (x.shape.count() == 0) return {};
  const result<routes> way = routes::make(c, *this, scores, weights, rows, experts);
  if (!way) return way.error();
  expert_run work{c, *this, layers};
  if (status s = work.make_rooms(rows); !s) return s;
  std::fill_n(y->data, rows * width, 0.0f);
  for (std::int64_t e = 0; e < experts; ++e) {
    std::int64_t count = 0;
    for (std::int64_t i = 0; i < rows * k; ++i) {
      if (way->experts[std::size_t(i)] != e) continue;
      load_floats(x, i / k * width, work.x() + count * width, width);
      way->rows[std::size_t(count++)] = i;
    }
    if (count == 0) continue;
    const result<const float*> made = work.run(e, count);
    if (!made) return made.error();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t route = way->rows[std::size_t(i)];
      float* const to = y->data + route / k * width;
      for (std::int64_t j = 0; j < width; ++j) to[j] += way->factors[std::size_t(route)] * (*made)[i * width + j];
    }
  }
  y->store(c);
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
