#include <cameo/eps/cpu/image_decoder.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <algorithm>

#include "image/pictures/picture.hpp"
#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

bool has(picture_bytes file, std::size_t at, std::string_view text) {
  return file.size() >= at + text.size() &&
         std::equal(text.begin(), text.end(), file.begin() + std::ptrdiff_t(at),
                    [](char c, std::uint8_t byte) { return std::uint8_t(c) == byte; });
}

/// A format is recognized by the first bytes of a file. `read` is null in builds without its library.
struct picture_format {
  std::string_view name, library, package;
  bool (*begins)(picture_bytes);
  picture_read (*read)(picture_bytes, const picture_host&);
};

constexpr picture_format picture_formats[] = {
    {"JPEG", "libjpeg", "libjpeg-dev", [](picture_bytes f) { return has(f, 0, "\xff\xd8\xff"); },
#ifdef CAMEO_WITH_JPEG
     read_jpeg
#else
     nullptr
#endif
    },
    {"PNG", "libpng", "libpng-dev", [](picture_bytes f) { return has(f, 0, "\x89PNG\r\n\x1a\n"); },
#ifdef CAMEO_WITH_PNG
     read_png
#else
     nullptr
#endif
    },
    {"TIFF", "libtiff", "libtiff-dev",
     [](picture_bytes f) {
       using namespace std::string_view_literals;
       return has(f, 0, "II*\0"sv) || has(f, 0, "MM\0*"sv) || has(f, 0, "II+\0"sv) || has(f, 0, "MM\0+"sv);
     },
#ifdef CAMEO_WITH_TIFF
     read_tiff
#else
     nullptr
#endif
    },
    {"WebP", "libwebp", "libwebp-dev", [](picture_bytes f) { return has(f, 0, "RIFF") && has(f, 8, "WEBP"); },
#ifdef CAMEO_WITH_WEBP
     read_webp
#else
     nullptr
#endif
    },
    {"JPEG 2000", "OpenJPEG", "libopenjp2-7-dev",
     [](picture_bytes f) { return has(f, 0, "\xff\x4f\xff\x51") || (has(f, 4, "jP  ") && f[0] == 0 && f[3] == 12); },
#ifdef CAMEO_WITH_OPENJP2
     read_jpeg2000
#else
     nullptr
#endif
    },
    {"BMP", "", "", [](picture_bytes f) { return has(f, 0, "BM"); }, read_bmp},
    {"PNM", "", "", [](picture_bytes f) { return f.size() > 2 && f[0] == 'P' && f[1] >= '1' && f[1] <= '6'; },
     read_pnm},
};

const picture_format* format_of(picture_bytes file) {
  const auto found = std::find_if(std::begin(picture_formats), std::end(picture_formats),
                                  [&](const picture_format& each) { return each.begins(file); });
  return found == std::end(picture_formats) ? nullptr : found;
}

void to_bgr(std::uint8_t* pixels, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) std::swap(pixels[3 * i], pixels[3 * i + 2]);
}
void to_gray(const std::uint8_t* from, std::uint8_t* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    to[i] = std::uint8_t((from[3 * i] * 19595u + from[3 * i + 1] * 38470u + from[3 * i + 2] * 7471u + 32768u) >> 16);
}

}  // namespace

result<image_decoder> image_decoder::bind(bind_context& c) {
  return image_decoder{attributes_of<op::ImageDecoder>{c.attributes}.pixel_format};
}

status image_decoder::run(run_context& c) const {
  const tensor_view<const std::uint8_t> given = c.input<std::uint8_t>(0);
  const picture_bytes file{given.data(), std::size_t(given.count())};
  const std::int64_t channels = pixels == order::grayscale ? 1 : 3;
  const auto nothing = [&]() -> status {
    const result<tensor_view<std::uint8_t>> y = c.output<std::uint8_t>(0, {0, 0, channels});
    return y ? status{} : y.error();
  };
  const picture_format* const format = format_of(file);
  if (!format) return nothing();
  if (!format->read)
    return refuse(status_code::not_implemented, "the input is a ", format->name,
                  " file, and this build of cameo has no ", format->library, "; install it (Debian: ", format->package,
                  ") and build cameo again");

  std::uint8_t *rgb = nullptr, *out = nullptr;
  std::size_t count = 0;
  const auto allocate_pixels = [&](std::uint64_t width, std::uint64_t height) -> result<std::uint8_t*> {
    if (width == 0 || height == 0) return rgb;  // an image without pixels needs no memory
    if (width > most / height)
      return bad_input("the ", format->name, " file claims to have ", std::int64_t(width), "x", std::int64_t(height),
                       " pixels; the most are ", std::int64_t(most), " in all");
    count = std::size_t(width * height);
    const auto y = c.output<std::uint8_t>(0, {std::int64_t(height), std::int64_t(width), channels});
    if (!y) return y.error();
    rgb = out = y->data();
    if (channels == 3) return rgb;
    const auto between = c.scratch<std::uint8_t>(3 * count);
    if (!between) return between.error();
    return rgb = between->data();
  };
  const auto scratch = [&](std::size_t bytes) -> void* {
    const auto made = c.scratch<std::byte>(bytes);
    return made ? made->data() : nullptr;
  };
  const picture_read whole = format->read(file, {allocate_pixels, scratch, [&] { return c.stopped(); }});
  if (c.stopped()) return status_code::canceled;
  if (!whole) return whole.error();
  if (!*whole || !rgb) return nothing();
  if (pixels == order::bgr) to_bgr(rgb, count);
  if (pixels == order::grayscale) to_gray(rgb, out, count);
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
