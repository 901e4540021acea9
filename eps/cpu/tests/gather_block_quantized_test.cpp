// GatherBlockQuantized against its definition.
#include <doctest/doctest.h>
#include <cameo/eps/cpu/gather_block_quantized.hpp>
#include <cameo/op/microsoft.hpp>

#include <array>

#include "kernel_rig.hpp"

namespace cameo::test {
namespace {

/// Data of three axes and random attributes; the index 9 is out of range of an axis of 5 elements.
struct gather_case {
  dtype type;
  std::int64_t bits, block, gather_axis, quantize_axis;
  std::int64_t shape[3], scales_shape[3];  // in quantized values
  bool has_zeros;
  std::vector<std::uint8_t> data, zeros;
  std::vector<float> scales;
  std::vector<std::int64_t> indices;

  explicit gather_case(std::mt19937& random) {
    const auto up_to = [&](std::int64_t most) { return 1 + std::int64_t(random() % std::uint64_t(most)); };
    type = std::array{dtype::u8, dtype::u8, dtype::u4, dtype::i4}[random() % 4];
    bits = type == dtype::u8 ? 1 << up_to(3) : 4, block = 8 << up_to(2), has_zeros = up_to(2) == 1;
    gather_axis = type == dtype::u8 ? 0 : up_to(3) - 1, quantize_axis = up_to(3) - 1;
    for (std::int64_t& size : shape) size = up_to(40);
    shape[gather_axis] = 5;
    if (type == dtype::u8) shape[2] = up_to(9) * (8 / bits);
    for (int i = 0; i < 3; ++i) scales_shape[i] = i == quantize_axis ? (shape[i] + block - 1) / block : shape[i];
    const std::int64_t count = shape[0] * shape[1] * shape[2];
    const std::int64_t many = scales_shape[0] * scales_shape[1] * scales_shape[2];
    data.resize(std::size_t(count * bits + 7) / 8), zeros.resize(std::size_t(zero_bit(many - 1) + bits + 7) / 8);
    for (auto* bytes : {&data, &zeros})
      for (std::uint8_t& each : *bytes) each = std::uint8_t(random());
    scales = random_numbers<float>(random, many);
    indices = {0, 4, -5, 2, -1, 9, -6};
  }
  std::int64_t zero_bit(std::int64_t i) const {
    if (type != dtype::u8) return i * bits;
    const std::int64_t last = scales_shape[2];
    return i / last * ((last * bits + 7) / 8 * 8) + i % last * bits;
  }
  std::int64_t number(const std::vector<std::uint8_t>& from, std::int64_t bit) const {
    const std::int64_t code = from[std::size_t(bit / 8)] >> bit % 8 & ((1 << bits) - 1);
    return type == dtype::i4 && code > 7 ? code - 16 : code;
  }
  float element(std::int64_t i, std::int64_t j, std::int64_t l) const {
    std::int64_t at[] = {i, j, l};
    const std::int64_t code = number(data, ((i * shape[1] + j) * shape[2] + l) * bits);
    at[quantize_axis] /= block;
    const std::int64_t scale = (at[0] * scales_shape[1] + at[1]) * scales_shape[2] + at[2];
    const std::int64_t zero = has_zeros ? number(zeros, zero_bit(scale)) : type == dtype::u8 ? 1 << (bits - 1) : 0;
    return float(code - zero) * scales[std::size_t(scale)];
  }
  std::vector<float> wanted() const {
    std::vector<float> made;
    std::int64_t size[3];
    std::copy_n(shape, 3, size);
    size[gather_axis] = std::int64_t(indices.size());
    for (std::int64_t i = 0; i < size[0]; ++i)
      for (std::int64_t j = 0; j < size[1]; ++j)
        for (std::int64_t l = 0; l < size[2]; ++l) {
          std::int64_t at[] = {i, j, l};
          std::int64_t& picked = at[gather_axis];
          picked = indices[std::size_t(picked)];
          if (picked < 0) picked += 5;
          made.push_back(picked < 0 || picked >= 5 ? 0.0f : element(at[0], at[1], at[2]));
        }
    return made;
  }
};

status run(kernel_rig& rig, gather_case& p) {
  rig.attribute("bits", p.bits).attribute("block_size", p.block);
  rig.attribute("gather_axis", p.gather_axis - (p.block == 16 ? 3 : 0)).attribute("quantize_axis", p.quantize_axis);
  extents stored{p.shape[0], p.shape[1], p.type == dtype::u8 ? p.shape[2] * p.bits / 8 : p.shape[2]};
  rig.input(value::tensor(p.type, stored, p.data.data())).input<std::int64_t>({7}, p.indices);
  rig.input<float>({p.scales_shape[0], p.scales_shape[1], p.scales_shape[2]}, p.scales);
  const extents zeros = p.type == dtype::u8 ? extents{std::int64_t(p.zeros.size())}
                                            : extents{p.scales_shape[0], p.scales_shape[1], p.scales_shape[2]};
  if (p.has_zeros) rig.input(value::tensor(p.type, zeros, p.zeros.data()));
  return rig.checked_as<op::microsoft::GatherBlockQuantized>().run<eps::gather_block_quantized>({dtype::f32});
}

TEST_CASE("GatherBlockQuantized follows its documentation, for all types, axes, blocks and zero points") {
  std::mt19937 random{6};
  for (int round = 0; round < 300; ++round) {
    gather_case p{random};
    kernel_rig rig{1, 3};
    const status done = run(rig, p);
    REQUIRE_MESSAGE(bool(done), done.words());
    INFO("bits ", p.bits, ", gather axis ", p.gather_axis, ", quantize axis ", p.quantize_axis);
    CHECK(elements_of<float>(rig) == p.wanted());
  }
}

TEST_CASE("GatherBlockQuantized refuses invalid blocks and shapes") {
  std::mt19937 random{7};
  gather_case p{random};
  const auto words = [&](gather_case changed) {
    kernel_rig rig{1};
    return std::string{run(rig, changed).words()};
  };
  gather_case other = p;
  other.block = 8;
  CHECK(words(other).find("block_size is 8") != std::string::npos);
  other = p, other.block = 0;
  CHECK(words(other).find("block_size is 0") != std::string::npos);
  other = p, other.bits = 3;
  CHECK(words(other).find("bits is 3") != std::string::npos);
  other = p, other.scales_shape[p.quantize_axis] += 1, other.scales.resize(100'000);
  CHECK(words(other).find("scales") != std::string::npos);
  other = p, other.quantize_axis = 3;
  CHECK(words(other).find("axis is 3") != std::string::npos);
}

}  // namespace
}  // namespace cameo::test
