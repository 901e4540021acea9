#include "program/pictures.hpp"

#include "build/runtime.hpp"

#include <cameo/graph/model.hpp>

namespace cameo::program {
namespace {

/// A model with one node ImageDecoder: a file's bytes as uint8 -> pixels.
std::unique_ptr<model> decoder_of(std::string_view pixel_format) {
  constexpr std::int64_t opset = 20;
  auto made = std::make_unique<model>();
  made->ir_version = 10;
  made->imports.push_back({"", opset});
  graph& g = made->main();
  const value_id file = g.add_value("file", made->keep(value_type::tensor(dtype::u8, std::vector<dim>(1))));
  const value_id pixels = g.add_value("pixels");
  g.add_input(file);
  attribute format{"pixel_format", attribute_kind::s};
  format.s = pixel_format;
  node_spec decoder;
  decoder.name = "picture", decoder.op_type = "ImageDecoder", decoder.opset = opset;
  decoder.inputs = {&file, 1}, decoder.outputs = {&pixels, 1}, decoder.attributes = {&format, 1};
  g.add_node(decoder);
  g.add_output(pixels);
  return made;
}

}  // namespace

result<any_value> decode_here(std::span<const std::byte> file, std::size_t channels) {
  const result<session> decoder = build::runtime{}.load(decoder_of(channels == 1 ? "Grayscale" : "RGB"));
  if (!decoder) return decoder.error();
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  const value given =
      value::tensor(extents{std::int64_t(file.size())}, std::span<const std::uint8_t>{bytes, file.size()});
  result<named_values> made = decoder->run({{"file", given}});
  if (!made) return made.error();
  return (*made)[0].value;
}

}  // namespace cameo::program
