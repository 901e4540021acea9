#pragma once
#include <cameo/kernel/run_context.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Scratch memory for the elements of a tensor of this shape; OUT_OF_MEMORY if their number overflows.
template <class T>
result<T*> scratch_of(run_context& c, const extents& shape) {
  std::int64_t count = 0;
  if (!shape.checked_count(count)) return status_code::out_of_memory;
  const result<std::span<T>> made = c.scratch<T>(std::size_t(count));
  if (!made) return made.error();
  return made->data();
}

}  // namespace CAMEO_NAMESPACE::eps
