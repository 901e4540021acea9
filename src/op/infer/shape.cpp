#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/core/checked.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>
#include <iterator>

namespace CAMEO_NAMESPACE::infer {

status shape(infer_context& c) {
  const dims* in = c.shape(0);
  if (!in) return give(c, 0, dtype::i64, dims{dim{}});
  // The attributes start and end count from the end if negative, and are clamped, not checked.
  const auto rank = std::int64_t(in->size());
  const auto place = [&](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank); };
  const attributes_of<op::Shape> a{c.attributes()};
  const std::int64_t first = place(a.start), last = place(a.end.value_or(rank));
  dims part;
  if (first < last) part.assign(in->begin() + first, in->begin() + last);
  give(c, 0, dtype::i64, dims{dim::fixed(std::int64_t(part.size()))});
  return give_elements(c, 0, std::move(part));
}

status size(infer_context& c) {
  give(c, 0, dtype::i64, dims{});
  if (const dims* in = c.shape(0)) {
    result<dim> count = product(*in);
    if (!count) return count.error();
    give_elements(c, 0, {*count});
  }
  return status_code::ok;
}

namespace {

/// Reshape's target as dims: 0 copies the input's dim (unless allow_zero); -1 is the size that is left over.
struct reshape_target {
  dims shape;
  std::optional<std::size_t> left_over;
};

result<reshape_target> target_of(std::span<const std::int64_t> sizes, const dims* in, bool allow_zero) {
  reshape_target target;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::int64_t size = sizes[i];
    if (size == -1) {
      if (target.left_over) return invalid("shape has -1 at ", *target.left_over, " and ", i, ", must have it once");
      target.left_over = i;
      target.shape.push_back(dim{});
    } else if (size < 0) {
      return invalid("shape has ", size, " at ", i, ", must be -1 or more");
    } else if (size == 0 && !allow_zero) {
      if (in && i >= in->size())
        return invalid("shape has 0 at ", i, ", which copies a dim that input ", *in, " does not have");
      target.shape.push_back(in ? (*in)[i] : dim{});
    } else {
      target.shape.push_back(dim::fixed(size));
    }
  }
  if (allow_zero && target.left_over && std::ranges::find(sizes, 0) != sizes.end())
    return invalid("shape has 0 and -1 while allowzero is 1, must not have both");
  return target;
}

/// Removes from both lists the dims that are known to be equal.
void cancel(dims& a, dims& b) {
  std::erase_if(a, [&](dim d) {
    const auto same = std::ranges::find_if(b, [&](dim other) { return d.same(other); });
    if (same == b.end()) return false;
    b.erase(same);
    return true;
  });
}

result<dim> without_unknown(dims shape) {
  std::erase_if(shape, [](dim d) { return !d.known(); });
  return product(shape);
}

status fill_left_over(reshape_target& target, const dims& in) {
  constexpr std::size_t longest = 64;  // the cost grows with the square of the rank
  dims from = in, to = target.shape;
  if (from.size() > longest || to.size() > longest) return status_code::ok;
  if (target.left_over) to.erase(to.begin() + std::ptrdiff_t(*target.left_over));
  // Equal dims of both shapes cancel, so that a dim of size 0 that is copied from the input does not make -1 ambiguous.
  // Without -1, an empty target fits any empty input, so its dims must not cancel.
  const bool empty = std::ranges::any_of(to, [](dim d) { return d.size == 0; });
  if (target.left_over || !empty) cancel(from, to);
  result<dim> all = product(from), rest = product(to);
  if (!all) return all.error();
  if (!rest) return rest.error();
  if (!rest->known()) return status_code::ok;
  if (!target.left_over) {
    if (all->known() && all->size != rest->size)
      return invalid("input ", in, " does not have as many elements as shape ", target.shape);
    return status_code::ok;
  }
  dim& left = target.shape[*target.left_over];
  if (rest->size == 0) return invalid("shape ", target.shape, " has -1 beside 0, so -1 could be any size");
  if (!all->known()) {
    // From [batch, 3, 4] to [-1, 12], the known dims of both sides cancel.
    result<dim> known = without_unknown(from);
    if (!known) return known.error();
    if (known->size == rest->size) std::erase_if(from, &dim::known);
    if (known->size == rest->size || rest->size == 1) left = from.size() == 1 ? from[0] : dim{};
  } else if (all->size % rest->size != 0) {
    return invalid("input ", in, " does not divide into shape ", target.shape, ": ", *all, " elements by ", *rest);
  } else {
    left = dim::fixed(all->size / rest->size);
  }
  return status_code::ok;
}

}  // namespace

