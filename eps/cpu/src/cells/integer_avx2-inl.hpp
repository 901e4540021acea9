// Vectors of 256 bits, for the arithmetics of the files that include this within their target.
struct vectors {
  static constexpr int lanes = 8, tile_rows = 6;
  using sum = __m256i;
  using cells = __m256i;

  static CAMEO_CELL_INLINE cells broadcast(const std::byte* p) {
    std::int32_t cell;
    std::memcpy(&cell, p, sizeof cell);
    return _mm256_set1_epi32(cell);
  }
  static CAMEO_CELL_INLINE cells load(const std::byte* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static CAMEO_CELL_INLINE sum load_sums(const std::int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static CAMEO_CELL_INLINE sum nothing() { return _mm256_setzero_si256(); }
  static CAMEO_CELL_INLINE sum add(sum a, sum b) { return _mm256_add_epi32(a, b); }
  static CAMEO_CELL_INLINE void store(sum s, int count, std::int32_t* to) {
    if (count == lanes) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), s);
    alignas(32) std::int32_t all[lanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(all), s);
    std::memcpy(to, all, std::size_t(count) * sizeof *to);
  }

  struct codes {
    __m256 scale, low, high;
    __m256i zero;
    CAMEO_CELL_INLINE codes(const integer_line& p, int column)
        : scale{_mm256_loadu_ps(p.scale + column)},
          low{_mm256_set1_ps(p.low)},
          high{_mm256_set1_ps(p.high)},
          zero{_mm256_set1_epi32(p.zero)} {}
    CAMEO_CELL_INLINE void put(sum s, int count, std::uint8_t* to) const {
      const __m256 v = _mm256_mul_ps(_mm256_cvtepi32_ps(s), scale);
      __m256i code = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(v, low), high));
      code = _mm256_add_epi32(code, zero);
      const __m256i lowest = _mm256_setr_epi8(0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, 0, 4, 8, 12,
                                              -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1);
      code = _mm256_shuffle_epi8(code, lowest);
      const __m128i some = _mm_unpacklo_epi32(_mm256_castsi256_si128(code), _mm256_extracti128_si256(code, 1));
      const std::int64_t bytes = _mm_cvtsi128_si64(some);
      if (count == lanes) std::memcpy(to, &bytes, lanes);
      else std::memcpy(to, &bytes, std::size_t(count));
    }
  };
};
