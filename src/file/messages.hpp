#pragma once
#include "core/guarded.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <string>

CAMEO_BEGIN_NAMESPACE

template <class... Args>
status failed(status_code code, fmt::format_string<Args...> format, Args&&... args) {
  return status{code, fmt::format(format, std::forward<Args>(args)...)};
}

/// The error with another code, as it is one of something larger; a lack of memory stays one.
inline status with_code(status_code code, const status& error) {
  return status{error.code() == status_code::out_of_memory ? status_code::out_of_memory : code, error.words()};
}

/// The code for an error of the system: OUT_OF_MEMORY where it had no memory for what it was asked.
constexpr status_code code_of_system(int error, status_code otherwise = status_code::fail) noexcept {
  return error == ENOMEM ? status_code::out_of_memory : otherwise;
}

CAMEO_END_NAMESPACE
