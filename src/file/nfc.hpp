#pragma once
#include <cameo/core/abi.hpp>

#include <string_view>

namespace cameo::inline CAMEO_ABI {

/// Whether a text is in Unicode's form NFC: where one character stands for a letter and its accents, it is that one,
/// and accents are in their order. Characters that cameo does not know of yet combine with nothing.
bool is_nfc(std::u32string_view);

}  // namespace cameo::inline CAMEO_ABI
