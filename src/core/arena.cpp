#include <cameo/core/arena.hpp>

#include <cameo/core/checked.hpp>

namespace CAMEO_NAMESPACE {

void* arena::allocate_all(std::size_t count, std::size_t width, std::size_t alignment) noexcept {
  std::size_t bytes = 0;
  return checked_multiply(count, width, bytes) ? allocate(bytes, alignment) : nullptr;
}

void* arena::allocate_more(const void* from, std::size_t used, std::size_t count, std::size_t width,
                           std::size_t alignment) noexcept {
  void* const memory = allocate_all(count, width, alignment);
  if (memory && used) std::memcpy(memory, from, used * width);
  return memory;
}

}  // namespace CAMEO_NAMESPACE
