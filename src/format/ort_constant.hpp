#pragma once
// Makes values from constants of an ORT file. Allocates only from the arena.
#include <cameo/core/arena.hpp>
#include <cameo/core/value.hpp>

#include "ort_view.hpp"

namespace CAMEO_NAMESPACE::ort {

/// Converts an element type of the file, 0 to `undefined`. False for an unknown number.
inline bool element_type_of(std::int32_t number, dtype& to) {
  if (number < 0 || number >= std::int32_t(dtype::f6e2m3)) return false;
  to = dtype(number);
  return true;
}

/// Numbers of `width` bytes in place, or a copy if the file has them at an address that the processor cannot read.
result<const void*> read_numbers(const vector_view&, std::size_t width, arena&);
/// Texts, which refer to the file.
result<std::span<std::string_view>> read_texts(const vector_view&, arena&);
/// A dense tensor. Numbers stay in the file, at any address; texts refer to it. Booleans other than 0 and 1 are
/// corrected in a copy. `what` names a tensor without a name. OUT_OF_MEMORY if it needs more than `most` bytes of the
/// arena; other codes as for read_ort().
result<value> read_constant(const table_view& tensor, std::string_view what, arena&, std::size_t most);
/// A sparse tensor as a dense one, in the arena.
result<value> read_sparse_constant(const table_view& sparse, std::string_view name, arena&, std::size_t most);

}  // namespace CAMEO_NAMESPACE::ort
