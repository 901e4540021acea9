#pragma once
#include "program/tensor_files.hpp"

namespace cameo::program {

/// Decodes a picture by running ImageDecoder on this program's providers (a decode_picture function). NOT_IMPLEMENTED
/// if no provider has that operator, or if it was built without the library for the file's format.
result<any_value> decode_here(std::span<const std::byte> file, std::size_t channels);

}  // namespace cameo::program
