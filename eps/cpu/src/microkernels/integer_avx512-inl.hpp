// Vectors of 512 bits for integer_line-inl.hpp. Each file that includes this adds its arithmetic, within its target.
struct vectors {
  static constexpr int lanes = 16, tile_rows = 14;
  using sum = __m512i;
  using cells = __m512i;

  static CAMEO_INLINE cells broadcast(const std::byte* p) {
    std::int32_t cell;
    std::memcpy(&cell, p, sizeof cell);
    return _mm512_set1_epi32(cell);
  }
  static CAMEO_INLINE cells load(const std::byte* p) { return _mm512_loadu_si512(p); }
  static CAMEO_INLINE sum load_sums(const std::int32_t* p) { return _mm512_loadu_si512(p); }
  static CAMEO_INLINE sum nothing() { return _mm512_setzero_si512(); }
  static CAMEO_INLINE sum add(sum a, sum b) { return _mm512_add_epi32(a, b); }
  static CAMEO_INLINE void put(std::byte* p, cells a) { _mm512_storeu_si512(p, a); }

  static CAMEO_INLINE cells words(std::int32_t v) { return _mm512_set1_epi32(v); }
  static CAMEO_INLINE cells all_bytes(std::uint8_t v) { return _mm512_set1_epi8(char(v)); }
  static CAMEO_INLINE cells flipped(cells a, cells b) { return _mm512_xor_si512(a, b); }
  static CAMEO_INLINE cells low_bytes(cells a, cells b) { return _mm512_unpacklo_epi8(a, b); }
  static CAMEO_INLINE cells high_bytes(cells a, cells b) { return _mm512_unpackhi_epi8(a, b); }
  static CAMEO_INLINE cells shifted_up(cells a) { return _mm512_slli_epi32(a, 8); }
  static CAMEO_INLINE cells shifted_down(cells a, __m128i count) { return _mm512_sra_epi32(a, count); }
  static CAMEO_INLINE cells narrowed(cells a, cells b, cells c, cells d) {
    return _mm512_packus_epi16(_mm512_packs_epi32(a, b), _mm512_packs_epi32(c, d));
  }
  static CAMEO_INLINE cells replaced(cells y, cells a, cells b, const std::uint8_t (&from)[2], std::uint8_t v) {
    const __mmask64 is_left = _mm512_cmpeq_epi8_mask(a, all_bytes(from[0]));
    return _mm512_mask_mov_epi8(y, _mm512_mask_cmpeq_epi8_mask(is_left, b, all_bytes(from[1])), all_bytes(v));
  }

  static CAMEO_INLINE __mmask16 first(int count) { return __mmask16((1u << count) - 1); }
  static CAMEO_INLINE void store(sum s, int count, std::int32_t* to) {
    if (count == lanes) _mm512_storeu_si512(to, s);
    else _mm512_mask_storeu_epi32(to, first(count), s);
  }

  /// Quantizes the sums of a tile, four vectors at a time. Packing saturates at the limits of uint8 and int8. A float
  /// too large for int32 would be converted to the least int32, and has to be clamped first; with scales below 1 none
  /// is.
  template <int Vectors>
  struct row_codes {
    __m512 scale[Vectors], high;
    __m512i zero;
    bool is_signed, may_leave = false;
    CAMEO_INLINE explicit row_codes(const integer_line& p)
        : high{_mm512_set1_ps(p.high)},
          zero{_mm512_set1_epi16(std::int16_t(p.zero))},
          is_signed{p.low + float(p.zero) < 0} {
      CAMEO_UNROLL
      for (int j = 0; j < Vectors; ++j) {
        scale[j] = _mm512_loadu_ps(p.scale + j * lanes);
        may_leave = may_leave || _mm512_cmp_ps_mask(_mm512_abs_ps(scale[j]), _mm512_set1_ps(1), _CMP_NLT_UQ) != 0;
      }
    }
    template <int Rows>
    CAMEO_INLINE void put(const sum (&sums)[Rows][Vectors], int columns, std::uint8_t* to, std::int64_t step) const {
      if (may_leave) put_rows<true>(sums, columns, to, step);
      else put_rows<false>(sums, columns, to, step);
    }

   private:
    template <bool Hold>
    CAMEO_INLINE __m512i code(sum s, __m512 by) const {
      const __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(s), by);
      return _mm512_cvtps_epi32(Hold ? _mm512_min_ps(v, high) : v);
    }
    template <bool Hold, int Rows>
    CAMEO_INLINE void put_rows(const sum (&sums)[Rows][Vectors], int columns, std::uint8_t* to,
                               std::int64_t step) const {
      constexpr int at_once = 4 / Vectors, last = Rows - 1;
      const bool whole = columns == Vectors * lanes;
      CAMEO_UNROLL
      for (int i = 0; i < Rows; i += at_once) {
        __m512i made[4];
        CAMEO_UNROLL
        for (int k = 0; k < 4; ++k)
          made[k] = code<Hold>(sums[i + k / Vectors < Rows ? i + k / Vectors : last][k % Vectors], scale[k % Vectors]);
        const __m512i a = _mm512_adds_epi16(_mm512_packs_epi32(made[0], made[1]), zero);
        const __m512i b = _mm512_adds_epi16(_mm512_packs_epi32(made[2], made[3]), zero);
        // Each lane of 128 bits has four quantized values of each vector.
        const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        const __m512i all =
            _mm512_permutexvar_epi32(order, is_signed ? _mm512_packs_epi16(a, b) : _mm512_packus_epi16(a, b));
        std::uint8_t* const row = to + i * step;
        if constexpr (Vectors == 2) {
          const __m256i upper = _mm512_extracti64x4_epi64(all, 1);
          store_codes(row, _mm512_castsi512_si256(all), columns, whole);
          if (i < last) store_codes(row + step, upper, columns, whole);
        } else {
          store_codes(row, _mm512_castsi512_si128(all), columns, whole);
          if (i + 1 < Rows) store_codes(row + step, _mm512_extracti32x4_epi32(all, 1), columns, whole);
          if (i + 2 < Rows) store_codes(row + 2 * step, _mm512_extracti32x4_epi32(all, 2), columns, whole);
          if (i + 3 < Rows) store_codes(row + 3 * step, _mm512_extracti32x4_epi32(all, 3), columns, whole);
        }
      }
    }
    static CAMEO_INLINE void store_codes(std::uint8_t* to, __m256i codes, int columns, bool whole) {
      if (whole) _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), codes);
      else _mm256_mask_storeu_epi8(to, (__mmask32(1) << columns) - 1, codes);
    }
    static CAMEO_INLINE void store_codes(std::uint8_t* to, __m128i codes, int columns, bool whole) {
      if (whole) _mm_storeu_si128(reinterpret_cast<__m128i*>(to), codes);
      else _mm_mask_storeu_epi8(to, first(columns), codes);
    }
  };
};
