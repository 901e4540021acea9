// Operators that read or write elements by index.
#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/core/checked.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::infer {
namespace {

void give_gathered_elements(infer_context& c) {
  const dims *elements = elements_at(c, 0), *shape = c.shape(0), *at = c.shape(1);
  const int_list indices = ints_of_input(c, 1);
  if (!elements || !shape || shape->size() != 1 || !at || at->size() > 1 || indices.state != int_list::known) return;
  const auto count = std::int64_t(elements->size());
  dims picked;
  for (std::int64_t i : indices.values) {
    if (i < -count || i >= count) return;
    picked.push_back((*elements)[std::size_t(i < 0 ? i + count : i)]);
  }
  give_elements(c, 0, std::move(picked));
}

status check_indices(const infer_context& c, dim size, std::size_t axis) {
  const std::optional<std::vector<std::int64_t>> indices = c.constant_ints(1);
  if (!indices || !size.known()) return status_code::ok;
  for (std::int64_t i : *indices)
    if (i < -size.size || i >= size.size)
      return invalid("indices has ", i, ", must be from ", -size.size, " to ", size.size - 1, " for axis ", axis);
  return status_code::ok;
}

}  // namespace

status gather(infer_context& c) {
  const dims *in = c.shape(0), *indices = c.shape(1);
  std::optional<dims> out;
  if (in) {
    result<std::size_t> axis = axis_in(attributes_of<op::Gather>{c.attributes()}.axis, in->size());
    if (!axis) return axis.error();
    if (status s = check_indices(c, (*in)[*axis], *axis); !s) return s;
    if (indices) {
      const auto at = in->begin() + std::ptrdiff_t(*axis);
      out = dims(in->begin(), at);
      out->insert(out->end(), indices->begin(), indices->end());
      out->insert(out->end(), at + 1, in->end());
    }
  }
  give(c, 0, c.element(0), std::move(out));
  if (in) give_gathered_elements(c);
  return status_code::ok;
}

/// Each uint8 contains 8 / bits quantized values along the last axis.
status gather_block_quantized(infer_context& c) {
  const attributes_of<op::microsoft::GatherBlockQuantized> a{c.attributes()};
  const dims *in = c.shape(0), *indices = c.shape(1);
  std::optional<dims> out;
  if (in && indices) {
    result<std::size_t> axis = axis_in(a.gather_axis, in->size());
    if (!axis) return axis.error();
    dims elements = *in;
    if (c.element(0) == dtype::u8) {
      dim& last = elements.back();
      if (!last.known() || !checked_multiply(last.size, 8 / a.bits, last.size)) last = dim{};
    }
    const auto at = elements.begin() + std::ptrdiff_t(*axis);
    out = dims(elements.begin(), at);
    out->insert(out->end(), indices->begin(), indices->end());
    out->insert(out->end(), at + 1, elements.end());
  }
  return give(c, 0, c.element(2), std::move(out));
}

status gather_elements(infer_context& c) {
  const dims *in = c.shape(0), *indices = c.shape(1);
  if (in) {
    const std::int64_t axis = attributes_of<op::GatherElements>{c.attributes()}.axis;
    if (result<std::size_t> at = axis_in(axis, in->size()); !at) return at.error();
    if (status s = check_rank(indices, in->size(), "indices"); !s) return s;
  }
  return give(c, 0, c.element(0), copy_of(indices));
}

status gather_nd(infer_context& c) {
  const dims *in = c.shape(0), *indices = c.shape(1);
  std::optional<dims> out;
  if (in && indices) {
    const std::int64_t batch = attributes_of<op::GatherND>{c.attributes()}.batch_dims;
    if (batch < 0 || batch >= std::int64_t(std::min(in->size(), indices->size())))
      return invalid("attribute batch_dims is ", batch, ", must be from 0 to less than the ranks of ", *in, " and ",
                     *indices);
    const dim depth = indices->back();
    const std::int64_t most = std::int64_t(in->size()) - batch;
    if (depth.known() && depth.size > most)
      return invalid("the last dim of indices ", *indices, " is ", depth, ", must be at most ", most, " for data ",
                     *in);
    if (depth.known()) {
      out = dims(indices->begin(), indices->end() - 1);
      out->insert(out->end(), in->begin() + std::ptrdiff_t(batch + depth.size), in->end());
    }
  }
  return give(c, 0, c.element(0), std::move(out));
}

