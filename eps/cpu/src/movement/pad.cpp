#include <cameo/eps/cpu/pad.hpp>
#include <cameo/geometry/pad.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"
#include "operands/small_elements.hpp"
#include "skeletons/float_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

namespace {

/// The position in [0, size) from which position i of the output is filled, relative to the first kept position. `size`
/// is not 0.
std::int64_t source_of(std::int64_t i, std::int64_t size, pad::fill mode) {
  if (i >= 0 && i < size) return i;
  if (mode == pad::fill::edge || size == 1) return i < 0 ? 0 : size - 1;
  const std::int64_t period = mode == pad::fill::wrap ? size : 2 * (size - 1);
  const std::int64_t rest = (i % period + period) % period;
  return rest < size ? rest : period - rest;
}

/// Fills an output that has elements.
status fill_padding(run_context& c, const pad& how, const value& x, const geometry::basic_pad<std::int64_t>& made,
                    const value& y) {
  const std::size_t rank = x.shape.rank(), bytes = element_bytes(x.type);
  const extents& shape = y.shape;
  if (rank == 0) return std::memcpy(y.data, x.data, bytes), status{};
  const extents strides = row_major_strides(x.shape), to = row_major_strides(shape);
  if (how.mode == pad::fill::constant) {
    alignas(16) std::byte element[16] = {};
    if (c.has_input(2)) {
      if (status s = check_count("constant_value", c.input(2).shape.count(), 1); !s) return s;
      const result<value> given = whole_bytes(c, c.input(2));
      if (!given) return given.error();
      std::memcpy(element, given->data, bytes);
    } else if (how.amounts.given) {
      const std::uint64_t as_element = float_element(x.type, how.number);
      std::memcpy(element, &as_element, sizeof as_element);
    }
    eps::fill(c, y.data, shape.count(), element, bytes);
    const extents kept = made.kept();
    if (kept.count() == 0) return {};
    strided_copy copy{bytes};
    copy.loops(kept, strides, to);
    copy.run(c, bytes_of(x) + std::size_t(made.source(strides)) * bytes,
             bytes_of(y) + std::size_t(made.target(to)) * bytes);
    return {};
  }
  std::size_t places = 0;
  for (const std::int64_t size : shape) places += std::size_t(size);
  const result<std::span<std::int64_t>> sources = c.scratch<std::int64_t>(places);
  if (!sources) return sources.error();
  const std::int64_t* tables[max_rank];
  std::int64_t* at = sources->data();
  for (std::size_t i = 0; i < rank; ++i) {
    const geometry::padded_axis& axis = made.axes[i];
    tables[i] = at;
    for (std::int64_t j = 0; j < shape[i]; ++j)
      *at++ = (axis.start + source_of(j - axis.offset, axis.size, how.mode)) * strides[i];
  }
  const geometry::padded_axis& last = made.axes[rank - 1];
  return copy_by_tables(c, x, y, tables, nullptr, last.offset, last.offset + last.size), status{};
}

}  // namespace

result<pad> pad::bind(bind_context& c) {
  const attributes_of<op::Pad> a{c.attributes};
  return pad{a.mode, a.paddings.given ? a.paddings : a.pads, a.value};
}
result<microsoft_pad> microsoft_pad::bind(bind_context& c) {
  return microsoft_pad{pad{attributes_of<op::microsoft::Pad>{c.attributes}.mode, {}, 0}};
}

status pad::run(run_context& c) const {
  const result<value> from = whole_bytes(c, c.input(0));
  if (!from) return from.error();
  number_input axes;
  if (status read = axes.read(c.input(3), "axes"); !read) return read;
  const std::span<const std::int64_t> pads =
      amounts.given ? std::span{amounts} : c.input(1).as_unchecked<std::int64_t>().span();
  const auto made = geometry::pad_of<std::int64_t>(
      from->shape, pads, axes.list, mode == fill::constant ? geometry::filling::constant : geometry::filling::elements);
  if (!made) return made.error();
  const result<byte_output> y = byte_output::make(c, 0, made->out);
  if (!y) return y.error();
  if (y->bytes.shape.count() == 0) return {};
  const status done = fill_padding(c, *this, *from, *made, y->bytes);
  if (done) y->store(c);
  return done;
}

}  // namespace CAMEO_NAMESPACE::eps
