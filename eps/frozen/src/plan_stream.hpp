#pragma once
#include <cameo/core/result.hpp>

#include <cstring>
#include <span>
#include <string_view>
#include <vector>

namespace CAMEO_NAMESPACE::eps::frozen_file {

/// The state of a value that is a constant of the model and an input of the compiled node. The other states are 0, not
/// a constant, and 1, a constant of the container.
inline constexpr std::uint8_t constant_outside = 2;
/// The number of packed constants in a weightless plan, whose kernels pack constants when it is loaded.
inline constexpr std::uint32_t packs_again = 0xFFFFFFFF;

/// Writes numbers and texts one after the other, and arrays with an alignment that lets them be read in place.
class plan_writer {
 public:
  template <class T>
  void number(T v) {
    static_assert(std::is_arithmetic_v<T>);
    const auto* const from = reinterpret_cast<const std::byte*>(&v);
    bytes_.insert(bytes_.end(), from, from + sizeof v);
  }
  void text(std::string_view s) {
    number(std::uint32_t(s.size()));
    const auto* const from = reinterpret_cast<const std::byte*>(s.data());
    bytes_.insert(bytes_.end(), from, from + s.size());
  }
  /// Writes the count, and the elements at a multiple of `alignment` from the start.
  void array(const void* data, std::size_t count, std::size_t width, std::size_t alignment = 8) {
    number(std::uint64_t(count));
    bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
    const auto* const from = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), from, from + count * width);
  }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Reads what plan_writer wrote. After the end all numbers are zero, texts and arrays are empty, and ok() is false.
class plan_reader {
 public:
  /// `bytes` start at a multiple of 64.
  explicit plan_reader(std::span<const std::byte> bytes) : bytes_{bytes} {}
  bool ok() const { return ok_; }
  bool at_end() const { return at_ == bytes_.size(); }
  /// Reads a number of items. Fails if the rest of the bytes is too short for this number of items of
  /// `least_bytes_each` bytes, which limits the memory that is allocated for them.
  std::size_t count(std::size_t least_bytes_each) {
    const auto n = number<std::uint32_t>();
    if (n > (bytes_.size() - at_) / least_bytes_each) return ok_ = false, 0;
    return n;
  }
  template <class T>
  T number() {
    T v{};
    if (const std::byte* const from = take(sizeof v)) std::memcpy(&v, from, sizeof v);
    return v;
  }
  bool can_hold(std::size_t count, std::size_t least_bytes_each) const {
    return count <= (bytes_.size() - at_) / least_bytes_each;
  }
  std::string_view text() {
    const auto size = number<std::uint32_t>();
    const std::byte* const from = take(size);
    return from ? std::string_view{reinterpret_cast<const char*>(from), size} : std::string_view{};
  }
  std::span<const std::byte> array(std::size_t width, std::size_t alignment = 8) {
    const auto count = number<std::uint64_t>();
    const std::size_t gap = (alignment - at_ % alignment) % alignment;
    if (!take(gap) || count > (bytes_.size() - at_) / width) return ok_ = false, std::span<const std::byte>{};
    return {take(std::size_t(count) * width), std::size_t(count) * width};
  }
  template <class T>
  std::span<const T> numbers() {
    const std::span<const std::byte> bytes = array(sizeof(T));
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  const std::byte* take(std::size_t n) {
    if (!ok_ || n > bytes_.size() - at_) return ok_ = false, nullptr;
    const std::byte* const from = bytes_.data() + at_;
    at_ += n;
    return from;
  }
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace CAMEO_NAMESPACE::eps::frozen_file
