// Sums of codes by products of pairs of shorts, for the arithmetic A of the file that includes this within its target:
// 64 at a time. Bytes are widened and narrowed within lanes of 128 bits, so that all stay where they are.
template <class A>
CAMEO_CELL_FUNCTION std::int64_t add_codes(const whole_code_sum& by, const std::uint8_t* a, const std::uint8_t* b,
                                           std::uint8_t* y, std::int64_t n) {
  const auto pair = [](const std::int16_t(&factors)[2]) {
    return std::int32_t(std::uint32_t(std::uint16_t(factors[0])) | std::uint32_t(std::uint16_t(factors[1])) << 16);
  };
  const __m512i high = _mm512_set1_epi32(pair(by.high)), low = _mm512_set1_epi32(pair(by.low));
  const __m512i start = _mm512_set1_epi32(by.start), nothing = _mm512_setzero_si512();
  const __m512i flip = _mm512_set1_epi8(char(by.flip));
  const __m128i shift = _mm_cvtsi32_si128(by.shift);
  __m512i pairs[4], codes[4];
  std::int64_t i = 0;
  for (; i + 64 <= n; i += 64) {
    const __m512i left = _mm512_xor_si512(_mm512_loadu_si512(a + i), flip);
    const __m512i right = _mm512_xor_si512(_mm512_loadu_si512(b + i), flip);
    const __m512i first = _mm512_unpacklo_epi8(left, right), second = _mm512_unpackhi_epi8(left, right);
    pairs[0] = _mm512_unpacklo_epi8(first, nothing), pairs[1] = _mm512_unpackhi_epi8(first, nothing);
    pairs[2] = _mm512_unpacklo_epi8(second, nothing), pairs[3] = _mm512_unpackhi_epi8(second, nothing);
    CAMEO_CELL_LOOP
    for (int k = 0; k < 4; ++k) {
      const __m512i large = _mm512_slli_epi32(A::add_products(nothing, pairs[k], high), 8);
      codes[k] = _mm512_sra_epi32(A::add_products(_mm512_add_epi32(large, start), pairs[k], low), shift);
    }
    __m512i made = _mm512_packus_epi16(_mm512_packs_epi32(codes[0], codes[1]), _mm512_packs_epi32(codes[2], codes[3]));
    for (int e = 0; e < by.exceptions; ++e) {
      const auto& pair_of = by.exception[e];
      const __mmask64 is_left = _mm512_cmpeq_epi8_mask(left, _mm512_set1_epi8(char(pair_of.a)));
      const __mmask64 is_pair = _mm512_mask_cmpeq_epi8_mask(is_left, right, _mm512_set1_epi8(char(pair_of.b)));
      made = _mm512_mask_mov_epi8(made, is_pair, _mm512_set1_epi8(char(pair_of.y)));
    }
    _mm512_storeu_si512(y + i, _mm512_xor_si512(made, flip));
  }
  return i;
}
