#include "picture.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

constexpr bool is_space(std::uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Reads numbers in text, with comments between them from # to the end of a line.
class pnm_text {
 public:
  explicit pnm_text(picture_bytes rest) : rest_{rest} {}
  picture_bytes rest() const { return rest_; }

  /// Reads the next number; false if there is none or it is above `most`.
  bool number(std::uint32_t most, std::uint32_t& to) {
    skip();
    if (!has_digit()) return false;
    to = 0;
    for (; has_digit(); drop())
      if ((to = to * 10 + (rest_[0] - '0')) > most) return false;  // most is below 2^28
    return true;
  }
  /// Reads the next digit 0 or 1; no space is needed between such digits.
  bool bit(std::uint32_t& to) {
    skip();
    if (!has_digit() || rest_[0] > '1') return false;
    to = rest_[0] - '0';
    drop();
    return true;
  }
  /// Skips the single white space between the header and binary pixels.
  bool space() {
    if (rest_.empty() || !is_space(rest_[0])) return false;
    drop();
    return true;
  }

 private:
  bool has_digit() const { return !rest_.empty() && rest_[0] >= '0' && rest_[0] <= '9'; }
  void drop() { rest_ = rest_.subspan(1); }
  void skip() {
    for (bool comment = false; !rest_.empty(); drop()) {
      const std::uint8_t c = rest_[0];
      if (c == '#') comment = true;
      else if (c == '\n' || c == '\r') comment = false;
      else if (!comment && !is_space(c)) return;
    }
  }
  picture_bytes rest_;
};

/// The encoding of the six kinds: 1 to 3 are text, 4 to 6 binary; in both the order is bits, gray, color.
struct pnm_kind {
  bool is_text, is_bits;
  std::size_t channels;
};
constexpr pnm_kind kind_of(std::uint8_t digit) {
  return {digit < '4', digit == '1' || digit == '4', digit == '3' || digit == '6' ? 3u : 1u};
}

constexpr std::uint8_t scaled(std::uint32_t sample, std::uint32_t most) {
  return sample >= most ? 255 : std::uint8_t((sample * 255 + most / 2) / most);
}

void set_pixel(std::uint8_t* pixel, std::size_t channels, std::size_t c, std::uint8_t v) {
  if (channels == 3) pixel[c] = v;
  else pixel[0] = pixel[1] = pixel[2] = v;
}

bool read_text(pnm_text& text, pnm_kind kind, std::uint32_t most, std::size_t pixels, std::uint8_t* to,
               const picture_host& host) {
  for (std::size_t i = 0; i < pixels; ++i) {
    if (i % 4096 == 0 && host.stopped()) return false;
    for (std::size_t c = 0; c < kind.channels; ++c) {
      std::uint32_t sample = 0;
      if (kind.is_bits ? !text.bit(sample) : !text.number(most, sample)) return false;
      set_pixel(to + 3 * i, kind.channels, c, kind.is_bits ? (sample ? 0 : 255) : scaled(sample, most));
    }
  }
  return true;
}

/// Converts rows of bits; each row starts at a whole byte, and a set bit is black.
void take_bits(picture_bytes from, std::size_t width, std::size_t height, std::uint8_t* to) {
  const std::size_t row = (width + 7) / 8;
  for (std::size_t y = 0; y < height; ++y)
    for (std::size_t x = 0; x < width; ++x, to += 3)
      set_pixel(to, 1, 0, from[y * row + x / 8] >> (7 - x % 8) & 1 ? 0 : 255);
}
/// Converts samples of a byte each, or of two bytes if `most` is above 255, the high byte first.
void take_samples(picture_bytes from, std::size_t channels, std::uint32_t most, std::size_t pixels, std::uint8_t* to) {
  const std::size_t wide = most > 255 ? 2 : 1;
  for (std::size_t i = 0; i < pixels; ++i)
    for (std::size_t c = 0; c < channels; ++c) {
      const std::size_t at = (i * channels + c) * wide;
      const std::uint32_t sample = wide == 2 ? from[at] * 256u + from[at + 1] : from[at];
      set_pixel(to + 3 * i, channels, c, scaled(sample, most));
    }
}

}  // namespace

picture_read read_pnm(picture_bytes file, const picture_host& host) {
  constexpr std::uint32_t most_side = (1u << 28) - 1;
  if (file.size() < 3) return false;
  const pnm_kind kind = kind_of(file[1]);
  pnm_text text{file.subspan(2)};
  std::uint32_t width = 0, height = 0, most = 1;
  if (!text.number(most_side, width) || !text.number(most_side, height)) return false;
  if (!kind.is_bits && (!text.number(65535, most) || most == 0)) return false;
  const std::size_t count = std::size_t(width) * height;
  const std::size_t row = kind.is_bits ? (std::size_t(width) + 7) / 8 : kind.channels * (most > 255 ? 2 : 1) * width;
  // The size of the file is checked before memory is allocated: a pixel in text takes a digit at least.
  if (kind.is_text ? count > text.rest().size() : !text.space() || row * height > text.rest().size()) return false;
  const result<std::uint8_t*> pixels = host.allocate_pixels(width, height);
  if (!pixels) return pixels.error();
  if (!*pixels) return false;
  if (kind.is_text) return read_text(text, kind, most, count, *pixels, host);
  if (kind.is_bits) take_bits(text.rest(), width, height, *pixels);
  else take_samples(text.rest(), kind.channels, most, count, *pixels);
  return true;
}

}  // namespace CAMEO_NAMESPACE::eps
