#include "ort_view.hpp"

#include "ort_schema.hpp"

#include <cameo/core/checked.hpp>

#include <algorithm>
#include <iterator>

namespace CAMEO_NAMESPACE::ort {
namespace {

constexpr std::size_t deepest_table = 64, most_tables = 1'000'000, largest_file = (std::size_t{1} << 31) - 2;

/// The size in bytes of an element of a vector.
std::size_t width_of(slot_kind kind) {
  switch (kind) {
    case slot_kind::bytes: return 1;
    case slot_kind::numbers: return 8;
    case slot_kind::structs: return edge_end_bytes;  // the only struct in the format
    default: return 4;
  }
}

/// An error; builds without messages have only its code.
status damaged(std::string_view words) { return {status_code::fail, words}; }

class verifier {
 public:
  explicit verifier(std::span<const std::byte> file)
      : file_{file}, work_left_{64 * std::uint64_t(file.size()) + (1u << 26)} {}

  result<table_view> run() {
    if (file_.size() > largest_file) return damaged("an ORT file ends below 2 GiB");
    if (file_.size() < 8) return damaged("an ORT file has 8 bytes at least");
    if (!has_identifier(file_)) return damaged("not an ORT file: bytes 4 to 7 are not 'ORTM'");
    std::size_t root = 0;
    if (!follow(0, root)) return damaged("the root's offset points outside the file");
    if (status s = table(root, table_id::session); !s) return s;
    return table_view{file_.data() + root};
  }

 private:
  bool inside(std::size_t at, std::size_t bytes) const { return bytes < file_.size() && at <= file_.size() - bytes; }
  template <class T>
  bool read(std::size_t at, T& to) const {
    if (at % sizeof(T) != 0 || !inside(at, sizeof(T))) return false;
    std::memcpy(&to, file_.data() + at, sizeof(T));
    return true;
  }
  /// Follows the offset at `at`.
  bool follow(std::size_t at, std::size_t& to) const {
    std::uint32_t distance = 0;
    if (!read(at, distance) || distance == 0 || distance > largest_file) return false;
    to = at + distance;
    return inside(to, 1);
  }
  /// Limits work: tables that many others share are checked repeatedly.
  bool pay(std::size_t bytes) {
    if (bytes > work_left_) return false;
    work_left_ -= bytes;
    return true;
  }

