#include "both_kinds.hpp"

#include <cameo/geometry/blocks.hpp>

namespace blocks_of_pixels {

using namespace both_kinds;

template <size_kind D>
constexpr result<basic_pixel_blocks<D>> to_space(const sizes<D>& x, std::int64_t block) {
  return depth_to_space_of<D>(x, block);
}
template <size_kind D>
constexpr result<basic_pixel_blocks<D>> to_depth(const sizes<D>& x, std::int64_t block) {
  return space_to_depth_of<D>(x, block);
}
template <size_kind D>
constexpr bool gives(const result<basic_pixel_blocks<D>>& found, const sizes<D>& wanted) {
  return found && found->out == wanted;
}

static_assert(gives(to_space(known{2, 12, 3, 4}, 2), {2, 3, 6, 8}) &&
              gives(to_depth(known{2, 3, 6, 8}, 2), {2, 12, 3, 4}));
static_assert(gives(to_space(open{symbol, n(12), other_symbol, n(4)}, 2), {symbol, n(3), unknown, n(8)}));
static_assert(gives(to_depth(open{symbol, unknown, other_symbol, n(4)}, 1), {symbol, unknown, other_symbol, n(4)}));
static_assert(!value_in(depth_to_space_of<dim>({}, 2)).out.is_known &&
              !value_in(space_to_depth_of<dim>({}, 2)).out.is_known);
static_assert(says(to_space(known{1, 4, 1, 1}, 0), "attribute blocksize is 0, must be from 1 to 1048576"));
static_assert(says(to_depth(open{symbol, n(4), n(1), n(1)}, 1 << 21),
                   "attribute blocksize is 2097152, must be from 1 to 1048576"));
static_assert(
    says(to_space(known{0, 4, INT64_MAX, 1}, 2),
         "the input has shape [0,4,9223372036854775807,1], more rows or columns of 2 pixels than 64 bits count"));
static_assert(says(to_depth(known{0, INT64_MAX, 2, 2}, 2),
                   "the input has shape [0,9223372036854775807,2,2], more channels of 4 pixels than 64 bits count"));

/// Returns whether strides reach each element of both tensors once.
constexpr bool reach_all(const pixel_blocks& b, const block_strides& strides) {
  bool found[512]{};
  std::int64_t count = 0;
  for (std::int64_t n = 0; n < b.images; ++n)
    for (std::int64_t c = 0; c < b.channels; ++c)
      for (std::int64_t h = 0; h < b.height; ++h)
        for (std::int64_t w = 0; w < b.width; ++w)
          for (std::int64_t y = 0; y < b.block; ++y)
            for (std::int64_t x = 0; x < b.block; ++x) {
              const std::int64_t at = n * strides.image + c * strides.channel + h * strides.h + w * strides.w +
                                      y * strides.y + x * strides.x;
              if (at < 0 || at >= b.images * b.channels * b.height * b.width * b.block * b.block || found[at])
                return false;
              found[at] = true, ++count;
            }
  return count == extents{b.out}.count();
}
constexpr pixel_blocks some = *to_space(known{2, 12, 3, 4}, 2);
static_assert(reach_all(some, some.strides_in_space()) && reach_all(some, some.strides_in_depth(true)) &&
              reach_all(some, some.strides_in_depth(false)));
static_assert(some.strides_in_depth(true).y == 24 && some.strides_in_depth(false).y == 72 &&
              some.strides_in_space().h == 16);

TEST_CASE("geometry: blocks of pixels have one shape for both kinds of size") {
  for (std::int64_t block = 0; block < 4; ++block)
    each_shape(2, 4, [&](const known& size) {
      if (size.rank() != 2) return;
      const known space{2, 3, size[0] * block, size[1] * block}, depth{2, 3 * block * block, size[0], size[1]};
      const auto running = to_space(depth, block), back = to_depth(space, block);
      const auto loading = to_space(as_dims(depth), block), back_open = to_depth(as_dims(space), block);
      if (!agree(running, loading) || !agree(back, back_open)) return;
      CHECK(running->out == space);
      CHECK(back->out == depth);
      CHECK(loading->out == as_dims(space));
      CHECK(back_open->out == as_dims(depth));
    });
}

}  // namespace blocks_of_pixels
