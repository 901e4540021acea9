// Arrays of four elements in place of vectors, for nbits_line-inl.hpp.
struct nbits_vectors {
  static constexpr int lanes = 4, tile_rows = 2, row_blocks = 1;
  template <class T>
  struct four {
    T lane[lanes];
  };
  using codes = four<std::uint32_t>;
  using floats = four<float>;
  using sums = four<std::int32_t>;

  template <class T, class F>
  static CAMEO_INLINE four<T> each(const F& f) {
    four<T> made;
    for (int i = 0; i < lanes; ++i) made.lane[i] = f(i);
    return made;
  }
  /// a * b + s, rounded once if the processor has an instruction for it.
  static CAMEO_INLINE float product_and(float a, float b, float s) {
#ifdef __FP_FAST_FMAF
    return std::fma(a, b, s);
#else
    return a * b + s;
#endif
  }

  static CAMEO_INLINE codes load(const std::byte* p) {
    codes made;
    std::memcpy(made.lane, p, sizeof made);
    return made;
  }
  static CAMEO_INLINE floats load_floats(const float* p) {
    return each<float>([=](int i) { return p[i]; });
  }
  static CAMEO_INLINE floats widen(const std::uint8_t* p) {
    return each<float>([=](int i) { return float(p[i]); });
  }
  static CAMEO_INLINE void store(floats v, int count, float* to) {
    std::memcpy(to, v.lane, std::size_t(count) * sizeof *to);
  }
  static CAMEO_INLINE floats all(float x) {
    return each<float>([=](int) { return x; });
  }
  static CAMEO_INLINE sums all_sums(std::int32_t x) {
    return each<std::int32_t>([=](int) { return x; });
  }
  static CAMEO_INLINE floats add_product(floats s, floats a, floats b) {
    return each<float>([&](int i) { return product_and(a.lane[i], b.lane[i], s.lane[i]); });
  }
  static CAMEO_INLINE floats take_product(floats s, floats a, floats b) {
    return each<float>([&](int i) { return product_and(-a.lane[i], b.lane[i], s.lane[i]); });
  }
  static CAMEO_INLINE floats add(floats a, floats b) {
    return each<float>([&](int i) { return a.lane[i] + b.lane[i]; });
  }
  static CAMEO_INLINE floats less(floats a, floats b) {
    return each<float>([&](int i) { return a.lane[i] - b.lane[i]; });
  }
  static CAMEO_INLINE floats multiply(floats a, floats b) {
    return each<float>([&](int i) { return a.lane[i] * b.lane[i]; });
  }
  static CAMEO_INLINE floats to_floats(sums s) {
    return each<float>([&](int i) { return float(s.lane[i]); });
  }

  template <int Bits, bool Centered>
  struct table {
    template <int I>
    CAMEO_INLINE floats at(codes groups) const {
      constexpr std::int32_t zero = Centered ? 1 << (Bits - 1) : 0;
      return each<float>(
          [&](int i) { return float(std::int32_t(groups.lane[i] >> (I * Bits) & ((1u << Bits) - 1)) - zero); });
    }
  };
  struct codebook {
    const float* numbers;
    CAMEO_INLINE explicit codebook(const float* of) : numbers{of} {}
    template <int I>
    CAMEO_INLINE floats at(codes groups) const {
      return each<float>([&](int i) { return numbers[groups.lane[i] >> (I * 4) & 15]; });
    }
  };

  template <int Bits>
  static constexpr int middle = 0;
  template <int Bits>
  static CAMEO_INLINE void split(codes groups, codes (&cells)[8 / Bits]) {
    constexpr std::uint32_t mask = ((1u << Bits) - 1) * 0x01010101u;
    for (int j = 0; j < 8 / Bits; ++j)
      cells[j] = each<std::uint32_t>([&](int i) { return groups.lane[i] >> (j * Bits) & mask; });
  }
  template <int Bits>
  static CAMEO_INLINE sums add_cells(sums s, const codes (&cells)[8 / Bits], const std::byte* a) {
    for (int j = 0; j < 8 / Bits; ++j)
      for (int n = 0; n < 4; ++n) {
        const std::int32_t factor = std::int8_t(a[4 * j + n]);
        for (int i = 0; i < lanes; ++i) s.lane[i] += std::int32_t(cells[j].lane[i] >> (8 * n) & 0xFF) * factor;
      }
    return s;
  }
};
