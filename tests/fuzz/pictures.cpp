// A fuzz target for the decoders of pictures: for any bytes, ImageDecoder must end with pixels, with an empty picture,
// or with a status. Seeds: tests/data/pictures.
#include <cameo/eps/cpu/image_decoder.hpp>

#include "cpu/tests/kernel_rig.hpp"

namespace {

/// A decoder with a lower limit of pixels, so that runs are short.
struct small_decoder : cameo::eps::image_decoder {
  static cameo::result<small_decoder> bind(cameo::bind_context& c) {
    cameo::result<cameo::eps::image_decoder> made = cameo::eps::image_decoder::bind(c);
    if (!made) return made.error();
    made->most = 1 << 16;
    return small_decoder{*made};
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> file(data, data + size);
  cameo::test::kernel_rig rig{20};
  rig.attribute("pixel_format", std::string_view{size % 2 ? "BGR" : "Grayscale"});
  const cameo::status done = rig.input<std::uint8_t>({std::int64_t(size)}, file).run<small_decoder>({cameo::dtype::u8});
  const bool expected =
      done || done.code() == cameo::status_code::invalid_argument || done.code() == cameo::status_code::not_implemented;
  if (!expected) std::abort();
  return 0;
}
