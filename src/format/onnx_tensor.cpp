#include "../graph/oddities.hpp"
#include "../graph/types.hpp"
#include "file/model_folders.hpp"
#include "onnx_reading.hpp"
#include "tensor_bytes.hpp"

#include <cameo/core/checked.hpp>
#include <cameo/core/elements.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <numeric>

namespace CAMEO_NAMESPACE {
namespace {

using byte_span = std::span<const std::byte>;

constexpr int external_data_location = 1;
constexpr std::size_t small_in_onnx = 64;  // copying smaller tensors is cheaper than keeping their pages in use
constexpr std::size_t unaligned_from = std::size_t{1} << 16;  // larger data stays in place even if it is unaligned

/// The number of bytes that a tensor has in a file: as in memory, except for 6-bit floats, which are packed.
bool file_bytes_of(dtype type, std::uint64_t count, std::uint64_t& bytes) {
  if (!is_six_bits(type)) return detail::checked_bytes(type, count, bytes);
  if (!checked_multiply<std::uint64_t>(count, 6, bytes)) return false;
  bytes = bytes / 8 + (bytes % 8 != 0);
  return true;
}

/// The typed fields of a TensorProto, of which a dtype determines one.
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

std::uint64_t entries_present(const wire::tensor_message& t, typed_field f) {
  switch (f) {
    case typed_field::floats: return std::uint64_t(t.float_data.size());
    case typed_field::int32s: return std::uint64_t(t.int32_data.size());
    case typed_field::strings: return std::uint64_t(t.string_data.size());
    case typed_field::int64s: return std::uint64_t(t.int64_data.size());
    case typed_field::doubles: return std::uint64_t(t.double_data.size());
    case typed_field::uint64s: return std::uint64_t(t.uint64_data.size());
    case typed_field::none: break;
  }
  return 0;
}

/// The size in memory of one entry of the typed field.
std::size_t entry_bytes(dtype type) {
  if (type == dtype::c64) return sizeof(float);
  if (type == dtype::c128) return sizeof(double);
  return std::max<std::size_t>(1, detail::row_of(type).bits / 8);
}

/// Converts entries. Returns the position of the first that does not fit, or the number of entries.
template <class From, class To, class Fits>
std::size_t convert(const wire::numbers<From>& from, To* to, Fits fits) {
  std::size_t at = 0, good = std::size_t(-1);
  from.each([&](From number) {
    if (good == std::size_t(-1) && !fits(number)) good = at;
    to[at++] = To(number);
  });
  return std::min(good, at);
}
template <class To>
std::size_t narrow_to(const wire::numbers<std::int32_t>& from, To* to) {
  constexpr std::int64_t low = -(std::int64_t{1} << (8 * sizeof(To) - 1)),
                         high = (std::int64_t{1} << 8 * sizeof(To)) - 1;
  return convert(from, to, [](std::int64_t number) { return number >= low && number <= high; });
}
template <class T>
std::size_t copy_all(const wire::numbers<T>& from, void* to) {
  from.copy_to(static_cast<T*>(to));
  return from.size();
}

/// Copies an int32_data. Returns the number of entries that fit.
std::size_t copy_int32s(const wire::numbers<std::int32_t>& from, dtype type, void* to) {
  if (type == dtype::i32) return copy_all(from, to);
  if (type != dtype::boolean)
    return entry_bytes(type) == 2 ? narrow_to(from, static_cast<std::uint16_t*>(to))
                                  : narrow_to(from, static_cast<std::uint8_t*>(to));
  auto* at = static_cast<std::uint8_t*>(to);
  from.each([&](std::int32_t number) { *at++ = number != 0; });
  return from.size();
}

/// Copies entries. Entries that do not fit lose their high bits if deviations are accepted, which `odd` is for.
status copy_entries(const wire::tensor_message& t, dtype type, void* to, model* odd) {
  const typed_field typed = field_of(type);
  std::size_t fits = 0;
  switch (typed) {
    case typed_field::floats: fits = copy_all(t.float_data, to); break;
    case typed_field::doubles: fits = copy_all(t.double_data, to); break;
    case typed_field::int64s: fits = copy_all(t.int64_data, to); break;
    case typed_field::int32s: fits = copy_int32s(t.int32_data, type, to); break;
    case typed_field::uint64s:
      fits = type == dtype::u64 ? copy_all(t.uint64_data, to)
                                : convert(t.uint64_data, static_cast<std::uint32_t*>(to),
                                          [](std::uint64_t number) { return number <= 0xFFFFFFFF; });
      break;
    case typed_field::strings:
    case typed_field::none: return {};
  }
  if (fits == entries_present(t, typed)) return {};
  if (!odd)
    return failed(status_code::invalid_graph, "{}: entry {} of {} does not fit the element type", describe(t), fits,
                  field_names[std::size_t(typed)]);
  tolerate(*odd, oddity::wide_number, "{}: entry {} of {} does not fit; its low bits count", describe(t), fits,
           field_names[std::size_t(typed)]);
  return {};
}

status read_dims(const wire::tensor_message& t, dtype& type, extents& shape, std::uint64_t& count) {
  type = dtype_of_number(t.data_type);
  if (type == dtype::undefined)
    return failed(status_code::invalid_graph, "{}: element type {} is none of ONNX's (1 to {})", describe(t),
                  t.data_type, int(dtype::count) - 1);
  if (t.dims.size() > max_rank)
    return failed(status_code::not_implemented, "tensor '{}': rank {} is more than cameo's limit of {}", t.name,
                  t.dims.size(), max_rank);
  t.dims.each([&](std::int64_t d) { shape.push_back(d); });
  std::int64_t elements = 0;
  if (!shape.checked_count(elements))
    return failed(status_code::invalid_graph, "{}: dims must be 0 or more, and their product fit 63 bits", describe(t));
  count = std::uint64_t(elements);
  std::uint64_t bytes = 0;
  if (!detail::checked_bytes(type, count, bytes) || bytes > std::uint64_t(INT64_MAX))
    return failed(status_code::invalid_graph, "{}: its size in bytes does not fit 63 bits", describe(t));
  return status_code::ok;
}

status parse_number(std::string_view text, std::string_view key, const wire::tensor_message& t, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc{} && end == text.data() + text.size()) return status_code::ok;
  return failed(status_code::invalid_graph, "{}: external data: {} '{}' is not a number of bytes", describe(t), key,
                text);
}

}  // namespace

