#ifdef CAMEO_WITH_OPENJP2
#include "picture.hpp"

#include <openjpeg.h>
#include <algorithm>
#include <cstring>
#include <memory>

namespace CAMEO_NAMESPACE::eps {
namespace {

std::uint64_t big_endian(picture_bytes file, std::size_t at, std::size_t bytes) {
  std::uint64_t made = 0;
  for (std::size_t i = 0; i < bytes; ++i) made = made << 8 | file[at + i];
  return made;
}

/// Returns the codestream: the whole file, or the contents of its first box jp2c.
picture_bytes codestream_of(picture_bytes file) {
  constexpr std::uint64_t jp2c = 0x6a703263;
  if (file.size() > 1 && file[0] == 0xff) return file;
  while (file.size() >= 8) {
    std::uint64_t length = big_endian(file, 0, 4), head = 8;
    if (length == 1 && file.size() >= 16) length = big_endian(file, 8, 8), head = 16;
    if (length == 0) length = file.size();
    if (length < head || length > file.size()) length = file.size();
    if (head > file.size()) return {};
    if (big_endian(file, 4, 4) == jp2c) return file.subspan(std::size_t(head));
    file = file.subspan(std::size_t(length));
  }
  return {};
}

/// The sizes in the header of the codestream. They are checked before OpenJPEG reads it, because OpenJPEG allocates
/// kilobytes for each tile that the header claims.
struct codestream_size {
  std::uint64_t width = 0, height = 0;
  bool usable = false;
};
codestream_size size_of(picture_bytes stream) {
  constexpr std::size_t up_to_components = 42;
  if (stream.size() < up_to_components || big_endian(stream, 0, 4) != 0xff4fff51) return {};
  const auto field = [&](std::size_t i) { return big_endian(stream, 8 + 4 * i, 4); };
  const std::uint64_t right = field(0), bottom = field(1), left = field(2), top = field(3), tile_width = field(4),
                      tile_height = field(5), tile_left = field(6), tile_top = field(7);
  const std::uint64_t components = big_endian(stream, 40, 2);
  if (right <= left || bottom <= top || tile_left > left || tile_top > top || tile_width == 0 || tile_height == 0)
    return {};
  const std::uint64_t across = (right - tile_left + tile_width - 1) / tile_width,
                      down = (bottom - tile_top + tile_height - 1) / tile_height;
  constexpr std::uint64_t least_bytes_of_tile = 14;  // the markers before the data of a tile
  const bool fits = across <= stream.size() / least_bytes_of_tile / down;
  return {right - left, bottom - top, fits && components >= 1 && components <= 4};
}

struct stream_bytes {
  picture_bytes file;
  std::size_t at = 0;

  static OPJ_SIZE_T read(void* to, OPJ_SIZE_T count, void* self) {
    auto& from = *static_cast<stream_bytes*>(self);
    const std::size_t given = std::min(std::size_t(count), from.file.size() - from.at);
    if (given == 0) return OPJ_SIZE_T(-1);
    std::memcpy(to, from.file.data() + from.at, given);
    from.at += given;
    return given;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T count, void* self) {
    auto& from = *static_cast<stream_bytes*>(self);
    if (count < 0) return -1;
    const std::size_t given = std::min(std::uint64_t(count), std::uint64_t(from.file.size() - from.at));
    from.at += given;
    return OPJ_OFF_T(given);
  }
  static OPJ_BOOL seek(OPJ_OFF_T to, void* self) {
    auto& from = *static_cast<stream_bytes*>(self);
    if (to < 0 || std::uint64_t(to) > from.file.size()) return OPJ_FALSE;
    from.at = std::size_t(to);
    return OPJ_TRUE;
  }
};

struct jpeg2000_handles {
  opj_codec_t* codec = nullptr;
  opj_stream_t* stream = nullptr;
  opj_image_t* image = nullptr;
  ~jpeg2000_handles() {
    if (image) opj_image_destroy(image);
    if (stream) opj_stream_destroy(stream);
    if (codec) opj_destroy_codec(codec);
  }
};

bool open_stream(jpeg2000_handles& h, stream_bytes& from) {
  h.codec = opj_create_decompress(from.file[0] == 0xff ? OPJ_CODEC_J2K : OPJ_CODEC_JP2);
  h.stream = opj_stream_create(1 << 16, OPJ_TRUE);
  opj_dparameters_t how;
  opj_set_default_decoder_parameters(&how);
  if (!h.codec || !h.stream || !opj_setup_decoder(h.codec, &how)) return false;
  opj_stream_set_read_function(h.stream, stream_bytes::read);
  opj_stream_set_skip_function(h.stream, stream_bytes::skip);
  opj_stream_set_seek_function(h.stream, stream_bytes::seek);
  opj_stream_set_user_data(h.stream, &from, nullptr);
  opj_stream_set_user_data_length(h.stream, from.file.size());
  return opj_read_header(h.stream, h.codec, &h.image);
}

/// The samples of one component as numbers from 0 to 255, at positions of the whole image: a component may be
/// subsampled.
struct component_samples {
  const opj_image_comp_t& component;
  std::int64_t offset, most;

