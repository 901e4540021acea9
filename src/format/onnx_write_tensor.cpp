#include "onnx_writing.hpp"
#include "tensor_bytes.hpp"

namespace CAMEO_NAMESPACE {
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

// Alignment in a file of external data.
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
    return failed(status_code::invalid_argument, "'{}' is not a tensor in host memory: it cannot be written",
                  to.name());
  to.set_data_type(int(v.type));
  for (std::int64_t d : v.shape.dims()) to.add_dims(d);
  if (v.type == dtype::string) {
    for (std::string_view text : v.as_unchecked<std::string_view>()) to.add_string_data(std::string{text});
    return status_code::ok;
  }
  std::span<const std::byte> bytes{static_cast<const std::byte*>(v.data), v.bytes()};
  if (is_six_bits(v.type)) {
    packed.push_back(pack_six_bits({static_cast<const std::uint8_t*>(v.data), v.bytes()}));
    bytes = std::as_bytes(std::span{packed.back()});
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
    return failed(status_code::invalid_argument,
                  "'{}' would be written to the file '{}'; give a path that is relative to the model's folder",
                  to.name(), (*place)->file);
  to.set_data_type(int(v.type));
  for (std::int64_t d : v.shape.dims()) to.add_dims(d);
  set_external(to, (*place)->file, (*place)->offset, v.bytes());
  return {};
}

status tensor_writer::write(const value& v, onnx::SparseTensorProto& to) {
  if (v.kind != value_kind::sparse_tensor || v.parts.size() != 2)
    return failed(status_code::invalid_argument,
                  "'{}' is not a sparse tensor with values and indices: it cannot be written", to.values().name());
  for (std::int64_t d : v.shape.dims()) to.add_dims(d);
  if (status s = write(v.parts[0], *to.mutable_values()); !s) return s;
  return write(v.parts[1], *to.mutable_indices());
}

}  // namespace CAMEO_NAMESPACE
