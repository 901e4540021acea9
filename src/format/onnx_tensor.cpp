#include "file/held_folder.hpp"
#include "onnx_proto.hpp"
#include "onnx_wire.hpp"
#include "tensor_bytes.hpp"

#include <cameo/core/checked.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iterator>

namespace cameo::inline CAMEO_ABI {
namespace {

using byte_span = std::span<const std::byte>;

constexpr std::size_t small_in_onnx = 64;  // bytes up to which copying is cheaper than keeping track of pages
constexpr std::size_t unaligned_from = std::size_t{1} << 16;  // bytes from which it stays, aligned or not

bool is_six_bits(dtype type) { return type == dtype::f6e2m3 || type == dtype::f6e3m2; }

/// How many bytes a file has for a tensor: what memory has, but for the 6-bit floats, which it packs.
bool file_bytes_of(dtype type, std::uint64_t count, std::uint64_t& bytes) {
  if (!is_six_bits(type)) return checked_bytes(type, count, bytes);
  if (!checked_multiply<std::uint64_t>(count, 6, bytes)) return false;
  bytes = bytes / 8 + (bytes % 8 != 0);
  return true;
}

/// Which typed field holds the elements of a dtype, and how many entries per so many elements.
enum class typed_field : std::uint8_t { none, floats, int32s, strings, int64s, doubles, uint64s };
typed_field field_of(dtype type) {
  switch (type) {
    case dtype::f32:
    case dtype::c64: return typed_field::floats;
    case dtype::f64:
    case dtype::c128: return typed_field::doubles;
    case dtype::i64: return typed_field::int64s;
    case dtype::u32:
    case dtype::u64: return typed_field::uint64s;
    case dtype::string: return typed_field::strings;
    case dtype::undefined:
    case dtype::count: return typed_field::none;
    default: return typed_field::int32s;
  }
}
constexpr const char* field_names[] = {"",           "float_data",  "int32_data", "string_data",
                                       "int64_data", "double_data", "uint64_data"};

std::uint64_t entries_present(const onnx::TensorProto& t, typed_field f) {
  switch (f) {
    case typed_field::floats: return std::uint64_t(t.float_data_size());
    case typed_field::int32s: return std::uint64_t(t.int32_data_size());
    case typed_field::strings: return std::uint64_t(t.string_data_size());
    case typed_field::int64s: return std::uint64_t(t.int64_data_size());
    case typed_field::doubles: return std::uint64_t(t.double_data_size());
    case typed_field::uint64s: return std::uint64_t(t.uint64_data_size());
    case typed_field::none: break;
  }
  return 0;
}

/// Bytes in memory of one entry of the typed field.
std::size_t entry_bytes(dtype type) {
  if (type == dtype::c64) return sizeof(float);
  if (type == dtype::c128) return sizeof(double);
  return std::max<std::size_t>(1, row_of(type).bits / 8);
}

/// Copies integers into narrower elements. The position of the first that does not fit, or the size.
template <class To, class From>
std::size_t narrow_to(const From& from, To* to) {
  using wide = std::int64_t;
  constexpr wide low = -(wide{1} << (8 * sizeof(To) - 1)), high = (wide{1} << 8 * sizeof(To)) - 1;
  for (int i = 0; i < from.size(); ++i) {
    if (wide(from[i]) < low || wide(from[i]) > high) return std::size_t(i);
    to[i] = To(from[i]);
  }
  return std::size_t(from.size());
}

status copy_entries(const onnx::TensorProto& t, dtype type, void* to) {
  std::size_t fits = std::size_t(-1), size = std::size_t(-1);
  switch (field_of(type)) {
    case typed_field::floats:
      std::memcpy(to, t.float_data().data(), std::size_t(t.float_data_size()) * sizeof(float));
      break;
    case typed_field::doubles:
      std::memcpy(to, t.double_data().data(), std::size_t(t.double_data_size()) * sizeof(double));
      break;
    case typed_field::int64s:
      std::memcpy(to, t.int64_data().data(), std::size_t(t.int64_data_size()) * sizeof(std::int64_t));
      break;
    case typed_field::uint64s:
      if (type == dtype::u64) {
        std::memcpy(to, t.uint64_data().data(), std::size_t(t.uint64_data_size()) * sizeof(std::uint64_t));
      } else {
        size = std::size_t(t.uint64_data_size());
        for (fits = 0; fits < size && t.uint64_data(int(fits)) <= 0xFFFFFFFF; ++fits)
          static_cast<std::uint32_t*>(to)[fits] = std::uint32_t(t.uint64_data(int(fits)));
      }
      break;
    case typed_field::int32s:
      size = std::size_t(t.int32_data_size());
      if (type == dtype::boolean)
        for (fits = 0; fits < size; ++fits) static_cast<std::uint8_t*>(to)[fits] = t.int32_data(int(fits)) != 0;
      else if (type == dtype::i32) std::memcpy(to, t.int32_data().data(), size * sizeof(std::int32_t)), fits = size;
      else if (entry_bytes(type) == 2) fits = narrow_to(t.int32_data(), static_cast<std::uint16_t*>(to));
      else fits = narrow_to(t.int32_data(), static_cast<std::uint8_t*>(to));
      break;
    case typed_field::strings:
    case typed_field::none: break;
  }
  if (fits != size)
    return failed(status_code::invalid_graph, "{}: entry {} of {} does not fit the element type", describe(t), fits,
                  field_names[std::size_t(field_of(type))]);
  return status_code::ok;
}

status read_dims(const onnx::TensorProto& t, dtype& type, extents& shape, std::uint64_t& count) {
  type = dtype_of_number(t.data_type());
  if (type == dtype::undefined)
    return failed(status_code::invalid_graph, "{}: element type {} is none of ONNX's (1 to {})", describe(t),
                  t.data_type(), int(dtype::count) - 1);
  if (std::size_t(t.dims_size()) > max_rank)
    return failed(status_code::not_implemented, "tensor '{}': rank {} is more than cameo's limit of {}", t.name(),
                  t.dims_size(), max_rank);
  for (std::int64_t d : t.dims()) shape.push_back(d);
  std::int64_t elements = 0;
  if (!shape.checked_count(elements))
    return failed(status_code::invalid_graph, "{}: dims must be 0 or more, and their product fit 63 bits", describe(t));
  count = std::uint64_t(elements);
  std::uint64_t bytes = 0;
  if (!checked_bytes(type, count, bytes) || bytes > std::uint64_t(INT64_MAX))
    return failed(status_code::invalid_graph, "{}: its size in bytes does not fit 63 bits", describe(t));
  if (t.has_segment())
    return failed(status_code::not_implemented, "{}: tensors in segments are not supported", describe(t));
  return status_code::ok;
}

status parse_number(const std::string& text, std::string_view key, const onnx::TensorProto& t, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return status_code::ok;
  return failed(status_code::invalid_graph, "{}: external data: {} '{}' is no number of bytes", describe(t), key, text);
}

byte_span bytes_of_text(const std::string& text) { return std::as_bytes(std::span{text.data(), text.size()}); }

}  // namespace

std::string describe(const onnx::TensorProto& t) {
  const dtype type = dtype_of_number(t.data_type());
  std::string text = fmt::format("tensor '{}' {}[", t.name(),
                                 type == dtype::undefined ? fmt::format("type {}", t.data_type()) : row_of(type).name);
  for (int i = 0; i < t.dims_size() && i < 16; ++i) text += fmt::format("{}{}", i ? "," : "", t.dims(i));
  if (t.dims_size() > 16) text += ",...";
  return text + "]";
}

result<value> tensor_reader::read(const onnx::TensorProto& t) {
  value made;
  made.kind = value_kind::tensor;
  std::uint64_t count = 0, bytes = 0, in_file = 0;
  if (status s = read_dims(t, made.type, made.shape, count); !s) return s;
  const bool sized = checked_bytes(made.type, count, bytes) && file_bytes_of(made.type, count, in_file);
  if (!sized) return failed(status_code::invalid_graph, "{}: too large", describe(t));
  const typed_field typed = field_of(made.type);
  if (t.data_location() == onnx::TensorProto::EXTERNAL) {
    result<byte_span> data = external(t, in_file);
    return data ? place(t, made, *data) : result<value>{data.error()};
  }
  if (t.has_raw_data()) {
    byte_span data = bytes_of_text(t.raw_data());
    std::size_t number = 0;
    if (raw && (!read_raw_index(t.raw_data(), number) || number >= raw->size()))
      return failed(status_code::fail, "{}: its data was lost", describe(t));
    if (raw) data = (*raw)[number];
    if (made.type == dtype::string)
      return failed(status_code::invalid_graph, "{}: strings are in string_data, not in raw_data", describe(t));
    if (!data.empty() && entries_present(t, typed) != 0)
      return failed(status_code::invalid_graph, "{}: has both raw_data and {}", describe(t),
                    field_names[std::size_t(typed)]);
    if (data.size() == in_file) return place(t, made, data);
    if (!data.empty() || entries_present(t, typed) == 0)
      return failed(status_code::invalid_graph, "{}: raw_data has {} bytes, needs {}", describe(t), data.size(),
                    in_file);
  }
  if (typed == typed_field::strings) return read_strings(t, made, std::size_t(count));
  const std::uint64_t need = is_six_bits(made.type) ? count : bytes / entry_bytes(made.type);
  if (entries_present(t, typed) != need)
    return failed(status_code::invalid_graph, "{}: {} has {} entries, needs {} ({} bytes); there is no raw_data",
                  describe(t), field_names[std::size_t(typed)], entries_present(t, typed), need, bytes);
  result<void*> data = allocate_tensor(memory, budget, std::size_t(bytes));
  if (!data) return data.error();
  made.data = *data;
  if (need != 0)
    if (status s = copy_entries(t, made.type, made.data); !s) return s;
  return made;
}

result<value> tensor_reader::read_strings(const onnx::TensorProto& t, value made, std::size_t count) {
  if (std::size_t(t.string_data_size()) != count)
    return failed(status_code::invalid_graph, "{}: string_data has {} entries, needs {}", describe(t),
                  t.string_data_size(), count);
  result<void*> data = allocate_tensor(memory, budget, count * sizeof(std::string_view));
  if (!data) return data.error();
  auto* const texts = static_cast<std::string_view*>(*data);
  for (std::size_t i = 0; i < count; ++i) {
    result<std::string_view> text = memory.copy(std::string_view{t.string_data(int(i))});
    if (!text) return text.error();
    std::construct_at(texts + i, *text);
  }
  made.data = texts;
  return made;
}

result<byte_span> tensor_reader::external(const onnx::TensorProto& t, std::size_t bytes) {
  if (!files)
    return failed(status_code::invalid_graph, "{}: external data is not allowed here; the bytes must be inside",
                  describe(t));
  if (t.data_type() == onnx::TensorProto::STRING)
    return failed(status_code::invalid_graph, "{}: strings cannot be external data", describe(t));
  const std::string* location = nullptr;
  std::uint64_t offset = 0, length = bytes;
  for (const auto& entry : t.external_data()) {
    status s;
    if (entry.key() == "location") location = &entry.value();
    if (entry.key() == "offset") s = parse_number(entry.value(), "offset", t, offset);
    if (entry.key() == "length") s = parse_number(entry.value(), "length", t, length);
    if (!s) return s;
  }
  if (!location) return failed(status_code::invalid_graph, "{}: external data without a location", describe(t));
  if (!has_folder)
    return failed(status_code::invalid_graph,
                  "{}: its data is in the file '{}', but the model comes from memory: set "
                  "onnx_read_options.external_data_folder",
                  describe(t), *location);
  if (length != bytes)
    return failed(status_code::invalid_graph, "{}: external data '{}' has a length of {} bytes, needs {}", describe(t),
                  *location, length, bytes);
  // One file however it is spelled, as far as that shows: `./w` is `w`.
  const std::string key = std::filesystem::path{*location}.lexically_normal().string();
  auto at = mapped.find(key);
  if (at == mapped.end()) {
    if (!opened) {
      result<held_folder> now = held_folder::open(folder);
      if (!now) return status{status_code::invalid_graph, now.error().words()}.in(describe(t));
      opened = std::make_shared<const held_folder>(*std::move(now));
    }
    auto file = opened->map(external_data_path, *location, describe(t));
    if (!file) return file.error();
    files->push_back(*file);
    at = mapped.emplace(key, (*file)->bytes()).first;
  }
  const byte_span all = at->second;
  if (offset > all.size() || bytes > all.size() - offset)
    return failed(status_code::invalid_graph, "{}: external data '{}' has {} bytes, needs {} from byte {}", describe(t),
                  *location, all.size(), bytes, offset);
  return all.subspan(std::size_t(offset), bytes);
}

result<value> tensor_reader::place(const onnx::TensorProto& t, value made, byte_span bytes) {
  if (is_six_bits(made.type)) return unpack_six_bits(t, made, bytes);
  const bool inside = !raw && t.data_location() != onnx::TensorProto::EXTERNAL;  // of a message that goes
  return place_tensor(memory, budget, made, bytes, !copy_all && !inside, small_in_onnx, unaligned_from);
}

result<value> tensor_reader::unpack_six_bits(const onnx::TensorProto&, value made, byte_span bytes) {
  result<void*> data = allocate_tensor(memory, budget, made.bytes());
  if (!data) return data.error();
  made.data = *data;
  auto* const to = static_cast<std::uint8_t*>(made.data);
  for (std::size_t i = 0; i < made.bytes(); ++i) {
    const std::size_t bit = 6 * i;
    unsigned two = unsigned(bytes[bit / 8]);
    if (bit / 8 + 1 < bytes.size()) two |= unsigned(bytes[bit / 8 + 1]) << 8;
    to[i] = std::uint8_t(two >> bit % 8 & 0x3F);
  }
  return made;
}

// --- sparse tensors ---

namespace {

/// Indices are in range and in ascending order: flat ones, or rows of one per axis.
status check_indices(const value& dense, const value& indices, std::size_t nnz, std::string_view name) {
  const auto refused = [&](std::size_t i, std::string_view why) {
    return failed(status_code::invalid_graph, "sparse tensor '{}': index {} {}", name, i, why);
  };
  const auto* const at = static_cast<const std::int64_t*>(indices.data);
  const std::size_t rank = dense.shape.rank();
  if (indices.shape.rank() == 1) {
    for (std::size_t i = 0; i < nnz; ++i) {
      if (at[i] < 0 || at[i] >= dense.shape.count()) return refused(i, "is outside the dense shape");
      if (i && at[i] <= at[i - 1]) return refused(i, "is not greater than the one before");
    }
    return status_code::ok;
  }
  for (std::size_t i = 0; i < nnz; ++i) {
    const std::int64_t* const row = at + i * rank;
    for (std::size_t axis = 0; axis < rank; ++axis)
      if (row[axis] < 0 || row[axis] >= dense.shape[axis]) return refused(i, "is outside the dense shape");
    if (i && !std::lexicographical_compare(row - rank, row, row, row + rank))
      return refused(i, "is not greater than the one before");
  }
  return status_code::ok;
}

/// Indices as int64 that can be read where they lie. ONNX asks for int64; ONNX Runtime takes narrower ones too, and
/// files have them.
result<value> wide_indices(value indices, arena& memory) {
  if (indices.type == dtype::i64 && is_aligned(indices)) return indices;
  const std::size_t bytes = bits_of(indices.type) / 8, count = std::size_t(indices.shape.count());
  const result<std::span<std::int64_t>> made = memory.take<std::int64_t>(count);
  if (!made) return made.error();
  const auto widen = [&]<class T>(T element) {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(&element, static_cast<const std::byte*>(indices.data) + i * bytes, bytes);
      (*made)[i] = element;
    }
  };
  switch (indices.type) {
    case dtype::i8: widen(std::int8_t{}); break;
    case dtype::i16: widen(std::int16_t{}); break;
    case dtype::i32: widen(std::int32_t{}); break;
    default: widen(std::int64_t{}); break;
  }
  return value::tensor<std::int64_t>(indices.shape, std::span<const std::int64_t>{*made});
}

}  // namespace

