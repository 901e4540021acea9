// Panels of plain cells of bytes become panels of kinds of cells, for an arithmetic A as in integer_line-inl.hpp, with
//
//   A::pairs_fit(a)                 whether any u8 times these s8 are pairs within 16 bits
//   A::pairs_fit(a, b)              the same where the pairs of both are added
//   A::wide_evens(a)                as evens(), of s8
//   A::wide_odds(a)                 as odds(), of s8
//   A::put(p, a)                    stores a

template <class A>
CAMEO_CELL_FUNCTION void sort_cells(const panel_kinds& kinds, std::byte* panel) {
  constexpr std::int64_t bytes = A::lanes * 4, whole = 2 * bytes;
  using cells = typename A::cells;
  std::byte* out = panel + kinds.bytes();
  std::byte* const end = panel + kinds.bytes() + 2 * kinds.runs * kinds.cells * whole;
  const std::byte* const plain = end - kinds.runs * kinds.cells * whole;
  const auto fits = [](const std::byte* w, std::uint32_t order) {
    return A::pairs_fit(A::ordered(A::load(w), order)) && A::pairs_fit(A::ordered(A::load(w + bytes), order));
  };
  const auto set = [&](int row, std::int64_t run, std::int64_t c) {
    panel[((row * kinds.runs + run) * kinds.words() * 64 + c) / 8] |= std::byte(1 << c % 8);
  };
  std::memset(panel, 0, std::size_t(kinds.bytes()));
  for (std::int64_t t = 0; t < kinds.runs; ++t)
    for (std::int64_t c = 0; c < kinds.cells; ++c) {
      const std::byte *const w = plain + (t * kinds.cells + c) * whole, *const next = w + whole;
      unsigned order = 0;
      while (order < cell_orders.size() && !fits(w, cell_orders[order])) ++order;
      if (order & 1) set(0, t, c);
      if (order & 2) set(1, t, c);
      if (order == 0 && c % 2 == 0 && c + 1 < kinds.cells && A::pairs_fit(A::load(w), A::load(next)) &&
          A::pairs_fit(A::load(w + bytes), A::load(next + bytes)))
        set(2, t, c++);
    }
  // No cell is written over before it is read: those that need more room than they had are the last.
  const auto put = [&](cells a, cells b) { A::put(out, a), A::put(out + bytes, b), out += whole; };
  for (const cell_kind kind : {cell_kind::joined, cell_kind::narrow, cell_kind::turned, cell_kind::wide})
    for (std::int64_t t = 0; t < kinds.runs; ++t)
      for (std::int64_t word = 0; word < kinds.words(); ++word)
        for (std::uint64_t bits = kinds.of(panel, t, word, kind); bits; bits &= bits - 1) {
          const std::int64_t c = 64 * word + __builtin_ctzll(bits);
          const std::byte* const w = plain + (t * kinds.cells + c) * whole;
          const cells a = A::load(w), b = A::load(w + bytes);
          const std::uint32_t order = cell_orders[kinds.order(panel, t, c)];
          if (kind == cell_kind::wide) put(A::wide_evens(a), A::wide_evens(b)), put(A::wide_odds(a), A::wide_odds(b));
          else put(A::ordered(a, order), A::ordered(b, order));
          if (kind == cell_kind::joined) put(A::load(w + whole), A::load(w + whole + bytes));
        }
  std::memset(out, 0, std::size_t(end - out));
}