  status vector(std::size_t at, std::size_t width, std::size_t& count) {
    std::uint32_t elements = 0;
    if (!read(at, elements)) return damaged("it lies outside the file");
    count = elements;
    if (count >= largest_file / width || !inside(at, 4 + count * width))
      return damaged(short_text{} << std::int64_t(count) << " elements do not fit into the file");
    return pay(4 + count * width) ? status{} : damaged("its tables share too much with each other");
  }
  status text(std::size_t at) {
    std::size_t count = 0;
    if (status s = vector(at, 1, count); !s) return s;
    std::uint8_t end = 1;
    return read(at + 4 + count, end) && end == 0 ? status{} : damaged("no zero byte ends it");
  }
  status vector_of_offsets(std::size_t at, const slot_row& slot) {
    std::size_t count = 0;
    if (status s = vector(at, 4, count); !s) return s;
    for (std::size_t i = 0; i < count; ++i) {
      std::size_t element = 0;
      status s = follow(at + 4 + 4 * i, element) ? status{} : damaged("its offset points outside the file");
      if (s) s = slot.kind == slot_kind::texts ? text(element) : table(element, slot.target);
      if (!s) return std::move(s).in(short_text{} << "element " << std::int64_t(i));
    }
    return {};
  }
  status object(std::size_t at, const slot_row& slot, std::uint8_t member) {
    switch (slot.kind) {
      case slot_kind::text: return text(at);
      case slot_kind::table: return table(at, slot.target);
      case slot_kind::texts:
      case slot_kind::tables: return vector_of_offsets(at, slot);
      case slot_kind::member:
        return member != type_info_value::none && member < std::size(type_info_value::tables)
                   ? table(at, type_info_value::tables[member])
                   : status{};
      default: {
        std::size_t count = 0;
        return vector(at, width_of(slot.kind), count);
      }
    }
  }
  status field(std::size_t at, const slot_row& slot, std::uint8_t& member) {
    const auto outside = [] { return damaged("its slot points outside the file, or is misaligned"); };
    std::uint32_t word = 0;
    std::uint64_t number = 0;
    std::size_t to = 0;
    switch (slot.kind) {
      case slot_kind::skipped: return {};
      case slot_kind::byte: return read(at, member) ? status{} : outside();
      case slot_kind::word: return read(at, word) ? status{} : outside();
      case slot_kind::number: return read(at, number) ? status{} : outside();
      default: return follow(at, to) ? object(to, slot, member) : damaged("its offset points outside the file");
    }
  }
  status table(std::size_t at, table_id id) {
    const table_row& row = table_rows[std::size_t(id)];
    if (++depth_ > deepest_table) return damaged("tables are nested more than 64 deep");
    if (++tables_ > most_tables) return damaged("there are more than 1,000,000 tables");
    std::int32_t back = 0;
    std::uint16_t bytes = 0;
    if (!read(at, back)) return status{damaged("the table lies outside the file, or is misaligned")}.in(row.name);
    const std::size_t vtable = at - std::size_t(std::ptrdiff_t{back});
    if (!pay(8) || !read(vtable, bytes) || bytes % 2 != 0 || !inside(vtable, bytes))
      return status{damaged("its vtable is damaged, or lies outside the file")}.in(row.name);
    std::uint8_t member = type_info_value::none;
    for (std::size_t i = 0; i < row.slots.size(); ++i) {
      const slot_row& slot = row.slots[i];
      std::uint16_t offset = 0;
      if (4 + 2 * i < bytes && !read(vtable + 4 + 2 * i, offset))
        return status{damaged("its vtable is truncated")}.in(row.name);
      status s = offset != 0 ? field(at + offset, slot, member) : slot.is_key ? damaged("it is missing") : status{};
      if (!s) return std::move(s).in(short_text{} << row.name << "." << slot.name);
    }
    --depth_;
    return {};
  }

  std::span<const std::byte> file_;
  std::uint64_t work_left_;
  std::size_t depth_ = 0, tables_ = 0;
};

}  // namespace

void short_text::add(std::int64_t number) {
  char digits[20];
  std::size_t count = 0;
  std::uint64_t rest = number < 0 ? -std::uint64_t(number) : std::uint64_t(number);
  do digits[count++] = char('0' + rest % 10);
  while (rest /= 10);
  if (number < 0) *this << "-";
  while (count) *this << std::string_view{&digits[--count], 1};
}

bool has_identifier(std::span<const std::byte> file) {
  return file.size() >= 8 && std::memcmp(file.data() + 4, "ORTM", 4) == 0;
}

result<table_view> verify(std::span<const std::byte> file) { return verifier{file}.run(); }

bool parse_number(std::string_view text, std::int64_t& number) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (text.empty()) return false;
  number = 0;
  for (char c : text)
    if (c < '0' || c > '9' || !checked_multiply(number, std::int64_t{10}, number) ||
        !checked_add(number, std::int64_t{c - '0'}, number))
      return false;
  if (negative) number = -number;
  return true;
}

result<std::int64_t> version_of(const table_view& root) {
  const std::string_view text = root.text(session::ort_version);
  std::int64_t number = 0;
  if (!root.has(session::ort_version)) return damaged("InferenceSession.ort_version is missing");
  if (!parse_number(text, number) || number < 1)
    return damaged(short_text{} << "InferenceSession.ort_version is '"
                                << std::string_view{text.data(), std::min<std::size_t>(text.size(), 20)}
                                << "', which is not a format version: a decimal number of at least 1");
  if (number > newest_version)
    return damaged(short_text{} << "InferenceSession.ort_version is " << number << "; versions 1 to " << newest_version
                                << " are read: write the file anew with an older ONNX Runtime, or update cameo");
  return number;
}

}  // namespace CAMEO_NAMESPACE::ort
