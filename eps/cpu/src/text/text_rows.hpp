#pragma once
#include <cameo/eps/cpu/regex_full_match.hpp>
#include <cameo/eps/cpu/string.hpp>
#include <cameo/op/onnx.hpp>

#include "skeletons/row_list.hpp"

namespace cameo::inline CAMEO_ABI::eps {

/// Operators on text.
// clang-format off
using text_rows = row_list<
#ifdef CAMEO_WITH_RE2
    computes<op::RegexFullMatch, since<20>, regex_full_match>,
#endif
    computes<op::StringConcat, since<20>, string_concat>,
    computes<op::StringSplit, since<20>, string_split>,
    takes_any<op::StringNormalizer, since<10>, string_normalizer>
>;
// clang-format on

}  // namespace cameo::inline CAMEO_ABI::eps
