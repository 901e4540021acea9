#include "sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

CAMEO_BEGIN_NAMESPACE
namespace {

/// The first 32 bits of the fractional part of the n-th root of a prime, by integers alone: floating point differs by
/// machine, and the roots are too long for it.
constexpr std::uint32_t root_bits(std::uint64_t prime, int n) {
  // The largest r with (r / 2^32)^n <= prime; r < 2^36, its cube < 2^108.
  unsigned __int128 low = 0, high = static_cast<unsigned __int128>(1) << 37;
  while (high - low > 1) {
    const unsigned __int128 middle = (low + high) / 2;
    const bool fits = n == 2 ? middle * middle <= (static_cast<unsigned __int128>(prime) << 64)
                             : middle * middle * middle <= (static_cast<unsigned __int128>(prime) << 96);
    (fits ? low : high) = middle;
  }
  return std::uint32_t(low);
}

constexpr std::array<std::uint32_t, 64> make_constants() {
  std::array<std::uint32_t, 64> made{};
  std::size_t count = 0;
  for (std::uint64_t candidate = 2; count < made.size(); ++candidate) {
    bool is_prime = true;
    for (std::uint64_t d = 2; d * d <= candidate; ++d) is_prime &= candidate % d != 0;
    if (is_prime) made[count++] = root_bits(candidate, 3);
  }
  return made;
}
constexpr std::array<std::uint32_t, 64> constants = make_constants();
static_assert(constants[0] == 0x428a2f98 && constants[63] == 0xc67178f2 && root_bits(2, 2) == 0x6a09e667);

}  // namespace

void sha256::block(const std::uint8_t* bytes) {
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i)
    w[i] = std::uint32_t(bytes[4 * i]) << 24 | std::uint32_t(bytes[4 * i + 1]) << 16 |
           std::uint32_t(bytes[4 * i + 2]) << 8 | std::uint32_t(bytes[4 * i + 3]);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15], b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto [a, b, c, d, e, f, g, h] = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t mixed =
        h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) + constants[i] + w[i];
    const std::uint32_t majority =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + mixed, d = c, c = b, b = a, a = mixed + majority;
  }
  const std::uint32_t sums[] = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) state_[i] += sums[i];
}

void sha256::add(std::span<const std::byte> bytes) {
  const auto* at = reinterpret_cast<const std::uint8_t*>(bytes.data());
  std::size_t left = bytes.size();
  while (left > 0) {
    const std::size_t held = std::size_t(bytes_ % 64);
    const std::size_t taken = std::min(left, 64 - held);
    if (held == 0 && taken == 64) {
      block(at);
    } else {
      std::memcpy(rest_.data() + held, at, taken);
      if (held + taken == 64) block(rest_.data());
    }
    at += taken, left -= taken, bytes_ += taken;
  }
}

std::string sha256::hex() {
  const std::uint64_t bits = bytes_ * 8;
  static constexpr std::byte end{0x80}, zero{0};
  add(std::span{&end, 1});
  while (bytes_ % 64 != 56) add(std::span{&zero, 1});
  std::array<std::byte, 8> length{};
  for (std::size_t i = 0; i < 8; ++i) length[i] = std::byte(bits >> (56 - 8 * i));
  add(length);
  std::string made;
  for (const std::uint32_t word : state_)
    for (int shift = 28; shift >= 0; shift -= 4) made += "0123456789abcdef"[word >> shift & 15];
  return made;
}

CAMEO_END_NAMESPACE
