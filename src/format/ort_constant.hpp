#pragma once
// Constants of an ORT file as values, for builds without a graph. Nothing here allocates but from the arena.
#include <cameo/core/arena.hpp>
#include <cameo/core/value.hpp>

#include "ort_view.hpp"

namespace cameo::inline CAMEO_ABI {
namespace ort {

/// FAIL, or another code, in words that take no heap; a build without words composes none.
template <class... Parts>
status wrong(status_code code, const Parts&... parts) {
  if constexpr (!status::has_words) return code;
  short_text words;
  static_cast<void>((words << ... << parts));
  return {code, words};
}
inline status missing(std::string_view field) { return wrong(status_code::fail, field, " is missing"); }

/// An element type of the file, `undefined` for 0. False for an unknown number.
inline bool element_type_of(std::int32_t number, dtype& to) {
  if (number < 0 || number >= std::int32_t(dtype::f6e2m3)) return false;
  to = dtype(number);
  return true;
}

/// A dense tensor. Numbers stay where they lie in the file, at any address; texts refer to it. Booleans that are
/// neither 0 nor 1 are put right in a copy. `what` names one that has no name. Codes as read_ort's.
result<value> read_constant(const table_view& tensor, std::string_view what, arena&);
/// The dense form of a sparse tensor; it lies in the arena.
result<value> read_sparse_constant(const table_view& sparse, std::string_view name, arena&);

}  // namespace ort
}  // namespace cameo::inline CAMEO_ABI
