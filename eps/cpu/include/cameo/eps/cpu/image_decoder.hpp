#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

/// The picture in a file's bytes [n], as [height, width, channels] of numbers from 0 to 255: a BMP, PNM (P1 to P6), or,
/// in builds that have their libraries, a JPEG, PNG, TIFF, WebP or JPEG 2000 file. Of several pictures it is the first
/// one. pixel_format is RGB, BGR or Grayscale, of which a pixel is (19595 R + 38470 G + 7471 B + 32768) / 65536,
/// rounded down. What is hidden by transparency shows; orientations that a camera noted are left to the model.
///
/// Bytes that are no whole picture give one of [0, 0, channels], as ONNX says. Sizes are looked at before anything is
/// decoded: more than `most_pixels` is INVALID_ARGUMENT, more memory than the session has OUT_OF_MEMORY. A format whose
/// library the build lacks is NOT_IMPLEMENTED. The libraries use the heap in a run, JPEG 2000 up to 32 bytes a pixel.
struct image_decoder {
  using elements = detail::element_set<std::uint8_t>;
  enum class order : std::uint8_t { rgb, bgr, gray };
  static constexpr std::uint64_t most_pixels = std::uint64_t{1} << 27;

  order pixels = order::rgb;
  std::uint64_t most = most_pixels;  // tests lower it

  static result<image_decoder> bind(bind_context&);
  status run(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
