#pragma once
// Protobuf's encoding, for all readers and writers of .onnx files. Messages are in onnx_schema.hpp.
#include <cameo/core/arena.hpp>

#include <bit>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <string>

namespace CAMEO_NAMESPACE::wire {

using byte_span = std::span<const std::byte>;

enum class type : std::uint8_t { varint = 0, fixed64 = 1, delimited = 2, group = 3, end_of_group = 4, fixed32 = 5 };

struct field {
  std::uint32_t number = 0;
  type kind = type::varint;
  std::uint64_t value = 0;  // a number
  byte_span payload;        // the content of a delimited field, or the bytes of a number
  byte_span whole;          // the field with tag and length
};

/// Reads one field after the other; `why` is the error that stopped it before the end.
class cursor {
 public:
  explicit cursor(byte_span bytes) : at_{bytes.data()}, end_{bytes.data() + bytes.size()} {}
  const char* why = nullptr;

  bool next(field& f) {
    if (at_ == end_) return false;
    const std::byte* const start = at_;
    if (!tag(f) || !content(f)) return false;
    f.whole = {start, at_};
    return true;
  }
  bool varint(std::uint64_t& number) {
    if (at_ != end_ && std::uint8_t(*at_) < 0x80) return number = std::uint64_t(*at_++), true;
    number = 0;
    for (std::size_t i = 0; i < 10 && at_ + i != end_; ++i) {
      const auto byte = std::uint64_t(at_[i]);
      number |= (byte & 0x7F) << (7 * i);
      if (byte < 0x80) return at_ += i + 1, true;
    }
    return false;
  }
  const std::byte* at() const { return at_; }
  bool at_end() const { return at_ == end_; }

 private:
  static constexpr std::size_t deepest_group = 100;

  bool fail(const char* words) { return why = words, false; }
  bool tag(field& f) {
    std::uint64_t number = 0;
    if (!varint(number) || number > 0xFFFFFFFF || number >> 3 == 0) return fail("no field tag");
    f.number = std::uint32_t(number >> 3);
    f.kind = type(number & 7);
    return true;
  }
  bool content(field& f) {
    const std::byte* const start = at_;
    switch (f.kind) {
      case type::varint:
        if (!varint(f.value)) return fail("a number that does not end");
        break;
      case type::fixed64:
      case type::fixed32: {
        static_assert(std::endian::native == std::endian::little, "cameo: numbers of files are read as they lie");
        const std::size_t size = f.kind == type::fixed64 ? 8 : 4;
        if (std::size_t(end_ - at_) < size) return fail("ends inside a number");
        std::memcpy(&(f.value = 0), at_, size);
        at_ += size;
        break;
      }
      case type::delimited: {
        std::uint64_t size = 0;
        if (!varint(size)) return fail("a length that does not end");
        if (size > std::uint64_t(end_ - at_)) return fail("ends inside a field");
        f.payload = {at_, std::size_t(size)};
        at_ += size;
        return true;
      }
      case type::group: return group(f.number);
      default: return fail("a wire type that ONNX does not use");
    }
    f.payload = {start, at_};
    return true;
  }
  /// Skips fields up to the end of the group with this number, with groups inside it.
  bool group(std::uint32_t number) {
    if (++depth_ > deepest_group) return fail("groups that are nested too deep");
    for (field f; !at_end();) {
      if (!tag(f)) return false;
      if (f.kind == type::end_of_group) return --depth_, f.number == number || fail("a group that ends as another one");
      if (!content(f)) return false;
    }
    return fail("a group that does not end");
  }

  const std::byte* at_;
  const std::byte* end_;
  std::size_t depth_ = 0;
};

// --- members of messages ---

/// Items in the order of the file, in the decoder's arena.
template <class T>
class chain {
  struct link {
    T item;
    link* next;
  };

 public:
  class iterator {
   public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    explicit iterator(link* at) : at_{at} {}
    T& operator*() const { return at_->item; }
    iterator& operator++() { return at_ = at_->next, *this; }
    iterator operator++(int) { return std::exchange(*this, iterator{at_->next}); }
    bool operator==(const iterator&) const = default;

