// Sorts the dot-product groups of a panel of bytes by kind (see cell_kind), for an arithmetic A as in
// integer_line-inl.hpp with these additional members:
//
//   A::pairs_fit(a)                 true if the sums of pairs of these s8 times any u8 fit in int16
//   A::pairs_fit(a, b)              true if they fit even if the sums of a and b are added
//   A::wide_evens(a)                evens() of s8
//   A::wide_odds(a)                 odds() of s8
//   A::put(p, a)                    stores a

/// Finds the kind of each group, and moves groups from the end of the panel to their places.
template <class A>
CAMEO_NOINLINE void sort_cells(const panel_kinds& kinds, std::byte* panel) {
  constexpr std::int64_t bytes = A::lanes * 4, whole = 2 * bytes;
  using cells = typename A::cells;
  std::byte* out = panel + kinds.bytes();
  std::byte* const end = out + 2 * kinds.all() * whole;
  const std::byte* const plain = end - kinds.all() * whole;
  const auto fits = [](const std::byte* w, std::uint32_t order) {
    return A::pairs_fit(A::ordered(A::load(w), order)) && A::pairs_fit(A::ordered(A::load(w + bytes), order));
  };
  std::memset(panel, 0, std::size_t(kinds.bytes()));
  for (std::int64_t at = 0; at < kinds.all(); ++at) {
    const std::byte *const w = plain + at * whole, *const next = w + whole;
    std::size_t order = 0;
    while (order < cell_orders.size() && !fits(w, cell_orders[order])) ++order;
    panel[at] = std::byte(std::size_t(cell_kind::narrow) + order);
    const std::int64_t cell = at % kinds.cells;
    if (order == 0 && cell % 2 == 0 && cell + 1 < kinds.cells && A::pairs_fit(A::load(w), A::load(next)) &&
        A::pairs_fit(A::load(w + bytes), A::load(next + bytes)))
      panel[at] = std::byte(cell_kind::joined), panel[++at] = std::byte(cell_kind::second);
  }
  // No group is overwritten before it is read, as those that need more bytes than they had (wide ones) come last.
  const auto put = [&](cells a, cells b) { A::put(out, a), A::put(out + bytes, b), out += whole; };
  for (std::size_t i = 0; i < panel_kinds::count; ++i)
    for (std::int64_t at = 0; at < kinds.all(); ++at) {
      const auto kind = cell_kind(i);
      if (cell_kind(panel[at]) != kind) continue;
      const std::byte* const w = plain + at * whole;
      const cells a = A::load(w), b = A::load(w + bytes);
      if (kind == cell_kind::wide) {
        put(A::wide_evens(a), A::wide_evens(b)), put(A::wide_odds(a), A::wide_odds(b));
      } else if (kind == cell_kind::joined) {
        put(a, b), put(A::load(w + whole), A::load(w + whole + bytes));
      } else {
        const std::uint32_t order = cell_orders[i - std::size_t(cell_kind::narrow)];
        put(A::ordered(a, order), A::ordered(b, order));
      }
    }
  std::memset(out, 0, std::size_t(end - out));
}