std::string describe(const wire::tensor_message& t) {
  const dtype type = dtype_of_number(t.data_type);
  std::string text =
      fmt::format("tensor '{}' {}[", t.name,
                  type == dtype::undefined ? fmt::format("type {}", t.data_type) : detail::row_of(type).name);
  int i = 0;
  t.dims.each([&](std::int64_t d) {
    if (i < 16) text += fmt::format("{}{}", i++ ? "," : "", d);
  });
  if (t.dims.size() > 16) text += ",...";
  return text + "]";
}

std::string rest_of_tensor(const wire::tensor_message& t, bool with_name) {
  std::string rest;
  if (with_name) wire::put_if_there(rest, 8, t.name);
  wire::put_if_there(rest, 12, t.doc_string);
  wire::put(rest, t.rest);
  return rest;
}

std::string rest_of_tensor(const wire::sparse_tensor_message& t, bool with_name) {
  std::string rest;
  wire::put(rest, t.rest);
  const auto part = [&](std::uint32_t number, const wire::tensor_message* of, bool named) {
    if (const std::string kept = of ? rest_of_tensor(*of, named) : ""; !kept.empty()) wire::put(rest, number, kept);
  };
  part(1, t.values, with_name);
  part(2, t.indices, true);
  return rest;
}

result<value> tensor_reader::read(const wire::tensor_message& t) {
  value made;
  made.kind = value_kind::tensor;
  std::uint64_t count = 0, bytes = 0, in_file = 0;
  if (status s = read_dims(t, made.type, made.shape, count); !s) return s;
  const bool sized = detail::checked_bytes(made.type, count, bytes) && file_bytes_of(made.type, count, in_file);
  if (!sized) return failed(status_code::invalid_graph, "{}: too large", describe(t));
  if (t.segment && !odd)
    return failed(status_code::not_implemented, "{}: tensors in segments are not supported", describe(t));
  if (t.segment) tolerate(*odd, oddity::segment, "{}: it is treated as the whole tensor", describe(t));
  const typed_field typed = field_of(made.type);
  if (t.data_location.number == external_data_location) {
    result<byte_span> data = external(t, in_file);
    return data ? place(made, *data) : result<value>{data.error()};
  }
  // An empty raw_data counts as absent if the typed field has the elements.
  const bool is_absent = t.raw_data.empty() && in_file != 0 && entries_present(t, typed) != 0;
  if (t.raw_data.data() && (!is_absent || made.type == dtype::string)) return read_raw(t, made, in_file);
  if (typed == typed_field::strings) return read_strings(t, made, std::size_t(count));
  const std::uint64_t need = is_six_bits(made.type) ? count : bytes / entry_bytes(made.type);
  if (entries_present(t, typed) != need)
    return failed(status_code::invalid_graph, "{}: {} has {} entries, needs {} ({} bytes); there is no raw_data",
                  describe(t), field_names[std::size_t(typed)], entries_present(t, typed), need, bytes);
  result<void*> data = allocate_tensor(memory, budget, std::size_t(bytes));
  if (!data) return data.error();
  made.data = *data;
  if (need != 0)
    if (status s = copy_entries(t, made.type, made.data, odd); !s) return s;
  return made;
}

