#pragma once
// The bytes of an ORT file as tables. Includes only core and allocates nothing, so that builds without exceptions and
// containers can use it.
#include <cameo/core/result.hpp>

#include <bit>
#include <cstddef>
#include <cstring>
#include <span>

namespace CAMEO_NAMESPACE::ort {

static_assert(std::endian::native == std::endian::little, "cameo: ORT files are read where they lie, little endian");

class vector_view;

/// A reference to a table of a file that verify() has checked; false if the table is absent. Slots are numbered as in
/// ort.fbs, and named in ort_schema.hpp.
class table_view {
 public:
  table_view() = default;
  explicit table_view(const std::byte* at) : at_{at} {}
  explicit operator bool() const { return at_ != nullptr; }

  bool has(std::size_t slot) const { return at_ && offset(slot) != 0; }
  /// A number, or `otherwise` if the slot is absent.
  template <class T>
  T number(std::size_t slot, T otherwise = {}) const {
    if (!has(slot)) return otherwise;
    T made;
    std::memcpy(&made, at_ + offset(slot), sizeof made);
    return made;
  }
  /// The bytes of a string, which may contain zeros; empty if it is absent.
  std::string_view text(std::size_t slot) const;
  table_view table(std::size_t slot) const { return table_view{target(slot)}; }
  vector_view vector(std::size_t slot) const;

 private:
  std::size_t offset(std::size_t slot) const {
    std::int32_t back;
    std::memcpy(&back, at_, sizeof back);
    const std::byte* const vtable = at_ - back;
    std::uint16_t bytes, found = 0;
    std::memcpy(&bytes, vtable, sizeof bytes);
    if (4 + 2 * slot < bytes) std::memcpy(&found, vtable + 4 + 2 * slot, sizeof found);
    return found;
  }
  const std::byte* target(std::size_t slot) const {
    if (!has(slot)) return nullptr;
    const std::byte* const at = at_ + offset(slot);
    std::uint32_t distance;
    std::memcpy(&distance, at, sizeof distance);
    return at + distance;
  }
  const std::byte* at_ = nullptr;
};

/// A reference to a vector of a verified file; false if it is absent, which differs from empty. Elements may be at any
/// address.
class vector_view {
 public:
  vector_view() = default;
  explicit vector_view(const std::byte* at) : at_{at} {}
  explicit operator bool() const { return at_ != nullptr; }

  std::size_t size() const {
    std::uint32_t count = 0;
    if (at_) std::memcpy(&count, at_, sizeof count);
    return count;
  }
  /// The i-th element of `stride` bytes, or the number at offset `inside` of it.
  template <class T>
  T number(std::size_t i, std::size_t stride = sizeof(T), std::size_t inside = 0) const {
    T made;
    std::memcpy(&made, data() + i * stride + inside, sizeof made);
    return made;
  }
  std::string_view text(std::size_t i) const { return vector_view{target(i)}.text(); }
  table_view table(std::size_t i) const { return table_view{target(i)}; }
  std::span<const std::byte> bytes() const { return {at_ ? data() : nullptr, size()}; }
  std::string_view text() const { return {at_ ? reinterpret_cast<const char*>(data()) : nullptr, size()}; }

 private:
  const std::byte* data() const { return at_ + 4; }
  const std::byte* target(std::size_t i) const {
    const std::byte* const at = data() + 4 * i;
    std::uint32_t distance;
    std::memcpy(&distance, at, sizeof distance);
    return at + distance;
  }
  const std::byte* at_ = nullptr;
};

inline vector_view table_view::vector(std::size_t slot) const { return vector_view{target(slot)}; }
inline std::string_view table_view::text(std::size_t slot) const { return vector(slot).text(); }

/// The text of a message without the heap; it is truncated to its buffer. Empty in builds without messages.
class short_text {
 public:
  short_text& operator<<(std::string_view more) {
    if constexpr (status::has_words)
      for (char c : more)
        if (size_ < sizeof chars_) chars_[size_++] = c;
    return *this;
  }
  short_text& operator<<(std::int64_t number) {
    if constexpr (status::has_words) add(number);
    return *this;
  }
  operator std::string_view() const { return {chars_, size_}; }

 private:
  void add(std::int64_t);
  char chars_[status::has_words ? 400 : 1];
  std::size_t size_ = 0;
};

/// A status with a message without the heap. Builds without messages compose none.
template <class... Parts>
status wrong(status_code code, const Parts&... parts) {
  if constexpr (!status::has_words) return code;
  short_text words;
  static_cast<void>((words << ... << parts));
  return {code, words};
}
inline status missing(std::string_view field) { return wrong(status_code::fail, field, " is missing"); }

/// The root of a verified file.
inline table_view root_of(std::span<const std::byte> file) {
  std::uint32_t distance;
  std::memcpy(&distance, file.data(), sizeof distance);
  return table_view{file.data() + distance};
}

/// True if bytes 4 to 7 identify an ORT file.
bool has_identifier(std::span<const std::byte>);

/// Checks the whole file like FlatBuffers' verifier, with its limits (64 levels of tables, 1,000,000 tables), and
/// limits the cost of tables that many paths reach. Returns the root. FAIL with table and field. The meaning of
/// numbers, names and indices is not checked.
result<table_view> verify(std::span<const std::byte> file);

/// The format's version, 1 or more. FAIL if the root has none, or one that is newer than this build reads.
result<std::int64_t> version_of(const table_view& root);
inline constexpr std::int64_t newest_version = 6, first_with_resolver = 5;

/// Reads a whole text as a decimal number. False for any other text, such as one with blanks or only a sign.
bool parse_number(std::string_view text, std::int64_t& number);

}  // namespace CAMEO_NAMESPACE::ort
