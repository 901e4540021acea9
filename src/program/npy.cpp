#include "program/tensor_files.hpp"
#include "program/text.hpp"

#include <cameo/core/booleans.hpp>
#include <cameo/core/checked.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <charconv>

namespace cameo::program {
namespace {

static_assert(std::endian::native == std::endian::little, "cameo: .npy files are written in the machine's byte order");

constexpr std::string_view magic = "\x93NUMPY";

/// The numpy type of an element type: its kind, as a letter, and its size. Types that numpy lacks are stored as
/// integers of their size, or of one byte for types below a byte.
struct npy_type {
  dtype id;
  char letter;
  std::uint8_t bytes;
};
constexpr npy_type npy_types[] = {
    {dtype::f32, 'f', 4},        {dtype::f64, 'f', 8},    {dtype::f16, 'f', 2},        {dtype::u8, 'u', 1},
    {dtype::u16, 'u', 2},        {dtype::u32, 'u', 4},    {dtype::u64, 'u', 8},        {dtype::i8, 'i', 1},
    {dtype::i16, 'i', 2},        {dtype::i32, 'i', 4},    {dtype::i64, 'i', 8},        {dtype::boolean, 'b', 1},
    {dtype::c64, 'c', 8},        {dtype::c128, 'c', 16},  {dtype::bf16, 'u', 2},       {dtype::f8e4m3fn, 'u', 1},
    {dtype::f8e4m3fnuz, 'u', 1}, {dtype::f8e5m2, 'u', 1}, {dtype::f8e5m2fnuz, 'u', 1}, {dtype::f8e8m0, 'u', 1},
    {dtype::f6e2m3, 'u', 1},     {dtype::f6e3m2, 'u', 1}, {dtype::f4e2m1, 'u', 1},     {dtype::u4, 'u', 1},
    {dtype::u2, 'u', 1},         {dtype::i4, 'i', 1},     {dtype::i2, 'i', 1}};
constexpr std::size_t native_type_count = 14;  // the first rows are numpy's own types

const npy_type* npy_type_of(dtype type) {
  const auto* const found =
      std::find_if(std::begin(npy_types), std::end(npy_types), [&](auto& t) { return t.id == type; });
  return found == std::end(npy_types) ? nullptr : found;
}
bool is_packed(dtype type) { return detail::row_of(type).bits < 8; }

struct header {
  std::string descr;  // the element type: "<f4"
  bool fortran = false, has_descr = false, has_order = false, has_shape = false;
  extents shape;
  std::span<const std::byte> data;
};

/// Parses the Python dict literal of a header, as far as numpy's format needs it: strings, True, False, and tuples of
/// integers. Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
class dict_parser {
 public:
  explicit dict_parser(std::string_view text) : left_{text} {}

  status parse(header& to) {
    if (!take('{')) return bad("the header is not a dict");
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':')) return bad("the header's dict lacks a key");
      if (status s = value(key, to); !s) return s;
      if (!take(',') && peek() != '}') return bad("the header's dict does not end");
    }
    if (!to.has_descr || !to.has_order || !to.has_shape) return bad("the header needs descr, fortran_order and shape");
    return status_code::ok;
  }

 private:
  char peek() {
    while (!left_.empty() && (left_[0] == ' ' || left_[0] == '\n' || left_[0] == '\t')) left_.remove_prefix(1);
    return left_.empty() ? '\0' : left_[0];
  }
  bool take(char c) {
    if (peek() != c || left_.empty()) return false;
    left_.remove_prefix(1);
    return true;
  }
  bool take_word(std::string_view word) {
    peek();
    if (!left_.starts_with(word)) return false;
    left_.remove_prefix(word.size());
    return true;
  }
  bool string(std::string& to) {
    const char quote = peek();
    if ((quote != '\'' && quote != '"') || !take(quote)) return false;
    const std::size_t end = left_.find(quote);
    if (end == left_.npos) return false;
    to = left_.substr(0, end);
    left_.remove_prefix(end + 1);
    return true;
  }
  status value(std::string_view key, header& to) {
    if (key == "descr") {
      to.has_descr = string(to.descr);
      return to.has_descr ? status{} : bad("an array of records is not a tensor");
    }
    if (key == "fortran_order") {
      to.has_order = true;
      to.fortran = take_word("True");
      return to.fortran || take_word("False") ? status{} : bad("fortran_order is neither True nor False");
    }
    if (key == "shape") return shape(to);
    return bad(fmt::format("unknown key '{}' in the header", key));
  }
  status shape(header& to) {
    to.has_shape = true;
    if (!take('(')) return bad("the shape is not a tuple");
    while (!take(')')) {
      peek();
      std::int64_t dim = -1;
      const auto read = std::from_chars(left_.data(), left_.data() + left_.size(), dim);
      if (read.ec != std::errc{} || dim < 0) return bad("a dim of the shape is not a size");
      if (to.shape.rank() == max_rank) return bad(fmt::format("more than {} dims", max_rank));
      to.shape.push_back(dim);
      left_.remove_prefix(std::size_t(read.ptr - left_.data()));
      take('L');  // Python 2 wrote long integers as 3L
      if (!take(',') && peek() != ')') return bad("the shape does not end");
    }
    return status_code::ok;
  }

  std::string_view left_;
};

