// The shape and the packing of the weights of quantized convolutions.
#include "integer_filters.hpp"
#include <cameo/geometry/conv.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/read_window.hpp>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The stride or dilation of the last axis; 1 if the attribute is absent.
std::int64_t last_of(std::span<const std::int64_t> steps) { return steps.empty() ? 1 : steps.back(); }

/// Chooses the layout of packed weights: that of an arithmetic or, for a depthwise convolution, of special loops.
integer_filters form_of(const integer_filter_shape& f, const integer_conv_state& state, const weight_form& w) {
  if (!f.is_depthwise) return {&arithmetic_for(w)};
  return {nullptr, &depthwise_for(f.groups, f.taps / f.row, f.row, last_of(state.shape.strides),
                                  last_of(state.shape.dilations), fit_bytes(w.is_signed, w.zeros))};
}

/// Computes the bytes of packed weights; false if that overflows.
bool packed_size(const integer_filter_shape& f, const integer_filters& form, std::size_t& bytes) {
  if (!f.is_depthwise)
    return f.panels(*form.arithmetic).size(bytes) && checked_multiply(bytes, std::size_t(f.groups), bytes);
  bytes = form.depthwise->size(f.groups, f.taps / f.row, f.row) + sum_bytes(f);
  return true;
}

integer_codes codes_of(const value& w, std::span<const std::int32_t> zeros) {
  return {static_cast<const std::uint8_t*>(w.data), w.type == dtype::i8, zeros.data(), zeros.size() > 1 ? 1 : 0};
}

void pack_filters(const integer_filter_shape& f, const integer_filters& how, integer_codes w, std::byte* to) {
  if (f.is_depthwise) {
    const auto number = [&](std::int64_t i) { return w.at(i) - w.zero[i / f.taps * w.zero_step]; };
    auto* const sums = reinterpret_cast<std::int32_t*>(to);
    for (std::int64_t c = 0; c < f.groups; ++c) {
      sums[c] = 0;
      for (std::int64_t t = 0; t < f.taps; ++t) sums[c] += number(c * f.taps + t);
    }
    return how.depthwise->pack(number, f.groups, f.taps / f.row, f.row, to + sum_bytes(f));
  }
  const integer_panels form = f.panels(*how.arithmetic);
  std::size_t size = 0;
  if (!form.size(size)) return;  // packed_size() has checked it
  for (std::int64_t g = 0; g < f.groups; ++g, to += size) {
    pack_integers(form, w, f.channels * f.taps, to, [&](std::int64_t t, std::int64_t r) {
      return f.row_is_run ? r % f.channels * f.taps + t * f.row + r / f.channels : r * f.taps + t;
    });
    w.data += f.maps * f.channels * f.taps, w.zero += f.maps * w.zero_step;
  }
}

}  // namespace

result<integer_filter_shape> filters_of(const extents& w, const integer_conv_state& state) {
  const std::int64_t groups = state.groups;
  if (w.rank() < 3 || w[0] % groups != 0) return status_code::invalid_argument;  // conv_of() states this in a run
  integer_filter_shape f{groups, w[0] / groups, w[1]};
  for (std::size_t i = 2; i < w.rank(); ++i)
    if (!checked_multiply(f.taps, w[i], f.taps)) return status_code::out_of_memory;
  f.row = w.back();
  f.row_is_run = groups == 1 && (last_of(state.shape.dilations) == 1 || f.row == 1);
  f.is_depthwise = w.rank() <= 4 && groups > 1 && f.maps == 1 && f.channels == 1 && f.taps <= most_depthwise_taps;
  return f;
}

map_places::map_places(const integer_filter_shape& f, const integer_filters& packed)
    : maps{f.maps}, width{packed.arithmetic ? f.panels(*packed.arithmetic).width() : 1}, count{f.groups * width} {}

void fill_start(const integer_filter_shape& f, const integer_filters& packed, const std::int32_t* add, bool x_is_signed,
                std::int32_t x_zero, std::int32_t* start) {
  const std::int32_t zero = zero_as_bytes(x_is_signed, x_zero);
  if (!packed.arithmetic) {
    const auto* const sums = reinterpret_cast<const std::int32_t*>(packed.data);
    for (std::int64_t i = 0; i < f.groups; ++i)
      start[i] = std::int32_t((add ? std::uint32_t(add[i]) : 0u) - std::uint32_t(zero) * std::uint32_t(sums[i]));
    return;
  }
  integer_panels form = f.panels(*packed.arithmetic);
  std::size_t size = 0;
  if (!form.size(size)) return;  // packed_size() has checked it
  for (std::int64_t g = 0; g < f.groups; ++g) {
    form.data = packed.data + std::size_t(g) * size;
    start_sums(form, add ? add + g * f.maps : nullptr, zero, start + g * form.width());
  }
}

bool fits_filters(const value& v, std::int64_t filters) {
  return !v || v.shape.count() == 1 || v.shape == extents{filters};
}

result<integer_filters> weights_of(run_context& c, const integer_conv_state& state, const integer_filter_shape& f,
                                   const value& w, const value& zero) {
  if (state.packed.data) return state.packed;
  const result<std::span<const std::int32_t>> zeros = read_zeros(c, zero);
  if (!zeros) return zeros.error();
  integer_filters made = form_of(f, state, {w.type == dtype::i8, *zeros, f.depth(), false});
  std::size_t size = 0;
  if (!packed_size(f, made, size)) return status_code::out_of_memory;
  const result<std::span<std::byte>> room = c.scratch<std::byte>(size);
  if (!room) return room.error();
  pack_filters(f, made, codes_of(w, *zeros), room->data());
  made.data = room->data();
  return made;
}

result<integer_conv_state> integer_conv_state::read(bind_context& c, std::size_t w_input, std::size_t zero_input) {
  const attributes_of<op::microsoft::QLinearConv> a{c.attributes};
  integer_conv_state made{detail::window_of(a), a.group, {}, a.channels_last != 0};
  const value* const zero = c.has_input(zero_input) ? c.constant(zero_input) : nullptr;
  if (!c.prepack || !c.is_constant(w_input) || (c.has_input(zero_input) && !zero)) return made;
  const value& w = *c.inputs[w_input].constant;
  const result<integer_filter_shape> f = filters_of(w.shape, made);
  if (!f || w.shape.count() == 0 || (zero && !fits_filters(*zero, f->all_maps())))
    return made;  // the run reports the error
  const result<std::span<const std::int32_t>> zeros = keep_zeros(c, zero);
  if (!zeros) return zeros.error();
  const integer_filters form = form_of(*f, made, {w.type == dtype::i8, *zeros, f->depth(), true});
  std::size_t size = 0;
  if (!packed_size(*f, form, size)) return status_code::out_of_memory;
  const result<std::span<const std::byte>> packed =
      c.pack<std::byte>(w_input, size, [&](const value& from, std::span<std::byte> to) -> status {
        pack_filters(*f, form, codes_of(from, *zeros), to.data());
        return {};
      });
  if (!packed) return packed.error();
  made.packed = form;
  made.packed.data = packed->data();
  return made;
}

}  // namespace CAMEO_NAMESPACE::eps
