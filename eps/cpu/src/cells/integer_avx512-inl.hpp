// Vectors of 512 bits, for the arithmetics of the files that include this within their target.
struct vectors {
  static constexpr int lanes = 16, tile_rows = 14;
  using sum = __m512i;
  using cells = __m512i;

  static CAMEO_CELL_INLINE cells broadcast(const std::byte* p) {
    std::int32_t cell;
    std::memcpy(&cell, p, sizeof cell);
    return _mm512_set1_epi32(cell);
  }
  static CAMEO_CELL_INLINE cells load(const std::byte* p) { return _mm512_loadu_si512(p); }
  static CAMEO_CELL_INLINE sum load_sums(const std::int32_t* p) { return _mm512_loadu_si512(p); }
  static CAMEO_CELL_INLINE sum nothing() { return _mm512_setzero_si512(); }
  static CAMEO_CELL_INLINE sum add(sum a, sum b) { return _mm512_add_epi32(a, b); }
  static CAMEO_CELL_INLINE __mmask16 first(int count) { return __mmask16((1u << count) - 1); }
  static CAMEO_CELL_INLINE void store(sum s, int count, std::int32_t* to) {
    if (count == lanes) _mm512_storeu_si512(to, s);
    else _mm512_mask_storeu_epi32(to, first(count), s);
  }

  struct codes {
    __m512 scale, low, high;
    __m512i zero;
    CAMEO_CELL_INLINE codes(const integer_line& p, int column)
        : scale{_mm512_loadu_ps(p.scale + column)},
          low{_mm512_set1_ps(p.low)},
          high{_mm512_set1_ps(p.high)},
          zero{_mm512_set1_epi32(p.zero)} {}
    CAMEO_CELL_INLINE void put(sum s, int count, std::uint8_t* to) const {
      const __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(s), scale);
      const __m512i code = _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(v, low), high));
      const __m128i some = _mm512_cvtepi32_epi8(_mm512_add_epi32(code, zero));
      if (count == lanes) _mm_storeu_si128(reinterpret_cast<__m128i*>(to), some);
      else _mm_mask_storeu_epi8(to, first(count), some);
    }
  };
};
