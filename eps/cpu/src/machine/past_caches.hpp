#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>

// Non-temporal stores. If an output is larger than the caches, a plain store first reads the cache line and evicts
// another one: a third of the memory traffic is wasted.
namespace CAMEO_NAMESPACE::eps {

/// True if non-temporal stores pay for an output of this size: one that has left the caches before it is read. The
/// choice changes no bit of the result.
constexpr bool past_caches(std::size_t bytes) { return bytes >= std::size_t{64} << 20; }

/// A writer of non-temporal stores, for one thread. Other threads may read what was written once it is destroyed.
class past_caches_writer {
 public:
  past_caches_writer() = default;
  past_caches_writer(const past_caches_writer&) = delete;
  past_caches_writer& operator=(const past_caches_writer&) = delete;
  ~past_caches_writer();

  /// Copies `bytes` bytes to any address; `from` should be in the L1 cache.
  void write(std::byte* to, const std::byte* from, std::size_t bytes);
};

}  // namespace CAMEO_NAMESPACE::eps
