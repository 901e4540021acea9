#include "beams.hpp"

#include <cstring>

#include "common/refuse.hpp"

namespace cameo::inline CAMEO_ABI::eps {

status check_beams(const value& beams, std::int64_t batches, std::int64_t past) {
  const extents& s = beams.shape;
  if (s.rank() != 3 || s[1] < 1 || s[0] * s[1] != batches || s[2] < past)
    return bad_input("cache_indirection ", s, " must be [batch / beams, beams, ", past, " or more]");
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t t = 0; t < past; ++t)
      if (const std::int32_t beam = beams.as_unchecked<std::int32_t>()[b * s[2] + t]; beam < 0 || beam >= s[1])
        return bad_input("cache_indirection has beam ", beam, " of ", s[1]);
  return {};
}

result<const std::byte*> pick_beams(run_context& c, const value& beams, const beam_cache& z, const void* from) {
  const std::int64_t width = beams.shape[1], room = beams.shape[2], row = std::int64_t(z.row_bytes);
  std::int64_t bytes = 0;
  if (!extents{z.batches, z.heads, z.keys, row}.checked_count(bytes)) return status_code::out_of_memory;
  const result<std::span<std::byte>> made = c.scratch<std::byte>(std::size_t(bytes));
  if (!made) return made.error();
  const std::int32_t* const of = beams.as_unchecked<std::int32_t>().data();
  const auto* const all = static_cast<const std::byte*>(from);
  parallel_each(c, z.batches * z.heads, 1 + (1 << 16) / (z.keys * row + 1), [&](std::int64_t head, std::size_t) {
    const std::int64_t batch = head / z.heads, first = batch / width * width;
    for (std::int64_t t = 0; t < z.keys; ++t) {
      const std::int64_t source = t < z.past ? first + of[batch * room + t] : batch;
      std::memcpy(made->data() + (head * z.keys + t) * row,
                  all + ((source * z.heads + head % z.heads) * z.room + t) * row, z.row_bytes);
    }
  });
  return static_cast<const std::byte*>(made->data());
}

}  // namespace cameo::inline CAMEO_ABI::eps
