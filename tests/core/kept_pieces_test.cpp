#include "run/kept_pieces.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>

using namespace cameo;

namespace {

/// The heap's, counted, with an end.
struct counted {
  std::size_t taken = 0, most = std::size_t(-1);
  int calls = 0;

  memory_source source() {
    memory_source made = heap_memory();
    made.self = this;
    made.allocate = [](void* self, std::size_t bytes, std::size_t alignment) noexcept -> void* {
      counted& c = *static_cast<counted*>(self);
      ++c.calls;
      if (c.taken + bytes > c.most) return nullptr;
      c.taken += bytes;
      return std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    };
    made.release = [](void* self, void* memory, std::size_t bytes) noexcept {
      static_cast<counted*>(self)->taken -= bytes;
      std::free(memory);
    };
    return made;
  }
};

}  // namespace

TEST_CASE("pieces are kept for those who ask next, for sizes that differ a little, too") {
  counted from;
  {
    kept_pieces pieces{from.source()};
    void* const a = pieces.allocate(1000);
    void* const b = pieces.allocate(1000);
    REQUIRE(a);
    REQUIRE(b);
    CHECK(a != b);
    CHECK(reinterpret_cast<std::uintptr_t>(a) % 64 == 0);
    pieces.release(a);
    pieces.release(&from);  // is no piece
    pieces.release(nullptr);
    CHECK(pieces.allocate(990) == a);
    pieces.release(b);
    void* const small = pieces.allocate(100);  // would waste most of the one that is free
    CHECK(small != b);
    CHECK(pieces.allocate(0) != nullptr);
    CHECK(from.calls == 4);
    CHECK(pieces.allocate(std::size_t(-1)) == nullptr);
  }
  CHECK(from.taken == 0);
}

TEST_CASE("pieces that nobody uses make room when the source has none left") {
  counted from;
  from.most = 4096;
  {
    kept_pieces pieces{from.source()};
    void* const a = pieces.allocate(3000);
    REQUIRE(a);
    CHECK(pieces.allocate(1 << 14) == nullptr);
    CHECK(pieces.allocate(2000) == nullptr);
    pieces.release(a);
    CHECK(pieces.allocate(4000) != nullptr);
  }
  CHECK(from.taken == 0);
}
