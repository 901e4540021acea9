#pragma once
#include "ort_schema.hpp"
#include "wire_pieces.hpp"

#include <cstring>
#include <map>
#include <unordered_map>

namespace CAMEO_NAMESPACE {

/// Writes a FlatBuffer from front to back: an object precedes the objects that it refers to, so an offset is set when
/// its target is written. Texts are shared, and are after the tables. Weights are last, each aligned to 64 bytes, and
/// are borrowed. The same calls make the same bytes.
class ort_builder {
 public:
  /// An offset that is not set yet, and the depth of its table.
  struct slot_ref {
    std::size_t at = 0, depth = 0;
  };
  /// The fields of a table. Numbers with their default value are left out.
  class fields {
   public:
    template <class T>
    fields& number(std::size_t slot, T value, T otherwise = {}) {
      if (value == otherwise) return *this;
      std::uint64_t bits = 0;
      std::memcpy(&bits, &value, sizeof value);
      at_[slot] = {sizeof value, bits};
      return *this;
    }
    /// Adds an offset, which must be set later.
    fields& offset(std::size_t slot, bool is_there = true) {
      if (is_there) at_[slot] = {4, 0};
      return *this;
    }

   private:
    friend class ort_builder;
    struct field {
      std::size_t width = 0;
      std::uint64_t bits = 0;
    };
    field at_[16];
  };
  /// A table that was written.
  class table {
   public:
    slot_ref operator[](std::size_t slot) const { return {at_ + offsets_[slot], depth_}; }

   private:
    friend class ort_builder;
    std::size_t at_ = 0, depth_ = 0;
    std::uint16_t offsets_[16] = {};
  };

  ort_builder() : text_(8, '\0') { std::memcpy(text_.data() + 4, "ORTM", 4); }

  slot_ref root() const { return {0, 0}; }
  table add(slot_ref from, const fields&);
  /// Writes a text, which must outlive the builder.
  void text(slot_ref from, std::string_view words);
  void texts(slot_ref from, std::span<const std::string_view> words);
  /// Writes numbers, or structs of numbers.
  template <class T>
  void numbers(slot_ref from, std::span<const T> items, std::size_t alignment = alignof(T)) {
    begin_vector(from, items.size(), alignment);
    text_.append(reinterpret_cast<const char*>(items.data()), items.size_bytes());
  }
  /// A vector of tables, each of which must be written at its index.
  class tables_of {
   public:
    slot_ref operator[](std::size_t i) const { return {first_ + 4 * i, depth_}; }

   private:
    friend class ort_builder;
    std::size_t first_ = 0, depth_ = 0;
  };
  tables_of tables(slot_ref from, std::size_t count);
  /// Writes a tensor's bytes, which must outlive the builder's result.
  void weights(slot_ref from, std::span<const std::byte> bytes) { weights_.push_back({from.at, bytes}); }

  /// The whole file. INVALID_ARGUMENT, with the limit, if it exceeds a limit of the format.
  result<wire_pieces> finish();

 private:
  struct pending_text {
    std::size_t source, number;
  };
  struct pending_weights {
    std::size_t source;
    std::span<const std::byte> bytes;
  };
  void set(std::size_t from, std::size_t to);
  void pad(std::size_t alignment, std::size_t rest = 0);
  void begin_vector(slot_ref from, std::size_t count, std::size_t alignment);
  std::size_t vtable(const fields&, table&, std::size_t& bytes);

  std::string text_;
  std::map<std::string, std::size_t> vtables_;
  std::vector<std::string_view> texts_;
  std::unordered_map<std::string_view, std::size_t> text_numbers_;
  std::vector<pending_text> pending_texts_;
  std::vector<pending_weights> weights_;
  std::size_t tables_ = 0, deepest_ = 0;
};

}  // namespace CAMEO_NAMESPACE
