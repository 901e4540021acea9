#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/attributes/choices.hpp>

namespace CAMEO_NAMESPACE::eps {

/// ImageDecoder: decodes the bytes [n] of an image file to [height, width, channels] of numbers from 0 to 255. Formats:
/// BMP, PNM (P1 to P6), and, in builds that have the libraries, JPEG, PNG, TIFF, WebP and JPEG 2000. If the file has
/// several images, the first one is decoded. pixel_format is RGB, BGR or Grayscale; a gray pixel is (19595 R + 38470 G
/// + 7471 B + 32768) / 65536, rounded down. Transparency is ignored, and the orientation in a camera's metadata is not
/// applied.
///
/// Bytes that are not a complete image give the shape [0, 0, channels], as ONNX defines it. Sizes are checked before
/// anything is decoded: more than `most_pixels` is INVALID_ARGUMENT, more memory than the session has OUT_OF_MEMORY. A
/// format whose library the build lacks is NOT_IMPLEMENTED. The libraries allocate from the heap in a run; JPEG 2000
/// takes up to 32 bytes per pixel.
struct image_decoder {
  using elements = detail::element_set<std::uint8_t>;
  using order = op::pixel_format_choice;
  static constexpr std::uint64_t most_pixels = std::uint64_t{1} << 27;

  order pixels = order::rgb;
  std::uint64_t most = most_pixels;  // tests lower it

  static result<image_decoder> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
