#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>

CAMEO_BEGIN_NAMESPACE

/// Memory for protobuf, which loses blocks or ends the program where an allocation throws in the middle of its work.
/// While a reserve lives, an allocation of its thread that finds no memory is tried again with the reserve's freed. The
/// work is then whole, and its caller reports OUT_OF_MEMORY all the same, since is_used().
class memory_reserve {
 public:
  /// Throws std::bad_alloc where there is no such memory. It is not touched, so it costs addresses and no pages.
  explicit memory_reserve(std::size_t bytes);
  memory_reserve(const memory_reserve&) = delete;
  memory_reserve& operator=(const memory_reserve&) = delete;
  ~memory_reserve();

  bool is_used() const noexcept { return !memory_; }

 private:
  static void on_no_memory();
  bool release() noexcept;

  void* memory_;
  memory_reserve* outer_;  // of the same thread
};

CAMEO_END_NAMESPACE
