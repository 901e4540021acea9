// Depthwise convolution (one filter per channel) with vpdpbusd, for the file that includes this within its target. A
// dot-product group ("cell" in names) has four rows of a column of the window, for one channel. The groups of a column
// of pixels are made once for all outputs whose windows contain it. A block of channels has as many as a vector has
// bytes. Its sums are in four vectors: in each lane of 128 bits, vector v has channels 16 * lane + 4 * v + 0 to 3,
// which is the order that interleaving rows gives.
inline constexpr std::int64_t depthwise_rows = 4, most_block = 64;

/// Operations on vectors of `Lanes` lanes of 128 bits.
template <int Lanes>
struct pixels;
#define CAMEO_PIXELS(lanes, whole, real, bits, prefix)                                                      \
  template <>                                                                                               \
  struct pixels<lanes> {                                                                                    \
    using vector = whole;                                                                                   \
    using floats = real;                                                                                    \
    using mask = bits;                                                                                      \
    static constexpr std::int64_t channels = 16 * lanes, numbers = 4 * lanes; /* of a block, of a vector */ \
    static CAMEO_INLINE vector load(const void* p) { return prefix##_loadu_epi32(p); }                      \
    static CAMEO_INLINE vector load(vector others, mask m, const void* p) {                                 \
      return prefix##_mask_loadu_epi8(others, m, p);                                                        \
    }                                                                                                       \
    static CAMEO_INLINE floats floats_at(const float* p) { return prefix##_loadu_ps(p); }                   \
    static CAMEO_INLINE void store(void* p, vector v) { prefix##_storeu_epi32(p, v); }                      \
    static CAMEO_INLINE void store(void* p, mask m, vector v) { prefix##_mask_storeu_epi8(p, m, v); }       \
    static CAMEO_INLINE vector low_bytes(vector a, vector b) { return prefix##_unpacklo_epi8(a, b); }       \
    static CAMEO_INLINE vector high_bytes(vector a, vector b) { return prefix##_unpackhi_epi8(a, b); }      \
    static CAMEO_INLINE vector low_pairs(vector a, vector b) { return prefix##_unpacklo_epi16(a, b); }      \
    static CAMEO_INLINE vector high_pairs(vector a, vector b) { return prefix##_unpackhi_epi16(a, b); }     \
    static CAMEO_INLINE vector add_products(vector sum, vector x, const void* w) {                          \
      return prefix##_dpbusd_epi32(sum, x, load(w));                                                        \
    }                                                                                                       \
    static CAMEO_INLINE bool may_leave(floats scale) { /* see row_codes */                                  \
      return (prefix##_cmp_ps_mask(scale, prefix##_set1_ps(1), _CMP_NLT_UQ) |                               \
              prefix##_cmp_ps_mask(scale, prefix##_set1_ps(-1), _CMP_NGT_UQ)) != 0;                         \
    }                                                                                                       \
    template <bool Hold>                                                                                    \
    static CAMEO_INLINE vector code(vector sum, floats scale, float high) {                                 \
      const floats v = prefix##_mul_ps(prefix##_cvtepi32_ps(sum), scale);                                   \
      return prefix##_cvtps_epi32(Hold ? prefix##_min_ps(v, prefix##_set1_ps(high)) : v);                   \
    }                                                                                                       \
    static CAMEO_INLINE vector bytes(const vector (&codes)[4], std::int32_t origin, bool is_signed) {       \
      const vector zero = prefix##_set1_epi16(std::int16_t(origin));                                        \
      const vector low = prefix##_adds_epi16(prefix##_packs_epi32(codes[0], codes[1]), zero);               \
      const vector high = prefix##_adds_epi16(prefix##_packs_epi32(codes[2], codes[3]), zero);              \
      return is_signed ? prefix##_packs_epi16(low, high) : prefix##_packus_epi16(low, high);                \
    }                                                                                                       \
  };
CAMEO_PIXELS(4, __m512i, __m512, __mmask64, _mm512)
CAMEO_PIXELS(2, __m256i, __m256, __mmask32, _mm256)
CAMEO_PIXELS(1, __m128i, __m128, __mmask16, _mm)
#undef CAMEO_PIXELS

/// The number of channels of the next block if `left` channels are left. The last block may overlap the one before.
std::int64_t block_of(std::int64_t left) { return left > 48 ? 64 : left > 16 ? 32 : 16; }
/// Calls f(first channel, channels) for each block of at least 16 channels.
template <class F>
void each_block(std::int64_t channels, const F& f) {
  std::int64_t block = 0;
  for (std::int64_t c = 0; c < channels; c += block) {
    block = block_of(channels - c);
    while (block > channels) block /= 2;
    f(c + block <= channels ? c : channels - block, block);
  }
}
/// The channel, in its block, of element i of the block's four vectors.
std::int64_t channel_at(std::int64_t i, std::int64_t block) {
  const std::int64_t v = i / (block / 4), lane = i % (block / 4) / 4;
  return 16 * lane + 4 * v + i % 4;
}

/// The number of quads (four rows of a window) that a window with this number of columns has; the filters of missing
/// rows are 0.
constexpr int quads_of(std::int64_t columns) { return columns > 4 ? 2 : 1; }
bool takes_window(std::int64_t rows, std::int64_t columns, std::int64_t dilation) {
  const int quads = quads_of(columns);
  return dilation == 1 && (columns == 3 || columns == 5) && rows <= 4 * quads && rows > 4 * (quads - 1);
}
bool depthwise_takes(std::int64_t channels, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                     std::int64_t dilation, bool fit_bytes) {
  return channels >= 16 && fit_bytes && takes_window(rows, columns, dilation) && (stride == 1 || stride == 2);
}
std::size_t depthwise_size(std::int64_t channels, std::int64_t, std::int64_t columns) {
  std::int64_t in_blocks = 0;
  each_block(channels, [&](std::int64_t, std::int64_t block) { in_blocks += block; });
  return std::size_t(in_blocks * quads_of(columns) * columns * depthwise_rows);
}
/// Packs filters as [block][quad of rows][column][vector][lane of 128 bits][4 channels][4 rows].
void pack_depthwise(detail::function_ref<std::int32_t(std::int64_t)> numbers, std::int64_t channels, std::int64_t rows,
                    std::int64_t columns, std::byte* to) {
  each_block(channels, [&](std::int64_t first, std::int64_t block) {
    for (std::int64_t quad = 0; quad < quads_of(columns); ++quad)
      for (std::int64_t column = 0; column < columns; ++column)
        for (std::int64_t i = 0; i < block * depthwise_rows; ++i) {
          const std::int64_t c = first + channel_at(i / depthwise_rows, block);
          const std::int64_t row = quad * depthwise_rows + i % depthwise_rows;
          *to++ = std::byte(std::uint8_t(row < rows ? numbers((c * rows + row) * columns + column) : 0));
        }
  });
}

/// The data of a block of channels that all its outputs share. Vectors have `Lanes` lanes of 128 bits; `count` channels
/// exist.
template <int Lanes>
struct depthwise_channels {
  using in = pixels<Lanes>;
  using vector = typename in::vector;
  const depthwise_lines& p;
  std::int64_t first, count;
  const std::byte* w;
  vector start[4];
  typename in::floats scale[4];
  bool is_signed, may_leave = false;
  std::uint8_t padding[in::channels];

  CAMEO_INLINE depthwise_channels(const depthwise_lines& line, std::int64_t c, const std::byte* packed,
                                  std::int64_t some = in::channels)
      : p{line}, first{c}, count{some}, w{packed}, is_signed{line.low + float(line.zero) < 0} {
    std::int32_t starts[most_block];
    float scales[most_block] = {};
    permute(line.start + c, starts);
    if (!line.sums) permute(line.scale + c, scales);
    CAMEO_UNROLL
    for (int v = 0; v < 4; ++v) {
      start[v] = in::load(starts + v * in::numbers);
      scale[v] = in::floats_at(scales + v * in::numbers);
      may_leave = may_leave || in::may_leave(scale[v]);
    }
    std::memset(padding, line.padding, sizeof padding);
  }
  typename in::mask there() const { return typename in::mask(~std::uint64_t{0} >> (64 - count)); }

  template <bool Masked>
  CAMEO_INLINE void put(const vector (&sums)[4], std::int64_t output) const {
    if (p.sums) return put_sums(sums, p.sums + output * p.channels + first);
    vector codes[4];
    if (may_leave) {
      CAMEO_UNROLL
      for (int v = 0; v < 4; ++v) codes[v] = in::template code<true>(sums[v], scale[v], p.high);
    } else {
      CAMEO_UNROLL
      for (int v = 0; v < 4; ++v) codes[v] = in::template code<false>(sums[v], scale[v], p.high);
    }
    std::uint8_t* const to = p.codes + output * p.channels + first;
    if constexpr (Masked) in::store(to, there(), in::bytes(codes, p.zero, is_signed));
    else in::store(to, in::bytes(codes, p.zero, is_signed));
  }

 private:
  CAMEO_NOINLINE void put_sums(vector s0, vector s1, vector s2, vector s3, std::int32_t* to) const {
    std::int32_t permuted[most_block];
    in::store(permuted, s0), in::store(permuted + in::numbers, s1);
    in::store(permuted + 2 * in::numbers, s2), in::store(permuted + 3 * in::numbers, s3);
    for (std::int64_t i = 0; i < in::channels; ++i)
      if (const std::int64_t c = channel_at(i, in::channels); c < count) to[c] = permuted[i];
  }
  CAMEO_INLINE void put_sums(const vector (&sums)[4], std::int32_t* to) const {
    put_sums(sums[0], sums[1], sums[2], sums[3], to);
  }
  /// Permutes values of consecutive channels to the order of the vectors, with 0 for channels that don't exist.
  template <class T>
  CAMEO_INLINE void permute(const T* from, T* to) const {
    for (std::int64_t i = 0; i < in::channels; i += 4) {
      const std::int64_t c = channel_at(i, in::channels);
      if (c + 4 <= count) std::memcpy(to + i, from + c, 4 * sizeof(T));
      else
        for (std::int64_t j = 0; j < 4; ++j) to[i + j] = c + j < count ? from[c + j] : T(0);
    }
  }
};

/// The outputs [begin, end) of a line whose windows have all columns within the image.
struct inner_outputs {
  std::int64_t begin, end;
  explicit inner_outputs(const depthwise_lines& p) {
    const std::int64_t before = p.column < 0 ? (p.stride - 1 - p.column) / p.stride : 0;
    const std::int64_t room = p.image_columns - p.columns - p.column, behind = room < 0 ? 0 : room / p.stride + 1;
    begin = before < p.outputs ? before : p.outputs;
    end = behind < p.outputs ? behind : p.outputs;
    if (end < begin) end = begin;
  }
};

/// A mask of the bytes that are within the image, of `every` pixels that begin at a column.
CAMEO_INLINE std::uint64_t inner_bytes(const depthwise_lines& p, std::int64_t column, std::int64_t every) {
  const auto first = [&](std::int64_t n) {
    const std::int64_t bytes = (n < 0 ? 0 : n > every ? every : n) * p.channels;
    return bytes >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bytes) - 1;
  };
  return first(p.image_columns - column) & ~first(-column);
}

/// The pixels of a tile's windows that are within the image: all; some columns, each completely in or out; or, in the
/// flat layout below, some bytes of a vector.
enum class sight : std::uint8_t { inner, edge, part };

/// Adds a quad of rows to the sums of outputs whose windows begin `Gap` columns apart.
template <int Columns, int Gap, int Outputs, sight Sight, int Lanes>
CAMEO_INLINE void add_quad(const depthwise_channels<Lanes>& c, std::int64_t line, std::int64_t at, std::int64_t every,
                           int quad, typename pixels<Lanes>::vector (&sums)[Outputs][4]) {
  using in = pixels<Lanes>;
  using vector = typename in::vector;
  constexpr int seen = (Outputs - 1) * Gap + Columns;
  constexpr std::int64_t column_bytes = in::channels * depthwise_rows;
  const depthwise_lines& p = c.p;
  const std::int64_t column = p.column + at * p.stride;
  const std::byte* const w = c.w + quad * Columns * column_bytes;
  const std::uint8_t* const x = p.x + line * p.x_step + at * p.stride * p.pixel + c.first;
  const std::uint8_t* rows[depthwise_rows];
  std::int64_t steps[depthwise_rows];
  CAMEO_UNROLL
  for (int i = 0; i < depthwise_rows; ++i) {
    const std::int64_t r = quad * depthwise_rows + i, row = p.row + line * p.row_stride + r * p.row_dilation;
    const bool is_there = r < p.rows && row >= 0 && row < p.image_rows;
    rows[i] = is_there ? x + r * p.row_step : c.padding;
    steps[i] = is_there ? p.pixel : 0;
  }
  CAMEO_UNROLL
  for (int q = 0; q < seen; ++q) {
    vector pixel[depthwise_rows];
    CAMEO_UNROLL
    for (int i = 0; i < depthwise_rows; ++i) {
      if constexpr (Sight == sight::inner) pixel[i] = in::load(rows[i]);
      if constexpr (Sight == sight::edge)
        pixel[i] = in::load(std::uint64_t(column + q) < std::uint64_t(p.image_columns) ? rows[i] : c.padding);
      if constexpr (Sight == sight::part)
        pixel[i] = in::load(in::load(c.padding),
                            typename in::mask(steps[i] ? inner_bytes(p, column + q, every) : 0) & c.there(), rows[i]);
      rows[i] += steps[i];
    }
    const vector low01 = in::low_bytes(pixel[0], pixel[1]), high01 = in::high_bytes(pixel[0], pixel[1]);
    const vector low23 = in::low_bytes(pixel[2], pixel[3]), high23 = in::high_bytes(pixel[2], pixel[3]);
    const vector cells[4] = {in::low_pairs(low01, low23), in::high_pairs(low01, low23), in::low_pairs(high01, high23),
                             in::high_pairs(high01, high23)};
    CAMEO_UNROLL
    for (int k = 0; k < Columns; ++k) {
      if (q < k || (q - k) % Gap != 0 || (q - k) / Gap >= Outputs) continue;
      CAMEO_UNROLL
      for (int v = 0; v < 4; ++v)
        sums[(q - k) / Gap][v] =
            in::add_products(sums[(q - k) / Gap][v], cells[v], w + k * column_bytes + v * in::channels);
    }
  }
}

/// Computes outputs at, at + every, ... of a line, whose windows begin `Gap` columns apart.
template <int Columns, int Gap, int Outputs, sight Sight, int Lanes>
CAMEO_NOINLINE void depthwise_tile(const depthwise_channels<Lanes>& c, std::int64_t line, std::int64_t at,
                                   std::int64_t every) {
  typename pixels<Lanes>::vector sums[Outputs][4];
  CAMEO_UNROLL
  for (int i = 0; i < Outputs; ++i) CAMEO_UNROLL
  for (int v = 0; v < 4; ++v) sums[i][v] = c.start[v];
  add_quad<Columns, Gap, Outputs, Sight>(c, line, at, every, 0, sums);
  if constexpr (quads_of(Columns) > 1) add_quad<Columns, Gap, Outputs, Sight>(c, line, at, every, 1, sums);
  CAMEO_UNROLL
  for (int i = 0; i < Outputs; ++i) c.template put<Sight == sight::part>(sums[i], line * c.p.outputs + at + i * every);
}

template <int Columns, int Stride, int Lanes>
void depthwise_outputs(const depthwise_channels<Lanes>& c) {
  constexpr int most = 4;
  const depthwise_lines& p = c.p;
  const inner_outputs inner(p);
  const auto edge = [&](std::int64_t line, std::int64_t at) {
    depthwise_tile<Columns, Stride, 1, sight::edge>(c, line, at, 1);
  };
  for (std::int64_t line = 0; line < p.lines; ++line) {
    std::int64_t at = 0;
    for (; at < inner.begin; ++at) edge(line, at);
    for (; at + most <= inner.end; at += most) depthwise_tile<Columns, Stride, most, sight::inner>(c, line, at, 1);
    if (inner.end - at > 1 && inner.end - inner.begin >= most)  // overlaps the tile before
      depthwise_tile<Columns, Stride, most, sight::inner>(c, line, inner.end - most, 1), at = inner.end;
    for (; at < p.outputs; ++at) edge(line, at);
  }
}
template <int Columns, int Stride>
void depthwise_blocks(const depthwise_lines& p) {
  const std::byte* w = p.w;
  each_block(p.channels, [&](std::int64_t c, std::int64_t block) {
    if (block == 64) depthwise_outputs<Columns, Stride>(depthwise_channels<4>(p, c, w));
    else if (block == 32) depthwise_outputs<Columns, Stride>(depthwise_channels<2>(p, c, w));
    else depthwise_outputs<Columns, Stride>(depthwise_channels<1>(p, c, w));
    w += block * quads_of(Columns) * Columns * depthwise_rows;
  });
}
void run_depthwise(const depthwise_lines& p) {
  if (p.columns == 3) return p.stride == 1 ? depthwise_blocks<3, 1>(p) : depthwise_blocks<3, 2>(p);
  return p.stride == 1 ? depthwise_blocks<5, 1>(p) : depthwise_blocks<5, 2>(p);
}

// --- 8, 16 or 32 channels and stride 1: a vector has all channels of several neighboring pixels (the flat layout) ---

bool flat_takes(std::int64_t channels, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                std::int64_t dilation, bool fit_bytes) {
  return (channels == 8 || channels == 16 || channels == 32) && fit_bytes && takes_window(rows, columns, dilation) &&
         stride == 1;
}
std::size_t flat_size(std::int64_t, std::int64_t rows, std::int64_t columns) {
  return depthwise_size(most_block, rows, columns);
}
void pack_flat(detail::function_ref<std::int32_t(std::int64_t)> numbers, std::int64_t channels, std::int64_t rows,
               std::int64_t columns, std::byte* to) {
  pack_depthwise([&](std::int64_t i) { return numbers(i % (channels * rows * columns)); }, most_block, rows, columns,
                 to);
}

template <int Columns, int Channels>
void flat_blocks(const depthwise_lines& p) {
  constexpr int of_block = most_block / Channels;  // the pixels of a vector
  constexpr int most = Channels == 32 ? 4 : 2;     // outputs of a tile; with 16 channels or less they share no column
  std::int32_t start[most_block];
  float scale[most_block];
  for (std::int64_t i = 0; i < most_block; ++i) {
    start[i] = p.start[i % Channels];
    scale[i] = p.sums ? 0 : p.scale[i % Channels];
  }
  depthwise_lines line = p;
  line.start = start, line.scale = scale;
  const std::int64_t here = p.outputs < of_block ? p.outputs : of_block;
  const depthwise_channels<4> c(line, 0, p.w, here * Channels);
  const inner_outputs inner(p);
  for (std::int64_t l = 0; l < p.lines; ++l)
    for (std::int64_t at = 0; at < p.outputs;)
      if (at >= inner.begin && at + most * of_block <= inner.end) {
        depthwise_tile<Columns, of_block, most, sight::inner>(c, l, at, of_block), at += most * of_block;
      } else {  // the last vector may overlap the one before
        depthwise_tile<Columns, of_block, 1, sight::part>(c, l, at + here <= p.outputs ? at : p.outputs - here, here);
        at += here;
      }
}
template <int Columns>
void flat_columns(const depthwise_lines& p) {
  if (p.channels == 32) return flat_blocks<Columns, 32>(p);
  return p.channels == 16 ? flat_blocks<Columns, 16>(p) : flat_blocks<Columns, 8>(p);
}
void run_flat(const depthwise_lines& p) { return p.columns == 3 ? flat_columns<3>(p) : flat_columns<5>(p); }

constexpr depthwise_loops depthwise[] = {{flat_takes, flat_size, pack_flat, run_flat, true},
                                         {depthwise_takes, depthwise_size, pack_depthwise, run_depthwise, true}};
