// Vectors of 256 bits for nbits_line-inl.hpp.
struct nbits_vectors {
  static constexpr int lanes = 8, tile_rows = 4, row_blocks = 2;
  using codes = __m256i;
  using floats = __m256;
  using sums = __m256i;

  static CAMEO_INLINE codes load(const std::byte* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static CAMEO_INLINE floats load_floats(const float* p) { return _mm256_loadu_ps(p); }
  static CAMEO_INLINE floats widen(const std::uint8_t* p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static CAMEO_INLINE void store(floats v, int count, float* to) {
    if (count == lanes) return _mm256_storeu_ps(to, v);
    alignas(32) float all_of[lanes];
    _mm256_store_ps(all_of, v);
    std::memcpy(to, all_of, std::size_t(count) * sizeof *to);
  }
  static CAMEO_INLINE floats all(float x) { return _mm256_set1_ps(x); }
  static CAMEO_INLINE sums all_sums(std::int32_t x) { return _mm256_set1_epi32(x); }
  static CAMEO_INLINE floats add_product(floats s, floats a, floats b) { return _mm256_fmadd_ps(a, b, s); }
  static CAMEO_INLINE floats take_product(floats s, floats a, floats b) { return _mm256_fnmadd_ps(a, b, s); }
  static CAMEO_INLINE floats add(floats a, floats b) { return _mm256_add_ps(a, b); }
  static CAMEO_INLINE floats less(floats a, floats b) { return _mm256_sub_ps(a, b); }
  static CAMEO_INLINE floats multiply(floats a, floats b) { return _mm256_mul_ps(a, b); }
  static CAMEO_INLINE floats to_floats(sums s) { return _mm256_cvtepi32_ps(s); }

  /// Converts quantized weights to floats; nbits_avx512-inl.hpp explains how.
  template <int Bits, bool Centered>
  struct table {
    static constexpr int middle = Centered ? 1 << (Bits - 1) : 0, top = 23 / Bits * Bits;
    template <int I>
    CAMEO_INLINE floats at(codes groups) const {
      constexpr int bit = I * Bits, q = bit % top;
      const codes from = bit < top ? groups : _mm256_srli_epi32(groups, top);
      const codes code = _mm256_and_si256(from, _mm256_set1_epi32(((1 << Bits) - 1) << q));
      const codes number = _mm256_or_si256(code, _mm256_set1_epi32((127 + 23 - q) << 23));
      return _mm256_sub_ps(_mm256_castsi256_ps(number), _mm256_set1_ps(float((1 << (23 - q)) + middle)));
    }
  };
  /// Looks weights of 4 bits up in a codebook. The lookup instruction uses the lower three bits; the fourth, shifted to
  /// the sign bit, selects one of two results.
  struct codebook {
    floats low, high;
    CAMEO_INLINE explicit codebook(const float* of) : low{_mm256_loadu_ps(of)}, high{_mm256_loadu_ps(of + lanes)} {}
    template <int I>
    CAMEO_INLINE floats at(codes groups) const {
      const codes place = _mm256_srli_epi32(groups, I * 4);
      const floats sign = _mm256_castsi256_ps(_mm256_slli_epi32(groups, 28 - I * 4));
      return _mm256_blendv_ps(_mm256_permutevar8x32_ps(low, place), _mm256_permutevar8x32_ps(high, place), sign);
    }
  };

  // The instruction vpmaddubsw adds two products of u8 and s8, and saturates at 16 bits. Weights of 2 and 4 bits are
  // far from that. For weights of 8 bits minus 128, the magnitude is multiplied, and the sign is moved to the other
  // factor: the sum is 2 * 128 * 127 at most.
  template <int Bits>
  static constexpr int middle = Bits == 8 ? 128 : 0;
  template <int Bits>
  static CAMEO_INLINE void split(codes groups, codes (&cells)[8 / Bits]) {
    if constexpr (Bits == 8) {
      cells[0] = _mm256_xor_si256(groups, _mm256_set1_epi8(char(0x80)));
    } else {
      const codes mask = _mm256_set1_epi8((1 << Bits) - 1);
      for (int i = 0; i < 8 / Bits; ++i) cells[i] = _mm256_and_si256(_mm256_srli_epi32(groups, i * Bits), mask);
    }
  }
  template <int Bits>
  static CAMEO_INLINE sums add_cells(sums s, const codes (&cells)[8 / Bits], const std::byte* a) {
    codes pairs = _mm256_setzero_si256();
    for (int i = 0; i < 8 / Bits; ++i) {
      std::int32_t cell;
      std::memcpy(&cell, a + 4 * i, sizeof cell);
      const codes factor = _mm256_set1_epi32(cell);
      if constexpr (Bits == 8)
        pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(cells[i]), _mm256_sign_epi8(factor, cells[i]));
      else pairs = _mm256_add_epi16(pairs, _mm256_maddubs_epi16(cells[i], factor));
    }
    return _mm256_add_epi32(s, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
};
