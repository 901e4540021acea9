#include "tensor_bytes.hpp"

#include <cameo/core/booleans.hpp>

#include "graph/messages.hpp"

#include <cstring>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::size_t tensor_alignment = 64;

}  // namespace

result<void*> allocate_tensor(arena& memory, std::size_t budget, std::size_t bytes) {
  if (bytes > budget || memory.used() > budget - bytes)
    return failed(status_code::out_of_memory, "{} bytes more would pass the limit of {} (load_limits.model_bytes)",
                  bytes, budget);
  void* const made = memory.allocate(bytes, tensor_alignment);
  if (!made) return failed(status_code::out_of_memory, "no memory for a tensor of {} bytes", bytes);
  return made;
}

result<value> place_tensor(arena& memory, std::size_t budget, value made, std::span<const std::byte> bytes,
                           bool may_stay, std::size_t small, std::size_t large) {
  const bool odd_bools = made.type == dtype::boolean && !are_booleans(bytes);
  made.data = const_cast<std::byte*>(bytes.data());
  if (may_stay && !odd_bools && bytes.size() > small && (bytes.size() >= large || detail::is_aligned(made)))
    return made;
  result<void*> data = allocate_tensor(memory, budget, bytes.size());
  if (!data) return data.error();
  made.data = *data;
  if (odd_bools) to_booleans(bytes, made.data);
  else if (!bytes.empty()) std::memcpy(made.data, bytes.data(), bytes.size());
  return made;
}

}  // namespace CAMEO_NAMESPACE
