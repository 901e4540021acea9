// Depthwise convolution (one filter per channel) with vpmaddwd, for the file that includes this within its target. A
// dot-product group ("cell" in names) has two taps of the window for one channel, as int16: taps above each other, from
// two rows; or taps beside each other, in a last row without a partner. The groups of pixels are made once for all
// outputs whose windows contain them.
constexpr std::int64_t depthwise_cells(std::int64_t rows, std::int64_t columns) {
  return rows / 2 * columns + rows % 2 * ((columns + 1) / 2);
}

/// Calls f(first channel, channels) for each block of one or two vectors of channels. The last block may overlap the
/// one before.
template <class F>
void each_block(std::int64_t channels, const F& f) {
  std::int64_t block = 0;
  for (std::int64_t c = 0; c < channels; c += block) {
    block = channels >= 2 * vectors::lanes && channels - c > vectors::lanes ? 2 * vectors::lanes : vectors::lanes;
    f(c + block <= channels ? c : channels - block, block);
  }
}
bool depthwise_takes(std::int64_t channels, std::int64_t, std::int64_t columns, std::int64_t stride,
                     std::int64_t dilation, bool) {
  return channels >= vectors::lanes && dilation == 1 && (columns == 3 || columns == 5) && (stride == 1 || stride == 2);
}
std::size_t depthwise_size(std::int64_t channels, std::int64_t rows, std::int64_t columns) {
  std::int64_t in_blocks = 0;
  each_block(channels, [&](std::int64_t, std::int64_t block) { in_blocks += block; });
  return std::size_t(in_blocks * depthwise_cells(rows, columns)) * 4;
}
/// Packs filters as [block][group][channel][2].
void pack_depthwise(detail::function_ref<std::int32_t(std::int64_t)> numbers, std::int64_t channels, std::int64_t rows,
                    std::int64_t columns, std::byte* to) {
  each_block(channels, [&](std::int64_t first, std::int64_t block) {
    const auto put = [&](std::int64_t row, std::int64_t column, std::int64_t other_row, std::int64_t other_column) {
      for (std::int64_t c = first; c < first + block; ++c) {
        const auto at = [&](std::int64_t r, std::int64_t k) {
          return std::int16_t(k < columns ? numbers((c * rows + r) * columns + k) : 0);
        };
        const std::int16_t cell[2] = {at(row, column), at(other_row, other_column)};
        std::memcpy(to, cell, sizeof cell);
        to += sizeof cell;
      }
    };
    std::int64_t row = 0;
    for (; row + 2 <= rows; row += 2)
      for (std::int64_t k = 0; k < columns; ++k) put(row, k, row + 1, k);
    if (row < rows)
      for (std::int64_t k = 0; k < columns; k += 2) put(row, k, row, k + 1);
  });
}

/// The dot-product groups of two pixels, for one or two vectors of channels.
CAMEO_INLINE void join_pixels(const std::uint8_t* a, const std::uint8_t* b, __m256i (&cells)[2]) {
  const __m128i x = _mm_loadu_si128(reinterpret_cast<const __m128i*>(a));
  const __m128i y = _mm_loadu_si128(reinterpret_cast<const __m128i*>(b));
  cells[0] = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(x, y));
  cells[1] = _mm256_cvtepu8_epi16(_mm_unpackhi_epi8(x, y));
}
CAMEO_INLINE void join_pixels(const std::uint8_t* a, const std::uint8_t* b, __m256i (&cells)[1]) {
  const __m128i x = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(a));
  const __m128i y = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(b));
  cells[0] = _mm256_cvtepu8_epi16(_mm_unpacklo_epi8(x, y));
}

