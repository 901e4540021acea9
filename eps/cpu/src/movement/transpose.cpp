#include <cameo/eps/cpu/transpose.hpp>
#include <cameo/geometry/blocks.hpp>
#include <cameo/geometry/permutation.hpp>

#include "operands/operand_values.hpp"
#include "operands/small_elements.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

namespace {

template <class K>
result<K> bind_blocks(bind_context& c) {
  const attributes_of<op::DepthToSpace> a{c.attributes};
  return K{a.blocksize, a.mode == op::depth_to_space_mode_choice::crd};
}

/// Copies blocks of pixels from input 0 to output 0.
status move_blocks(run_context& c, const result<geometry::pixel_blocks>& made, bool to_space, bool channel_first) {
  if (!made) return made.error();
  const geometry::pixel_blocks& b = *made;
  return move_to_output(c, c.input(0), 0, b.out, [&](strided_copy& copy) {
    using at = geometry::block_strides;
    const at depth = b.strides_in_depth(channel_first), space = b.strides_in_space();
    const at &from = to_space ? depth : space, &to = to_space ? space : depth;
    const auto loop = [&](std::int64_t count, std::int64_t at::* axis) { copy.loop(count, from.*axis, to.*axis); };
    loop(b.images, &at::image);
    if (to_space || channel_first) loop(b.channels, &at::channel);
    if (to_space) loop(b.height, &at::h);
    loop(b.block, &at::y);
    if (to_space) loop(b.width, &at::w);
    loop(b.block, &at::x);
    if (to_space) return;
    if (!channel_first) loop(b.channels, &at::channel);
    loop(b.height, &at::h);
    loop(b.width, &at::w);
  });
}

}  // namespace

result<transpose> transpose::bind(bind_context& c) {
  return transpose{attributes_of<op::Transpose>{c.attributes}.perm};
}
status transpose::run(run_context& c) const {
  const value& x = c.input(0);
  const result<geometry::permutation> made = geometry::transpose_of<std::int64_t>(x.shape, perm);
  if (!made) return made.error();
  const extents shape = made->out;
  const result<byte_output> y = byte_output::make(c, 0, shape);
  const result<value> bytes = whole_bytes(c, x);
  if (!y) return y.error();
  if (!bytes) return bytes.error();
  strided_copy copy{element_bytes(bytes->type)};
  copy.loops(shape, made->permuted(row_major_strides(x.shape)), row_major_strides(shape));
  copy.run(c, bytes->data, y->bytes.data);
  y->store(c);
  return {};
}

result<depth_to_space> depth_to_space::bind(bind_context& c) { return bind_blocks<depth_to_space>(c); }
status depth_to_space::run(run_context& c) const {
  return move_blocks(c, geometry::depth_to_space_of<std::int64_t>(c.input(0).shape, block), true, channel_first);
}

result<space_to_depth> space_to_depth::bind(bind_context& c) { return bind_blocks<space_to_depth>(c); }
status space_to_depth::run(run_context& c) const {
  return move_blocks(c, geometry::space_to_depth_of<std::int64_t>(c.input(0).shape, block), false, channel_first);
}

result<reverse_sequence> reverse_sequence::bind(bind_context& c) {
  const attributes_of<op::ReverseSequence> a{c.attributes};
  const std::int64_t batch = 1 - a.time_axis;
  if (status s = of_model(check_number("batch_axis", a.batch_axis, batch, batch)); !s) return s;
  return reverse_sequence{std::size_t(a.time_axis)};
}
status reverse_sequence::run(run_context& c) const {
  const value &x = c.input(0), &lengths = c.input(1);
  const std::int64_t steps = x.shape[time_axis], batch = x.shape[1 - time_axis];
  if (status s = check_shape("sequence_lens", lengths.shape, {batch}); !s) return s;
  for (const std::int64_t length : lengths.as_unchecked<std::int64_t>())
    if (status s = check_element("sequence_lens", length, 0, steps); !s) return s;
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  const extents strides = row_major_strides(x.shape);
  const std::int64_t step = strides[time_axis], row = strides[1 - time_axis], block = strides[1];
  const std::size_t bytes = element_bytes(x.type);
  for (std::int64_t i = 0; i < batch && x.shape.count() > 0; ++i) {
    const std::int64_t length = lengths.as_unchecked<std::int64_t>()[i];
    const auto copy_steps = [&](std::int64_t count, std::int64_t first, std::int64_t direction, std::int64_t to) {
      if (count == 0) return;
      strided_copy copy{bytes};
      copy.loop(count, direction * step, step);
      copy.loop(block, 1, 1);
      copy.run(c, bytes_of(x) + std::size_t(i * row + first * step) * bytes,
               bytes_of(**y) + std::size_t(i * row + to * step) * bytes);
    };
    copy_steps(length, length - 1, -1, 0);
    copy_steps(steps - length, length, 1, length);
  }
  return {};
}

status trilu::run(run_context& c) const {
  const value& x = c.input(0);
  const std::size_t rank = x.shape.rank();
  const std::int64_t height = x.shape[rank - 2], width = x.shape[rank - 1];
  const std::int64_t k = std::clamp(c.has_input(1) ? c.input<std::int64_t>(1)[0] : 0, -height, width);
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  if (x.shape.count() == 0) return {};
  const std::size_t size = element_bytes(x.type), row_bytes = std::size_t(width) * size;
  const std::byte* const from = bytes_of(x);
  std::byte* const to = bytes_of(**y);
  parallel_for(
      c, x.shape.count() / width, 1 + 65536 / std::int64_t(row_bytes), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) {
          // A row is divided by the diagonal: the upper triangle begins with it, and the lower triangle ends with it.
          const std::size_t cut =
              std::size_t(std::clamp<std::int64_t>(i % height + k + (upper ? 0 : 1), 0, width)) * size;
          const std::size_t at = std::size_t(i) * row_bytes, kept = upper ? cut : 0, kept_end = upper ? row_bytes : cut;
          std::memset(to + at, 0, upper ? cut : 0);
          std::memcpy(to + at + kept, from + at + kept, kept_end - kept);
          std::memset(to + at + kept_end, 0, row_bytes - kept_end);
        }
      });
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
