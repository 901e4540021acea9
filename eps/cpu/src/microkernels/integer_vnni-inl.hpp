// Arithmetic with VNNI for the vectors of the file that includes this, which also defines multiply_bytes(),
// multiply_shorts() (vpdpbusd and vpdpwssd) and bits_at() for their width.
struct bytes : vectors {
  static constexpr int per_cell = 4;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) { return multiply_bytes(s, a, b); }
};
struct shorts : vectors {
  static constexpr int per_cell = 2;
  static CAMEO_INLINE sum add_products(sum s, cells a, cells b) { return multiply_shorts(s, a, b); }
};

struct few_bits : nbits_vectors {
  template <int Bits>
  static constexpr int middle = 0;
  template <int Bits>
  static CAMEO_INLINE void split(codes groups, codes (&cells)[8 / Bits]) {
    const codes mask = vectors::all_bytes((1 << Bits) - 1);
    CAMEO_UNROLL
    for (int i = 0; i < 8 / Bits; ++i) cells[i] = bits_at(groups, i * Bits, mask);
  }
  template <int Bits>
  static CAMEO_INLINE sums add_cells(sums s, const codes (&cells)[8 / Bits], const std::byte* a) {
    CAMEO_UNROLL
    for (int i = 0; i < 8 / Bits; ++i) s = multiply_bytes(s, cells[i], vectors::broadcast(a + 4 * i));
    return s;
  }
};
