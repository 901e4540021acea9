#pragma once
#include <cameo/geometry/axes.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// Returns whether an index, which counts from the end if it is negative, is one of `size` positions.
constexpr bool is_index(std::int64_t index, std::int64_t size) { return index >= -size && index < size; }
/// The error of an index that is not.
template <size_kind D>
[[gnu::cold, gnu::noinline]] constexpr status wrong_index(std::int64_t index, std::int64_t size, std::size_t axis) {
  if (size == 0) return wrong<D>("indices has ", index, ", must have none: axis ", axis, " has no elements");
  return wrong<D>("indices has ", index, ", must be from ", -size, " to ", size - 1, " for axis ", axis);
}
/// Checks the indices of an axis, unless its size is unknown. The error is one of wrong().
template <size_kind D>
constexpr status check_indices(std::span<const std::int64_t> indices, D size, std::size_t axis) {
  for (const std::int64_t index : indices)
    if (is_known(size) && !is_index(index, number_of(size))) return wrong_index<D>(index, number_of(size), axis);
  return {};
}

/// Gather: for each index the slice at it, so that the axes of the indices stand in place of the axis.
template <size_kind D>
struct basic_gather : basic_slices<D> {
  output_shape<D> y;
};
/// A Gather of known sizes.
using gather = basic_gather<std::int64_t>;
/// Checks a Gather. Data and indices may be unknown, and then y is. The error is one of wrong().
template <size_kind D>
constexpr result<basic_gather<D>> gather_of(shape_view<D> data, shape_view<D> indices, std::int64_t axis);

/// The elements of data that GatherElements and ScatterElements access: that at the position of each index, with the
/// index itself along an axis of `size` elements.
template <size_kind D>
struct basic_element_places {
  std::size_t axis = 0;
  D size{};
};
/// Elements of data of known sizes.
using element_places = basic_element_places<std::int64_t>;
/// Checks a GatherElements, whose output has the shape of the indices, or a ScatterElements, whose output has that of
/// the data. Indices are within the data along all other axes; updates are as many as indices. Each shape may be
/// unknown; those of GatherElements' updates are. The error is one of wrong().
template <size_kind D>
constexpr result<basic_element_places<D>> element_places_of(shape_view<D> data, shape_view<D> indices,
                                                            std::int64_t axis, shape_view<D> updates = {});

/// The blocks of data that GatherND and ScatterND access: `count` tuples of indices, along the last axis of `indices`,
/// are positions in the axes [first, past) of data, of blocks of `block` elements. Data and indices share the axes
/// before `first`, so that `per_batch` tuples refer to each part of the data.
template <size_kind D>
struct basic_blocks {
  bool is_known = false;  // whether the length of tuples is; else `past` and what follows from it are unknown
  std::size_t first = 0, past = 0;
  D count{}, per_batch{}, block{};
  output_shape<D> gathered;  // the shape of all blocks: of GatherND's output, and of ScatterND's updates
};
/// Blocks of data of known sizes.
using blocks = basic_blocks<std::int64_t>;
/// Checks a GatherND (batch_dims: axes that data and indices share), or a ScatterND, whose updates are the blocks. Each
/// shape may be unknown; that of GatherND's updates is. The error is one of wrong().
template <size_kind D>
constexpr result<basic_blocks<D>> blocks_of(shape_view<D> data, shape_view<D> indices, std::int64_t batch_dims,
                                            shape_view<D> updates = {});

/// OneHot: the indices with a new axis of `size` (depth) elements.
template <size_kind D>
struct basic_one_hot : basic_slices<D> {
  output_shape<D> y;
};
/// A OneHot of known sizes.
using one_hot = basic_one_hot<std::int64_t>;
/// Checks a OneHot. Where depth is unknown, it is null, and the new axis has the size `otherwise`, such as a symbol.
/// The error is one of wrong().
template <size_kind D>
constexpr result<basic_one_hot<D>> one_hot_of(shape_view<D> indices, std::int64_t axis, const std::int64_t* depth,
                                              D otherwise = {});

/// Slices of which an operator keeps some (Compress, Unique): along an axis, or single elements of the flattened input.
template <size_kind D>
struct basic_selection : basic_slices<D> {
  bool is_flat = false, is_known = false;  // is_known: whether the input's rank is
  sizes<D> x;

  /// The shape of `count` slices; unknown if that of the input is, unless single elements are kept.
  constexpr output_shape<D> shape_of(D count) const {
    if (is_flat) return output_shape<D>{sizes<D>{count}};
    if (!is_known) return {};
    output_shape<D> made{x};
    made[this->axis] = count;
    return made;
  }
};
/// A selection of known sizes.
using selection = basic_selection<std::int64_t>;
/// Checks a Compress or Unique; without the attribute axis, which is then null, single elements are kept. The error is
/// one of wrong().
template <size_kind D>
constexpr result<basic_selection<D>> selection_of(shape_view<D> x, const std::int64_t* axis);

