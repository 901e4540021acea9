// Vectors of 512 bits for nbits_line-inl.hpp. Each file that includes this adds the products of dot-product groups.
struct nbits_vectors {
  static constexpr int lanes = 16, tile_rows = 6, row_blocks = 2;
  using codes = __m512i;
  using floats = __m512;
  using sums = __m512i;

  static CAMEO_INLINE codes load(const std::byte* p) { return _mm512_loadu_si512(p); }
  static CAMEO_INLINE floats load_floats(const float* p) { return _mm512_loadu_ps(p); }
  static CAMEO_INLINE floats widen(const std::uint8_t* p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static CAMEO_INLINE void store(floats v, int count, float* to) {
    _mm512_mask_storeu_ps(to, __mmask16((1u << count) - 1), v);
  }
  static CAMEO_INLINE floats all(float x) { return _mm512_set1_ps(x); }
  static CAMEO_INLINE sums all_sums(std::int32_t x) { return _mm512_set1_epi32(x); }
  static CAMEO_INLINE floats add_product(floats s, floats a, floats b) { return _mm512_fmadd_ps(a, b, s); }
  static CAMEO_INLINE floats take_product(floats s, floats a, floats b) { return _mm512_fnmadd_ps(a, b, s); }
  static CAMEO_INLINE floats add(floats a, floats b) { return _mm512_add_ps(a, b); }
  static CAMEO_INLINE floats less(floats a, floats b) { return _mm512_sub_ps(a, b); }
  static CAMEO_INLINE floats multiply(floats a, floats b) { return _mm512_mul_ps(a, b); }
  static CAMEO_INLINE floats to_floats(sums s) { return _mm512_cvtepi32_ps(s); }

  /// Converts quantized weights to floats, in two ways that use different execution units:
  ///   - A weight at bit q of a float's mantissa, with the exponent of 2^(23 - q), makes 2^(23 - q) + weight. It takes
  ///     one operation, and another to subtract the power of two, which is exact.
  ///   - A table takes a shift and a lookup. Bits above the weight are looked up too, so the table repeats its entries.
  template <int Bits, bool Centered>
  struct table {
    static constexpr int middle = Centered ? 1 << (Bits - 1) : 0, top = 23 / Bits * Bits;
    floats numbers;
    CAMEO_INLINE table() {
      alignas(64) float of[lanes];
      for (int i = 0; i < lanes; ++i) of[i] = float((i & ((1 << Bits) - 1)) - middle);
      numbers = _mm512_load_ps(of);
    }
    template <int I>
    CAMEO_INLINE floats at(codes groups) const {
      constexpr int bit = I * Bits, q = bit % top;
      if constexpr (Bits < 8 && (!Centered || q == 0))
        return _mm512_permutexvar_ps(_mm512_srli_epi32(groups, bit), numbers);
      const codes from = bit < top ? groups : _mm512_srli_epi32(groups, top);
      const codes mask = _mm512_set1_epi32(((1 << Bits) - 1) << q), exponent = _mm512_set1_epi32((127 + 23 - q) << 23);
      const codes number = _mm512_ternarylogic_epi32(from, mask, exponent, 0xEA);  // from & mask | exponent
      return _mm512_sub_ps(_mm512_castsi512_ps(number), _mm512_set1_ps(float((1 << (23 - q)) + middle)));
    }
  };
  /// Looks weights of 4 bits up in a codebook; the lookup instruction ignores all but the lower four bits.
  struct codebook {
    floats numbers;
    CAMEO_INLINE explicit codebook(const float* of) : numbers{_mm512_loadu_ps(of)} {}
    template <int I>
    CAMEO_INLINE floats at(codes groups) const {
      return _mm512_permutexvar_ps(_mm512_srli_epi32(groups, I * 4), numbers);
    }
  };
};
