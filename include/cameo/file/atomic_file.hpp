#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/core/result.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace cameo::inline CAMEO_ABI {

/// Writes a file that is complete or absent, also after a crash: the pieces, one after the other, go to a temporary
/// name in the same folder, reach the disk, and then take the place of what was there. Who still maps the old file
/// keeps the old bytes. FAIL with the system's words; the temporary file is then gone. Thread-safe.
CAMEO_API status write_file_atomically(const std::string& path, std::span<const std::span<const std::byte>> pieces);
CAMEO_API status write_file_atomically(const std::string& path, std::span<const std::byte> bytes);
/// The same for bytes that come bit by bit: `produce` gets a function that takes the next ones. What that returns, or
/// `produce`, ends it, and then there is no file.
CAMEO_API status write_file_atomically(const std::string& path,
                                       function_ref<status(function_ref<status(std::span<const std::byte>)>)> produce);
CAMEO_API status write_file_atomically(const std::string& path, std::string_view text);

}  // namespace cameo::inline CAMEO_ABI
