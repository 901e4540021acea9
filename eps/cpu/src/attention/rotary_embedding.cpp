#include <cameo/eps/cpu/rotary_embedding.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "operands/operand_values.hpp"
#include "operands/scratch_of.hpp"
#include "operands/usable_sizes.hpp"
#include "skeletons/row_rooms.hpp"

namespace CAMEO_NAMESPACE::eps {

namespace {

/// Rotates the pairs of elements of a head.
struct rotated_pairs {
  std::int64_t half, size;
  bool interleaved;

  void rotate(const float* in, const float* cosines, const float* sines, float* to) const {
    const std::int64_t apart = interleaved ? 1 : half, step = interleaved ? 2 : 1;
    for (std::int64_t i = 0; i < half; ++i) {
      const float a = in[i * step], b = in[i * step + apart];
      to[i * step] = cosines[i] * a - sines[i] * b;
      to[i * step + apart] = sines[i] * a + cosines[i] * b;
    }
    std::copy(in + 2 * half, in + size, to + 2 * half);
  }
};

}  // namespace

result<rotary_embedding> rotary_embedding::bind(bind_context& c) {
  const attributes_of<op::RotaryEmbedding> a{c.attributes};
  if (status s = of_model(check_multiple("rotary_embedding_dim", a.rotary_embedding_dim, 2)); !s) return s;
  return rotary_embedding{a.num_heads.value_or(0), a.rotary_embedding_dim, a.interleaved != 0};
}

status rotary_embedding::run(run_context& c) const {
  const value &x = c.input(0), &cosines = c.input(1), &sines = c.input(2), &ids = c.input(3);
  const std::size_t rank = x.shape.rank();
  if (status s = check_needs("X of rank 3", rank == 3, "num_heads", heads >= 1); !s) return s;
  if (status s = usable_sizes("X", x.shape); !s) return s;
  const std::int64_t batches = x.shape[0], count = rank == 3 ? heads : x.shape[1];
  const std::int64_t length = rank == 3 ? x.shape[1] : x.shape[2], size = rank == 3 ? x.shape[2] / heads : x.shape[3];
  const std::int64_t pair_elements = rotated ? rotated : size, half = pair_elements / 2;
  const extents table = ids ? extents{cosines.shape[0], half} : extents{batches, length, half};
  const status checked =
      check_all({check_number("rotary_embedding_dim", pair_elements, 0, size),
                 check_multiple("the rotated part of a head", pair_elements, 2),
                 check_shape("cos_cache", cosines.shape, table), check_shape("sin_cache", sines.shape, table)});
  if (!checked) return checked;
  for (std::int64_t i = 0; ids && i < ids.shape.count(); ++i)
    if (status s = check_element("position_ids", integers{ids}[i], 0, table[0] - 1); !s) return s;
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  using rooms = row_rooms<float>;
  const auto from = rooms::make(c, x, 1, size), y = rooms::make(c, **out, 1, size);
  const auto cosine = rooms::make(c, cosines, 1, half), sine = rooms::make(c, sines, 1, half);
  if (!from || !y || !cosine || !sine) return status_code::out_of_memory;
  const rotated_pairs pairs{half, size, interleaved};
  parallel_each_row(c, batches * length * count, grain_of(1 << 14, size), [&](std::int64_t row, std::size_t lane) {
    // Rows in the order of X: [batch, position, head] or [batch, head, position].
    const std::int64_t batch = row / (length * count);
    const std::int64_t position = rank == 3 ? row / count % length : row % length;
    const std::int64_t place = batch * length + position;
    const std::int64_t angles = (ids ? integers{ids}[place] : place) * half;
    pairs.rotate(from->read(lane, row * size, size), cosine->read(lane, angles, half), sine->read(lane, angles, half),
                 y->room(lane, row * size));
    y->store(lane, row * size, size);
  });
  return {};
}

namespace {

/// The sizes of X and of its pairs.
struct placed_heads {
  std::int64_t batches, length, count, size, half;
};

status place_heads(const microsoft_rotary_embedding& how, const value& x, const value& cosines, placed_heads& p) {
  const std::size_t rank = x.shape.rank();
  if (status s = usable_sizes("input", x.shape); !s) return s;
  if (status s = usable_sizes("cos_cache", cosines.shape); !s) return s;
  p.half = cosines.shape[1];
  p.batches = x.shape[0], p.length = x.shape[rank == 3 ? 1 : 2];
  if (rank == 4) {
    p.count = x.shape[1], p.size = x.shape[3];
  } else {
    if (status s = check_needs("rotary_embedding_dim", how.rotated != 0, "num_heads", how.heads >= 1); !s) return s;
    const std::int64_t size = how.rotated ? x.shape[2] / how.heads : p.half * 2;
    if (status s = check_multiple("the last size of input", x.shape[2], size, "the size of a head"); !s) return s;
    p.count = x.shape[2] / size, p.size = size;
  }
  const std::int64_t pair_elements = how.rotated ? how.rotated : p.size;
  return check_all({check_number("rotary_embedding_dim", pair_elements, 0, p.size),
                    check_multiple("the rotated part of a head", pair_elements, 2),
                    check_count("a row of cos_cache", p.half, pair_elements / 2)});
}

/// The position of each row of angles: [streams, batch, length], or one number, the position of the first row.
class angle_positions {
 public:
  static status make(const value& ids, const placed_heads& p, std::int64_t rows, angle_positions& out) {
    const tensor_view<const std::int64_t> all = ids.as_unchecked<std::int64_t>();
    out.data_ = all.data(), out.length_ = p.length, out.counts_on_ = ids.shape.rank() == 1;
    const std::int64_t more = out.counts_on_ ? std::max<std::int64_t>(p.length, 1) - 1 : 0;
    for (const std::int64_t id : all)
      if (status s = check_element("position_ids", id, 0, rows - more - 1); !s) return s;
    return {};
  }
  std::int64_t operator[](std::int64_t row) const { return counts_on_ ? data_[0] + row % length_ : data_[row]; }

