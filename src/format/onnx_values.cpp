#include <cameo/format/pb.hpp>
#include <cameo/os/heap_arena.hpp>

#include "onnx_reading.hpp"

#include <cstring>

namespace CAMEO_NAMESPACE {
namespace {

constexpr std::size_t deepest_value = 90;  // nesting of messages

/// The elem_type of a SequenceProto or an OptionalProto.
namespace in_file {
enum : std::int32_t { none, tensor, sparse_tensor, sequence, map, optional };
}

class pb_reader {
 public:
  explicit pb_reader(arena& memory) : memory_{memory}, tensors_{memory, std::size_t(-1)} {}

  result<value> read(const wire::tensor_message& t) { return tensors_.read(t); }
  result<value> read(const wire::sparse_tensor_message& t) { return tensors_.read(t); }
  result<value> read(const wire::sequence_message& s) {
    switch (s.elem_type) {
      case in_file::none:
      case in_file::tensor: return read_all(s.tensor_values);
      case in_file::sparse_tensor: return read_all(s.sparse_tensor_values);
      case in_file::sequence: return read_all(s.sequence_values);
      case in_file::map: return read_all(s.map_values);
      case in_file::optional: return read_all(s.optional_values);
      default: return unknown_type("sequence", s.name, s.elem_type);
    }
  }
  result<value> read(const wire::optional_message& o) {
    switch (o.elem_type) {
      case in_file::none: return value{};
      case in_file::tensor: return read_if(o.tensor_value);
      case in_file::sparse_tensor: return read_if(o.sparse_tensor_value);
      case in_file::sequence: return read_if(o.sequence_value);
      case in_file::map: return read_if(o.map_value);
      case in_file::optional: return read_if(o.optional_value);
      default: return unknown_type("optional", o.name, o.elem_type);
    }
  }
  result<value> read(const wire::map_message&);

 private:
  static status unknown_type(std::string_view what, std::string_view name, int type) {
    return failed(status_code::invalid_graph, "{} '{}': element type {} is not one of ONNX's (0 to 5)", what, name,
                  type);
  }
  template <class Message>
  result<value> read_if(const Message* message) {
    return message ? read(*message) : result<value>{value{}};
  }
  template <class Messages>
  result<value> read_all(const Messages& messages) {
    value made;
    made.kind = value_kind::sequence;
    result<std::span<value>> parts = memory_.take<value>(messages.size());
    if (!parts) return parts.error();
    made.parts = *parts;
    std::size_t i = 0;
    for (const auto& message : messages) {
      result<value> part = read(message);
      if (!part) return std::move(part).error().in(fmt::format("element {}", i));
      made.parts[i++] = *part;
    }
    if (!made.parts.empty() && made.parts[0].kind == value_kind::tensor) made.type = made.parts[0].type;
    for (const value& part : made.parts)
      if (part.kind == value_kind::tensor && part.type != made.type)
        return failed(status_code::invalid_graph, "a sequence of tensors has elements of {} and of {}",
                      detail::row_of(made.type).name, detail::row_of(part.type).name);
    return made;
  }
  result<value> column(dtype type, std::size_t count, std::span<std::byte>& bytes);
  result<value> read_keys(const wire::map_message&);
  result<value> join(const value& sequence, std::string_view name);

