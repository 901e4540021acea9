#pragma once
// Constants of an ORT file as values. Nothing here allocates but from the arena.
#include <cameo/core/arena.hpp>
#include <cameo/core/value.hpp>

#include "ort_view.hpp"

CAMEO_BEGIN_NAMESPACE
namespace ort {

/// An element type of the file, `undefined` for 0. False for an unknown number.
inline bool element_type_of(std::int32_t number, dtype& to) {
  if (number < 0 || number >= std::int32_t(dtype::f6e2m3)) return false;
  to = dtype(number);
  return true;
}

/// Numbers of so many bytes in place, or a copy of them where the file has them at an address that they can't be read
/// at.
result<const void*> read_numbers(const vector_view&, std::size_t width, arena&);
/// Texts, which refer to the file.
result<std::span<std::string_view>> read_texts(const vector_view&, arena&);
/// A dense tensor. Numbers stay where they lie in the file, at any address; texts refer to it. Booleans that are
/// neither 0 nor 1 are put right in a copy. `what` names one that has no name. OUT_OF_MEMORY if more than `most` bytes
/// of the arena are needed; other codes as read_ort's.
result<value> read_constant(const table_view& tensor, std::string_view what, arena&, std::size_t most);
/// The dense form of a sparse tensor; it lies in the arena.
result<value> read_sparse_constant(const table_view& sparse, std::string_view name, arena&, std::size_t most);

}  // namespace ort
CAMEO_END_NAMESPACE
