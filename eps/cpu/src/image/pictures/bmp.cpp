#include "picture.hpp"

#include <algorithm>
#include <bit>

namespace CAMEO_NAMESPACE::eps {
namespace {

std::uint32_t little_endian(picture_bytes file, std::size_t at, std::size_t bytes) {
  std::uint32_t made = 0;
  for (std::size_t i = bytes; i-- > 0;) made = made << 8 | file[at + i];
  return made;
}

/// The bits of one color in a pixel.
struct color_mask {
  std::uint32_t bits = 0;
  std::uint8_t value(std::uint32_t pixel) const {
    if (bits == 0) return 0;
    const std::uint32_t most = bits >> std::countr_zero(bits);
    return std::uint8_t((std::uint64_t((pixel & bits) >> std::countr_zero(bits)) * 255 + most / 2) / most);
  }
};

struct bmp_head {
  std::uint32_t width = 0, height = 0, bits = 0;
  bool bottom_up = true, runs = false;
  color_mask red, green, blue;  // of pixels of 16 and 32 bits
  picture_bytes palette;        // entries of `entry` bytes: blue, green, red
  std::size_t entry = 4;
  picture_bytes pixels;

  std::size_t row_bytes() const { return std::size_t((std::uint64_t(width) * bits + 31) / 32 * 4); }
};

enum class bmp_packing : std::uint32_t { none, runs_of_8, runs_of_4, masks, with_alpha = 6 };

/// Reads the masks of colors of 16-bit and 32-bit pixels: those of the file, or the default of five or eight bits each.
bool read_masks(picture_bytes file, std::size_t head, bmp_packing packing, bmp_head& to) {
  to.red = {to.bits == 16 ? 0x7c00u : 0xff0000u};
  to.green = {to.bits == 16 ? 0x03e0u : 0x00ff00u};
  to.blue = {to.bits == 16 ? 0x001fu : 0x0000ffu};
  if (packing == bmp_packing::none) return true;
  constexpr std::size_t at = 14 + 40;  // after the smallest header, or inside a larger one
  if (head < 40 || file.size() < at + 12) return false;
  to.red = {little_endian(file, at, 4)}, to.green = {little_endian(file, at + 4, 4)};
  to.blue = {little_endian(file, at + 8, 4)};
  return true;
}

bool read_head(picture_bytes file, bmp_head& to) {
  constexpr std::size_t before = 14;  // "BM", sizes, and the offset of the pixels
  if (file.size() < before + 12) return false;
  const std::size_t pixels_at = little_endian(file, 10, 4), head = little_endian(file, before, 4);
  const bool is_old = head == 12;
  if ((!is_old && head < 40) || head > file.size() - before || pixels_at > file.size()) return false;
  const std::uint32_t height = little_endian(file, is_old ? 20 : 22, is_old ? 2 : 4);
  to.width = little_endian(file, 18, is_old ? 2 : 4);
  to.bottom_up = is_old || height < 0x80000000u;
  to.height = to.bottom_up ? height : 0u - height;
  to.bits = little_endian(file, is_old ? 24 : 28, 2);
  const auto packing = bmp_packing(is_old ? 0 : little_endian(file, 30, 4));
  to.runs = packing == bmp_packing::runs_of_8 || packing == bmp_packing::runs_of_4;
  const bool has_masks = packing == bmp_packing::masks || packing == bmp_packing::with_alpha;
  if (to.width == 0 || to.width >= 0x80000000u || to.height == 0) return false;
  constexpr std::uint32_t known_bits[] = {1, 4, 8, 16, 24, 32};
  const bool may_have_masks = to.bits == 16 || to.bits == 32;
  const bool fits = packing == bmp_packing::none || (packing == bmp_packing::runs_of_4 && to.bits == 4) ||
                    (packing == bmp_packing::runs_of_8 && to.bits == 8) || (has_masks && may_have_masks);
  if (!fits || std::ranges::find(known_bits, to.bits) == std::end(known_bits)) return false;
  if (may_have_masks && !read_masks(file, head, packing, to)) return false;
  to.entry = is_old ? 3 : 4;
  to.pixels = file.subspan(pixels_at);
  if (to.bits > 8) return true;
  // The palette is between the header and the pixels; a pixel whose color the palette lacks is black.
  const std::size_t colors_at = before + head;
  if (colors_at > pixels_at) return false;
  std::uint64_t count = is_old ? 0 : little_endian(file, 46, 4);
  if (count == 0 || count > std::uint64_t{1} << to.bits) count = std::uint64_t{1} << to.bits;
  to.palette = file.subspan(colors_at, std::min<std::size_t>(std::size_t(count) * to.entry, pixels_at - colors_at));
  return true;
}

class bmp_canvas {
 public:
  bmp_canvas(const bmp_head& head, std::uint8_t* pixels) : head_{head}, pixels_{pixels} {}