result<value> tensor_reader::read_raw(const wire::tensor_message& t, const value& made, std::size_t bytes) {
  const byte_span data = t.raw_data;
  if (made.type == dtype::string)
    return failed(status_code::invalid_graph, "{}: strings are in string_data, not in raw_data", describe(t));
  const typed_field typed = field_of(made.type);
  const bool is_twice = !data.empty() && entries_present(t, typed) != 0;
  if (is_twice && !odd)
    return failed(status_code::invalid_graph, "{}: has both raw_data and {}", describe(t),
                  field_names[std::size_t(typed)]);
  if (is_twice)
    tolerate(*odd, oddity::data_twice, "{}: has both raw_data and {}; raw_data count", describe(t),
             field_names[std::size_t(typed)]);
  if (data.size() == bytes) return place(made, data);
  return failed(status_code::invalid_graph, "{}: raw_data has {} bytes, needs {}", describe(t), data.size(), bytes);
}

result<value> tensor_reader::read_or_given(const wire::tensor_message& t, std::string_view name) {
  const auto found = std::find_if(given.begin(), given.end(), [&](const auto& each) { return each.name == name; });
  if (found == given.end()) return read(t);
  const value& instead = found->tensor;
  value declared;
  declared.kind = value_kind::tensor;
  std::uint64_t count = 0;
  if (status s = read_dims(t, declared.type, declared.shape, count); !s) return s;
  if (instead.kind != value_kind::tensor || instead.type != declared.type || instead.shape != declared.shape)
    return failed(status_code::invalid_argument, "{}: cannot be replaced by {}; type and shape must be the same",
                  describe(t), type_of(instead).to_string());
  if (instead.memory != 0)
    return failed(status_code::invalid_argument,
                  "{}: cannot be replaced by a tensor in a provider's memory; its elements must be in the host's",
                  describe(t));
  if (!instead.data && instead.bytes() != 0)
    return failed(status_code::invalid_argument, "{}: cannot be replaced by a tensor whose elements are null",
                  describe(t));
  if (instead.type == dtype::string || is_six_bits(instead.type)) return instead;
  return place(declared, {static_cast<const std::byte*>(instead.data), instead.bytes()});
}

result<value> tensor_reader::read_strings(const wire::tensor_message& t, value made, std::size_t count) {
  if (t.string_data.size() != count)
    return failed(status_code::invalid_graph, "{}: string_data has {} entries, needs {}", describe(t),
                  t.string_data.size(), count);
  result<void*> data = allocate_tensor(memory, budget, count * sizeof(std::string_view));
  if (!data) return data.error();
  auto* const texts = static_cast<std::string_view*>(*data);
  std::size_t i = 0;
  for (std::string_view each : t.string_data) {
    result<std::string_view> text = memory.copy(each);
    if (!text) return text.error();
    std::construct_at(texts + i++, *text);
  }
  made.data = texts;
  return made;
}

