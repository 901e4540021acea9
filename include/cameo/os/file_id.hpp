#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE::detail {

/// Identifies a file or folder of this machine, whatever its name is.
struct file_id {
  std::uint64_t volume = 0, number = 0;
  bool operator==(const file_id&) const = default;
};

}  // namespace CAMEO_NAMESPACE::detail
