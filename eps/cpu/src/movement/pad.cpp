#include <cameo/eps/cpu/pad.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"
#include "operands/small_elements.hpp"
#include "skeletons/float_values.hpp"
#include "skeletons/strided_copy.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

/// One axis: positions [start, start + size) of the input are kept (pads may be negative), and begin at `offset` of the
/// output, which has size `total`.
struct pad::padded_axis {
  std::int64_t start, size, offset, total;
};

namespace {

using padded_axis = pad::padded_axis;

/// The position in [0, size) from which position i of the output is filled, relative to the first kept position. `size`
/// is not 0.
std::int64_t source_of(std::int64_t i, std::int64_t size, pad::fill mode) {
  if (i >= 0 && i < size) return i;
  if (mode == pad::fill::edge || size == 1) return i < 0 ? 0 : size - 1;
  const std::int64_t period = mode == pad::fill::wrap ? size : 2 * (size - 1);
  const std::int64_t rest = (i % period + period) % period;
  return rest < size ? rest : period - rest;
}

status pad_axis(std::int64_t size, std::int64_t before, std::int64_t after, padded_axis& out) {
  const std::int64_t cut_before = std::min(before, std::int64_t{0}), cut_after = std::min(after, std::int64_t{0});
  const std::int64_t add_before = before - cut_before, add_after = after - cut_after;
  if (cut_before < -size || cut_after < -size || -cut_before > size + cut_after)
    return bad_input("pads ", before, " and ", after, " cut more than the axis has: ", size);
  out = {-cut_before, size + cut_before + cut_after, add_before, 0};
  if (!checked_add(out.size, add_before, out.total) || !checked_add(out.total, add_after, out.total))
    return status_code::out_of_memory;
  return {};
}

/// Reads the two pads of each axis, from the attribute or from the inputs.
status read_amounts(const run_context& c, const attribute_list<std::int64_t>& list, std::size_t rank, extents& before,
                    extents& after) {
  before.resize(rank, 0), after.resize(rank, 0);
  const value &pads = c.input(1), &axes = c.input(3);
  const std::int64_t count = list.given ? std::int64_t(list.size()) : pads.shape.count();
  const std::int64_t named = axes ? axes.shape.count() : std::int64_t(rank);
  if (status s = check_count("pads", count, 2 * named); !s) return s;
  for (std::int64_t i = 0; i < named; ++i) {
    std::size_t axis = 0;
    if (status found = find_axis(axes ? integers{axes}[i] : i, rank, axis); !found) return found;
    before[axis] = list.given ? list[std::size_t(i)] : integers{pads}[i];
    after[axis] = list.given ? list[std::size_t(i + named)] : integers{pads}[i + named];
  }
  return {};
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
  const value& x = *from;
  const std::size_t rank = x.shape.rank();
  extents before, after, shape;
  if (status read = read_amounts(c, amounts, rank, before, after); !read) return read;
  padded_axis axes[max_rank];
  for (std::size_t i = 0; i < rank; ++i) {
    if (status fits = pad_axis(x.shape[i], before[i], after[i], axes[i]); !fits) return fits;
    shape.push_back(axes[i].total);
  }
  const result<byte_output> y = byte_output::make(c, 0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const status done = fill_padding(c, x, {axes, rank}, y->bytes);
  if (done) y->store(c);
  return done;
}

status pad::fill_padding(run_context& c, const value& x, std::span<const padded_axis> axes, const value& y) const {
  const std::size_t rank = axes.size(), bytes = element_bytes(x.type);
  const extents& shape = y.shape;
  if (rank == 0) return std::memcpy(y.data, x.data, bytes), status{};

  if (mode == fill::constant) {
    alignas(16) std::byte element[16] = {};
    if (c.has_input(2)) {
      if (status s = check_count("constant_value", c.input(2).shape.count(), 1); !s) return s;
      const result<value> given = whole_bytes(c, c.input(2));
      if (!given) return given.error();
      std::memcpy(element, given->data, bytes);
    } else if (amounts.given) {
      const std::uint64_t as_element = float_element(x.type, number);
      std::memcpy(element, &as_element, sizeof as_element);
    }
    eps::fill(c, y.data, shape.count(), element, bytes);
    const extents from = row_major_strides(x.shape), to = row_major_strides(shape);
    std::int64_t source = 0, target = 0;
    extents kept;
    for (std::size_t i = 0; i < rank; ++i) {
      source += axes[i].start * from[i], target += axes[i].offset * to[i];
      kept.push_back(axes[i].size);
      if (axes[i].size == 0) return {};
    }
    strided_copy copy{bytes};
    copy.loops(kept, from, to);
    return copy.run(c, bytes_of(x) + std::size_t(source) * bytes, bytes_of(y) + std::size_t(target) * bytes), status{};
  }

  std::size_t places = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (status s = check_least_count("an axis to repeat", axes[i].size, 1); !s) return s;
    places += std::size_t(shape[i]);
  }
  const result<std::span<std::int64_t>> sources = c.scratch<std::int64_t>(places);
  if (!sources) return sources.error();
  const extents strides = row_major_strides(x.shape);
  const std::int64_t* tables[max_rank];
  std::int64_t* at = sources->data();
  for (std::size_t i = 0; i < rank; ++i) {
    tables[i] = at;
    for (std::int64_t j = 0; j < shape[i]; ++j)
      *at++ = (axes[i].start + source_of(j - axes[i].offset, axes[i].size, mode)) * strides[i];
  }
  const padded_axis& last = axes[rank - 1];
  return copy_by_tables(c, x, y, tables, nullptr, last.offset, last.offset + last.size), status{};
}

}  // namespace CAMEO_NAMESPACE::eps
