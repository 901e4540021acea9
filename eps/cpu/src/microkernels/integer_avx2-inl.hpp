// Vectors of 256 bits for integer_line-inl.hpp. Each file that includes this adds its arithmetic, within its target.
struct vectors {
  static constexpr int lanes = 8, tile_rows = 6;
  using sum = __m256i;
  using cells = __m256i;

  static CAMEO_INLINE cells broadcast(const std::byte* p) {
    std::int32_t cell;
    std::memcpy(&cell, p, sizeof cell);
    return _mm256_set1_epi32(cell);
  }
  static CAMEO_INLINE cells load(const std::byte* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static CAMEO_INLINE sum load_sums(const std::int32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
  }
  static CAMEO_INLINE sum nothing() { return _mm256_setzero_si256(); }
  static CAMEO_INLINE sum add(sum a, sum b) { return _mm256_add_epi32(a, b); }
  static CAMEO_INLINE void put(std::byte* p, cells a) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), a); }

  static CAMEO_INLINE cells words(std::int32_t v) { return _mm256_set1_epi32(v); }
  static CAMEO_INLINE cells all_bytes(std::uint8_t v) { return _mm256_set1_epi8(char(v)); }
  static CAMEO_INLINE cells flipped(cells a, cells b) { return _mm256_xor_si256(a, b); }
  static CAMEO_INLINE cells low_bytes(cells a, cells b) { return _mm256_unpacklo_epi8(a, b); }
  static CAMEO_INLINE cells high_bytes(cells a, cells b) { return _mm256_unpackhi_epi8(a, b); }
  static CAMEO_INLINE cells shifted_up(cells a) { return _mm256_slli_epi32(a, 8); }
  static CAMEO_INLINE cells shifted_down(cells a, __m128i count) { return _mm256_sra_epi32(a, count); }
  static CAMEO_INLINE cells narrowed(cells a, cells b, cells c, cells d) {
    return _mm256_packus_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
  }
  static CAMEO_INLINE cells replaced(cells y, cells a, cells b, const std::uint8_t (&from)[2], std::uint8_t v) {
    const cells is_left = _mm256_cmpeq_epi8(a, all_bytes(from[0]));
    return _mm256_blendv_epi8(y, all_bytes(v), _mm256_and_si256(is_left, _mm256_cmpeq_epi8(b, all_bytes(from[1]))));
  }

  static CAMEO_INLINE void store(sum s, int count, std::int32_t* to) {
    if (count == lanes) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), s);
    alignas(32) std::int32_t all[lanes];
    _mm256_store_si256(reinterpret_cast<__m256i*>(all), s);
    std::memcpy(to, all, std::size_t(count) * sizeof *to);
  }

  /// Quantizes the sums of a tile, four vectors at a time. Packing saturates at the limits of uint8 and int8, so that
  /// only floats too large for int32 have to be clamped first: they would be converted to the least int32.
  template <int Vectors>
  struct row_codes {
    __m256 scale[Vectors], high;
    __m256i zero;
    bool is_signed;
    template <class Line>
    CAMEO_INLINE explicit row_codes(const Line& p, std::int64_t first = 0)
        : high{_mm256_set1_ps(p.high)},
          zero{_mm256_set1_epi16(std::int16_t(p.zero))},
          is_signed{p.low + float(p.zero) < 0} {
      CAMEO_UNROLL
      for (int j = 0; j < Vectors; ++j) scale[j] = _mm256_loadu_ps(p.scale + first + j * lanes);
    }
    template <int Rows>
    CAMEO_INLINE void put(const sum (&sums)[Rows][Vectors], int columns, std::uint8_t* to, std::int64_t step) const {
      constexpr int at_once = 4 / Vectors, last = Rows - 1;
      CAMEO_UNROLL
      for (int i = 0; i < Rows; i += at_once) {
        __m256i made[4];
        CAMEO_UNROLL
        for (int k = 0; k < 4; ++k)
          made[k] = code(sums[i + k / Vectors < Rows ? i + k / Vectors : last][k % Vectors], scale[k % Vectors]);
        const __m256i a = _mm256_adds_epi16(_mm256_packs_epi32(made[0], made[1]), zero);
        const __m256i b = _mm256_adds_epi16(_mm256_packs_epi32(made[2], made[3]), zero);
        // Each lane of 128 bits has four quantized values of each vector.
        const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        const __m256i all =
            _mm256_permutevar8x32_epi32(is_signed ? _mm256_packs_epi16(a, b) : _mm256_packus_epi16(a, b), order);
        const __m128i halves[2] = {_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1)};
        CAMEO_UNROLL
        for (int k = 0; k < at_once; ++k)
          if (i + k < Rows)
            store_codes(
                to + (i + k) * step,
                k * Vectors % 2 == 0 ? halves[k * Vectors / 2] : _mm_unpackhi_epi64(halves[k / 2], halves[k / 2]),
                columns);
      }
    }

   private:
    CAMEO_INLINE __m256i code(sum s, __m256 by) const {
      return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(s), by), high));
    }
    static CAMEO_INLINE void store_codes(std::uint8_t* to, __m128i codes, int columns) {
      if (columns == 16) return _mm_storeu_si128(reinterpret_cast<__m128i*>(to), codes);
      if (columns == 8) return _mm_storel_epi64(reinterpret_cast<__m128i*>(to), codes);
      std::uint8_t all[16];
      _mm_storeu_si128(reinterpret_cast<__m128i*>(all), codes);
      std::memcpy(to, all, std::size_t(columns));
    }
  };
};
