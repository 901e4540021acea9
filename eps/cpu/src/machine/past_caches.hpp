#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>

// Where an output is larger than the caches, a plain store reads the line first and pushes another one out: a third of
// what then crosses to memory is for nothing.
namespace CAMEO_NAMESPACE::eps {

/// Whether an output of so many bytes is worth it: it has left the caches before anyone reads it. No bit depends on it.
constexpr bool past_caches(std::size_t bytes) { return bytes >= std::size_t{64} << 20; }

/// Stores of one thread that go past the caches. Other threads may read what was written from the destructor on.
class past_caches_writer {
 public:
  past_caches_writer() = default;
  past_caches_writer(const past_caches_writer&) = delete;
  past_caches_writer& operator=(const past_caches_writer&) = delete;
  ~past_caches_writer();

  /// `bytes` bytes to any address; `from` is to be in the nearest cache.
  void write(std::byte* to, const std::byte* from, std::size_t bytes);
};

}  // namespace CAMEO_NAMESPACE::eps
