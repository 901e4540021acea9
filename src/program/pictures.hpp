#pragma once
#include "program/tensor_files.hpp"

namespace cameo::program {

/// Decodes a picture by running ImageDecoder on this program's providers: a decode_picture. NOT_IMPLEMENTED where none
/// has that operator, or its build not the library for the file's format.
result<any_value> decode_here(std::span<const std::byte> file, std::size_t channels);

}  // namespace cameo::program
