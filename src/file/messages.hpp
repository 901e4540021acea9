#pragma once
#include "core/guarded.hpp"

#include <fmt/format.h>

#include <string>

namespace CAMEO_NAMESPACE {

template <class... Args>
status failed(status_code code, fmt::format_string<Args...> format, Args&&... args) {
  return status{code, fmt::format(format, std::forward<Args>(args)...)};
}

/// The error with another code; OUT_OF_MEMORY is kept.
inline status with_code(status_code code, const status& error) {
  return status{error.code() == status_code::out_of_memory ? status_code::out_of_memory : code, error.words()};
}

/// Converts an error of the system to FAIL, or OUT_OF_MEMORY. The message has the path, what failed, and the system's
/// message.
inline status system_error(std::string_view path, std::string_view doing, const status& error) {
  return with_code(status_code::fail, error).in(doing).in(path);
}

}  // namespace CAMEO_NAMESPACE
