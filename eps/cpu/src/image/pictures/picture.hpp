#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/core/result.hpp>

#include <cstdint>
#include <span>

namespace CAMEO_NAMESPACE::eps {

/// The services of a run that a decoder calls.
struct picture_host {
  /// Returns the memory for the pixels of an image of this size: rows of pixels of red, green and blue, a byte each. A
  /// decoder calls it once, as soon as it has read the size and before it allocates memory that depends on it; an error
  /// ends the decoding.
  detail::function_ref<result<std::uint8_t*>(std::uint64_t width, std::uint64_t height)> allocate_pixels;
  /// Returns memory that is valid until the kernel returns; null if there is none left.
  detail::function_ref<void*(std::size_t bytes)> scratch;
  /// True if the run is to be stopped. The result of a decoder is then ignored.
  detail::function_ref<bool()> stopped;
};

using picture_bytes = std::span<const std::uint8_t>;
/// True if the bytes were a whole image, whose pixels then are in the memory of allocate_pixels. Errors are those of
/// picture_host, and NOT_IMPLEMENTED.
using picture_read = result<bool>;

// The decoders, one per format. Each is in a separate source; those that need a library are only in builds with it. No
// decoder reads outside the bytes, whatever they are, and errors of libraries do not leave their decoder.
picture_read read_bmp(picture_bytes, const picture_host&);
picture_read read_jpeg(picture_bytes, const picture_host&);
picture_read read_jpeg2000(picture_bytes, const picture_host&);
picture_read read_png(picture_bytes, const picture_host&);
picture_read read_pnm(picture_bytes, const picture_host&);
picture_read read_tiff(picture_bytes, const picture_host&);
picture_read read_webp(picture_bytes, const picture_host&);

}  // namespace CAMEO_NAMESPACE::eps