status reshape(infer_context& c) {
  const attributes_of<op::Reshape> a{c.attributes()};
  const dims* in = c.shape(0);
  const bool allow_zero = a.allowzero != 0;
  std::optional<dims> out;
  int_list sizes = ints_of(a.shape);
  if (sizes.state == int_list::absent)
    if (std::optional<std::vector<std::int64_t>> constant = c.constant_ints(1))
      sizes = {int_list::known, std::move(*constant)};
  if (sizes.state == int_list::known) {
    result<reshape_target> target = target_of(sizes.values, in, allow_zero);
    if (!target) return target.error();
    if (in)
      if (status s = fill_left_over(*target, *in); !s) return s;
    out = std::move(target->shape);
  } else if (const dims* elements = elements_at(c, 1)) {
    // An unknown element may be -1, so its dim is unknown. A symbol is a size and can't be -1. It may be 0, but then
    // its dim is 0, too: models do not use it to copy a dim.
    out = *elements;
    for (std::size_t i = 0; i < out->size(); ++i)
      if ((*out)[i].size == 0 && !allow_zero) (*out)[i] = in && i < in->size() ? (*in)[i] : dim{};
  } else if (const dims* list = c.shape(1); list && list->size() == 1 && (*list)[0].known() && (*list)[0].size <= 64) {
    out = dims(std::size_t((*list)[0].size));
  }
  give(c, 0, c.element(0), std::move(out));
  if (const dims* elements = elements_at(c, 0); elements && sizes.values.size() <= 1)
    if (sizes.state == int_list::known) give_elements(c, 0, *elements);
  return status_code::ok;
}

status flatten(infer_context& c) {
  std::optional<dims> out;
  if (const dims* in = c.shape(0)) {
    const auto rank = std::int64_t(in->size());
    std::int64_t axis = attributes_of<op::Flatten>{c.attributes()}.axis;
    if (axis < -rank || axis > rank)
      return invalid("attribute axis is ", axis, ", must be from ", -rank, " to ", rank, " for input ", *in);
    if (axis < 0) axis += rank;
    result<dim> rows = product(std::span{*in}.first(std::size_t(axis)));
    result<dim> columns = product(std::span{*in}.subspan(std::size_t(axis)));
    if (!rows) return rows.error();
    if (!columns) return columns.error();
    out = dims{*rows, *columns};
  }
  return give(c, 0, c.element(0), out ? std::move(out) : dims(2));
}

status transpose(infer_context& c) {
  std::optional<dims> out;
  const std::span<const std::int64_t> order = attributes_of<op::Transpose>{c.attributes()}.perm;
  if (const dims* in = c.shape(0)) {
    if (order.empty()) {
      out = dims(in->rbegin(), in->rend());
    } else {
      if (order.size() != in->size())
        return invalid("attribute perm has ", order.size(), " axes, must have ", in->size(), " for input ", *in);
      result<std::vector<std::size_t>> axes = axes_in(order, in->size(), "attribute perm");
      if (!axes) return axes.error();
      out.emplace();
      for (std::size_t axis : *axes) out->push_back((*in)[axis]);
    }
  }
  return give(c, 0, c.element(0), std::move(out));
}

status squeeze(infer_context& c) {
  const dims* in = c.shape(0);
  const int_list axes = ints_of(attributes_of<op::Squeeze>{c.attributes()}.axes, c, 1);
  std::optional<dims> out;
  if (in && axes.state == int_list::known) {
    result<std::vector<std::size_t>> known = axes_in(axes.values, in->size());
    if (!known) return known.error();
    std::vector<bool> gone(in->size());
    for (std::size_t axis : *known) {
      if ((*in)[axis].known() && (*in)[axis].size != 1)
        return invalid("axes names axis ", axis, " of ", *in, ", whose size must be 1 to be squeezed");
      gone[axis] = true;
    }
    out.emplace();
    for (std::size_t i = 0; i < in->size(); ++i)
      if (!gone[i]) out->push_back((*in)[i]);
  } else if (in && axes.state == int_list::absent && std::ranges::all_of(*in, &dim::known)) {
    out.emplace();
    std::ranges::copy_if(*in, std::back_inserter(*out), [](dim d) { return d.size != 1; });
  }
  give(c, 0, c.element(0), std::move(out));
  if (const dims* elements = elements_at(c, 0)) give_elements(c, 0, *elements);
  return status_code::ok;
}

