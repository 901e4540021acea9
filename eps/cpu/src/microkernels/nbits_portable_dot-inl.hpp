// Extends nbits_vectors of nbits_portable-inl.hpp (arrays of four elements) by products of bytes, which the integer
// arithmetic A computes with vectors of four sums. If A multiplies int8 only, its `middle` is subtracted from weights
// of 8 bits.
template <class A>
struct few_bits : nbits_vectors {
  static_assert(A::lanes == lanes);
  template <int Bits>
  static constexpr int middle = Bits == 8 ? middle_of<A>() : 0;
  template <int Bits>
  static CAMEO_INLINE sums add_cells(sums s, const codes (&cells)[8 / Bits], const std::byte* a) {
    int32x4_t made = vld1q_s32(s.lane);
    CAMEO_UNROLL
    for (int j = 0; j < 8 / Bits; ++j) {
      const int8x16_t flip = vdupq_n_s8(std::int8_t(-middle<Bits>));
      const int8x16_t codes_of_cell = veorq_s8(vreinterpretq_s8_u32(vld1q_u32(cells[j].lane)), flip);
      made = A::add_products(made, codes_of_cell, vectors::broadcast(a + 4 * j));
    }
    vst1q_s32(s.lane, made);
    return s;
  }
};
