#pragma once
#include <cameo/core/result.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

namespace cameo::inline CAMEO_ABI {

/// Memory handed out from front to back and dropped whole. Over a caller's memory it is fixed; heap_arena grows.
/// Null, not an exception, when it is full. Not thread-safe.
class arena {
 public:
  explicit arena(std::span<std::byte> memory) noexcept : free_{memory} {}
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;
  ~arena() { destroy_kept(); }

  /// `alignment` is a power of two. Null when full.
  void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
    if (void* memory = try_allocate(bytes, alignment)) return memory;
    return grow_ && grow_(*this, bytes, alignment) ? try_allocate(bytes, alignment) : nullptr;
  }

  /// allocate() for `count` things of `width` bytes. Null, too, where so many bytes can't be counted.
  CAMEO_API void* allocate_all(std::size_t count, std::size_t width, std::size_t alignment) noexcept;

  /// The same, with a copy of `used` of them in front. Not inline: every list calls it.
  CAMEO_API void* allocate_more(const void* from, std::size_t used, std::size_t count, std::size_t width,
                                std::size_t alignment) noexcept;

  /// `count` value-initialised elements.
  template <class T>
  result<std::span<T>> take(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>, "cameo: an arena of elements calls no destructors");
    void* const memory = allocate_all(count, sizeof(T), alignof(T));
    if (!memory) return status_code::out_of_memory;
    T* const first = static_cast<T*>(memory);
    for (std::size_t i = 0; i < count; ++i) std::construct_at(first + i);
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

  /// One value, kept and, if it has a destructor, destroyed with the arena. Null when full.
  template <class T>
  T* keep(T value) {
    void* const memory = allocate(sizeof(T), alignof(T));
    if (!memory) return nullptr;
    if constexpr (!std::is_trivially_destructible_v<T>) {
      void* const record = allocate(sizeof(kept), alignof(kept));
      if (!record) return nullptr;
      kept_ = std::construct_at(static_cast<kept*>(record),
                                kept{kept_, memory, [](void* object) { std::destroy_at(static_cast<T*>(object)); }});
    }
    return std::construct_at(static_cast<T*>(memory), std::move(value));
  }

  std::size_t used() const noexcept { return used_; }

 protected:
  /// Finds more memory and calls `refill`; false if there is none.
  using grow_function = bool (*)(arena&, std::size_t bytes, std::size_t alignment) noexcept;
  explicit arena(grow_function grow) noexcept : grow_{grow} {}
  void refill(std::span<std::byte> memory) noexcept { free_ = memory; }
  /// For arenas that give their memory back: what keep() made goes first.
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
    free_ = free_.subspan(gap + bytes);
    used_ += gap + bytes;
    return first;
  }

  std::span<std::byte> free_;
  std::size_t used_ = 0;
  kept* kept_ = nullptr;
  grow_function grow_ = nullptr;
};

/// A list that grows inside an arena; what it outgrows stays there until the arena goes. Null slots never: push_back
/// says false when the arena is full. Trivial elements only.
template <class T>
class arena_vector {
  static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);

 public:
  explicit arena_vector(arena& memory) noexcept : memory_{&memory} {}

  /// Room for `count` elements in all. False when the arena is full; the list is then as it was, here and below.
  [[nodiscard]] bool reserve(std::size_t count) noexcept {
    if (count <= capacity_) return true;
    void* const memory = memory_->allocate_more(data_, size_, count, sizeof(T), alignof(T));
    if (!memory) return false;
    data_ = static_cast<T*>(memory);
    capacity_ = count;
    return true;
  }
  /// Adds a copy of one, or of several.
  [[nodiscard]] bool push_back(const T& value) noexcept {
    const T copy = value;
    if (size_ == capacity_ && !reserve(capacity_ ? 2 * capacity_ : 8)) return false;
    std::construct_at(data_ + size_++, copy);
    return true;
  }
  /// Adds copies of all of them, or of none.
  [[nodiscard]] bool append(std::span<const T> values) noexcept {
    if (size_ + values.size() > capacity_ && !reserve(std::max(size_ + values.size(), 2 * capacity_))) return false;
    for (const T& value : values) std::construct_at(data_ + size_++, value);
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
  /// Dies with the arena; a later push_back may leave it behind.
  std::span<T> span() noexcept { return {data_, size_}; }
  std::span<const T> span() const noexcept { return {data_, size_}; }

 private:
  arena* memory_;
  T* data_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

/// An arena that takes chunks from the heap as it grows and gives them back when it goes. Host only.
class heap_arena : public arena {
 public:
  /// `first_chunk`: bytes of the first chunk; later ones double. At most `limit` bytes in all.
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

}  // namespace cameo::inline CAMEO_ABI