status scatter_elements(infer_context& c) {
  if (const dims* in = c.shape(0)) {
    const std::int64_t axis = attributes_of<op::ScatterElements>{c.attributes()}.axis;
    if (result<std::size_t> at = axis_in(axis, in->size()); !at) return at.error();
    for (std::size_t i : {1, 2})
      if (const dims* other = c.shape(i))
        if (status s = check_rank(*other, in->size(), i == 1 ? "indices" : "updates"); !s) return s;
  }
  return give(c, 0, c.element(0), copy_of(c.shape(0)));
}

status scatter_nd(infer_context& c) {
  const dims *in = c.shape(0), *indices = c.shape(1);
  if (in && indices) {
    if (const dim depth = indices->back(); depth.known() && depth.size > std::int64_t(in->size()))
      return invalid("the last dim of indices ", *indices, " is ", depth, ", must be at most the rank of data ", *in);
  }
  return give(c, 0, c.element(0), copy_of(in));
}

status compress(infer_context& c) {
  const attributes_of<op::Compress> a{c.attributes()};
  std::optional<dims> out;
  if (!a.axis) {
    out = dims{c.fresh_symbol()};
  } else if (const dims* in = c.shape(0)) {
    result<std::size_t> axis = axis_in(*a.axis, in->size());
    if (!axis) return axis.error();
    out = *in;
    (*out)[*axis] = c.fresh_symbol();
  }
  return give(c, 0, c.element(0), std::move(out));
}

status unique(infer_context& c) {
  const attributes_of<op::Unique> a{c.attributes()};
  const dim count = c.fresh_symbol();
  const dims* in = c.shape(0);
  std::optional<dims> out;
  dim whole;
  if (!a.axis) {
    out = dims{count};
    if (in) {
      result<dim> all = product(*in);
      if (!all) return all.error();
      whole = *all;
    }
  } else if (in) {
    result<std::size_t> axis = axis_in(*a.axis, in->size());
    if (!axis) return axis.error();
    whole = (*in)[*axis];
    out = *in;
    (*out)[*axis] = count;
  }
  give(c, 0, c.element(0), std::move(out));
  give(c, 1, dtype::i64, dims{count});
  give(c, 2, dtype::i64, dims{whole});
  return give(c, 3, dtype::i64, dims{count});
}

status non_zero(infer_context& c) {
  const dims* in = c.shape(0);
  // A scalar counts as a list with one element.
  const dim rank = in ? dim::fixed(std::int64_t(std::max<std::size_t>(in->size(), 1))) : dim{};
  return give(c, 0, dtype::i64, dims{rank, c.fresh_symbol()});
}

status one_hot(infer_context& c) {
  std::optional<dims> out;
  const std::optional<std::vector<std::int64_t>> depth = c.constant_ints(1);
  const bool known = depth && depth->size() == 1;
  if (known && (*depth)[0] < 0) return invalid("depth is ", (*depth)[0], ", must be 0 or more");
  if (const dims* in = c.shape(0)) {
    result<std::size_t> axis = axis_in(attributes_of<op::OneHot>{c.attributes()}.axis, in->size() + 1);
    if (!axis) return axis.error();
    out = *in;
    const dims* elements = elements_at(c, 1);
    const dim size = known ? dim::fixed((*depth)[0]) : elements && elements->size() == 1 ? (*elements)[0] : dim{};
    out->insert(out->begin() + std::ptrdiff_t(*axis), size);
  }
  return give(c, 0, c.element(2), std::move(out));
}

status non_max_suppression(infer_context& c) { return give(c, 0, dtype::i64, dims{c.fresh_symbol(), dim::fixed(3)}); }

}  // namespace CAMEO_NAMESPACE::infer
