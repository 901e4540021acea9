#include "program/tensor_files.hpp"
#include "program/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace cameo::program {
namespace {

/// The layout of an image input.
struct image_layout {
  bool channels_first = true;  // [1,C,H,W], not [1,H,W,C]
  std::size_t channels = 0;    // 0: the input is not an image
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

/// The number for a channel: `all` has one number for all channels, one for each, or none.
double of_channel(const std::vector<double>& all, std::size_t channel, double otherwise) {
  return all.empty() ? otherwise : all[all.size() == 1 ? 0 : channel];
}

/// Converts pixels [height, width, channels] to a tensor of T with a batch dim of 1.
template <class T, class Convert>
result<value> to_tensor(const tensor_view<const std::uint8_t>& from, bool channels_first, arena& memory,
                        Convert convert) {
  const result<std::span<T>> to = memory.take<T>(std::size_t(from.count()));
  if (!to) return to.error();
  const std::int64_t h = from.dim(0), w = from.dim(1), channels = from.dim(2), pixels = h * w;
  for (std::int64_t i = 0; i < pixels; ++i)
    for (std::int64_t c = 0; c < channels; ++c)
      (*to)[std::size_t(channels_first ? c * pixels + i : i * channels + c)] =
          convert(from[i * channels + c], std::size_t(c));
  return value::tensor(dtype_of<T>, channels_first ? extents{1, channels, h, w} : extents{1, h, w, channels},
                       to->data());
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
                         decode_picture decode, arena& memory) {
  const image_layout layout = layout_of(input.type);
  if (layout.channels == 0)
    return bad(fmt::format("input '{}' is {}, not an image ([1,C,H,W] or [1,H,W,C] with 1 or 3 channels)", input.name,
                           input.type_text));
  const result<any_value> decoded = decode(file, layout.channels);
  if (!decoded) return decoded.error();
  const auto picture = decoded->as_unchecked<std::uint8_t>();
  if (picture.empty()) return bad("this is not a complete picture of a format that cameo reads");
  const std::vector<dim>& dims = *input.type.shape;
  const dim height = dims[layout.channels_first ? 2 : 1], width = dims[layout.channels_first ? 3 : 2];
  if ((height.known() && height.size != picture.dim(0)) || (width.known() && width.size != picture.dim(1)))
    return bad(fmt::format("the image is {}x{} (width x height), input '{}' is {}", picture.dim(1), picture.dim(0),
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
    case dtype::f32: return to_tensor<float>(picture, layout.channels_first, memory, scaled);
    case dtype::f64: return to_tensor<double>(picture, layout.channels_first, memory, scaled);
    case dtype::f16:
      return to_tensor<float16>(picture, layout.channels_first, memory,
                                [&](std::uint8_t v, std::size_t c) { return float16{scaled(v, c)}; });
    case dtype::u8:
      return to_tensor<std::uint8_t>(picture, layout.channels_first, memory,
                                     [](std::uint8_t v, std::size_t) { return v; });
    default:
      return bad(
          fmt::format("input '{}' is {}; an image is float, double, float16 or uint8", input.name, input.type_text));
  }
}

}  // namespace cameo::program
