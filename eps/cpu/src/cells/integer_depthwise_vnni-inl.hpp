// Filters of single channels with vpdpbusd, for the file that includes this within its target: a cell has four rows of
// a window's column, for one channel. Columns of pixels are put together once for all outputs that see them. Of 64
// channels, vector v has channels 16 * lane + 4 * v + 0 to 3 in each lane of 128 bits: so bytes fall when rows are
// interleaved.
struct depthwise_block {
  static constexpr std::int64_t channels = 64, vectors = 4, rows = 4;
};

/// Measured, 64 channels take the time of three vectors of 16 in float.
bool depthwise_takes(std::int64_t channels, std::int64_t columns, std::int64_t stride, std::int64_t dilation,
                     bool fit_bytes) {
  const bool pays = 3 * ((channels + 63) / 64) <= (channels + 15) / 16;
  return pays && fit_bytes && dilation == 1 && (columns == 3 || columns == 5) && (stride == 1 || stride == 2);
}
std::int64_t quads_of(std::int64_t rows) { return (rows + depthwise_block::rows - 1) / depthwise_block::rows; }
std::size_t depthwise_size(std::int64_t channels, std::int64_t rows, std::int64_t columns) {
  const std::int64_t blocks = (channels + depthwise_block::channels - 1) / depthwise_block::channels;
  return std::size_t(blocks * quads_of(rows) * columns * depthwise_block::channels * depthwise_block::rows);
}
/// [block][quad of rows][column][vector][lane of 128 bits][4 channels][4 rows]
void pack_depthwise(function_ref<std::int32_t(std::int64_t)> numbers, std::int64_t channels, std::int64_t rows,
                    std::int64_t columns, std::byte* to) {
  for (std::int64_t first = 0; first < channels; first += depthwise_block::channels)
    for (std::int64_t quad = 0; quad < quads_of(rows); ++quad)
      for (std::int64_t column = 0; column < columns; ++column)
        for (std::int64_t i = 0; i < depthwise_block::channels * depthwise_block::rows; ++i) {
          const std::int64_t v = i / 64, lane = i / 16 % 4, c = first + 16 * lane + 4 * v + i / 4 % 4;
          const std::int64_t row = quad * depthwise_block::rows + i % 4;
          const bool there = c < channels && row < rows;
          *to++ = std::byte(std::uint8_t(there ? numbers((c * rows + row) * columns + column) : 0));
        }
}

/// The first of 16 numbers that are among `left`.
CAMEO_CELL_INLINE __mmask16 up_to(std::int64_t left) {
  return left >= 16 ? __mmask16(0xFFFF) : left <= 0 ? __mmask16(0) : vectors::first(int(left));
}

/// 64 numbers of 32 bits in the order of the vectors.
struct four_vectors {
  __m512i of[depthwise_block::vectors];
  CAMEO_CELL_INLINE four_vectors(const void* from, std::int64_t count) {
    const auto* const words = static_cast<const std::int32_t*>(from);
    __m512i n[4];
    for (int i = 0; i < 4; ++i) n[i] = _mm512_maskz_loadu_epi32(up_to(count - 16 * i), words + 16 * i);
    turn(n);
  }
  CAMEO_CELL_INLINE explicit four_vectors(const __m512i (&n)[4]) { turn(n); }

 private:
  /// Lanes of 128 bits as rows become columns; twice, and all is where it was.
  CAMEO_CELL_INLINE void turn(const __m512i (&n)[4]) {
    const __m512i a = _mm512_shuffle_i32x4(n[0], n[1], 0x44), b = _mm512_shuffle_i32x4(n[0], n[1], 0xEE);
    const __m512i c = _mm512_shuffle_i32x4(n[2], n[3], 0x44), d = _mm512_shuffle_i32x4(n[2], n[3], 0xEE);
    of[0] = _mm512_shuffle_i32x4(a, c, 0x88), of[1] = _mm512_shuffle_i32x4(a, c, 0xDD);
    of[2] = _mm512_shuffle_i32x4(b, d, 0x88), of[3] = _mm512_shuffle_i32x4(b, d, 0xDD);
  }
};

/// 64 channels: what all outputs share.
struct depthwise_channels {
  const depthwise_lines& p;
  std::int64_t first;
  __mmask64 there;
  const std::byte* w;
  four_vectors start, scale;
  CAMEO_CELL_INLINE depthwise_channels(const depthwise_lines& line, std::int64_t c)
      : p{line},
        first{c},
        there{line.channels - c >= 64 ? ~__mmask64(0) : (__mmask64(1) << (line.channels - c)) - 1},
        w{line.w + c / 64 * quads_of(line.rows) * line.columns * 256},
        start{line.start + c, line.channels - c},
        scale{line.sums ? nullptr : line.scale + c, line.sums ? 0 : line.channels - c} {}

