#pragma once
#include <cameo/core/dtype.hpp>
#include <cameo/core/extents.hpp>
#include <cameo/core/status.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace CAMEO_NAMESPACE {

/// Returns OUT_OF_MEMORY with a message such as "float[1048576,1048576] does not fit into memory".
inline status too_large(dtype type, const extents& shape) {
  if constexpr (!status::has_words) return status_code::out_of_memory;
  constexpr std::string_view rest = " does not fit into memory";
  char line[sizeof(detail::dtype_row::name) + 21 * max_rank + 1 + rest.size()];  // a dim and its comma take at most 21
  char* at = std::copy_n(detail::row_of(type).name, std::strlen(detail::row_of(type).name), line);
  for (std::size_t i = 0; i < shape.rank(); ++i) {
    *at++ = i ? ',' : '[';
    at = std::to_chars(at, line + sizeof line, shape[i]).ptr;
  }
  if (shape.rank()) *at++ = ']';
  at = std::copy(rest.begin(), rest.end(), at);
  return {status_code::out_of_memory, {line, std::size_t(at - line)}};
}

}  // namespace CAMEO_NAMESPACE
