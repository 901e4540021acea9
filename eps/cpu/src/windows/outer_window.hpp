#pragma once
#include <cameo/eps/cpu/detail/window.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The position of a line of outputs (all positions along the last axis), and the part of the window that is inside the
/// input there, for all axes but the last.
struct outer_window {
  std::int64_t at[max_spatial];                        // position along each axis
  std::int64_t first[max_spatial], last[max_spatial];  // elements [first, last) of the window are inside the input
  bool empty = false;
  outer_window(const placed_window& w, std::int64_t line) {
    for (std::size_t i = w.rank - 1; i-- > 0; line /= w.axes[i].out) {
      at[i] = line % w.axes[i].out;
      first[i] = w.axes[i].first(at[i]), last[i] = w.axes[i].last(at[i]);
      empty = empty || first[i] >= last[i];
    }
  }
  /// Calls f(index of the line's first element) for every line of the input that the window covers.
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