  explicit component_samples(const opj_image_comp_t& c)
      : component{c}, offset{c.sgnd ? std::int64_t{1} << (c.prec - 1) : 0}, most{(std::int64_t{1} << c.prec) - 1} {}
  static bool usable(const opj_image_comp_t& c) {
    return c.data && c.w > 0 && c.h > 0 && c.dx > 0 && c.dy > 0 && c.prec >= 1 && c.prec <= 31;
  }
  int at(std::uint64_t x, std::uint64_t y) const {
    const std::uint64_t column = std::min<std::uint64_t>(x / component.dx, component.w - 1),
                        row = std::min<std::uint64_t>(y / component.dy, component.h - 1);
    const std::int64_t number = std::clamp<std::int64_t>(component.data[row * component.w + column] + offset, 0, most);
    const auto bits = component.prec;
    return int(bits > 8 ? number >> (bits - 8) : bits < 8 ? number * 255 / most : number);
  }
};

std::uint8_t byte_of(double v) { return std::uint8_t(std::clamp(v + 0.5, 0.0, 255.0)); }

/// Converts YCbCr (luma and two color differences, as in JPEG files) to RGB.
void from_ycc(std::uint8_t* pixel) {
  const double y = pixel[0], b = pixel[1] - 128.0, r = pixel[2] - 128.0;
  pixel[0] = byte_of(y + 1.402 * r), pixel[1] = byte_of(y - 0.344136 * b - 0.714136 * r),
  pixel[2] = byte_of(y + 1.772 * b);
}

bool take_pixels(const opj_image_t& image, std::uint64_t width, std::uint64_t height, std::uint8_t* to,
                 const picture_host& host) {
  const bool is_gray = image.numcomps < 3;
  for (std::size_t c = 0; c < (is_gray ? 1u : 3u); ++c)
    if (c >= image.numcomps || !component_samples::usable(image.comps[c])) return false;
  const component_samples first{image.comps[0]}, second{image.comps[is_gray ? 0 : 1]},
      third{image.comps[is_gray ? 0 : 2]};
  const bool is_ycc = !is_gray && image.color_space == OPJ_CLRSPC_SYCC;
  for (std::uint64_t y = 0; y < height; ++y) {
    if (host.stopped()) return false;
    for (std::uint64_t x = 0; x < width; ++x, to += 3) {
      to[0] = std::uint8_t(first.at(x, y)), to[1] = std::uint8_t(second.at(x, y)), to[2] = std::uint8_t(third.at(x, y));
      if (is_ycc) from_ycc(to);
    }
  }
  return true;
}

}  // namespace

picture_read read_jpeg2000(picture_bytes file, const picture_host& host) {
  const codestream_size size = size_of(codestream_of(file));
  if (!size.usable) return false;
  const result<std::uint8_t*> pixels = host.allocate_pixels(size.width, size.height);
  if (!pixels) return pixels.error();
  stream_bytes from{file};
  jpeg2000_handles h;
  if (!open_stream(h, from) || h.image->x1 - h.image->x0 != size.width || h.image->y1 - h.image->y0 != size.height ||
      host.stopped() || !opj_decode(h.codec, h.stream, h.image))
    return false;
  return take_pixels(*h.image, size.width, size.height, *pixels, host);
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
