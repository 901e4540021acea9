// Vectors of 128 bits for nbits_line-inl.hpp.
struct nbits_vectors {
  static constexpr int lanes = 4, tile_rows = 4, row_blocks = 2;
  using codes = __m128i;
  using floats = __m128;
  using sums = __m128i;

  static CAMEO_INLINE codes load(const std::byte* p) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)); }
  static CAMEO_INLINE floats load_floats(const float* p) { return _mm_loadu_ps(p); }
  static CAMEO_INLINE floats widen(const std::uint8_t* p) { return _mm_setr_ps(p[0], p[1], p[2], p[3]); }
  static CAMEO_INLINE void store(floats v, int count, float* to) {
    if (count == lanes) return _mm_storeu_ps(to, v);
    alignas(16) float all_of[lanes];
    _mm_store_ps(all_of, v);
    std::memcpy(to, all_of, std::size_t(count) * sizeof *to);
  }
  static CAMEO_INLINE floats all(float x) { return _mm_set1_ps(x); }
  static CAMEO_INLINE sums all_sums(std::int32_t x) { return _mm_set1_epi32(x); }
  static CAMEO_INLINE floats add_product(floats s, floats a, floats b) { return _mm_add_ps(s, _mm_mul_ps(a, b)); }
  static CAMEO_INLINE floats take_product(floats s, floats a, floats b) { return _mm_sub_ps(s, _mm_mul_ps(a, b)); }
  static CAMEO_INLINE floats add(floats a, floats b) { return _mm_add_ps(a, b); }
  static CAMEO_INLINE floats less(floats a, floats b) { return _mm_sub_ps(a, b); }
  static CAMEO_INLINE floats multiply(floats a, floats b) { return _mm_mul_ps(a, b); }
  static CAMEO_INLINE floats to_floats(sums s) { return _mm_cvtepi32_ps(s); }

  template <int Bits, bool Centered>
  struct table {
    template <int I>
    CAMEO_INLINE floats at(codes groups) const {
      const codes code = _mm_and_si128(_mm_srli_epi32(groups, I * Bits), _mm_set1_epi32((1 << Bits) - 1));
      const floats number = _mm_cvtepi32_ps(code);
      return Centered ? _mm_sub_ps(number, _mm_set1_ps(1 << (Bits - 1))) : number;
    }
  };
  struct codebook {
    const float* numbers;
    CAMEO_INLINE explicit codebook(const float* of) : numbers{of} {}
    template <int I>
    CAMEO_INLINE floats at(codes groups) const {
      alignas(16) std::uint32_t code[lanes];
      _mm_store_si128(reinterpret_cast<__m128i*>(code),
                      _mm_and_si128(_mm_srli_epi32(groups, I * 4), _mm_set1_epi32(15)));
      return _mm_setr_ps(numbers[code[0]], numbers[code[1]], numbers[code[2]], numbers[code[3]]);
    }
  };

  template <int Bits>
  static constexpr int middle = 0;
  template <int Bits>
  static CAMEO_INLINE void split(codes groups, codes (&cells)[8 / Bits]) {
    const codes mask = _mm_set1_epi8(char((1 << Bits) - 1));
    for (int i = 0; i < 8 / Bits; ++i) cells[i] = _mm_and_si128(_mm_srli_epi32(groups, i * Bits), mask);
  }
  /// Multiplies the first and third, and then the second and fourth element of each dot-product group, as int16.
  template <int Bits>
  static CAMEO_INLINE sums add_cells(sums s, const codes (&cells)[8 / Bits], const std::byte* a) {
    for (int i = 0; i < 8 / Bits; ++i) {
      std::int32_t cell;
      std::memcpy(&cell, a + 4 * i, sizeof cell);
      const codes factor = _mm_set1_epi32(cell), low = _mm_set1_epi16(0xFF);
      s = _mm_add_epi32(s, _mm_madd_epi16(_mm_and_si128(cells[i], low), _mm_srai_epi16(_mm_slli_epi16(factor, 8), 8)));
      s = _mm_add_epi32(s, _mm_madd_epi16(_mm_srli_epi16(cells[i], 8), _mm_srai_epi16(factor, 8)));
    }
    return s;
  }
};
