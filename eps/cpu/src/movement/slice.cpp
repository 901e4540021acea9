#include <cameo/eps/cpu/slice.hpp>
#include <cameo/geometry/repeat.hpp>
#include <cameo/geometry/slice.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {
result<slice> slice::bind(bind_context& c) {
  const attributes_of<op::Slice> a{c.attributes};
  return slice{a.starts, a.ends, a.axes};
}
status slice::run(run_context& c) const {
  const value& x = c.input(0);
  number_input first, last, along, by;
  const status read = check_all({first.read(c.input(1), "starts", starts), last.read(c.input(2), "ends", ends),
                                 along.read(c.input(3), "axes", axes), by.read(c.input(4), "steps")});
  if (!read) return read;
  const auto made = geometry::slice_of<std::int64_t>(x.shape, first.list, last.list, along.list, by.list);
  if (!made) return made.error();
  const extents strides = row_major_strides(x.shape), shape = made->out;
  return move_to_output(c, x, made->first(strides), shape,
                        [&](strided_copy& copy) { copy.loops(shape, made->steps(strides), row_major_strides(shape)); });
}

status expand::run(run_context& c) const {
  const value& x = c.input(0);
  number_input wanted;
  if (status read = wanted.read(c.input(1), "shape"); !read) return read;
  const auto made = geometry::expand_of<std::int64_t>(x.shape, wanted.room);
  if (!made) return made.error();
  const extents shape = *made;
  return move_to_output(c, x, 0, shape, [&](strided_copy& copy) {
    copy.loops(shape, geometry::repeating_strides(x.shape, shape), row_major_strides(shape));
  });
}

status tile::run(run_context& c) const {
  const value& x = c.input(0);
  number_input repeats;
  std::int64_t tiles = 0, axis = 0;
  const status read =
      one_axis ? check_all({read_integer(c.input(1), "tiles", tiles), read_integer(c.input(2), "axis", axis)})
               : repeats.read(c.input(1), "repeats");
  if (!read) return read;
  const auto made = one_axis ? geometry::tile_of_axis<std::int64_t>(x.shape, tiles, axis)
                             : geometry::tile_of<std::int64_t>(x.shape, repeats.list);
  if (!made) return made.error();
  return move_to_output(c, x, 0, made->out, [&](strided_copy& copy) {
    const extents from = row_major_strides(x.shape), to = row_major_strides(made->out);
    for (std::size_t i = 0; i < from.rank(); ++i) {
      copy.loop(made->repeats[i], 0, x.shape[i] * to[i]);
      copy.loop(x.shape[i], from[i], to[i]);
    }
  });
}

}  // namespace CAMEO_NAMESPACE::eps
