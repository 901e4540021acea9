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

  /// Codes of whole panels, two rows at a time: packing with saturation makes the ends of u8 and s8 by itself.
  struct panel_codes {
    __m512 scale[2], high;
    __m512i zero;
    bool is_signed;
    CAMEO_CELL_INLINE explicit panel_codes(const integer_line& p)
        : scale{_mm512_loadu_ps(p.scale), _mm512_loadu_ps(p.scale + lanes)},
          high{_mm512_set1_ps(p.high)},  // more would be no integer
          zero{_mm512_set1_epi16(std::int16_t(p.zero))},
          is_signed{p.low + float(p.zero) < 0} {}
    CAMEO_CELL_INLINE __m512i halves(const sum (&row)[2]) const {
      const __m512 a = _mm512_mul_ps(_mm512_cvtepi32_ps(row[0]), scale[0]);
      const __m512 b = _mm512_mul_ps(_mm512_cvtepi32_ps(row[1]), scale[1]);
      const __m512i first = _mm512_cvtps_epi32(_mm512_min_ps(a, high));
      return _mm512_adds_epi16(_mm512_packs_epi32(first, _mm512_cvtps_epi32(_mm512_min_ps(b, high))), zero);
    }
    CAMEO_CELL_INLINE void put(const sum (&row)[2], const sum (&next)[2], std::uint8_t* to,
                               std::uint8_t* to_next) const {
      const __m512i a = halves(row), b = halves(next);
      __m512i all = is_signed ? _mm512_packs_epi16(a, b) : _mm512_packus_epi16(a, b);
      // In each lane of 128 bits lie four codes of each vector of both rows.
      const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
      all = _mm512_permutexvar_epi32(order, all);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_castsi512_si256(all));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to_next), _mm512_extracti64x4_epi64(all, 1));
    }
  };
};
