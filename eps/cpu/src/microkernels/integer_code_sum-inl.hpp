// Adds quantized values with products of pairs of int16 (see whole_code_sum), for the arithmetic A of the file that
// includes this within its target. In addition to what integer_line-inl.hpp lists, A has:
//
//   A::words(v), A::all_bytes(v)    v in all lanes of 32, or 8, bits
//   A::flipped(a, b)                a ^ b
//   A::low_bytes(a, b)              the bytes of a and b interleaved, from the lower half of each 128 bits
//   A::high_bytes(a, b)             the same from the upper half
//   A::shifted_up(a)                lanes of 32 bits times 256
//   A::shifted_down(a, count)       lanes of 32 bits, shifted right arithmetically
//   A::narrowed(a, b, c, d)         lanes of 32 bits clamped to uint8, which reverses low_bytes() and high_bytes()
//   twice A::replaced(y, a, b, from, v)   v where a is from[0] and b is from[1], else y A::put(p, a) stores a

/// Adds the first elements of a and b, as many as fill whole vectors, and returns their number.
template <class A>
CAMEO_NOINLINE std::int64_t add_codes(const whole_code_sum& by, const std::uint8_t* a, const std::uint8_t* b,
                                      std::uint8_t* y, std::int64_t n) {
  using cells = typename A::cells;
  constexpr std::int64_t at_once = A::lanes * 4;
  const auto pair = [](const std::int16_t (&factors)[2]) {
    return std::int32_t(std::uint32_t(std::uint16_t(factors[0])) | std::uint32_t(std::uint16_t(factors[1])) << 16);
  };
  const cells high = A::words(pair(by.high)), low = A::words(pair(by.low)), start = A::words(by.start);
  const cells nothing = A::nothing(), flip = A::all_bytes(by.flip);
  const __m128i shift = _mm_cvtsi32_si128(by.shift);
  std::int64_t i = 0;
  for (; i + at_once <= n; i += at_once) {
    const cells left = A::flipped(A::load(reinterpret_cast<const std::byte*>(a + i)), flip);
    const cells right = A::flipped(A::load(reinterpret_cast<const std::byte*>(b + i)), flip);
    const cells first = A::low_bytes(left, right), second = A::high_bytes(left, right);
    cells codes[] = {A::low_bytes(first, nothing), A::high_bytes(first, nothing), A::low_bytes(second, nothing),
                     A::high_bytes(second, nothing)};
    CAMEO_UNROLL
    for (int k = 0; k < 4; ++k) {
      const cells large = A::shifted_up(A::add_products(nothing, codes[k], high));
      codes[k] = A::shifted_down(A::add_products(A::add(large, start), codes[k], low), shift);
    }
    cells made = A::narrowed(codes[0], codes[1], codes[2], codes[3]);
    for (int e = 0; e < by.exceptions; ++e) {
      const auto& pair_of = by.exception[e];
      made = A::replaced(made, left, right, {pair_of.a, pair_of.b}, pair_of.y);
    }
    A::put(reinterpret_cast<std::byte*>(y + i), A::flipped(made, flip));
  }
  return i;
}
