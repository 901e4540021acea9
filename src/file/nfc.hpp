#pragma once
#include <cameo/core/abi.hpp>

#include <string_view>

namespace cameo::inline CAMEO_ABI {

/// True if a text is in Unicode's form NFC: where one character exists for a letter and its accents, it is used,
/// and accents are in their order. Characters that cameo does not know of yet combine with nothing.
bool is_nfc(std::u32string_view);

}  // namespace cameo::inline CAMEO_ABI