result<value> tensor_reader::read(const onnx::SparseTensorProto& t) {
  const std::string& name = t.values().name();
  const auto refused = [&](std::string_view why) {
    return failed(status_code::invalid_graph, "sparse tensor '{}': {}", name, why);
  };
  if (std::size_t(t.dims_size()) > max_rank)
    return failed(status_code::not_implemented, "sparse tensor '{}': rank {} is more than cameo's limit of {}", name,
                  t.dims_size(), max_rank);
  value made;
  made.kind = value_kind::sparse_tensor;
  for (std::int64_t d : t.dims()) made.shape.push_back(d);
  std::int64_t dense = 0;
  if (!made.shape.checked_count(dense)) return refused("dims must be 0 or more, and their product fit 63 bits");
  result<value> values = read(t.values());
  if (!values) return values.error();
  result<value> indices = read(t.indices());
  if (!indices) return indices.error();
  const std::int64_t nnz = values->shape.rank() == 1 ? values->shape[0] : -1;
  if (nnz < 0) return refused("its values must have one dimension");
  if (!(bit_of(indices->type) & mask_of<std::int8_t, std::int16_t, std::int32_t, std::int64_t>))
    return refused("its indices must be int64, or signed integers of fewer bits");
  const extents flat{nnz}, rows{nnz, std::int64_t(made.shape.rank())};
  if (indices->shape != flat && indices->shape != rows)
    return refused("its indices must have the shape [nnz] or [nnz, rank]");
  indices = wide_indices(*indices, memory);
  if (!indices) return indices.error();
  if (status s = check_indices(made, *indices, std::size_t(nnz), name); !s) return s;
  made.type = values->type;
  result<std::span<value>> parts = memory.take<value>(2);
  if (!parts) return parts.error();
  (*parts)[0] = *values;
  (*parts)[1] = *indices;
  made.parts = *parts;
  return made;
}