result<header> read_header(std::span<const std::byte> file) {
  const std::string_view text{reinterpret_cast<const char*>(file.data()), file.size()};
  if (!text.starts_with(magic) || text.size() < 10) return bad("not a .npy file");
  const unsigned version = std::uint8_t(text[6]);
  if (version < 1 || version > 3) return bad(fmt::format(".npy version {}; 1 to 3 are supported", version));
  const std::size_t length_bytes = version == 1 ? 2 : 4, start = 8 + length_bytes;
  if (text.size() < start) return bad("the header is cut off");
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= std::size_t(std::uint8_t(text[8 + i])) << (8 * i);
  if (length > text.size() - start) return bad("the header is cut off");
  header made;
  if (status s = dict_parser{text.substr(start, length)}.parse(made); !s) return s;
  made.data = file.subspan(start + length);
  return made;
}

/// Copies items of `item` bytes into row-major order. With `swap`, the bytes of each part of `part` bytes are reversed:
/// a complex item has two parts, a string one for each character.
void copy_items(const header& from, std::byte* to, std::size_t item, std::size_t part, bool swap) {
  const std::int64_t count = from.shape.count();
  if (!from.fortran) {
    if (count) std::copy_n(from.data.data(), std::size_t(count) * item, to);
  } else {
    extents index = from.shape;
    for (std::int64_t& i : index) i = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      std::int64_t at = 0;
      for (std::size_t d = from.shape.rank(); d-- > 0;) at = at * from.shape[d] + index[d];
      std::copy_n(from.data.data() + std::size_t(at) * item, item, to + std::size_t(i) * item);
      for (std::size_t d = from.shape.rank(); d-- > 0 && ++index[d] == from.shape[d];) index[d] = 0;
    }
  }
  if (swap)
    for (std::byte* p = to; p != to + std::size_t(count) * item; p += part) std::reverse(p, p + part);
}

/// Writes a code point as UTF-8 and returns the number of bytes, 1 to 4. U+FFFD stands for invalid code points.
std::size_t encode_utf8(std::uint32_t code, char* to) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
  if (code < 0x80) return to[0] = char(code), 1;
  const std::size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  for (std::size_t i = more; i > 0; --i, code >>= 6) to[i] = char(0x80 | (code & 0x3F));
  constexpr std::uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
  to[0] = char(lead[more] | code);
  return more + 1;
}

