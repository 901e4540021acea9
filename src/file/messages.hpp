#pragma once
#include "core/guarded.hpp"

#include <fmt/format.h>
#include <string>

namespace cameo::inline CAMEO_ABI {

template <class... Args>
status failed(status_code code, fmt::format_string<Args...> format, Args&&... args) {
  return status{code, fmt::format(format, std::forward<Args>(args)...)};
}

}  // namespace cameo::inline CAMEO_ABI