result<byte_span> tensor_reader::external(const wire::tensor_message& t, std::size_t bytes) {
  if (!files)
    return failed(status_code::invalid_graph, "{}: external data is not allowed here; the bytes must be inside",
                  describe(t));
  if (t.data_type == int(dtype::string))
    return failed(status_code::invalid_graph, "{}: strings cannot be external data", describe(t));
  wire::text location;
  std::uint64_t offset = 0, length = bytes;
  for (const wire::entry_message& entry : t.external_data) {
    status s;
    if (entry.key == "location") location = entry.value.data() ? entry.value : "";
    if (entry.key == "offset") s = parse_number(entry.value, "offset", t, offset);
    if (entry.key == "length") s = parse_number(entry.value, "length", t, length);
    if (!s) return s;
  }
  if (!location.data()) return failed(status_code::invalid_graph, "{}: external data without a location", describe(t));
  if (length == 0 && bytes != 0 && odd) {
    tolerate(*odd, oddity::external_length_zero, "{}: external data '{}' has a length of 0; {} bytes are read",
             describe(t), location, bytes);
    length = bytes;
  }
  if (length != bytes)
    return failed(status_code::invalid_graph, "{}: external data '{}' has a length of {} bytes, needs {}", describe(t),
                  location, length, bytes);
  const result<byte_span> all = map_file(t, location);
  if (!all) return all.error();
  if (offset > all->size() || bytes > all->size() - offset)
    return failed(status_code::invalid_graph, "{}: external data '{}' has {} bytes, needs {} from byte {}", describe(t),
                  location, all->size(), bytes, offset);
  return all->subspan(std::size_t(offset), bytes);
}

/// The contents of a file of external data. Each file is mapped once.
result<byte_span> tensor_reader::map_file(const wire::tensor_message& t, std::string_view location) {
  // Spellings of one path become equal: `./w` is `w`.
  const std::string key = std::filesystem::path{location}.lexically_normal().string();
  if (const auto at = mapped.find(key); at != mapped.end()) return at->second;
  if (!open_folders)
    return failed(status_code::invalid_graph,
                  "{}: its data is in the file '{}', but the model comes from memory: set "
                  "read_options.external_data_folder",
                  describe(t), location);
  if (!folders) {
    result<std::shared_ptr<const model_folders>> now = open_folders();
    if (!now) return with_code(status_code::invalid_graph, now.error()).in(describe(t));
    folders = *std::move(now);
  }
  auto file = folders->map(external_data_path, std::string{location}, describe(t));
  if (!file) return file.error();
  files->push_back(*file);
  return mapped.emplace(key, (*file)->bytes()).first->second;
}

result<value> tensor_reader::place(value made, byte_span bytes) {
  if (is_six_bits(made.type)) return unpack_six_bits(made, bytes);
  return place_tensor(memory, budget, made, bytes, stays, small_in_onnx, unaligned_from);
}

result<value> tensor_reader::unpack_six_bits(value made, byte_span bytes) {
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

/// The row-major positions of the entries, whose indices are flat, or one for each axis.
result<std::vector<std::int64_t>> positions_of(const value& dense, const value& indices, std::size_t nnz,
                                               std::string_view name) {
  const auto* const at = static_cast<const std::int64_t*>(indices.data);
  const bool by_rows = indices.shape.rank() == 2;
  std::vector<std::int64_t> made(nnz);
  for (std::size_t i = 0, rank = by_rows ? dense.shape.rank() : 1; i < nnz; ++i)
    for (std::size_t axis = 0; axis < rank; ++axis) {
      const std::int64_t index = at[i * rank + axis], end = by_rows ? dense.shape[axis] : dense.shape.count();
      if (index < 0 || index >= end)
        return failed(status_code::invalid_graph, "sparse tensor '{}': index {} is outside the dense shape", name, i);
      made[i] = made[i] * end + index;
    }
  return made;
}

/// Aligned int64 indices. ONNX requires int64; ONNX Runtime accepts narrower types as well, and some files have them.
result<value> wide_indices(value indices, arena& memory) {
  if (indices.type == dtype::i64 && detail::is_aligned(indices)) return indices;
  const auto count = std::size_t(indices.shape.count());
  const result<std::span<std::int64_t>> made = memory.take<std::int64_t>(count);
  if (!made) return made.error();
  detail::integer_elements::visit(indices.type, 0, [&]<class T>(std::type_identity<T>) {
    for (std::size_t i = 0; i < count; ++i) (*made)[i] = std::int64_t(detail::element_at<T>(indices, i));
    return 0;
  });
  return value::tensor<std::int64_t>(indices.shape, std::span<const std::int64_t>{*made});
}

}  // namespace