status unsqueeze(infer_context& c) {
  const dims* in = c.shape(0);
  const int_list axes = ints_of(attributes_of<op::Unsqueeze>{c.attributes()}.axes, c, 1);
  std::optional<dims> out;
  if (in && axes.state == int_list::known) {
    const std::size_t rank = in->size() + axes.values.size();
    result<std::vector<std::size_t>> known = axes_in(axes.values, rank);
    if (!known) return known.error();
    std::vector<bool> fresh(rank);
    for (std::size_t axis : *known) fresh[axis] = true;
    out.emplace();
    auto next = in->begin();
    for (std::size_t i = 0; i < rank; ++i) out->push_back(fresh[i] ? dim::fixed(1) : *next++);
  }
  const bool is_list = out && out->size() <= 1;
  give(c, 0, c.element(0), std::move(out));
  if (const dims* elements = elements_at(c, 0); elements && is_list) give_elements(c, 0, *elements);
  return status_code::ok;
}

status expand_dims(infer_context& c) {
  std::optional<dims> out;
  const std::optional<std::vector<std::int64_t>> axis = c.constant_ints(1);
  if (const dims* in = c.shape(0); in && axis && axis->size() == 1) {
    result<std::size_t> at = axis_in((*axis)[0], in->size() + 1, "input axis");
    if (!at) return at.error();
    out = *in;
    out->insert(out->begin() + std::ptrdiff_t(*at), dim::fixed(1));
  }
  return give(c, 0, c.element(0), std::move(out));
}

namespace {

result<dim> divided(dim d, std::int64_t by) {
  if (!d.known()) return by == 1 ? d : dim{};
  return dim::fixed(d.size / by);
}

result<dim> multiplied(dim d, std::int64_t by) {
  const dim both[] = {d, dim::fixed(by)};
  return product(both);
}

/// Moves channels into blocks of pixels, or blocks of pixels into channels.
status moved_depth(infer_context& c, bool to_space) {
  const std::int64_t block = attributes_of<op::DepthToSpace>{c.attributes()}.blocksize;
  const auto pixels = [&](dim d) { return to_space ? multiplied(d, block) : divided(d, block); };
  std::optional<dims> out;
  if (const dims* in = c.shape(0)) {
    const result<dim> depth = to_space ? divided((*in)[1], block * block) : multiplied((*in)[1], block * block),
                      rows = pixels((*in)[2]), columns = pixels((*in)[3]);
    for (const result<dim>* d : {&depth, &rows, &columns})
      if (!*d) return d->error();
    out = dims{(*in)[0], *depth, *rows, *columns};
  }
  return give(c, 0, c.element(0), std::move(out));
}

}  // namespace

status depth_to_space(infer_context& c) { return moved_depth(c, true); }
status space_to_depth(infer_context& c) { return moved_depth(c, false); }

status tile(infer_context& c) {
  const dims* in = c.shape(0);
  std::optional<dims> out;
  const int_list repeats = c.version().since >= 6 ? ints_of_input(c, 1) : int_list{int_list::unknown};
  if (in) out = dims(in->size());
  if (in && repeats.state == int_list::known) {
    if (repeats.values.size() != in->size())
      return invalid("repeats has ", repeats.values.size(), " elements, must have ", in->size(), " for input ", *in);
    for (std::size_t i = 0; i < in->size(); ++i) {
      if (repeats.values[i] < 0) return invalid("repeats is ", repeats.values[i], " at ", i, ", must be 0 or more");
      result<dim> size = multiplied((*in)[i], repeats.values[i]);
      if (!size) return size.error();
      (*out)[i] = *size;
    }
  }
  return give(c, 0, c.element(0), std::move(out));
}

}  // namespace CAMEO_NAMESPACE::infer
