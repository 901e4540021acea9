#pragma once
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {

/// Shape: the sizes of axes [start, end) of the input, as int64; a start or end out of range is clamped.
struct shape_of {
  std::int64_t start, end;
  static result<shape_of> bind(bind_context& c) {
    const attributes_of<op::Shape> a{c.attributes};
    return shape_of{a.start, a.end.value_or(std::int64_t(max_rank))};
  }
  status run(run_context& c) const {
    const extents shape = c.input(0).shape;
    const auto rank = std::int64_t(shape.rank());
    const auto cut = [&](std::int64_t axis) {
      return std::clamp<std::int64_t>(axis < 0 ? axis + rank : axis, 0, rank);
    };
    const std::int64_t first = cut(start), last = std::max(first, cut(end));
    const result<tensor_view<std::int64_t>> y = c.output<std::int64_t>(0, {last - first});
    if (!y) return y.error();
    for (std::int64_t i = first; i < last; ++i) (*y)[i - first] = shape[std::size_t(i)];
    return {};
  }
};

/// Size: the number of elements, as an int64 scalar.
struct size_of {
  static result<size_of> bind(bind_context&) { return size_of{}; }
  status run(run_context& c) const {
    const std::int64_t count = c.input(0).shape.count();
    const result<tensor_view<std::int64_t>> y = c.output<std::int64_t>(0, {});
    if (!y) return y.error();
    (*y)[0] = count;
    return {};
  }
};

}  // namespace CAMEO_NAMESPACE::eps