/// Computes outputs [at, at + Outputs) of a line for a block of channels, whose filters are w.
template <int Columns, int Stride, int Outputs, int Vectors>
CAMEO_NOINLINE void depthwise_tile(const depthwise_lines& p, std::int64_t first, const std::byte* w, std::int64_t line,
                                   std::int64_t at) {
  constexpr int seen = (Outputs - 1) * Stride + Columns;
  constexpr std::int64_t cell_bytes = Vectors * vectors::lanes * 4;
  __m256i sums[Outputs][Vectors];
  CAMEO_UNROLL
  for (int v = 0; v < Vectors; ++v) {
    const __m256i start = vectors::load_sums(p.start + first + v * vectors::lanes);
    CAMEO_UNROLL
    for (int i = 0; i < Outputs; ++i) sums[i][v] = start;
  }
  const auto add_cells = [&](int output, const __m256i(&cells)[Vectors], const std::byte* filter) {
    CAMEO_UNROLL
    for (int v = 0; v < Vectors; ++v)
      sums[output][v] = shorts::add_products(sums[output][v], cells[v], vectors::load(filter + v * vectors::lanes * 4));
  };
  const std::uint8_t* row = p.x + line * p.x_step + at * Stride * p.pixel + first;
  std::int64_t r = 0;
  for (; r + 2 <= p.rows; r += 2, row += 2 * p.row_step, w += Columns * cell_bytes) CAMEO_UNROLL
  for (int q = 0; q < seen; ++q) {
    __m256i cells[Vectors];
    join_pixels(row + q * p.pixel, row + p.row_step + q * p.pixel, cells);
    CAMEO_UNROLL
    for (int k = 0; k < Columns; ++k)
      if (q >= k && (q - k) % Stride == 0 && (q - k) / Stride < Outputs)
        add_cells((q - k) / Stride, cells, w + k * cell_bytes);
  }
  if (r < p.rows) CAMEO_UNROLL
  for (int q = 0; q < seen; ++q) {
    __m256i cells[Vectors];
    // A tap after the last column has weight 0, so that any pixel will do.
    join_pixels(row + q * p.pixel, row + (q + 1 < seen ? q + 1 : q) * p.pixel, cells);
    CAMEO_UNROLL
    for (int k = 0; k < Columns; k += 2)
      if (q >= k && (q - k) % Stride == 0 && (q - k) / Stride < Outputs)
        add_cells((q - k) / Stride, cells, w + k / 2 * cell_bytes);
  }
  const std::int64_t to = (line * p.outputs + at) * p.channels + first;
  if (!p.sums)
    return vectors::row_codes<Vectors>(p, first).put(sums, Vectors * vectors::lanes, p.codes + to, p.channels);
  CAMEO_UNROLL
  for (int i = 0; i < Outputs; ++i) CAMEO_UNROLL
  for (int v = 0; v < Vectors; ++v)
    vectors::store(sums[i][v], vectors::lanes, p.sums + to + i * p.channels + v * vectors::lanes);
}

/// Computes lines in tiles of outputs, the last of which may overlap the one before. With two vectors of channels, a
/// tile has six outputs, so that registers are left for groups.
template <int Columns, int Stride, int Vectors>
void depthwise_outputs(const depthwise_lines& p, std::int64_t first, const std::byte* w) {
  for (std::int64_t line = 0; line < p.lines; ++line) {
    std::int64_t at = 0;
    for (; at + 6 <= p.outputs; at += 6) depthwise_tile<Columns, Stride, 6, Vectors>(p, first, w, line, at);
    const std::int64_t left = p.outputs - at;
    if (left > 3 && p.outputs >= 5) depthwise_tile<Columns, Stride, 5, Vectors>(p, first, w, line, p.outputs - 5);
    else if (left > 1 && p.outputs >= 3) {
      if (left > 3) depthwise_tile<Columns, Stride, 3, Vectors>(p, first, w, line, at);
      depthwise_tile<Columns, Stride, 3, Vectors>(p, first, w, line, p.outputs - 3);
    } else {
      for (; at < p.outputs; ++at) depthwise_tile<Columns, Stride, 1, Vectors>(p, first, w, line, at);
    }
  }
}
template <int Columns, int Stride>
void depthwise_blocks(const depthwise_lines& p) {
  const std::byte* w = p.w;
  each_block(p.channels, [&](std::int64_t c, std::int64_t block) {
    if (block == vectors::lanes) depthwise_outputs<Columns, Stride, 1>(p, c, w);
    else depthwise_outputs<Columns, Stride, 2>(p, c, w);
    w += block * depthwise_cells(p.rows, p.columns) * 4;
  });
}
void run_depthwise(const depthwise_lines& p) {
  if (p.columns == 3) return p.stride == 1 ? depthwise_blocks<3, 1>(p) : depthwise_blocks<3, 2>(p);
  return p.stride == 1 ? depthwise_blocks<5, 1>(p) : depthwise_blocks<5, 2>(p);
}

constexpr depthwise_loops depthwise[] = {{depthwise_takes, depthwise_size, pack_depthwise, run_depthwise, false}};
