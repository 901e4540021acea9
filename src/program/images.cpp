#include "program/tensor_files.hpp"
#include "program/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <csetjmp>
#include <cstdio>
#include <cstring>

#ifdef CAMEO_WITH_PNG
#include <png.h>
#endif
#ifdef CAMEO_WITH_JPEG
#include <jpeglib.h>
#endif

namespace cameo::program {
namespace {

[[maybe_unused]] constexpr std::size_t most_pixels = std::size_t{1}
                                                     << 28;  // a small file can claim to be a huge picture

struct picture {
  std::size_t width = 0, height = 0, channels = 0;
  std::vector<std::uint8_t> bytes;  // rows, pixels, channels
};

#ifdef CAMEO_WITH_PNG
result<picture> read_png(std::span<const std::byte> file, std::size_t channels) {
  png_image image;
  std::memset(&image, 0, sizeof image);
  image.version = PNG_IMAGE_VERSION;
  if (!png_image_begin_read_from_memory(&image, file.data(), file.size())) return bad(image.message);
  image.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  if (std::size_t(image.width) * image.height > most_pixels)
    return png_image_free(&image), bad("the image is too large");
  picture made{image.width, image.height, channels, {}};
  made.bytes.resize(PNG_IMAGE_SIZE(image));
  const png_color black{0, 0, 0};
  if (!png_image_finish_read(&image, &black, made.bytes.data(), 0, nullptr)) return bad(image.message);
  return made;
}
#else
result<picture> read_png(std::span<const std::byte>, std::size_t) {
  return status{status_code::not_implemented, "this cameo was built without libpng"};
}
#endif

#ifdef CAMEO_WITH_JPEG
struct jpeg_failure {
  jpeg_error_mgr base;
  std::jmp_buf back;
  char words[JMSG_LENGTH_MAX];
};

/// Between setjmp and longjmp lie only libjpeg's frames and plain data: nothing here has a destructor to miss.
bool decode_jpeg(std::span<const std::byte> file, picture& made, jpeg_failure& failure) {
  jpeg_decompress_struct image;
  image.err = jpeg_std_error(&failure.base);
  failure.base.error_exit = [](j_common_ptr at) {
    auto* const self = reinterpret_cast<jpeg_failure*>(at->err);
    self->base.format_message(at, self->words);
    std::longjmp(self->back, 1);
  };
  failure.base.output_message = [](j_common_ptr) {};
  if (setjmp(failure.back)) return jpeg_destroy_decompress(&image), false;
  jpeg_create_decompress(&image);
  jpeg_mem_src(&image, reinterpret_cast<const unsigned char*>(file.data()), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&image, TRUE);
  image.out_color_space = made.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_start_decompress(&image);
  made.width = image.output_width, made.height = image.output_height;
  if (made.width * made.height > most_pixels) {
    std::strcpy(failure.words, "the image is too large");
    return jpeg_destroy_decompress(&image), false;
  }
  made.bytes.resize(made.width * made.height * made.channels);
  while (image.output_scanline < image.output_height) {
    JSAMPROW row = made.bytes.data() + image.output_scanline * made.width * made.channels;
    jpeg_read_scanlines(&image, &row, 1);
  }
  jpeg_finish_decompress(&image);
  jpeg_destroy_decompress(&image);
  return true;
}
result<picture> read_jpeg(std::span<const std::byte> file, std::size_t channels) {
  picture made;
  made.channels = channels;
  jpeg_failure failure{};
  if (!decode_jpeg(file, made, failure)) return bad(failure.words);
  return made;
}
#else
result<picture> read_jpeg(std::span<const std::byte>, std::size_t) {
  return status{status_code::not_implemented, "this cameo was built without libjpeg"};
}
#endif

/// Where an image input has its channels, and how many.
struct image_layout {
  bool channels_first = true;
  std::size_t channels = 0;  // 0: no image
};
image_layout layout_of(const value_type& type) {
  if (!type.is_tensor() || !type.shape || type.shape->size() != 4) return {};
  const std::vector<dim>& dims = *type.shape;
  if (dims[0].known() && dims[0].size != 1) return {};
  const auto is_channels = [](dim d) { return d.size == 1 || d.size == 3; };
  if (is_channels(dims[1])) return {true, std::size_t(dims[1].size)};
  if (is_channels(dims[3])) return {false, std::size_t(dims[3].size)};
  return {};
}

/// One number stands for all channels.
double of_channel(const std::vector<double>& all, std::size_t channel, double otherwise) {
  return all.empty() ? otherwise : all[all.size() == 1 ? 0 : channel];
}

template <class T, class Convert>
result<value> to_tensor(const picture& from, bool channels_first, arena& memory, Convert convert) {
  const result<std::span<T>> to = memory.take<T>(from.bytes.size());
  if (!to) return to.error();
  const std::size_t pixels = from.width * from.height;
  for (std::size_t i = 0; i < pixels; ++i)
    for (std::size_t c = 0; c < from.channels; ++c)
      (*to)[channels_first ? c * pixels + i : i * from.channels + c] = convert(from.bytes[i * from.channels + c], c);
  const auto w = std::int64_t(from.width), h = std::int64_t(from.height), c = std::int64_t(from.channels);
  return value::tensor(dtype_of<T>, channels_first ? extents{1, c, h, w} : extents{1, h, w, c}, to->data());
}

}  // namespace

std::string picture_scaling::text(dtype type) const {
  if (type == dtype::u8) return "pixels as they are, 0 to 255";
  const auto joined = [](const std::vector<double>& all) { return fmt::format("{:g}", fmt::join(all, ",")); };
  std::string made = scale ? fmt::format("pixel * {:g}", *scale) : "pixel / 255";
  if (!mean.empty()) made = fmt::format("{} - {}", made, joined(mean));
  if (!deviation.empty()) made = fmt::format("({}) / {}", made, joined(deviation));
  return made;
}

result<value> read_image(std::span<const std::byte> file, const io_info& input, const picture_scaling& how,
                         arena& memory) {
  const image_layout layout = layout_of(input.type);
  if (layout.channels == 0)
    return bad(fmt::format("input '{}' is {}, no image ([1,C,H,W] or [1,H,W,C] with 1 or 3 channels)", input.name,
                           input.type_text));
  const bool png = file.size() > 8 && std::memcmp(file.data(), "\x89PNG", 4) == 0;
  if (!png && (file.size() < 3 || std::memcmp(file.data(), "\xff\xd8\xff", 3) != 0))
    return bad("neither a PNG nor a JPEG picture, whatever its name says");
  const result<picture> read = png ? read_png(file, layout.channels) : read_jpeg(file, layout.channels);
  if (!read) return read.error();
  const std::vector<dim>& dims = *input.type.shape;
  const dim height = dims[layout.channels_first ? 2 : 1], width = dims[layout.channels_first ? 3 : 2];
  if ((height.known() && std::size_t(height.size) != read->height) ||
      (width.known() && std::size_t(width.size) != read->width))
    return bad(fmt::format("the image is {}x{} (width x height), input '{}' is {}", read->width, read->height,
                           input.name, input.type_text));
  for (const auto& [name, numbers] : {std::pair{"--mean", &how.mean}, std::pair{"--deviation", &how.deviation}})
    if (numbers->size() > 1 && numbers->size() != layout.channels)
      return bad(fmt::format("{} has {} numbers, the image {} channels", name, numbers->size(), layout.channels));
  if (input.type.type == dtype::u8 && how.is_said())
    return bad(
        fmt::format("input '{}' is {}, which takes pixels as they are: --scale, --mean and --deviation are for floats",
                    input.name, input.type_text));
  const auto scaled = [&](std::uint8_t v, std::size_t c) {
    const double number = how.scale ? double(v) * *how.scale : double(v) / 255;
    return float((number - of_channel(how.mean, c, 0)) / of_channel(how.deviation, c, 1));
  };
  switch (input.type.type) {
    case dtype::f32: return to_tensor<float>(*read, layout.channels_first, memory, scaled);
    case dtype::f64: return to_tensor<double>(*read, layout.channels_first, memory, scaled);
    case dtype::f16:
      return to_tensor<float16>(*read, layout.channels_first, memory,
                                [&](std::uint8_t v, std::size_t c) { return float16{scaled(v, c)}; });
    case dtype::u8:
      return to_tensor<std::uint8_t>(*read, layout.channels_first, memory,
                                     [](std::uint8_t v, std::size_t) { return v; });
    default:
      return bad(
          fmt::format("input '{}' is {}; an image is float, double, float16 or uint8", input.name, input.type_text));
  }
}

}  // namespace cameo::program
