// Vectors of 128 bits for integer_line-inl.hpp. Each file that includes this adds its arithmetic, within its target.
struct vectors {
  static constexpr int lanes = 4, tile_rows = 8;
  using sum = int32x4_t;
  using cells = int8x16_t;

  static CAMEO_INLINE cells broadcast(const std::byte* p) {
    std::int32_t cell;
    std::memcpy(&cell, p, sizeof cell);
    return vreinterpretq_s8_s32(vdupq_n_s32(cell));
  }
  static CAMEO_INLINE cells load(const std::byte* p) { return vld1q_s8(reinterpret_cast<const std::int8_t*>(p)); }
  static CAMEO_INLINE sum load_sums(const std::int32_t* p) { return vld1q_s32(p); }
  static CAMEO_INLINE sum nothing() { return vdupq_n_s32(0); }
  static CAMEO_INLINE sum add(sum a, sum b) { return vaddq_s32(a, b); }
  static CAMEO_INLINE void store(sum s, int count, std::int32_t* to) {
    if (count == lanes) return vst1q_s32(to, s);
    std::int32_t all[lanes];
    vst1q_s32(all, s);
    std::memcpy(to, all, std::size_t(count) * sizeof *to);
  }

  struct codes {
    float32x4_t scale, low, high;
    int32x4_t zero;
    CAMEO_INLINE codes(const integer_line& p, int column)
        : scale{vld1q_f32(p.scale + column)},
          low{vdupq_n_f32(p.low)},
          high{vdupq_n_f32(p.high)},
          zero{vdupq_n_s32(p.zero)} {}
    CAMEO_INLINE void put(sum s, int count, std::uint8_t* to) const {
      const float32x4_t v = vmulq_f32(vcvtq_f32_s32(s), scale);
      const int32x4_t code = vaddq_s32(vcvtnq_s32_f32(vminq_f32(vmaxq_f32(v, low), high)), zero);
      const uint16x4_t half = vmovn_u32(vreinterpretq_u32_s32(code));
      const uint8x8_t some = vmovn_u16(vcombine_u16(half, half));
      const std::uint32_t bytes = vget_lane_u32(vreinterpret_u32_u8(some), 0);
      std::memcpy(to, &bytes, count == lanes ? std::size_t(lanes) : std::size_t(count));
    }
  };
};

struct shorts : vectors {
  static constexpr int per_cell = 2;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) {
    const int16x8_t x = vreinterpretq_s16_s8(a), y = vreinterpretq_s16_s8(b);
    const int32x4_t low = vmull_s16(vget_low_s16(x), vget_low_s16(y)), high = vmull_high_s16(x, y);
    return vaddq_s32(s, vpaddq_s32(low, high));
  }
};
