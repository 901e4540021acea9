#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>

namespace CAMEO_NAMESPACE {

/// Memory for protobuf, which leaks blocks or ends the program if an allocation throws in the middle of its work. While
/// a reserve lives, a failed allocation of its thread is repeated after the reserve is freed. The work then completes,
/// but is_used() makes its caller report OUT_OF_MEMORY.
class memory_reserve {
 public:
  /// Throws std::bad_alloc if there is no such memory. The memory is not accessed, so it costs addresses and no pages.
  explicit memory_reserve(std::size_t bytes);
  memory_reserve(const memory_reserve&) = delete;
  memory_reserve& operator=(const memory_reserve&) = delete;
  ~memory_reserve();

  bool is_used() const noexcept { return !memory_; }

 private:
  static void on_no_memory();
  bool release() noexcept;

  void* memory_;
  memory_reserve* outer_;  // the outer reserve of the same thread
};

}  // namespace CAMEO_NAMESPACE