/// The code points of a UTF-8 text. Each invalid byte becomes U+FFFD.
std::vector<std::uint32_t> decode_utf8(std::string_view text) {
  std::vector<std::uint32_t> codes;
  for (std::size_t i = 0; i < text.size();) {
    const unsigned first = std::uint8_t(text[i]);
    const std::size_t more = first < 0x80 ? 0 : first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
    std::uint32_t code = more == 0 ? first : first & (0x3Fu >> more);
    bool good = more == 0 || (first >= 0xC2 && first < 0xF5);
    for (std::size_t k = 1; good && k <= more; ++k) {
      good = i + k < text.size() && (std::uint8_t(text[i + k]) & 0xC0) == 0x80;
      if (good) code = code << 6 | (std::uint8_t(text[i + k]) & 0x3F);
    }
    codes.push_back(good ? code : 0xFFFD);
    i += good ? more + 1 : 1;
  }
  return codes;
}

/// The format of an array's items.
struct item_format {
  dtype type;
  char letter;       // numpy's kind: 'f', 'U' ...
  std::size_t size;  // bytes, or code points of a string of kind 'U'
  bool swap;         // the items are big-endian
};

/// Reads strings of code points (kind U) or bytes (kind S), without the zeros at their ends.
result<value> read_strings(const header& h, const item_format& format, arena& memory) {
  const bool unicode = format.letter == 'U';
  const std::size_t width = format.size;
  const auto count = std::size_t(h.shape.count());
  const std::size_t unit = unicode ? 4 : 1, item = width * unit;
  const auto bytes = memory.take<std::byte>(count * item);
  const auto texts = memory.take<std::string_view>(count);
  if (!bytes || !texts) return status_code::out_of_memory;
  copy_items(h, bytes->data(), item, unit, format.swap && unicode);
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    text.clear();
    for (std::size_t k = 0; k < width; ++k) {
      std::uint32_t code = 0;
      std::copy_n(bytes->data() + i * item + k * unit, unit, reinterpret_cast<std::byte*>(&code));
      char utf8[4];
      if (unicode) text.append(utf8, encode_utf8(code, utf8));
      else text.push_back(char(code));
    }
    while (!text.empty() && text.back() == '\0') text.pop_back();
    const result<std::string_view> kept = memory.copy(std::string_view{text});
    if (!kept) return kept.error();
    (*texts)[i] = *kept;
  }
  return value::tensor(dtype::string, h.shape, texts->data());
}

/// The element type of an array of kind `letter` and `bytes` bytes for an input of type `wanted`; undefined: none.
dtype element_of(char letter, std::size_t bytes, dtype wanted) {
  const npy_type* const row = npy_type_of(wanted);
  const bool bits = letter == 'V' || letter == 'u' || letter == 'i';
  if (row && row >= npy_types + native_type_count && row->bytes == bytes && bits) return wanted;
  for (const npy_type& type : std::span{npy_types}.first(native_type_count))
    if (type.letter == letter && type.bytes == bytes) return type.id;
  return dtype::undefined;
}

/// Parses a type of numpy such as "<f4", "|b1" or ">U12".
result<item_format> parse_format(std::string_view descr, dtype wanted) {
  std::string_view text = descr;
  const bool has_order = text.find_first_of("<>|=") == 0;
  const bool swap = has_order && text[0] == '>';
  if (has_order) text.remove_prefix(1);
  const char letter = text.empty() ? '\0' : text[0];
  std::size_t size = 0;
  if (letter)
    if (const auto end = std::from_chars(text.data() + 1, text.data() + text.size(), size);
        end.ec != std::errc{} || end.ptr != text.data() + text.size())
      size = 0;
  if (letter == 'O') return bad("an array of Python objects; save strings with dtype '<U', not object");
  const bool is_text = letter == 'U' || letter == 'S';
  const dtype type = is_text ? dtype::string : element_of(letter, size, wanted);
  if (type == dtype::undefined || (is_text && size > 0xFFFFFF))
    return bad(fmt::format("numpy's type '{}' is not an element type of ONNX", descr));
  return item_format{type, letter, size, swap};
}

/// Packs elements that have one byte each into `bits` bits each. `to` must be zero.
void pack(const std::byte* from, std::byte* to, std::size_t count, unsigned bits) {
  for (std::size_t i = 0; i < count; ++i) {
    const unsigned code = unsigned(from[i]) & ((1u << bits) - 1);
    to[i * bits / 8] |= std::byte(code << (i * bits % 8));
  }
}

}  // namespace