  std::uint8_t* row(std::size_t y) const {
    return pixels_ + (head_.bottom_up ? head_.height - 1 - y : y) * std::size_t(head_.width) * 3;
  }
  void set(std::uint8_t* pixel, std::size_t color) const {
    const std::size_t at = color * head_.entry;
    const bool is_there = at + 3 <= head_.palette.size();
    for (std::size_t c = 0; c < 3; ++c) pixel[c] = is_there ? head_.palette[at + 2 - c] : 0;
  }

 private:
  const bmp_head& head_;
  std::uint8_t* pixels_;
};

void read_row(const bmp_head& head, const bmp_canvas& canvas, picture_bytes from, std::uint8_t* to) {
  for (std::size_t x = 0; x < head.width; ++x, to += 3) {
    if (head.bits <= 8) {
      const std::size_t bit = x * head.bits;
      canvas.set(to, from[bit / 8] >> (8 - head.bits - bit % 8) & ((1u << head.bits) - 1));
    } else if (head.bits == 24) {
      for (std::size_t c = 0; c < 3; ++c) to[c] = from[3 * x + 2 - c];
    } else {
      const std::uint32_t pixel = little_endian(from, x * head.bits / 8, head.bits / 8);
      to[0] = head.red.value(pixel), to[1] = head.green.value(pixel), to[2] = head.blue.value(pixel);
    }
  }
}

/// Reads run-length encoded pixels: runs of one color (or, in images of 4 bits per pixel, of two alternating colors),
/// and literal runs. Pixels that the encoding skips have color 0.
bool read_runs(const bmp_head& head, const bmp_canvas& canvas, const picture_host& host) {
  picture_bytes rest = head.pixels;
  std::size_t x = 0, y = 0;
  const std::size_t width = head.width, height = head.height;
  for (std::size_t i = 0; i < height; ++i)
    for (std::size_t j = 0; j < width; ++j) canvas.set(canvas.row(i) + 3 * j, 0);
  const auto put = [&](std::size_t color) {
    if (x < width && y < height) canvas.set(canvas.row(y) + 3 * x++, color);
  };
  while (rest.size() >= 2) {
    if (host.stopped()) return false;
    const std::size_t count = rest[0], what = rest[1];
    rest = rest.subspan(2);
    if (count > 0) {
      for (std::size_t i = 0; i < count; ++i) put(head.bits == 8 ? what : i % 2 ? what & 15 : what >> 4);
    } else if (what == 0) {
      x = 0, ++y;
    } else if (what == 1) {
      return true;
    } else if (what == 2) {
      if (rest.size() < 2) return false;
      x += rest[0], y += rest[1];
      rest = rest.subspan(2);
    } else {
      const std::size_t bytes = head.bits == 8 ? what : (what + 1) / 2, padded = (bytes + 1) / 2 * 2;
      if (padded > rest.size()) return false;
      for (std::size_t i = 0; i < what; ++i) put(head.bits == 8 ? rest[i] : rest[i / 2] >> (i % 2 ? 0 : 4) & 15);
      rest = rest.subspan(padded);
    }
  }
  return y >= height || (y + 1 == height && x >= width);  // some files have no end marker
}

}  // namespace

picture_read read_bmp(picture_bytes file, const picture_host& host) {
  bmp_head head;
  if (!read_head(file, head)) return false;
  const std::size_t row = head.row_bytes();
  if (!head.runs && head.height > head.pixels.size() / row) return false;  // checked before memory is allocated
  const result<std::uint8_t*> pixels = host.allocate_pixels(head.width, head.height);
  if (!pixels) return pixels.error();
  const bmp_canvas canvas{head, *pixels};
  if (head.runs) return read_runs(head, canvas, host);
  for (std::size_t y = 0; y < head.height; ++y) {
    if (host.stopped()) return false;
    read_row(head, canvas, head.pixels.subspan(y * row, row), canvas.row(y));
  }
  return true;
}

}  // namespace CAMEO_NAMESPACE::eps
