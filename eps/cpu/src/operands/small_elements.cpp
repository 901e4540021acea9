#include "small_elements.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr std::int64_t small_grain = 1 << 15;  // a multiple of the elements per byte of all types

/// Scratch memory for the elements of `v` as uint8.
result<value> bytes_for(run_context& c, const value& v) {
  const result<std::span<std::uint8_t>> room = c.scratch<std::uint8_t>(std::size_t(v.shape.count()));
  if (!room) return room.error();
  return value::tensor(dtype::u8, v.shape, room->data());
}

}  // namespace

result<value> whole_bytes(run_context& c, const value& v) {
  const int bits = int(bits_of(v.type));
  if (bits >= 8) return v;
  const result<value> made = bytes_for(c, v);
  if (!made) return made.error();
  const auto* const from = static_cast<const std::uint8_t*>(v.data);
  auto* const to = static_cast<std::uint8_t*>(made->data);
  parallel_elements(c, v.shape.count(), small_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      to[i] = std::uint8_t(from[i * bits / 8] >> i * bits % 8 & ((1 << bits) - 1));
  });
  return *made;
}

result<byte_output> byte_output::make(run_context& c, std::size_t output, const extents& shape) {
  const result<value*> made = c.output(output, shape);
  if (!made) return made.error();
  if (bits_of((*made)->type) >= 8) return byte_output{*made, **made};
  const result<value> bytes = bytes_for(c, **made);
  if (!bytes) return bytes.error();
  return byte_output{*made, *bytes};
}

void byte_output::store(run_context& c) const {
  const int bits = int(bits_of(tensor->type)), each = 8 / std::max(bits, 1);
  if (bits >= 8) return;
  const auto* const from = static_cast<const std::uint8_t*>(bytes.data);
  auto* const to = static_cast<std::uint8_t*>(tensor->data);
  const std::int64_t count = tensor->shape.count();
  parallel_elements(c, (count + each - 1) / each, small_grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      unsigned byte = 0;
      for (std::int64_t j = i * each; j < std::min(count, (i + 1) * each); ++j)
        byte |= unsigned(from[j]) << (j % each * bits);
      to[i] = std::uint8_t(byte);
    }
  });
}

}  // namespace CAMEO_NAMESPACE::eps
