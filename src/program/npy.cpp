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

static_assert(std::endian::native == std::endian::little, "cameo: the .npy code writes what lies in memory");

constexpr std::string_view magic = "\x93NUMPY";

/// What numpy calls a type: letter and bytes. The types it does not know are integers of their size.
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
constexpr std::size_t named_by_numpy = 14;  // the first of them

const npy_type* npy_type_of(dtype type) {
  const auto* const found =
      std::find_if(std::begin(npy_types), std::end(npy_types), [&](auto& t) { return t.id == type; });
  return found == std::end(npy_types) ? nullptr : found;
}
bool is_packed(dtype type) { return detail::row_of(type).bits < 8; }

struct header {
  std::string descr;
  bool fortran = false, has_descr = false, has_order = false, has_shape = false;
  extents shape;
  std::span<const std::byte> data;
};

/// The dict literal of a header. Takes what numpy writes: a string, True or False, a tuple of integers.
class dict_parser {
 public:
  explicit dict_parser(std::string_view text) : left_{text} {}

  status parse(header& to) {
    if (!take('{')) return bad("the header is no dict");
    while (!take('}')) {
      std::string key;
      if (!string(key) || !take(':')) return bad("the header's dict has no key where one should be");
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
      return to.has_descr ? status{} : bad("arrays of records are no tensors");
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
    if (!take('(')) return bad("the shape is no tuple");
    while (!take(')')) {
      peek();
      std::int64_t dim = -1;
      const auto read = std::from_chars(left_.data(), left_.data() + left_.size(), dim);
      if (read.ec != std::errc{} || dim < 0) return bad("a dim of the shape is no size");
      if (to.shape.rank() == max_rank) return bad(fmt::format("more than {} dims", max_rank));
      to.shape.push_back(dim);
      left_.remove_prefix(std::size_t(read.ptr - left_.data()));
      take('L');
      if (!take(',') && peek() != ')') return bad("the shape does not end");
    }
    return status_code::ok;
  }

  std::string_view left_;
};

result<header> read_header(std::span<const std::byte> file) {
  const std::string_view text{reinterpret_cast<const char*>(file.data()), file.size()};
  if (!text.starts_with(magic) || text.size() < 10) return bad("no .npy file");
  const unsigned version = std::uint8_t(text[6]);
  if (version < 1 || version > 3) return bad(fmt::format(".npy version {}; 1 to 3 are known", version));
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

/// Copies items of a file's order and byte order into row-major ones of the machine. A complex item is two parts.
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

std::size_t encode_utf8(std::uint32_t code, char* to) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = 0xFFFD;
  if (code < 0x80) return to[0] = char(code), 1;
  const std::size_t more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  for (std::size_t i = more; i > 0; --i, code >>= 6) to[i] = char(0x80 | (code & 0x3F));
  constexpr std::uint8_t lead[] = {0, 0xC0, 0xE0, 0xF0};
  to[0] = char(lead[more] | code);
  return more + 1;
}

/// Code points of UTF-8; a byte that starts none is one U+FFFD.
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

/// Strings of `width` code points (<U) or bytes (|S), zeros at the end left out.
result<value> read_strings(const header& h, bool unicode, std::size_t width, bool swap, arena& memory) {
  const auto count = std::size_t(h.shape.count());
  const std::size_t unit = unicode ? 4 : 1, item = width * unit;
  const auto bytes = memory.take<std::byte>(count * item);
  const auto texts = memory.take<std::string_view>(count);
  if (!bytes || !texts) return status_code::out_of_memory;
  copy_items(h, bytes->data(), item, unit, swap && unicode);
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

/// The type that an array of `letter` and `bytes` is, seen from an input of type `wanted`; undefined: none.
dtype element_of(char letter, std::size_t bytes, dtype wanted) {
  const npy_type* const row = npy_type_of(wanted);
  const bool bits = letter == 'V' || letter == 'u' || letter == 'i';
  if (row && row >= npy_types + named_by_numpy && row->bytes == bytes && bits) return wanted;
  for (const npy_type& type : std::span{npy_types}.first(named_by_numpy))
    if (type.letter == letter && type.bytes == bytes) return type.id;
  return dtype::undefined;
}

/// One byte per element becomes packed ones.
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
  std::string_view descr = h.descr;
  const bool has_order = !descr.empty() && std::string_view{"<>|="}.find(descr[0]) != descr.npos;
  const bool swap = has_order && descr[0] == '>';
  if (has_order) descr.remove_prefix(1);
  const char letter = descr.empty() ? '\0' : descr[0];
  std::size_t size = 0;
  if (letter)
    if (const auto end = std::from_chars(descr.data() + 1, descr.data() + descr.size(), size);
        end.ec != std::errc{} || end.ptr != descr.data() + descr.size())
      size = 0;
  if (letter == 'O') return bad("an array of Python objects; save strings with dtype '<U', not object");
  const bool text = letter == 'U' || letter == 'S';
  const dtype type = text ? dtype::string : element_of(letter, size, wanted);
  if (type == dtype::undefined || (text && size > 0xFFFFFF))
    return bad(fmt::format("numpy's type '{}' is no element type of ONNX", h.descr));
  std::int64_t count = 0;
  std::uint64_t bytes = 0;
  const std::uint64_t item = letter == 'U' ? size * 4 : size;
  if (!h.shape.checked_count(count) || !checked_multiply(std::uint64_t(count), item, bytes) || bytes > h.data.size() ||
      (item == 0 && std::uint64_t(count) > file.size()))
    return bad(fmt::format("shape [{}] of '{}' needs more than the {} bytes there are", fmt::join(h.shape.dims(), ","),
                           h.descr, h.data.size()));
  if (text) return read_strings(h, letter == 'U', size, swap, memory);
  std::byte* const elements = static_cast<std::byte*>(memory.allocate(std::max<std::uint64_t>(bytes, 1), 64));
  if (!elements) return status_code::out_of_memory;
  copy_items(h, elements, item, letter == 'c' ? item / 2 : item, swap);
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
  dict.append(63 - (dict.size() + 10) % 64, ' ');  // data starts at a multiple of 64
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
