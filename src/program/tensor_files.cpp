#include "program/tensor_files.hpp"

#include <cameo/os/heap_arena.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace cameo::program {
namespace {

constexpr std::string_view pictures[] = {".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp",
                                         ".jp2", ".j2k", ".pnm",  ".pbm", ".pgm", ".ppm"};

result<value> read_as(const std::string& path, std::span<const std::byte> bytes, const io_info& input,
                      const picture_scaling& scaling, decode_picture decode, arena& memory) {
  if (path.ends_with(".npy")) return read_npy(bytes, input.type.type, memory);
  if (path.ends_with(".pb")) return read_pb(bytes, pb_kind_of(input.type.kind), memory);
  if (names_picture(path)) return read_image(bytes, input, scaling, decode, memory);
  return status{status_code::invalid_argument,
                "a value comes from a .npy or .pb file, or from a picture such as .png or .jpg"};
}

}  // namespace

bool names_picture(const std::string& path) {
  std::string lower = path;
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = char(c - 'A' + 'a');
  return std::any_of(std::begin(pictures), std::end(pictures),
                     [&](std::string_view end) { return lower.ends_with(end); });
}

bool names_value_file(const std::string& path) {
  return path.ends_with(".npy") || path.ends_with(".pb") || names_picture(path);
}

result<any_value> read_value_file(const std::string& path, const io_info& input, const picture_scaling& scaling,
                                  decode_picture decode) {
  result<std::shared_ptr<const detail::file_bytes>> file = detail::file_bytes::map(path);
  if (!file) return std::move(file).error();
  auto memory = std::make_shared<detail::heap_arena>();
  if (!memory->keep(*file)) return status_code::out_of_memory;  // the value may refer to the file's bytes
  result<value> read = read_as(path, (*file)->bytes(), input, scaling, decode, *memory);
  if (!read) return std::move(read).error().in(path);
  return any_value::adopt(std::move(memory), *read);
}

}  // namespace cameo::program
