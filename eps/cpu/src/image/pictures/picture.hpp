#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/core/result.hpp>

#include <cstdint>
#include <span>

namespace CAMEO_NAMESPACE::eps {

/// What a decoder asks of the run that it works for.
struct picture_host {
  /// Memory for the pixels of a picture of this size: rows of pixels of red, green and blue, a byte each. A decoder
  /// calls it once, as soon as it knows the size and before it takes memory that grows with it; an error ends the
  /// decoding.
  detail::function_ref<result<std::uint8_t*>(std::uint64_t width, std::uint64_t height)> room;
  /// Memory until the run goes on; null where there is none left.
  detail::function_ref<void*(std::size_t bytes)> scratch;
  /// Whether the run should end. A decoder that finds it so may return whatever it likes.
  detail::function_ref<bool()> stopped;
};

using picture_bytes = std::span<const std::uint8_t>;
/// Whether the bytes were a whole picture, whose pixels then are in the room. Errors are the host's, and
/// NOT_IMPLEMENTED.
using picture_read = result<bool>;

/// One decoder per format; each is in a file of its own, those with a library in builds with that library alone.
/// Whatever the bytes are, none reads outside them, and no error of a library leaves its decoder.
picture_read read_bmp(picture_bytes, const picture_host&);
picture_read read_jpeg(picture_bytes, const picture_host&);
picture_read read_jpeg2000(picture_bytes, const picture_host&);
picture_read read_png(picture_bytes, const picture_host&);
picture_read read_pnm(picture_bytes, const picture_host&);
picture_read read_tiff(picture_bytes, const picture_host&);
picture_read read_webp(picture_bytes, const picture_host&);

}  // namespace CAMEO_NAMESPACE::eps
