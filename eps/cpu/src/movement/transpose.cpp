#include <cameo/eps/cpu/transpose.hpp>

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

/// Strides of the axes channel, h, y, w and x, where (h, y) is a row and (w, x) a column of the image, and y and x are
/// positions in a block: of the tensor with blocks in its channels (depth), and of the tensor with blocks in its rows
/// and columns (space).
struct blocks {
  std::int64_t channel, y, x, h, w;
};
blocks steps_in_depth(std::int64_t channels, std::int64_t h, std::int64_t w, std::int64_t b, bool channel_first) {
  if (channel_first) return {b * b * h * w, b * h * w, h * w, w, 1};
  return {h * w, b * channels * h * w, channels * h * w, w, 1};
}
blocks steps_in_space(std::int64_t h, std::int64_t w, std::int64_t b) {
  return {h * b * w * b, w * b, 1, b * w * b, b};
}

}  // namespace

result<transpose> transpose::bind(bind_context& c) {
  return transpose{attributes_of<op::Transpose>{c.attributes}.perm};
}
status transpose::run(run_context& c) const {
  const value& x = c.input(0);
  const std::size_t rank = x.shape.rank();
  if (!perm.empty())
    if (status s = check_count("perm", std::int64_t(perm.size()), std::int64_t(rank)); !s) return s;
  const extents strides = row_major_strides(x.shape);
  extents shape, from;
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    std::size_t axis = 0;
    const std::int64_t number = perm.empty() ? std::int64_t(rank - 1 - i) : perm[i];
    if (status found = find_axis(number, rank, axis, seen); !found) return found;
    shape.push_back(x.shape[axis]);
    from.push_back(strides[axis]);
  }
  const result<byte_output> y = byte_output::make(c, 0, shape);
  const result<value> bytes = whole_bytes(c, x);
  if (!y) return y.error();
  if (!bytes) return bytes.error();
  strided_copy copy{element_bytes(bytes->type)};
  copy.loops(shape, from, row_major_strides(shape));
  copy.run(c, bytes->data, y->bytes.data);
  y->store(c);
  return {};
}

result<depth_to_space> depth_to_space::bind(bind_context& c) { return bind_blocks<depth_to_space>(c); }
status depth_to_space::run(run_context& c) const {
  const value& x = c.input(0);
  const std::int64_t b = block, n = x.shape[0], h = x.shape[2], w = x.shape[3];
  const std::int64_t channels = x.shape[1] / (b * b);
  extents shape{n, channels, 0, 0};
  if (!checked_multiply(h, b, shape[2]) || !checked_multiply(w, b, shape[3])) return status_code::out_of_memory;
  return move_to_output(c, x, 0, shape, [&](strided_copy& copy) {
    const blocks from = steps_in_depth(channels, h, w, b, channel_first), to = steps_in_space(h, w, b);
    copy.loop(n, channels * b * b * h * w, channels * b * b * h * w);
    copy.loop(channels, from.channel, to.channel);
    copy.loop(h, from.h, to.h);
    copy.loop(b, from.y, to.y);
    copy.loop(w, from.w, to.w);
    copy.loop(b, from.x, to.x);
  });
}

result<space_to_depth> space_to_depth::bind(bind_context& c) { return bind_blocks<space_to_depth>(c); }
status space_to_depth::run(run_context& c) const {
  const value& x = c.input(0);
  const std::int64_t b = block, n = x.shape[0], channels = x.shape[1];
  const std::int64_t h = x.shape[2] / b, w = x.shape[3] / b;
  extents shape{n, 0, h, w};
  if (!checked_multiply(channels, b * b, shape[1])) return status_code::out_of_memory;
  return move_to_output(c, x, 0, shape, [&](strided_copy& copy) {
    const blocks from = steps_in_space(h, w, b), to = steps_in_depth(channels, h, w, b, channel_first);
    copy.loop(n, channels * b * b * h * w, channels * b * b * h * w);
    if (channel_first) copy.loop(channels, from.channel, to.channel);
    copy.loop(b, from.y, to.y);
    copy.loop(b, from.x, to.x);
    if (!channel_first) copy.loop(channels, from.channel, to.channel);
    copy.loop(h, from.h, to.h);
    copy.loop(w, from.w, to.w);
  });
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