/// Sorts entries by position, and keeps the last of those with equal positions; indices become flat.
status tensor_reader::sort_entries(const std::vector<std::int64_t>& positions, value& values, value& indices) {
  std::vector<std::size_t> order(positions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return positions[i]; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    if (i + 1 == order.size() || positions[order[i]] != positions[order[i + 1]]) order[kept++] = order[i];
  const std::size_t width = bits_of(values.type) / 8;
  const result<void*> sorted = allocate_tensor(memory, budget, kept * width);
  if (!sorted) return sorted.error();
  const result<void*> where = allocate_tensor(memory, budget, kept * sizeof(std::int64_t));
  if (!where) return where.error();
  for (std::size_t i = 0; i < kept; ++i) {
    std::memcpy(static_cast<std::byte*>(*sorted) + i * width,
                static_cast<const std::byte*>(values.data) + order[i] * width, width);
    static_cast<std::int64_t*>(*where)[i] = positions[order[i]];
  }
  const extents flat{std::int64_t(kept)};
  values = value::tensor(values.type, flat, *sorted);
  indices = value::tensor(dtype::i64, flat, *where);
  return status_code::ok;
}

result<value> tensor_reader::read(const wire::sparse_tensor_message& t) {
  const wire::tensor_message absent, &of_values = t.values ? *t.values : absent,
                                     &of_indices = t.indices ? *t.indices : absent;
  const std::string_view name = of_values.name;
  const auto refused = [&](std::string_view why) {
    return failed(status_code::invalid_graph, "sparse tensor '{}': {}", name, why);
  };
  if (t.dims.size() > max_rank)
    return failed(status_code::not_implemented, "sparse tensor '{}': rank {} is more than cameo's limit of {}", name,
                  t.dims.size(), max_rank);
  value made;
  made.kind = value_kind::sparse_tensor;
  t.dims.each([&](std::int64_t d) { made.shape.push_back(d); });
  std::int64_t dense = 0;
  if (!made.shape.checked_count(dense)) return refused("dims must be 0 or more, and their product fit 63 bits");
  result<value> values = read(of_values);
  if (!values) return values.error();
  result<value> indices = read(of_indices);
  if (!indices) return indices.error();
  const std::int64_t nnz = values->shape.rank() == 1 ? values->shape[0] : -1;
  if (nnz < 0) return refused("its values must have one dimension");
  if (!(detail::bit_of(indices->type) & mask_of<std::int8_t, std::int16_t, std::int32_t, std::int64_t>))
    return refused("its indices must be int64, or signed integers of fewer bits");
  const extents flat{nnz}, rows{nnz, std::int64_t(made.shape.rank())};
  if (indices->shape != flat && indices->shape != rows)
    return refused("its indices must have the shape [nnz] or [nnz, rank]");
  indices = wide_indices(*indices, memory);
  if (!indices) return indices.error();
  result<std::vector<std::int64_t>> positions = positions_of(made, *indices, std::size_t(nnz), name);
  if (!positions) return positions.error();
  const auto down = std::ranges::adjacent_find(*positions, std::ranges::greater_equal{});
  const std::size_t at = std::size_t(down - positions->begin()) + 1;  // of the first that is not greater than the
                                                                      // previous one
  if (down != positions->end()) {
    if (!odd || values->type == dtype::string || bits_of(values->type) % 8 != 0)
      return failed(status_code::invalid_graph, "sparse tensor '{}': index {} is not greater than the one before", name,
                    at);
    tolerate(*odd, oddity::sparse_unsorted, "sparse tensor '{}': index {} is not greater than the one before", name,
             at);
    if (status s = sort_entries(*positions, *values, *indices); !s) return s;
  }
  made.type = values->type;
  result<std::span<value>> parts = memory.take<value>(2);
  if (!parts) return parts.error();
  (*parts)[0] = *values;
  (*parts)[1] = *indices;
  made.parts = *parts;
  return made;
}

}  // namespace CAMEO_NAMESPACE
