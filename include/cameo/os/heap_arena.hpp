#pragma once
#include <cameo/core/arena.hpp>

namespace CAMEO_NAMESPACE::detail {

/// An arena that takes chunks from the heap as it grows and frees them when it is destroyed.
class heap_arena : public arena {
 public:
  /// `first_chunk` is the size of the first chunk in bytes; each later one is twice as large. All chunks together have
  /// at most `limit` bytes.
  explicit heap_arena(std::size_t first_chunk = 4096, std::size_t limit = std::size_t(-1)) noexcept
      : arena{grow}, next_chunk_{first_chunk}, left_{limit} {}
  CAMEO_API ~heap_arena();

 private:
  struct chunk {
    chunk* next;
  };
  CAMEO_API static bool grow(arena&, std::size_t bytes, std::size_t alignment) noexcept;
  chunk* chunks_ = nullptr;
  std::size_t next_chunk_, left_;
};

}  // namespace CAMEO_NAMESPACE::detail
