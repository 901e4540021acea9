#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>
#include <utility>

namespace CAMEO_NAMESPACE::os {

/// An open file, folder or pipe. The destructor closes it. An empty handle as the folder of a path is the current
/// folder of the process.
class handle {
 public:
  handle() = default;
  handle(handle&& from) noexcept : native_{std::exchange(from.native_, none)} {}
  handle& operator=(handle&& from) noexcept { return std::swap(native_, from.native_), *this; }
  ~handle();

  explicit operator bool() const { return native_ != none; }

 private:
  friend struct native;  // of the sources in src/os/<system>
  static constexpr std::intptr_t none = -1;
  std::intptr_t native_ = none;
};

}  // namespace CAMEO_NAMESPACE::os
