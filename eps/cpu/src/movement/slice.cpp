#include <cameo/eps/cpu/slice.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The slice of one axis: `count` positions from `first` on, `step` apart.
struct range {
  std::int64_t first, step, count;
};
range cut_range(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t size) {
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? size : size - 1;
  start = std::clamp(start < 0 ? start + size : start, step > 0 ? low : std::min<std::int64_t>(0, high), high);
  end = std::clamp(end < 0 ? end + size : end, low, high);
  const std::int64_t way = step > 0 ? end - start : start - end;
  if (way <= 0) return {0, 1, 0};
  const std::uint64_t stride = step > 0 ? std::uint64_t(step) : -std::uint64_t(step);
  const auto count = std::int64_t((std::uint64_t(way) - 1) / stride + 1);
  return {start, count > 1 ? step : 1, count};
}

/// One of the lists of Slice (starts, ends, axes, steps): from an attribute, from an input, or absent.
struct slice_list {
  attribute_list<std::int64_t> list;
  const value& input;
  bool present() const { return list.given || input; }
  std::int64_t count() const { return list.given ? std::int64_t(list.size()) : input.shape.count(); }
  std::int64_t operator[](std::int64_t i) const { return list.given ? list[std::size_t(i)] : integers{input}[i]; }
  status check(std::string_view name, std::int64_t must) const {
    return present() ? check_count(name, count(), must) : status{};
  }
};

}  // namespace

result<slice> slice::bind(bind_context& c) {
  if (c.inputs.size() > 1) return slice{};  // from opset 10 on, and DynamicSlice, which may have any attribute
  const attributes_of<op::Slice> a{c.attributes};
  return slice{a.starts, a.ends, a.axes};
}
status slice::run(run_context& c) const {
  const value& x = c.input(0);
  const std::size_t rank = x.shape.rank();
  const slice_list first{starts, c.input(1)}, last{ends, c.input(2)}, along{axes, c.input(3)}, steps{{}, c.input(4)};
  const std::int64_t count = first.count();
  const status fits =
      check_all({check_number("the number of starts", count, 0, std::int64_t(rank)),
                 check_count("ends", last.count(), count), along.check("axes", count), steps.check("steps", count)});
  if (!fits) return fits;
  const extents strides = row_major_strides(x.shape);
  extents shape = x.shape, from = strides;
  std::int64_t offset = 0;
  std::uint32_t named = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    std::size_t a = 0;
    if (status found = find_axis(along.present() ? along[i] : i, rank, a, named); !found) return found;
    const std::int64_t step = steps.present() ? steps[i] : 1;
    if (step == 0) return bad_input("the step of axis ", a, " is 0");
    const range r = cut_range(first[i], last[i], step, x.shape[a]);
    shape[a] = r.count;
    if (r.count > 0) offset += r.first * strides[a], from[a] = r.step * strides[a];
  }
  return move_to_output(c, x, offset, shape,
                        [&](strided_copy& copy) { copy.loops(shape, from, row_major_strides(shape)); });
}

status expand::run(run_context& c) const {
  const value& x = c.input(0);
  extents wanted, shape;
  if (status read = read_extents(c.input(1), "shape", wanted); !read) return read;
  if (status s = check_sizes("a size of shape", wanted); !s) return s;
  const bool broadcasts = broadcast(x.shape, wanted, shape);
  if (status s = check_broadcasts("input", x.shape, wanted, broadcasts); !s) return s;
  return move_to_output(c, x, 0, shape, [&](strided_copy& copy) {
    const extents strides = row_major_strides(x.shape), to = row_major_strides(shape);
    const std::size_t added = shape.rank() - x.shape.rank();
    for (std::size_t i = 0; i < shape.rank(); ++i)
      copy.loop(shape[i], i < added || x.shape[i - added] == 1 ? 0 : strides[i - added], to[i]);
  });
}

status tile::run(run_context& c) const {
  const value &x = c.input(0), &given = c.input(1);
  const std::size_t rank = x.shape.rank();
  extents repeats;
  if (one_axis) {
    std::int64_t times = 0, number = 0;
    std::size_t axis = 0;
    if (status s = read_integer(given, "tiles", times); !s) return s;
    if (status s = read_integer(c.input(2), "axis", number); !s) return s;
    if (status s = find_axis(number, rank, axis); !s) return s;
    repeats.resize(rank, 1);
    repeats[axis] = times;
  } else if (status read = read_extents(given, "repeats", repeats); !read) {
    return read;
  }
  if (status s = check_count("repeats", std::int64_t(repeats.rank()), std::int64_t(rank)); !s) return s;
  if (status s = check_sizes("an element of repeats", repeats); !s) return s;
  extents shape = x.shape;
  for (std::size_t i = 0; i < rank; ++i)
    if (!checked_multiply(shape[i], repeats[i], shape[i])) return status_code::out_of_memory;
  return move_to_output(c, x, 0, shape, [&](strided_copy& copy) {
    const extents from = row_major_strides(x.shape), to = row_major_strides(shape);
    for (std::size_t i = 0; i < rank; ++i) {
      copy.loop(repeats[i], 0, x.shape[i] * to[i]);
      copy.loop(x.shape[i], from[i], to[i]);
    }
  });
}

}  // namespace CAMEO_NAMESPACE::eps
