#pragma once
#include <cameo/geometry/axes.hpp>

namespace CAMEO_NAMESPACE::geometry {

/// Distances in elements between neighbors along the axes of an image that consists of blocks: of images, channels,
/// rows (h) and columns (w) of blocks, and rows (y) and columns (x) of pixels in a block.
struct block_strides {
  std::int64_t image = 0, channel = 0, h = 0, w = 0, y = 0, x = 0;
};

/// The blocks of a DepthToSpace or SpaceToDepth: `height` times `width` blocks of `block` times `block` pixels. One
/// tensor has the pixels of a block as channels: [images, channels * block * block, height, width]; the other is
/// [images, channels, height * block, width * block].
template <size_kind D>
struct basic_pixel_blocks {
  std::int64_t block = 1;
  D images{}, channels{}, height{}, width{};
  output_shape<D> out;

  /// The strides of the tensor with pixels as channels, which has elements. The channels of the image are the outer
  /// axis of those channels if `channel_first` (CRD), else the inner one (DCR).
  constexpr block_strides strides_in_depth(bool channel_first) const
    requires std::same_as<D, std::int64_t>
  {
    const std::int64_t plane = height * width, all = channels * block * block * plane;
    if (channel_first) return {all, block * block * plane, width, 1, block * plane, plane};
    return {all, plane, width, 1, block * channels * plane, channels * plane};
  }
  /// The strides of the tensor with pixels in rows and columns, which has elements.
  constexpr block_strides strides_in_space() const
    requires std::same_as<D, std::int64_t>
  {
    const std::int64_t row = width * block, plane = height * block * row;
    return {channels * plane, plane, block * row, block, row, 1};
  }
};
/// Blocks whose sizes are known.
using pixel_blocks = basic_pixel_blocks<std::int64_t>;

/// Checks a DepthToSpace of x, a tensor [images, channels * block * block, height, width] as its row of operators
/// states. Refuses a block that is not from 1 to 2^20, and sizes that overflow.
template <size_kind D>
constexpr result<basic_pixel_blocks<D>> depth_to_space_of(shape_view<D> x, std::int64_t block);
/// Checks a SpaceToDepth of x, a tensor [images, channels, height * block, width * block] as its row of operators
/// states.
template <size_kind D>
constexpr result<basic_pixel_blocks<D>> space_to_depth_of(shape_view<D> x, std::int64_t block);

namespace detail {
/// Checks the attribute blocksize, so that its square does not overflow.
constexpr status check_block(std::int64_t block) {
  if (block >= 1 && block <= 1048576) return {};
  return wrong_attribute("attribute blocksize is ", block, ", must be from 1 to 1048576");
}
/// Sets `out` to a multiple of a size. False if it overflows.
template <size_kind D>
[[nodiscard]] constexpr bool checked_multiple(D size, std::int64_t times, D& out) {
  const D both[] = {size, fixed<D>(times)};
  return checked_product<D>(both, out);
}
}  // namespace detail

template <size_kind D>
constexpr result<basic_pixel_blocks<D>> depth_to_space_of(shape_view<D> x, std::int64_t block) {
  if (status s = detail::check_block(block); !s) return s;
  if (!x) return basic_pixel_blocks<D>{};
  basic_pixel_blocks<D> made{block, x[0], share_of(x[1], block * block), x[2], x[3], {}};
  D rows{}, columns{};
  if (!detail::checked_multiple(x[2], block, rows) || !detail::checked_multiple(x[3], block, columns))
    return wrong<D>("the input has shape ", x.sizes, ", more rows or columns of ", block, " pixels than 64 bits count");
  made.out = sizes<D>{made.images, made.channels, rows, columns};
  return made;
}

template <size_kind D>
constexpr result<basic_pixel_blocks<D>> space_to_depth_of(shape_view<D> x, std::int64_t block) {
  if (status s = detail::check_block(block); !s) return s;
  if (!x) return basic_pixel_blocks<D>{};
  basic_pixel_blocks<D> made{block, x[0], x[1], share_of(x[2], block), share_of(x[3], block), {}};
  D depth{};
  if (!detail::checked_multiple(x[1], block * block, depth))
    return wrong<D>("the input has shape ", x.sizes, ", more channels of ", block * block,
                    " pixels than 64 bits count");
  made.out = sizes<D>{made.images, depth, made.height, made.width};
  return made;
}

// Compiled in geometry/blocks.cpp, once for loading and once for running.
extern template result<basic_pixel_blocks<dim>> depth_to_space_of(shape_view<dim>, std::int64_t);
extern template result<pixel_blocks> depth_to_space_of(shape_view<std::int64_t>, std::int64_t);
extern template result<basic_pixel_blocks<dim>> space_to_depth_of(shape_view<dim>, std::int64_t);
extern template result<pixel_blocks> space_to_depth_of(shape_view<std::int64_t>, std::int64_t);

}  // namespace CAMEO_NAMESPACE::geometry
