#include "run/memory_cache.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>

using namespace cameo;

namespace {

/// A heap that counts its bytes and calls, and has a limit.
struct counted_heap {
  std::size_t taken = 0, most = std::size_t(-1);
  int calls = 0;

  memory_source source() {
    memory_source made = heap_memory();
    made.self = this;
    made.allocate = [](void* self, std::size_t bytes, std::size_t alignment) noexcept -> void* {
      counted_heap& c = *static_cast<counted_heap*>(self);
      ++c.calls;
      if (c.taken + bytes > c.most) return nullptr;
      c.taken += bytes;
      return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    };
    made.release = [](void* self, void* memory, std::size_t bytes) noexcept {
      static_cast<counted_heap*>(self)->taken -= bytes;
      std::free(memory);
    };
    return made;
  }
};

}  // namespace

TEST_CASE("blocks are reused for later requests, also of slightly different sizes") {
  counted_heap heap;
  {
    memory_cache cache{heap.source()};
    void* const a = cache.allocate(1000);
    void* const b = cache.allocate(1000);
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a != b);
    CHECK(reinterpret_cast<std::uintptr_t>(a) % 64 == 0);
    cache.release(a);
    cache.release(&heap);  // not a block
    cache.release(nullptr);
    CHECK(cache.allocate(990) == a);
    cache.release(b);
    void* const small = cache.allocate(100);  // the free block is too large for it
    CHECK(small != b);
    CHECK(cache.allocate(0) != nullptr);
    CHECK(heap.calls == 4);
    CHECK(cache.allocate(std::size_t(-1)) == nullptr);
  }
  CHECK(heap.taken == 0);
}

TEST_CASE("unused blocks are released when the source is used up") {
  counted_heap heap;
  heap.most = 4096;
  {
    memory_cache cache{heap.source()};
    void* const a = cache.allocate(3000);
    REQUIRE(a);
    CHECK(cache.allocate(1 << 14) == nullptr);
    CHECK(cache.allocate(2000) == nullptr);
    cache.release(a);
    CHECK(cache.allocate(4000) != nullptr);
  }
  CHECK(heap.taken == 0);
}
