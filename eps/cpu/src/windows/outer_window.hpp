#pragma once
#include <cameo/eps/cpu/detail/window.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Where a line of outputs is, and the part of the window that is inside the input there, for all axes but the last.
struct outer_window {
  std::int64_t at[max_spatial], first[max_spatial], last[max_spatial];
  bool empty = false;
  outer_window(const placed_window& w, std::int64_t line) {
    for (std::size_t i = w.rank - 1; i-- > 0; line /= w.axes[i].out) {
      at[i] = line % w.axes[i].out;
      first[i] = w.axes[i].first(at[i]), last[i] = w.axes[i].last(at[i]);
      empty = empty || first[i] >= last[i];
    }
  }
  /// Calls f(start of the input line) for every line that the window sees.
  template <class F>
  void each_line(const placed_window& w, const F& f) const {
    if (empty) return;
    std::int64_t k[max_spatial];
    std::copy_n(first, w.rank, k);
    while (true) {
      std::int64_t start = 0;
      for (std::size_t i = 0; i + 1 < w.rank; ++i)
        start = start * w.axes[i].in + at[i] * w.axes[i].stride - w.axes[i].pad_begin + k[i] * w.axes[i].dilation;
      f(start * w.axes[w.rank - 1].in);
      std::size_t i = w.rank - 1;
      for (; i-- > 0;) {
        if (++k[i] < last[i]) break;
        k[i] = first[i];
      }
      if (i == std::size_t(-1)) return;
    }
  }
};

}  // namespace CAMEO_NAMESPACE::eps