/// Checks a TensorScatter, which writes `update` into a cache along an axis that is not that of the batch. The error is
/// one of wrong().
template <size_kind D>
constexpr result<basic_slices<D>> tensor_scatter_of(shape_view<D> cache, shape_view<D> update, std::int64_t axis);

namespace detail {
template <size_kind D>
constexpr status check_axes_within(shape_view<D> data, shape_view<D> indices, std::size_t axis) {
  if (indices.rank() != data.rank())
    return wrong<D>("indices has shape ", indices.sizes, " of rank ", indices.rank(), ", must have rank ", data.rank(),
                    ", as the data");
  for (std::size_t i = 0; i < data.rank(); ++i)
    if (i != axis && is_known(indices[i]) && is_known(data[i]) && number_of(indices[i]) > number_of(data[i]))
      return wrong<D>("indices has ", indices[i], " elements along axis ", i, ", must have ", data[i],
                      " or less, as the data");
  return {};
}
/// Sets what depends on the length of tuples.
template <size_kind D>
constexpr status finish(basic_blocks<D>& made, shape_view<D> data, shape_view<D> indices) {
  const D length = indices[indices.rank() - 1];
  const auto most = std::int64_t(data.rank() - made.first);
  if (!is_known(length)) return {};
  if (number_of(length) > most)
    return wrong<D>("indices has ", length, " elements along its last axis, must have ", most,
                    " or less, one for each axis of data of shape ", data.sizes, made.first ? " after batch_dims" : "");
  made.past = made.first + std::size_t(number_of(length));
  made.is_known = true;
  if (status s = check_rank<D>(indices.rank() - 1 + data.rank() - made.past); !s) return s;
  made.block = product_of(data.sizes.subspan(made.past));
  made.gathered = output_shape<D>{sizes<D>(indices.sizes.first(indices.rank() - 1))};
  made.gathered.append(data.sizes.subspan(made.past));
  return {};
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_gather<D>> gather_of(shape_view<D> data, shape_view<D> indices, std::int64_t axis) {
  basic_gather<D> made;
  if (!data) return made;
  const result<basic_slices<D>> along = slices_of<D>(data, axis);
  if (!along) return along.error();
  static_cast<basic_slices<D>&>(made) = *along;
  if (!indices) return made;
  if (status s = check_rank<D>(data.rank() - 1 + indices.rank()); !s) return s;
  made.y = output_shape<D>{sizes<D>(data.sizes.first(made.axis))};
  made.y.append(indices.sizes);
  made.y.append(data.sizes.subspan(made.axis + 1));
  return made;
}

template <size_kind D>
constexpr result<basic_element_places<D>> element_places_of(shape_view<D> data, shape_view<D> indices,
                                                            std::int64_t axis, shape_view<D> updates) {
  basic_element_places<D> made;
  if (status s = check_same(updates, indices, "updates"); !s) return s;
  if (!data) return made;
  const result<std::size_t> found = axis_of<D>(axis, data.rank());
  if (!found) return found.error();
  made.axis = *found, made.size = data[*found];
  for (const shape_view<D>& each : {indices, updates})
    if (each)
      if (status s = detail::check_axes_within(data, each, made.axis); !s) return s;
  return made;
}

template <size_kind D>
constexpr result<basic_blocks<D>> blocks_of(shape_view<D> data, shape_view<D> indices, std::int64_t batch_dims,
                                            shape_view<D> updates) {
  basic_blocks<D> made;
  if (!data || !indices) return made;
  const auto limit = std::int64_t(data.rank() < indices.rank() ? data.rank() : indices.rank());
  if (limit == 0) return wrong<D>(data.rank() ? "indices" : "data", " has shape [], must have rank 1 or more");
  if (batch_dims < 0 || batch_dims >= limit)
    return wrong<D>("attribute batch_dims is ", batch_dims, ", must be from 0 to ", limit - 1, " for data of shape ",
                    data.sizes, " and indices of shape ", indices.sizes);
  made.first = std::size_t(batch_dims);
  for (std::size_t i = 0; i < made.first; ++i)
    if (differ(data[i], indices[i]))
      return wrong<D>("indices has ", indices[i], " elements along axis ", i, ", must have ", data[i],
                      ", as the data: the axis is one of batch_dims");
  if (status s = check_count(data, "data"); !s) return s;
  if (status s = check_count(shape_view<D>{indices.sizes.first(indices.rank() - 1)}, "indices"); !s) return s;
  made.count = product_of(indices.sizes.first(indices.rank() - 1));
  made.per_batch = product_of(indices.sizes.subspan(made.first, indices.rank() - 1 - made.first));
  if (status s = detail::finish(made, data, indices); !s) return s;
  if (made.gathered.is_known)
    if (status s = check_same<D>(updates, made.gathered, "updates"); !s) return s;
  return made;
}

template <size_kind D>
constexpr result<basic_one_hot<D>> one_hot_of(shape_view<D> indices, std::int64_t axis, const std::int64_t* depth,
                                              D otherwise) {
  basic_one_hot<D> made;
  if (depth && *depth < 1) return wrong<D>("depth is ", *depth, ", must be 1 or more");
  if (!indices) return made;
  if (status s = check_rank<D>(indices.rank() + 1); !s) return s;
  const result<std::size_t> found = axis_of<D>(axis, indices.rank() + 1);
  if (!found) return found.error();
  made.axis = *found;
  made.size = depth ? fixed<D>(*depth) : otherwise;
  made.outer = product_of(indices.sizes.first(made.axis));
  made.inner = product_of(indices.sizes.subspan(made.axis));
  made.y = output_shape<D>{indices};
  made.y.insert(made.axis, made.size);
  return made;
}

template <size_kind D>
constexpr result<basic_selection<D>> selection_of(shape_view<D> x, const std::int64_t* axis) {
  basic_selection<D> made;
  made.is_flat = axis == nullptr;
  if (!x) return made;
  if (status s = check_rank<D>(x.rank(), "the input"); !s) return s;
  made.is_known = true, made.x = sizes<D>(x);
  if (made.is_flat) {
    if (status s = check_count(x); !s) return s;
    made.outer = made.inner = fixed<D>(1);
    if (!checked_product(x.sizes, made.size))
      return wrong<D>("the input has shape ", x.sizes, ", more elements than 64 bits count");
    return made;
  }
  const result<basic_slices<D>> along = slices_of<D>(x, *axis);
  if (!along) return along.error();
  static_cast<basic_slices<D>&>(made) = *along;
  return made;
}

template <size_kind D>
constexpr result<basic_slices<D>> tensor_scatter_of(shape_view<D> cache, shape_view<D> update, std::int64_t axis) {
  if (!cache) return basic_slices<D>{};
  const result<basic_slices<D>> along = slices_of<D>(cache, axis);
  if (!along) return along.error();
  if (along->axis == 0) return wrong<D>("attribute axis is ", axis, ", must not be axis 0, that of the batch");
  const basic_slices<D> made = *along;
  if (!update) return made;
  if (update.rank() != cache.rank())
    return wrong<D>("update has shape ", update.sizes, " of rank ", update.rank(), ", must have rank ", cache.rank(),
                    ", as past_cache");
  for (std::size_t i = 0; i < cache.rank(); ++i) {
    const bool fits = i == made.axis
                          ? !is_known(update[i]) || !is_known(cache[i]) || number_of(update[i]) <= number_of(cache[i])
                          : !differ(update[i], cache[i]);
    if (!fits)
      return wrong<D>("update has ", update[i], " elements along axis ", i, ", must have ", cache[i],
                      i == made.axis ? " or less" : "", ", as past_cache");
  }
  return made;
}

// Compiled in geometry/gather.cpp, once for loading and once for running.
extern template result<basic_gather<dim>> gather_of(shape_view<dim>, shape_view<dim>, std::int64_t);
extern template result<gather> gather_of(shape_view<std::int64_t>, shape_view<std::int64_t>, std::int64_t);
extern template result<basic_element_places<dim>> element_places_of(shape_view<dim>, shape_view<dim>, std::int64_t,
                                                                    shape_view<dim>);
extern template result<element_places> element_places_of(shape_view<std::int64_t>, shape_view<std::int64_t>,
                                                         std::int64_t, shape_view<std::int64_t>);
extern template result<basic_blocks<dim>> blocks_of(shape_view<dim>, shape_view<dim>, std::int64_t, shape_view<dim>);
extern template result<blocks> blocks_of(shape_view<std::int64_t>, shape_view<std::int64_t>, std::int64_t,
                                         shape_view<std::int64_t>);
extern template result<basic_one_hot<dim>> one_hot_of(shape_view<dim>, std::int64_t, const std::int64_t*, dim);
extern template result<one_hot> one_hot_of(shape_view<std::int64_t>, std::int64_t, const std::int64_t*, std::int64_t);
extern template result<basic_selection<dim>> selection_of(shape_view<dim>, const std::int64_t*);
extern template result<selection> selection_of(shape_view<std::int64_t>, const std::int64_t*);
extern template result<basic_slices<dim>> tensor_scatter_of(shape_view<dim>, shape_view<dim>, std::int64_t);
extern template result<slices> tensor_scatter_of(shape_view<std::int64_t>, shape_view<std::int64_t>, std::int64_t);

}  // namespace CAMEO_NAMESPACE::geometry
