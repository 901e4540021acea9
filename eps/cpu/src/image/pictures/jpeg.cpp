#ifdef CAMEO_WITH_JPEG
#include "picture.hpp"

#include <csetjmp>
#include <cstdio>  // jpeglib.h uses FILE

#include <jerror.h>
#include <jpeglib.h>

namespace CAMEO_NAMESPACE::eps {
namespace {

/// Reads a file by libjpeg. When libjpeg fails, it calls error_exit, which jumps to the last setjmp. The jump skips
/// only frames of libjpeg and plain data: objects with destructors are created outside of open() and read().
class jpeg_reader {
 public:
  explicit jpeg_reader(const picture_host& host) : host_{host} {
    image_.err = jpeg_std_error(&failure_.base);
    failure_.base.error_exit = fail;
    failure_.base.emit_message = warn;
    failure_.base.output_message = [](j_common_ptr) {};
  }
  ~jpeg_reader() {
    if (made_) jpeg_destroy_decompress(&image_);
  }
  jpeg_reader(const jpeg_reader&) = delete;
  jpeg_reader& operator=(const jpeg_reader&) = delete;

  /// Reads everything before the pixels.
  bool open(picture_bytes file) {
    if (setjmp(failure_.back)) return false;
    jpeg_create_decompress(&image_);
    made_ = true;
    image_.client_data = this;
    jpeg_mem_src(&image_, file.data(), static_cast<unsigned long>(file.size()));
    if (jpeg_read_header(&image_, TRUE) != JPEG_HEADER_OK) return false;
    is_cmyk_ = image_.jpeg_color_space == JCS_CMYK || image_.jpeg_color_space == JCS_YCCK;
    image_.out_color_space = is_cmyk_ ? JCS_CMYK : JCS_RGB;
    image_.dct_method = JDCT_ISLOW;
    image_.do_fancy_upsampling = TRUE;
    return true;
  }
  std::uint32_t width() const { return image_.image_width; }
  std::uint32_t height() const { return image_.image_height; }

  bool read(std::uint8_t* pixels) {
    if (setjmp(failure_.back)) return false;
    image_.progress = &progress_;
    progress_.progress_monitor = look;
    jpeg_start_decompress(&image_);
    const std::size_t width = image_.output_width;
    if (width != image_.image_width || image_.output_height != image_.image_height) return false;
    JSAMPROW four = nullptr;
    if (is_cmyk_)
      four = static_cast<JSAMPROW>(
          (*image_.mem->alloc_large)(reinterpret_cast<j_common_ptr>(&image_), JPOOL_IMAGE, 4 * width));
    while (image_.output_scanline < image_.output_height) {
      if (host_.stopped()) return false;
      std::uint8_t* const to = pixels + image_.output_scanline * width * 3;
      JSAMPROW row = is_cmyk_ ? four : to;
      if (jpeg_read_scanlines(&image_, &row, 1) != 1) return false;
      if (is_cmyk_) from_cmyk(four, to, width);
    }
    jpeg_finish_decompress(&image_);
    return true;
  }

 private:
  struct failure {
    jpeg_error_mgr base;
    std::jmp_buf back;
  };

  [[noreturn]] static void fail(j_common_ptr at) { std::longjmp(reinterpret_cast<failure*>(at->err)->back, 1); }
  /// Fails at corrupt data: libjpeg would continue with gray, which is not a whole image. Harmless deviations pass.
  static void warn(j_common_ptr at, int level) {
    if (level >= 0) return;
    switch (at->err->msg_code) {
      case JWRN_EXTRANEOUS_DATA:
      case JWRN_JFIF_MAJOR:
      case JWRN_ADOBE_XFORM:
      case JWRN_TOO_MUCH_DATA: return;
      default: fail(at);
    }
  }
  /// Limits the scans: a small file may have thousands of scans over all of a large image.
  static void look(j_common_ptr at) {
    constexpr int most_scans = 200;
    const auto* const image = reinterpret_cast<const jpeg_decompress_struct*>(at);
    if (image->input_scan_number > most_scans || static_cast<const jpeg_reader*>(at->client_data)->host_.stopped())
      fail(at);
  }
  /// Converts CMYK. Adobe's programs write such images inverted, with a marker that names Adobe.
  void from_cmyk(const std::uint8_t* from, std::uint8_t* to, std::size_t count) const {
    const unsigned flip = image_.saw_Adobe_marker ? 0 : 255;
    for (std::size_t i = 0; i < count; ++i)
      for (std::size_t c = 0; c < 3; ++c)
        to[3 * i + c] = std::uint8_t(((from[4 * i + c] ^ flip) * (from[4 * i + 3] ^ flip) + 127) / 255);
  }

  const picture_host& host_;
  jpeg_decompress_struct image_{};
  failure failure_{};
  jpeg_progress_mgr progress_{};
  bool made_ = false, is_cmyk_ = false;
};

}  // namespace

picture_read read_jpeg(picture_bytes file, const picture_host& host) {
  jpeg_reader reader{host};
  if (!reader.open(file)) return false;
  const result<std::uint8_t*> pixels = host.allocate_pixels(reader.width(), reader.height());
  if (!pixels) return pixels.error();
  return *pixels && reader.read(*pixels);
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