  arena& memory_;
  tensor_reader tensors_;
};

/// Makes a one-dimensional tensor.
result<value> pb_reader::column(dtype type, std::size_t count, std::span<std::byte>& bytes) {
  value made{value_kind::tensor, type, 0, extents{std::int64_t(count)}};
  made.data = memory_.allocate(made.bytes(), 64);
  if (!made.data) return status_code::out_of_memory;
  bytes = {static_cast<std::byte*>(made.data), made.bytes()};
  return made;
}

result<value> pb_reader::read_keys(const wire::map_message& m) {
  // Keys are read like a tensor's typed data, which checks that numbers fit.
  wire::tensor_message keys;
  const std::string name = std::string{m.name} + ".keys";
  keys.name = name;
  keys.data_type = m.key_type;
  const dtype type = dtype_of_number(m.key_type);
  constexpr detail::type_mask integers = mask_of<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                                 std::uint16_t, std::uint32_t, std::uint64_t>;
  if (type != dtype::string && !(detail::bit_of(type) & integers))
    return failed(status_code::invalid_graph, "map '{}': key type {} is neither an integer nor string", m.name,
                  m.key_type);
  std::string dim;
  wire::put_varint(dim, type == dtype::string ? m.string_keys.size() : m.keys.size());
  if (keys.dims.add(std::as_bytes(std::span{dim}), memory_)) return status_code::out_of_memory;
  if (type == dtype::string) keys.string_data = m.string_keys;
  else if (type == dtype::i64) keys.int64_data = m.keys;
  else if (type == dtype::u32 || type == dtype::u64) keys.uint64_data = m.keys.as<std::uint64_t>();
  else keys.int32_data = m.keys.as<std::int32_t>();
  std::int64_t wide = 0;
  if (keys.int32_data.size()) m.keys.each([&](std::int64_t key) { wide = key == std::int32_t(key) ? wide : key; });
  if (wide)
    return failed(status_code::invalid_graph, "map '{}': key {} does not fit {}", m.name, wide,
                  detail::row_of(type).name);
  return read(keys);
}

/// Joins the one-element tensors of a sequence to one tensor.
result<value> pb_reader::join(const value& sequence, std::string_view name) {
  for (const value& part : sequence.parts)
    if (part.kind != value_kind::tensor || part.shape.count() != 1)
      return failed(status_code::not_implemented, "map '{}': only maps to single numbers or strings are supported",
                    name);
  std::span<std::byte> bytes;
  result<value> joined = column(sequence.type, sequence.parts.size(), bytes);
  if (!joined || sequence.parts.empty()) return joined;
  const std::size_t each = sequence.parts[0].bytes();
  if (each * sequence.parts.size() != bytes.size())
    return failed(status_code::not_implemented, "map '{}': values of {} are not supported", name,
                  detail::row_of(sequence.type).name);
  for (std::size_t i = 0; i < sequence.parts.size(); ++i)
    std::memcpy(bytes.data() + i * each, sequence.parts[i].data, each);
  return joined;
}

result<value> pb_reader::read(const wire::map_message& m) {
  result<value> keys = read_keys(m);
  if (!keys) return keys;
  result<value> sequence = m.values ? read(*m.values) : read(wire::sequence_message{});
  if (!sequence) return sequence;
  result<value> values = join(*sequence, m.name);
  if (!values) return values;
  if (keys->shape != values->shape)
    return failed(status_code::invalid_graph, "map '{}': {} keys and {} values", m.name, keys->shape.count(),
                  values->shape.count());
  value made{value_kind::map, keys->type};
  result<std::span<value>> parts = memory_.take<value>(2);
  if (!parts) return parts.error();
  made.parts = *parts;
  made.parts[0] = *keys;
  made.parts[1] = *values;
  return made;
}

template <class Message>
result<value> read_message(std::span<const std::byte> bytes, std::string_view what, arena& memory, std::string* name) {
  Message message;
  detail::heap_arena rough;
  const std::string wrong = fmt::format("not a serialized onnx.{}", what);
  if (status s = decode(bytes, wrong, {deepest_value, 0}, {}, rough, message); !s) return s;
  if (name) {
    if constexpr (!std::is_same_v<Message, wire::sparse_tensor_message>) *name = message.name;
    else *name = message.values ? message.values->name : "";
  }
  return pb_reader{memory}.read(message);
}

}  // namespace

result<value> read_pb(std::span<const std::byte> bytes, pb_kind kind, arena& memory, std::string* name) {
  return guarded([&]() -> result<value> {
    switch (kind) {
      case pb_kind::tensor: return read_message<wire::tensor_message>(bytes, "TensorProto", memory, name);
      case pb_kind::sequence: return read_message<wire::sequence_message>(bytes, "SequenceProto", memory, name);
      case pb_kind::optional: return read_message<wire::optional_message>(bytes, "OptionalProto", memory, name);
      case pb_kind::map: return read_message<wire::map_message>(bytes, "MapProto", memory, name);
      case pb_kind::sparse_tensor:
        return read_message<wire::sparse_tensor_message>(bytes, "SparseTensorProto", memory, name);
    }
    return status_code::invalid_argument;
  });
}

}  // namespace CAMEO_NAMESPACE