// --- writing ---

namespace {

std::string pack_six_bits(std::span<const std::uint8_t> from) {
  std::string packed((6 * from.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < from.size(); ++i) {
    const std::size_t bit = 6 * i;
    const unsigned two = unsigned(from[i] & 0x3F) << bit % 8;
    packed[bit / 8] = char(packed[bit / 8] | char(two & 0xFF));
    if (two >> 8) packed[bit / 8 + 1] = char(packed[bit / 8 + 1] | char(two >> 8));
  }
  return packed;
}

// In a file of external data.
constexpr std::size_t external_alignment = 64, large_alignment = 4096, large_tensor = std::size_t{1} << 20;
constexpr char padding[large_alignment] = {};

void add_entry(onnx::TensorProto& to, const char* key, std::string entry) {
  auto& added = *to.add_external_data();
  added.set_key(key);
  added.set_value(std::move(entry));
}

}  // namespace

status tensor_writer::write(const value& v, onnx::TensorProto& to) {
  if (v.kind != value_kind::tensor || v.memory != 0)
    return failed(status_code::invalid_argument, "'{}' is no tensor in host memory: it cannot be written", to.name());
  to.set_data_type(int(v.type));
  for (std::int64_t d : v.shape.dims()) to.add_dims(d);
  if (v.type == dtype::string) {
    for (std::string_view text : v.as_unchecked<std::string_view>()) to.add_string_data(std::string{text});
    return status_code::ok;
  }
  byte_span bytes{static_cast<const std::byte*>(v.data), v.bytes()};
  if (is_six_bits(v.type)) {
    packed.push_back(pack_six_bits({static_cast<const std::uint8_t*>(v.data), v.bytes()}));
    bytes = bytes_of_text(packed.back());
  }
  if (!options.external_data.empty() && bytes.size() >= options.external_threshold && !bytes.empty()) {
    go_out(bytes, to);
  } else if (raw) {
    to.set_raw_data(raw_index(raw->size()));
    raw->push_back(bytes);
  } else {
    to.set_raw_data(bytes.data(), bytes.size());
  }
  return status_code::ok;
}

void set_external(onnx::TensorProto& to, std::string file, std::uint64_t offset, std::size_t bytes) {
  to.set_data_location(onnx::TensorProto::EXTERNAL);
  add_entry(to, "location", std::move(file));
  add_entry(to, "offset", std::to_string(offset));
  add_entry(to, "length", std::to_string(bytes));
}

void tensor_writer::go_out(std::span<const std::byte> bytes, onnx::TensorProto& to) {
  const std::size_t alignment = options.external_alignment     ? options.external_alignment
                                : bytes.size() >= large_tensor ? large_alignment
                                                               : external_alignment;
  for (std::size_t gap = std::size_t(-external_bytes % alignment); gap;) {
    const std::size_t piece = std::min(gap, std::size(padding));
    external.push_back(std::as_bytes(std::span{padding, piece}));
    external_bytes += piece, gap -= piece;
  }
  set_external(to, options.external_data, external_bytes, bytes.size());
  external.push_back(bytes);
  external_bytes += bytes.size();
}

status tensor_writer::write_initializer(const value& v, onnx::TensorProto& to) {
  if (!options.place || v.kind != value_kind::tensor || v.type == dtype::string || is_six_bits(v.type))
    return write(v, to);
  const result<std::optional<external_place>> place = options.place(to.name(), v);
  if (!place) return status{place.error()};
  if (!*place) return write(v, to);
  if ((*place)->file.empty() || (*place)->file.front() == '/')
    return failed(status_code::invalid_argument, "'{}': its place is in '{}', which is no name relative to the model",
                  to.name(), (*place)->file);
  to.set_data_type(int(v.type));
  for (std::int64_t d : v.shape.dims()) to.add_dims(d);
  set_external(to, (*place)->file, (*place)->offset, v.bytes());
  return {};
}

status tensor_writer::write(const value& v, onnx::SparseTensorProto& to) {
  if (v.kind != value_kind::sparse_tensor || v.parts.size() != 2)
    return failed(status_code::invalid_argument, "'{}' is no sparse tensor", to.values().name());
  for (std::int64_t d : v.shape.dims()) to.add_dims(d);
  if (status s = write(v.parts[0], *to.mutable_values()); !s) return s;
  return write(v.parts[1], *to.mutable_indices());
}

}  // namespace cameo::inline CAMEO_ABI