  CAMEO_CELL_INLINE void put(const __m512i (&sums)[4], std::int64_t output) const {  // counted from the first line on
    if (p.sums) {
      const four_vectors in_order(sums);
      std::int32_t* const to = p.sums + output * p.step + first;
      for (int i = 0; i < 4; ++i)
        _mm512_mask_storeu_epi32(to + 16 * i, up_to(p.channels - first - 16 * i), in_order.of[i]);
      return;
    }
    const __m512 high = _mm512_set1_ps(p.high);  // more would be no integer
    __m512i codes[4];
    CAMEO_CELL_LOOP
    for (int v = 0; v < 4; ++v) {
      const __m512 made = _mm512_mul_ps(_mm512_cvtepi32_ps(sums[v]), _mm512_castsi512_ps(scale.of[v]));
      codes[v] = _mm512_cvtps_epi32(_mm512_min_ps(made, high));
    }
    const __m512i zero = _mm512_set1_epi16(std::int16_t(p.zero));
    const __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(codes[0], codes[1]), zero);
    const __m512i upper = _mm512_adds_epi16(_mm512_packs_epi32(codes[2], codes[3]), zero);
    const bool is_signed = p.low + float(p.zero) < 0;
    const __m512i all = is_signed ? _mm512_packs_epi16(low, upper) : _mm512_packus_epi16(low, upper);
    _mm512_mask_storeu_epi8(p.codes + output * p.step + first, there, all);
  }
};

template <int Columns, int Stride, int Outputs>
CAMEO_CELL_FUNCTION void depthwise_tile(const depthwise_channels& c, std::int64_t line, std::int64_t output) {
  constexpr int seen = (Outputs - 1) * Stride + Columns;
  const depthwise_lines& p = c.p;
  __m512i sums[Outputs][4];
  CAMEO_CELL_LOOP
  for (int i = 0; i < Outputs; ++i) CAMEO_CELL_LOOP
  for (int v = 0; v < 4; ++v) sums[i][v] = c.start.of[v];
  const std::byte* w = c.w;
  for (std::int64_t r = 0; r < p.rows; r += 4, w += Columns * 256) {
    const std::uint8_t* const x = p.x + line * p.x_step + output * Stride * p.pixel + c.first + r * p.row_step;
    const std::uint8_t* rows[4];
    __mmask64 there[4];  // nothing of rows that the window does not have
    CAMEO_CELL_LOOP
    for (int i = 0; i < 4; ++i) {
      rows[i] = x + (r + i < p.rows ? i : 0) * p.row_step;
      there[i] = r + i < p.rows ? c.there : __mmask64(0);
    }
    CAMEO_CELL_LOOP
    for (int q = 0; q < seen; ++q) {
      const std::int64_t at = q * p.pixel;
      const __m512i r0 = _mm512_maskz_loadu_epi8(there[0], rows[0] + at),
                    r1 = _mm512_maskz_loadu_epi8(there[1], rows[1] + at);
      const __m512i r2 = _mm512_maskz_loadu_epi8(there[2], rows[2] + at),
                    r3 = _mm512_maskz_loadu_epi8(there[3], rows[3] + at);
      const __m512i low01 = _mm512_unpacklo_epi8(r0, r1), high01 = _mm512_unpackhi_epi8(r0, r1);
      const __m512i low23 = _mm512_unpacklo_epi8(r2, r3), high23 = _mm512_unpackhi_epi8(r2, r3);
      const __m512i cells[4] = {_mm512_unpacklo_epi16(low01, low23), _mm512_unpackhi_epi16(low01, low23),
                                _mm512_unpacklo_epi16(high01, high23), _mm512_unpackhi_epi16(high01, high23)};
      CAMEO_CELL_LOOP
      for (int k = 0; k < Columns; ++k) {
        if (q < k || (q - k) % Stride != 0 || (q - k) / Stride >= Outputs) continue;
        CAMEO_CELL_LOOP
        for (int v = 0; v < 4; ++v)
          sums[(q - k) / Stride][v] =
              _mm512_dpbusd_epi32(sums[(q - k) / Stride][v], cells[v], _mm512_loadu_si512(w + k * 256 + v * 64));
      }
    }
  }
  CAMEO_CELL_LOOP
  for (int i = 0; i < Outputs; ++i) c.put(sums[i], line * p.outputs + output + i);
}

template <int Columns, int Stride>
void depthwise_outputs(const depthwise_lines& p) {
  constexpr int most = 4;
  for (std::int64_t c = 0; c < p.channels; c += depthwise_block::channels) {
    const depthwise_channels channels(p, c);
    for (std::int64_t line = 0; line < p.lines; ++line) {
      std::int64_t at = 0;
      for (; at + most <= p.outputs; at += most) depthwise_tile<Columns, Stride, most>(channels, line, at);
      if (p.outputs - at > 1 && p.outputs >= most)  // some of them once more
        depthwise_tile<Columns, Stride, most>(channels, line, p.outputs - most), at = p.outputs;
      for (; at < p.outputs; ++at) depthwise_tile<Columns, Stride, 1>(channels, line, at);
    }
  }
}

void run_depthwise(const depthwise_lines& p) {
  if (p.columns == 3) return p.stride == 1 ? depthwise_outputs<3, 1>(p) : depthwise_outputs<3, 2>(p);
  return p.stride == 1 ? depthwise_outputs<5, 1>(p) : depthwise_outputs<5, 2>(p);
}

constexpr depthwise_loops depthwise[] = {{depthwise_takes, depthwise_size, pack_depthwise, run_depthwise}};
