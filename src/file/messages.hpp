#pragma once
#include <cameo/core/result.hpp>

#include <fmt/format.h>
#include <new>
#include <stdexcept>
#include <string>

namespace cameo::inline CAMEO_ABI {

template <class... Args>
status failed(status_code code, fmt::format_string<Args...> format, Args&&... args) {
  return status{code, fmt::format(format, std::forward<Args>(args)...)};
}

/// Calls `work` and turns what containers throw when memory runs out into a status.
template <class Work>
auto guarded(Work work) -> decltype(work()) {
#if defined(__cpp_exceptions)
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return status{status_code::out_of_memory, "no memory left for it"};
  } catch (const std::length_error&) {
    return status{status_code::out_of_memory, "no memory left for it"};
  }
#else
  return work();
#endif
}

}  // namespace cameo::inline CAMEO_ABI
