#include "beams.hpp"

#include <cstring>

#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

status check_beams(const value& beams, std::int64_t batches, std::int64_t past) {
  const extents& s = beams.shape;
  if (s.rank() != 3 || s[1] < 1 || s[0] * s[1] != batches || s[2] < past)
    return bad_input("cache_indirection has shape ", s, ", must be [", batches, "/beams,beams,", past, " or more]");
  for (std::int64_t b = 0; b < batches; ++b)
    for (std::int64_t t = 0; t < past; ++t)
      if (status fits =
              check_element("cache_indirection", beams.as_unchecked<std::int32_t>()[b * s[2] + t], 0, s[1] - 1);
          !fits)
        return fits;
  return {};
}

/// Gathers keys or values in scratch, each position of the past from the beam that `beams` contains for it.
status pick_beams(run_context& c, const value& beams, const key_rows& from, const attention_work& work,
                  const void*& picked, head_strides& at) {
  const geometry::attention_heads& l = from.at;
  const std::int64_t width = beams.shape[1], capacity = beams.shape[2], row = l.size * (bits_of(from.type) / 8);
  const auto made = scratch_of<std::byte>(c, {l.batches, l.heads, work.keys, row});
  if (!made) return made.error();
  const std::int32_t* const of = beams.as_unchecked<std::int32_t>().data();
  const auto* const all = static_cast<const std::byte*>(from.data);
  parallel_each(c, l.batches * l.heads, 1 + (1 << 16) / (work.keys * row + 1), [&](std::int64_t head, std::size_t) {
    const std::int64_t batch = head / l.heads, first = batch / width * width;
    for (std::int64_t t = 0; t < work.keys; ++t) {
      const std::int64_t source = t < work.past ? first + of[batch * capacity + t] : batch;
      std::memcpy(*made + (head * work.keys + t) * row,
                  all + ((source * l.heads + head % l.heads) * l.length + t) * row, std::size_t(row));
    }
  });
  picked = *made, at = strides_of(split_heads(l.batches, l.heads, work.keys, l.size));
  return {};
}

}  // namespace

status follow_beams(run_context& c, const value& beams, const key_rows& k, const key_rows& v, attention_work& work) {
  if (status s = check_beams(beams, work.batches, work.past); !s) return s;
  if (status s = pick_beams(c, beams, k, work, work.k, work.at_k); !s) return s;
  return pick_beams(c, beams, v, work, work.v, work.at_v);
}

}  // namespace CAMEO_NAMESPACE::eps
