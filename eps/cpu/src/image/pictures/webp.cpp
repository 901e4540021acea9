#ifdef CAMEO_WITH_WEBP
#include "picture.hpp"

#include <webp/decode.h>

namespace CAMEO_NAMESPACE::eps {

picture_read read_webp(picture_bytes file, const picture_host& host) {
  WebPBitstreamFeatures found;
  if (WebPGetFeatures(file.data(), file.size(), &found) != VP8_STATUS_OK || found.width < 1 || found.height < 1)
    return false;
  if (found.has_animation)
    return status{status_code::not_implemented, "the input is an animated WebP file: give a still one"};
  const auto width = std::uint64_t(found.width), height = std::uint64_t(found.height);
  const result<std::uint8_t*> pixels = host.allocate_pixels(width, height);
  if (!pixels) return pixels.error();
  return WebPDecodeRGBInto(file.data(), file.size(), *pixels, std::size_t(3 * width * height), 3 * found.width) !=
         nullptr;
}

}  // namespace CAMEO_NAMESPACE::eps
#endif