result<value> read_npy(std::span<const std::byte> file, dtype wanted, arena& memory) {
  const result<header> read = read_header(file);
  if (!read) return read.error();
  const header& h = *read;
  const result<item_format> format = parse_format(h.descr, wanted);
  if (!format) return format.error();
  const dtype type = format->type;
  std::int64_t count = 0;
  std::uint64_t bytes = 0;
  const std::uint64_t item = format->letter == 'U' ? format->size * 4 : format->size;
  if (!h.shape.checked_count(count) || !checked_multiply(std::uint64_t(count), item, bytes) || bytes > h.data.size() ||
      (item == 0 && std::uint64_t(count) > file.size()))
    return bad(fmt::format("shape [{}] of '{}' needs more than the {} bytes there are", fmt::join(h.shape.dims(), ","),
                           h.descr, h.data.size()));
  if (type == dtype::string) return read_strings(h, *format, memory);
  std::byte* const elements = static_cast<std::byte*>(memory.allocate(std::max<std::uint64_t>(bytes, 1), 64));
  if (!elements) return status_code::out_of_memory;
  copy_items(h, elements, item, format->letter == 'c' ? item / 2 : item, format->swap);
  if (type == dtype::boolean) to_booleans({elements, std::size_t(bytes)}, elements);
  if (!is_packed(type)) return value::tensor(type, h.shape, elements);
  const auto packed = memory.take<std::byte>(std::size_t(count) * detail::row_of(type).bits / 8 + 1);
  if (!packed) return packed.error();
  pack(elements, packed->data(), std::size_t(count), detail::row_of(type).bits);
  return value::tensor(type, h.shape, packed->data());
}

namespace {

std::string npy_file(std::string_view descr, const extents& shape, std::string_view data) {
  std::string dims;
  for (std::int64_t d : shape) dims += fmt::format("{}, ", d);
  if (shape.rank() > 1) dims.resize(dims.size() - 2);
  else if (shape.rank() == 1) dims.pop_back();
  std::string dict = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, dims);
  dict.append(63 - (dict.size() + 10) % 64, ' ');  // aligns the data to 64 bytes, as the format demands
  dict += '\n';
  std::string file{magic};
  file += '\x01';
  file += '\0';
  file += char(dict.size() & 0xFF);
  file += char(dict.size() >> 8);
  return file.append(dict).append(data);
}

std::string write_strings(const value& v) {
  std::size_t width = 1;
  std::vector<std::vector<std::uint32_t>> texts;
  for (std::string_view text : v.as_unchecked<std::string_view>()) {
    texts.push_back(decode_utf8(text));
    width = std::max(width, texts.back().size());
  }
  std::string data;
  for (std::vector<std::uint32_t>& text : texts) {
    text.resize(width);
    data.append(reinterpret_cast<const char*>(text.data()), 4 * width);
  }
  return npy_file(fmt::format("<U{}", width), v.shape, data);
}

}  // namespace

result<std::string> write_npy(const value& v) {
  if (v.kind != value_kind::tensor) return bad("only a tensor can be a .npy file");
  if (v.type == dtype::string) return write_strings(v);
  const npy_type* const type = npy_type_of(v.type);
  if (!type) return bad("a tensor of no type");
  const std::string descr = fmt::format("{}{}{}", type->bytes == 1 ? '|' : '<', type->letter, type->bytes);
  const std::string_view stored{static_cast<const char*>(v.data), v.bytes()};
  if (!is_packed(v.type)) return npy_file(descr, v.shape, stored);
  const unsigned bits = detail::row_of(v.type).bits;
  std::string spread(std::size_t(v.shape.count()), '\0');
  for (std::size_t i = 0; i < spread.size(); ++i) {
    int code = std::uint8_t(stored[i * bits / 8]) >> (i * bits % 8) & ((1 << bits) - 1);
    if (type->letter == 'i' && code >= 1 << (bits - 1)) code -= 1 << bits;
    spread[i] = char(code);
  }
  return npy_file(descr, v.shape, spread);
}

}  // namespace cameo::program
