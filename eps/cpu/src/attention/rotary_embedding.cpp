#include <cameo/eps/cpu/rotary_embedding.hpp>

#include "common/operand_values.hpp"
#include "common/row_rooms.hpp"
#include "common/usable_sizes.hpp"

namespace cameo::inline CAMEO_ABI::eps {

result<rotary_embedding> rotary_embedding::bind(bind_context& c) {
  rotary_embedding made;
  made.heads = c.int_or("num_heads", 0);
  made.rotated = c.int_or("rotary_embedding_dim", 0);
  made.interleaved = c.int_or("interleaved", 0) != 0;
  if (made.heads < 0) return bad_attribute("num_heads is ", made.heads, ", must not be negative");
  if (made.rotated < 0 || made.rotated % 2 != 0)
    return bad_attribute("rotary_embedding_dim is ", made.rotated, ", must be even and not negative");
  return made;
}

status rotary_embedding::run(run_context& c) const {
  const value &x = c.input(0), &cosines = c.input(1), &sines = c.input(2), &ids = c.input(3);
  const std::size_t rank = x.shape.rank();
  if (rank != 3 && rank != 4) return bad_input("X ", x.shape, " must be of rank 3 or 4");
  if (rank == 3 && (heads < 1 || x.shape[2] % heads != 0))
    return bad_input("X ", x.shape, " of rank 3 needs num_heads that divides its last axis");
  if (status s = usable_sizes("X", x.shape); !s) return s;
  const std::int64_t batches = x.shape[0], count = rank == 3 ? heads : x.shape[1];
  const std::int64_t length = rank == 3 ? x.shape[1] : x.shape[2], size = rank == 3 ? x.shape[2] / heads : x.shape[3];
  const std::int64_t turned = rotated ? rotated : size, half = turned / 2;
  if (turned > size || turned % 2 != 0)
    return bad_input("heads of ", size, " elements can't have ", turned, " turned in pairs");
  const extents wanted =
      ids ? extents{cosines.shape.rank() ? cosines.shape[0] : 0, half} : extents{batches, length, half};
  if (cosines.shape != wanted || sines.shape != wanted)
    return bad_input("cos_cache ", cosines.shape, " and sin_cache ", sines.shape, " must be ", wanted);
  if (ids) {
    if (ids.shape != extents{batches, length})
      return bad_input("position_ids ", ids.shape, " must be ", extents{batches, length});
    for (std::int64_t i = 0; i < ids.shape.count(); ++i)
      if (integers{ids}[i] < 0 || integers{ids}[i] >= wanted[0])
        return bad_input("position ", integers{ids}[i], " is not in [0,", wanted[0], ")");
  }
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  using rooms = row_rooms<float>;
  const auto from = rooms::make(c, x, 1, size), y = rooms::make(c, **out, 1, size);
  const auto cosine = rooms::make(c, cosines, 1, half), sine = rooms::make(c, sines, 1, half);
  if (!from || !y || !cosine || !sine) return status_code::out_of_memory;
  const std::int64_t apart = interleaved ? 1 : half, step = interleaved ? 2 : 1;
  parallel_rows(c, batches * length * count, std::max<std::int64_t>(1, (1 << 14) / size),
                [&](std::int64_t first, std::int64_t last, std::size_t lane) {
                  for (std::int64_t row = first; row < last; ++row) {
                    // Rows in the order of X: [batch, position, head] or [batch, head, position].
                    const std::int64_t batch = row / (length * count);
                    const std::int64_t position = rank == 3 ? row / count % length : row % length;
                    const std::int64_t place = batch * length + position;
                    const std::int64_t angles = (ids ? integers{ids}[place] : place) * half;
                    const float* const in = from->read(lane, row * size, size);
                    const float *const co = cosine->read(lane, angles, half), *const si =
                                                                                  sine->read(lane, angles, half);
                    float* const to = y->room(lane, row * size);
                    for (std::int64_t i = 0; i < half; ++i) {
                      const float a = in[i * step], b = in[i * step + apart];
                      to[i * step] = co[i] * a - si[i] * b;
                      to[i * step + apart] = si[i] * a + co[i] * b;
                    }
                    std::copy(in + turned, in + size, to + turned);
                    y->store(lane, row * size, size);
                  }
                });
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
