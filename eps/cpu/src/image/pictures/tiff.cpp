#ifdef CAMEO_WITH_TIFF
#include "picture.hpp"

#include <tiffio.h>
#include <algorithm>
#include <cstdarg>
#include <cstdio>  // SEEK_SET
#include <cstring>
#include <memory>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Bytes in memory as a file for libtiff, with all of its callbacks.
struct tiff_bytes {
  picture_bytes file;
  std::uint64_t at = 0;

  static tiff_bytes& get(thandle_t self) { return *static_cast<tiff_bytes*>(self); }
  static tmsize_t read(thandle_t self, void* to, tmsize_t count) {
    tiff_bytes& from = get(self);
    if (count <= 0 || from.at >= from.file.size()) return 0;
    const std::size_t given = std::min(std::size_t(count), std::size_t(from.file.size() - from.at));
    std::memcpy(to, from.file.data() + from.at, given);
    from.at += given;
    return tmsize_t(given);
  }
  static tmsize_t write(thandle_t, void*, tmsize_t) { return 0; }
  static toff_t seek(thandle_t self, toff_t to, int whence) {
    tiff_bytes& from = get(self);
    const std::uint64_t base = whence == SEEK_CUR ? from.at : whence == SEEK_END ? from.file.size() : 0;
    return from.at = base + to;  // unsigned; an offset after the end reads nothing
  }
  static int close(thandle_t) { return 0; }
  static toff_t size(thandle_t self) { return get(self).file.size(); }
};

struct close_tiff {
  void operator()(TIFF* t) const { TIFFClose(t); }
};
using open_tiff = std::unique_ptr<TIFF, close_tiff>;

int quiet(TIFF*, void*, const char*, const char*, va_list) { return 1; }

/// The largest allocation of libtiff, which reads a strip or a tile as a whole; a file can claim any size for it.
constexpr tmsize_t most_at_once = tmsize_t{1} << 29;

open_tiff open_in_memory(tiff_bytes& from) {
  TIFFOpenOptions* const options = TIFFOpenOptionsAlloc();
  if (!options) return {};
  TIFFOpenOptionsSetErrorHandlerExtR(options, quiet, nullptr);
  TIFFOpenOptionsSetWarningHandlerExtR(options, quiet, nullptr);
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, most_at_once);
  open_tiff made{TIFFClientOpenExt("picture", "rm", &from, tiff_bytes::read, tiff_bytes::write, tiff_bytes::seek,
                                   tiff_bytes::close, tiff_bytes::size, nullptr, nullptr, options)};
  TIFFOpenOptionsFree(options);
  return made;
}

/// Keeps libtiff from multiplying colors by transparency that is stored separately.
void leave_colors_alone(TIFF* tiff) {
  std::uint16_t count = 0, *kinds = nullptr;
  if (!TIFFGetField(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds) || count != 1 || kinds[0] != EXTRASAMPLE_UNASSALPHA)
    return;
  std::uint16_t associated = EXTRASAMPLE_ASSOCALPHA;
  TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, 1, &associated);
}

}  // namespace

picture_read read_tiff(picture_bytes file, const picture_host& host) {
  tiff_bytes from{file};
  const open_tiff tiff = open_in_memory(from);
  std::uint32_t width = 0, height = 0;
  char words[1024];
  if (!tiff || !TIFFGetField(tiff.get(), TIFFTAG_IMAGEWIDTH, &width) ||
      !TIFFGetField(tiff.get(), TIFFTAG_IMAGELENGTH, &height) || !TIFFRGBAImageOK(tiff.get(), words))
    return false;
  const result<std::uint8_t*> pixels = host.allocate_pixels(width, height);
  if (!pixels) return pixels.error();
  if (!*pixels) return false;
  const std::size_t count = std::size_t(width) * height;
  auto* const raster = static_cast<std::uint32_t*>(host.scratch(4 * count));
  if (!raster) return status_code::out_of_memory;
  leave_colors_alone(tiff.get());
  if (!TIFFReadRGBAImageOriented(tiff.get(), width, height, raster, ORIENTATION_TOPLEFT, 1)) return false;
  for (std::size_t i = 0; i < count; ++i) {
    std::uint8_t* const to = *pixels + 3 * i;
    to[0] = std::uint8_t(TIFFGetR(raster[i])), to[1] = std::uint8_t(TIFFGetG(raster[i]));
    to[2] = std::uint8_t(TIFFGetB(raster[i]));
  }
  return true;
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