   private:
    link* at_ = nullptr;
  };
  iterator begin() const { return iterator{first_}; }
  iterator end() const { return {}; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& back() { return last_->item; }

  /// Returns null when memory is full.
  T* add(arena& memory, const T& item) {
    link* const made = memory.keep(link{item, nullptr});
    if (!made) return nullptr;
    (last_ ? last_->next : first_) = made;
    last_ = made;
    ++size_;
    return &made->item;
  }

 private:
  link* first_ = nullptr;
  link* last_ = nullptr;
  std::size_t size_ = 0;
};

using text = std::string_view;  // points into the file; data() is null if the field is absent
using pieces = chain<byte_span>;

inline text text_of(byte_span bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// An enum as in proto2: a number above `Last` is an unknown field.
template <int Last>
struct enumerated {
  int number = 0;
};

/// The error of numbers::add() when memory is full, which must not be reported as damaged bytes.
inline constexpr char no_memory[] = "there is no memory for it";

/// A repeated number in the file, packed or not.
template <class T>
class numbers {
 public:
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  template <class F>
  void each(F&& take) const {
    for (byte_span part : parts_)
      if constexpr (std::floating_point<T>) {
        for (std::size_t i = 0; i < part.size(); i += sizeof(T)) {
          T number;
          std::memcpy(&number, part.data() + i, sizeof number);
          take(number);
        }
      } else {
        std::uint64_t number = 0;
        for (cursor at{part}; at.varint(number);) take(T(number));
      }
  }
  void copy_to(T* to) const {
    if constexpr (std::floating_point<T>) {
      auto* at = reinterpret_cast<std::byte*>(to);
      for (byte_span part : parts_) at = std::copy(part.begin(), part.end(), at);
    } else {
      each([&](T number) { *to++ = number; });
    }
  }
  /// The numbers as another integer type.
  template <std::integral To>
  numbers<To> as() const {
    numbers<To> made;
    made.parts_ = parts_;
    made.size_ = size_;
    return made;
  }
  /// Adds bytes. Returns null on success, `no_memory`, or what is wrong with the bytes.
  const char* add(byte_span bytes, arena& memory) {
    std::size_t count = bytes.size() / sizeof(T);
    if constexpr (std::floating_point<T>) {
      if (bytes.size() % sizeof(T)) return "ends inside a number";
    } else {
      count = 0;
      std::uint64_t number = 0;
      for (cursor at{bytes}; !at.at_end(); ++count)
        if (!at.varint(number)) return "a number that does not end";
    }
    size_ += count;
    return bytes.empty() || parts_.add(memory, bytes) ? nullptr : no_memory;
  }

 private:
  template <class>
  friend class numbers;
  pieces parts_;
  std::size_t size_ = 0;
};

/// A field that is read: its number and its member. A message's `fields` is a list of rows.
template <std::uint32_t Number, auto Member>
struct row {
  static constexpr std::uint32_t number = Number;
  static constexpr auto member = Member;
};
template <class... Rows>
struct rows {};

struct message {
  pieces rest;  // whole fields that are not read
};
/// A message that is checked, and then kept as part of the rest.
template <class Message>
struct looked_through {};

// --- encoding ---

inline void put_varint(std::string& out, std::uint64_t number) {
  for (; number >= 0x80; number >>= 7) out.push_back(char(number | 0x80));
  out.push_back(char(number));
}
/// Writes what precedes a text or message of `size` bytes.
inline void put_head(std::string& out, std::uint32_t number, std::size_t size) {
  put_varint(out, std::uint64_t{number} << 3 | std::uint64_t(type::delimited));
  put_varint(out, size);
}
inline void put(std::string& out, std::uint32_t number, text content) {
  put_head(out, number, content.size());
  out.append(content);
}
inline void put_if_there(std::string& out, std::uint32_t number, text content) {
  if (content.data()) put(out, number, content);
}
inline void put(std::string& out, const pieces& fields) {
  for (byte_span each : fields) out.append(text_of(each));
}

}  // namespace CAMEO_NAMESPACE::wire
