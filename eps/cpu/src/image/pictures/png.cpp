#ifdef CAMEO_WITH_PNG
#include "picture.hpp"

#include <png.h>
#include <csetjmp>
#include <cstring>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Reads a file by libpng. When libpng fails, it jumps to the last setjmp. The jump skips only frames of libpng and
/// plain data: objects with destructors are created outside of open() and read().
class png_reader {
 public:
  png_reader(picture_bytes file, const picture_host& host) : rest_{file}, host_{host} {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, png_const_charp) {});
    if (png_) info_ = png_create_info_struct(png_);
  }
  ~png_reader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  png_reader(const png_reader&) = delete;
  png_reader& operator=(const png_reader&) = delete;

  /// Reads everything before the pixels.
  bool open() {
    if (!info_ || setjmp(png_jmpbuf(png_))) return false;
    png_set_read_fn(png_, this, give);
    png_set_user_limits(png_, 0x7fffffff, 0x7fffffff);  // allocate_pixels limits the size
    png_set_chunk_cache_max(png_, 64);
    png_set_chunk_malloc_max(png_, 1 << 20);
    png_read_info(png_, info_);
    width = png_get_image_width(png_, info_), height = png_get_image_height(png_, info_);
    png_set_expand(png_);
    png_set_strip_16(png_);
    png_set_gray_to_rgb(png_);
    png_set_strip_alpha(png_);
    passes_ = png_set_interlace_handling(png_);
    return true;
  }
  bool read(std::uint8_t* pixels) {
    if (setjmp(png_jmpbuf(png_))) return false;
    png_read_update_info(png_, info_);
    if (png_get_rowbytes(png_, info_) != 3 * std::size_t(width)) return false;
    for (int pass = 0; pass < passes_; ++pass)
      for (std::size_t y = 0; y < height; ++y) {
        if (host_.stopped()) return false;
        png_read_row(png_, pixels + y * width * 3, nullptr);
      }
    return true;
  }

  std::uint32_t width = 0, height = 0;

 private:
  [[noreturn]] static void fail(png_structp png, png_const_charp) { png_longjmp(png, 1); }
  static void give(png_structp png, png_bytep to, std::size_t count) {
    picture_bytes& rest = static_cast<png_reader*>(png_get_io_ptr(png))->rest_;
    if (count > rest.size()) png_error(png, "the file ends too soon");
    std::memcpy(to, rest.data(), count);
    rest = rest.subspan(count);
  }

  picture_bytes rest_;
  const picture_host& host_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  int passes_ = 1;
};

}  // namespace

picture_read read_png(picture_bytes file, const picture_host& host) {
  png_reader reader{file, host};
  if (!reader.open()) return false;
  const result<std::uint8_t*> pixels = host.allocate_pixels(reader.width, reader.height);
  if (!pixels) return pixels.error();
  return *pixels && reader.read(*pixels);
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