 private:
  const std::int64_t* data_ = nullptr;
  std::int64_t length_ = 0;
  bool counts_on_ = false;
};

}  // namespace

result<microsoft_rotary_embedding> microsoft_rotary_embedding::bind(bind_context& c) {
  const result<rotary_embedding> common = rotary_embedding::bind(c);
  if (!common) return common.error();
  microsoft_rotary_embedding made{*common};
  if (c.op_type != "MRotaryEmbedding") return made;
  const attributes_of<op::microsoft::MRotaryEmbedding> a{c.attributes};
  std::copy(a.mrope_section.begin(), a.mrope_section.end(), made.sections);
  made.streams = 3, made.mixed = a.mrope_layout.value_or(0) == 1, made.scale = a.scale.value_or(1);
  return made;
}

std::int64_t microsoft_rotary_embedding::stream_of(std::int64_t i) const {
  if (mixed) return i % 3 != 0 && i < 3 * sections[i % 3] ? i % 3 : 0;
  return i < sections[0] ? 0 : i < sections[0] + sections[1] ? 1 : 2;
}

status microsoft_rotary_embedding::run(run_context& c) const {
  const value &x = c.input(0), &cosines = c.input(2), &sines = c.input(3);
  placed_heads p{};
  if (status s = place_heads(*this, x, cosines, p); !s) return s;
  if (streams > 1 && sections[0] + sections[1] + sections[2] != p.half)
    return bad_input("mrope_section has ", sections[0] + sections[1] + sections[2], " pairs, heads have ", p.half);
  angle_positions positions;
  if (status s = angle_positions::make(c.input(1), p, cosines.shape[0], positions); !s) return s;
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  if (x.shape.count() == 0) return {};
  const std::int64_t places = p.batches * p.length;
  const auto angles = scratch_of<float>(c, {places, 2 * p.half});
  if (!angles) return angles.error();
  parallel_each(c, places, 1 + (1 << 13) / p.half, [&](std::int64_t place, std::size_t) {
    float *const cosine = *angles + place * 2 * p.half, *const sine = cosine + p.half;
    if (streams == 1) {
      load_floats(cosines, positions[place] * p.half, cosine, p.half);
      load_floats(sines, positions[place] * p.half, sine, p.half);
    }
    for (std::int64_t i = 0; streams > 1 && i < p.half; ++i) {
      const std::int64_t from = positions[stream_of(i) * places + place] * p.half + i;
      cosine[i] = float_at<float>(cosines, from) * scale, sine[i] = float_at<float>(sines, from) * scale;
    }
  });
  if (c.stopped()) return status_code::canceled;
  const rotated_pairs pairs{p.half, p.size, interleaved};
  const bool joined = x.shape.rank() == 3;
  return map_rows<float>(
      c, x, **out, p.size, grain_of(1 << 14, p.size), [&](const float* in, float* to, std::int64_t row) {
        const std::int64_t place = joined ? row / p.count : row / (p.length * p.count) * p.length + row % p.length;
        const float* const cosine = *angles + place * 2 * p.half;
        pairs.rotate(in, cosine, cosine + p.half, to);
      });
}

}  // namespace CAMEO_NAMESPACE::eps
