#pragma once
#include <cameo/core/result.hpp>

#include <cstring>
#include <span>
#include <string_view>

namespace CAMEO_NAMESPACE {

/// Allocates memory from front to back and releases it as a whole. An arena over a caller's memory has a fixed size;
/// heap_arena grows. Allocation from a full arena returns null; nothing throws. Not thread-safe.
class arena {
 public:
  explicit arena(std::span<std::byte> memory) noexcept : free_{memory} {}
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() { destroy_kept(); }

  /// Allocates uninitialized memory. `alignment` is a power of two. Returns null when the arena is full.
  void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (void* memory = try_allocate(bytes, alignment)) return memory;
    return grow_ && grow_(*this, bytes, alignment) ? try_allocate(bytes, alignment) : nullptr;
  }

  /// Like allocate(), for `count` objects of `width` bytes. Also returns null when the number of bytes overflows.
  CAMEO_API void* allocate_all(std::size_t count, std::size_t width, std::size_t alignment) noexcept;

  /// Like allocate_all(), and copies the first `used` objects of `from` to the front of the new memory. It is not
  /// inline, because every list calls it.
  CAMEO_API void* allocate_more(const void* from, std::size_t used, std::size_t count, std::size_t width,
                                std::size_t alignment) noexcept;

  /// Allocates `count` value-initialized elements. OUT_OF_MEMORY when the arena is full.
  template <class T>
  result<std::span<T>> take(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>, "cameo: an arena does not call destructors");
    void* const memory = allocate_all(count, sizeof(T), alignof(T));
    if (!memory) return status_code::out_of_memory;
    T* const first = static_cast<T*>(memory);
    for (std::size_t i = 0; i < count; ++i) detail::construct_at(first + i);
    return std::span<T>{first, count};
  }

  /// A copy of `from` that lives as long as the arena.
  template <class T>
  result<std::span<T>> copy(std::span<T> from) {
    return copy(std::span<const T>{from});
  }
  template <class T>
  result<std::span<T>> copy(std::span<const T> from) {
    result<std::span<T>> to = take<T>(from.size());
    if (to)
      for (std::size_t i = 0; i < from.size(); ++i) (*to)[i] = from[i];
    return to;
  }
  result<std::string_view> copy(std::string_view text) {
    if (text.empty()) return std::string_view{};
    void* const memory = allocate(text.size(), 1);
    if (!memory) return status_code::out_of_memory;
    std::memcpy(memory, text.data(), text.size());
    return std::string_view{static_cast<const char*>(memory), text.size()};
  }

  /// Stores one value, whose destructor runs with the arena's. Returns null when the arena is full.
  template <class T>
  T* keep(T value) {
    void* const memory = allocate(sizeof(T), alignof(T));
    if (!memory) return nullptr;
    if constexpr (!std::is_trivially_destructible_v<T>) {
      void* const record = allocate(sizeof(kept), alignof(kept));
      if (!record) return nullptr;
      kept_ =
          detail::construct_at(static_cast<kept*>(record),
                               kept{kept_, memory, [](void* object) { detail::destroy_at(static_cast<T*>(object)); }});
    }
    return detail::construct_at(static_cast<T*>(memory), std::move(value));
  }

  std::size_t used() const noexcept { return used_; }

 protected:
  /// Finds more memory and calls `refill`; returns false when there is no more memory.
  using grow_function = bool (*)(arena&, std::size_t bytes, std::size_t alignment) noexcept;
  explicit arena(grow_function grow) noexcept : grow_{grow} {}
  void refill(std::span<std::byte> memory) noexcept { free_ = memory; }
  /// Destroys the objects made by keep(). Arenas that release their memory call it first.
  void destroy_kept() noexcept {
    for (; kept_; kept_ = kept_->next) kept_->destroy(kept_->object);
  }

 private:
  struct kept {
    kept* next;
    void* object;
    void (*destroy)(void*);
  };

  void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept {
    const std::size_t gap = -reinterpret_cast<std::uintptr_t>(free_.data()) % alignment;
    if (gap > free_.size() || bytes > free_.size() - gap || !free_.data()) return nullptr;
    void* const first = free_.data() + gap;
    free_ = {free_.data() + gap + bytes, free_.size() - gap - bytes};
    used_ += gap + bytes;
    return first;
  }

  std::span<std::byte> free_;
  std::size_t used_ = 0;
  kept* kept_ = nullptr;
  grow_function grow_ = nullptr;
};

namespace detail {
/// A list that grows inside an arena. Storage that it outgrows is released only with the arena. Trivial elements only.
template <class T>
class arena_vector {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);

 public:
  explicit arena_vector(arena& memory) noexcept : memory_{&memory} {}

  /// Allocates space for `count` elements in all. Like push_back() and append(), it returns false and leaves the list
  /// unchanged when the arena is full.
  [[nodiscard]] bool reserve(std::size_t count) noexcept {
    if (count <= capacity_) return true;
    void* const memory = memory_->allocate_more(data_, size_, count, sizeof(T), alignof(T));
    if (!memory) return false;
    data_ = static_cast<T*>(memory);
    capacity_ = count;
    return true;
  }
  /// Appends a copy of one element.
  [[nodiscard]] bool push_back(const T& value) noexcept {
    const T copy = value;
    if (size_ == capacity_ && !reserve(capacity_ ? 2 * capacity_ : 8)) return false;
    detail::construct_at(data_ + size_++, copy);
    return true;
  }
  /// Appends copies of all elements, or none.
  [[nodiscard]] bool append(std::span<const T> values) noexcept {
    if (size_ + values.size() > capacity_ &&
        !reserve(size_ + values.size() > 2 * capacity_ ? size_ + values.size() : 2 * capacity_))
      return false;
    for (const T& value : values) detail::construct_at(data_ + size_++, value);
    return true;
  }
  void clear() noexcept { size_ = 0; }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  T& operator[](std::size_t i) noexcept { return data_[i]; }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  T* begin() noexcept { return data_; }
  T* end() noexcept { return data_ + size_; }
  const T* begin() const noexcept { return data_; }
  const T* end() const noexcept { return data_ + size_; }
  T& back() noexcept { return data_[size_ - 1]; }
  /// The elements. Valid while the arena lives, but it shows the old elements once a push_back() has moved the list.
  std::span<T> span() noexcept { return {data_, size_}; }
  std::span<const T> span() const noexcept { return {data_, size_}; }

 private:
  arena* memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
