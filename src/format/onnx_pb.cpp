#include "onnx_proto.hpp"

#include <cameo/core/checked.hpp>

#include <onnx/onnx-data_pb.h>

#include <cstring>
#include <limits>

namespace cameo::inline CAMEO_ABI {
namespace {

constexpr int deepest_value = 90;  // messages inside messages

// --- reading ---

class pb_reader {
 public:
  explicit pb_reader(arena& memory) : memory_{memory}, tensors_{memory, std::size_t(-1)} {}

  result<value> read(const onnx::TensorProto& t) { return tensors_.read(t); }
  result<value> read(const onnx::SparseTensorProto& t) { return tensors_.read(t); }
  result<value> read(const onnx::SequenceProto& s) {
    switch (s.elem_type()) {
      case onnx::SequenceProto::TENSOR: return read_all(s.tensor_values());
      case onnx::SequenceProto::SPARSE_TENSOR: return read_all(s.sparse_tensor_values());
      case onnx::SequenceProto::SEQUENCE: return read_all(s.sequence_values());
      case onnx::SequenceProto::MAP: return read_all(s.map_values());
      case onnx::SequenceProto::OPTIONAL: return read_all(s.optional_values());
      case onnx::SequenceProto::UNDEFINED: return read_all(s.tensor_values());
      default: return unknown_type("sequence", s.name(), s.elem_type());
    }
  }
  result<value> read(const onnx::OptionalProto& o) {
    switch (o.elem_type()) {
      case onnx::OptionalProto::TENSOR: return read_if(o.has_tensor_value(), o.tensor_value());
      case onnx::OptionalProto::SPARSE_TENSOR: return read_if(o.has_sparse_tensor_value(), o.sparse_tensor_value());
      case onnx::OptionalProto::SEQUENCE: return read_if(o.has_sequence_value(), o.sequence_value());
      case onnx::OptionalProto::MAP: return read_if(o.has_map_value(), o.map_value());
      case onnx::OptionalProto::OPTIONAL: return read_if(o.has_optional_value(), o.optional_value());
      case onnx::OptionalProto::UNDEFINED: return value{};
      default: return unknown_type("optional", o.name(), o.elem_type());
    }
  }
  result<value> read(const onnx::MapProto&);

 private:
  static status unknown_type(std::string_view what, const std::string& name, int type) {
    return failed(status_code::invalid_graph, "{} '{}': element type {} is none of ONNX's (0 to 5)", what, name, type);
  }
  template <class Message>
  result<value> read_if(bool present, const Message& message) {
    return present ? read(message) : result<value>{value{}};
  }
  template <class Messages>
  result<value> read_all(const Messages& messages) {
    value made;
    made.kind = value_kind::sequence;
    result<std::span<value>> parts = memory_.take<value>(std::size_t(messages.size()));
    if (!parts) return parts.error();
    made.parts = *parts;
    for (int i = 0; i < messages.size(); ++i) {
      result<value> part = read(messages[i]);
      if (!part) return std::move(part).error().in(fmt::format("element {}", i));
      made.parts[std::size_t(i)] = *part;
    }
    if (!made.parts.empty() && made.parts[0].kind == value_kind::tensor) made.type = made.parts[0].type;
    for (const value& part : made.parts)
      if (part.kind == value_kind::tensor && part.type != made.type)
        return failed(status_code::invalid_graph, "a sequence of tensors has elements of {} and of {}",
                      row_of(made.type).name, row_of(part.type).name);
    return made;
  }
  result<value> column(dtype type, std::size_t count, std::span<std::byte>& bytes);
  result<value> read_keys(const onnx::MapProto&);
  result<value> join(const value& sequence, const std::string& name);

  arena& memory_;
  tensor_reader tensors_;
};

/// A new one-dimensional tensor.
result<value> pb_reader::column(dtype type, std::size_t count, std::span<std::byte>& bytes) {
  value made{value_kind::tensor, type, 0, extents{std::int64_t(count)}};
  made.data = memory_.allocate(made.bytes(), 64);
  if (!made.data) return status_code::out_of_memory;
  bytes = {static_cast<std::byte*>(made.data), made.bytes()};
  return made;
}

result<value> pb_reader::read_keys(const onnx::MapProto& m) {
  // As a tensor's typed data, which knows what fits where.
  onnx::TensorProto keys;
  keys.set_name(m.name() + ".keys");
  keys.set_data_type(m.key_type());
  const dtype type = dtype_of_number(m.key_type());
  if (type == dtype::string) {
    *keys.mutable_string_data() = m.string_keys();
    keys.add_dims(m.string_keys_size());
    return read(keys);
  }
  constexpr type_mask integers = mask_of<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                         std::uint16_t, std::uint32_t, std::uint64_t>;
  if (!(bit_of(type) & integers))
    return failed(status_code::invalid_graph, "map '{}': key type {} is neither an integer nor string", m.name(),
                  m.key_type());
  keys.add_dims(m.keys_size());
  for (std::int64_t key : m.keys()) {
    if (type == dtype::i64) {
      keys.add_int64_data(key);
    } else if (type == dtype::u32 || type == dtype::u64) {
      keys.add_uint64_data(std::uint64_t(key));
    } else if (key < std::numeric_limits<std::int32_t>::min() || key > std::numeric_limits<std::int32_t>::max()) {
      return failed(status_code::invalid_graph, "map '{}': key {} does not fit {}", m.name(), key, row_of(type).name);
    } else {
      keys.add_int32_data(std::int32_t(key));
    }
  }
  return read(keys);
}

/// One tensor out of the one-element tensors of a sequence.
result<value> pb_reader::join(const value& sequence, const std::string& name) {
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
                  row_of(sequence.type).name);
  for (std::size_t i = 0; i < sequence.parts.size(); ++i)
    std::memcpy(bytes.data() + i * each, sequence.parts[i].data, each);
  return joined;
}

result<value> pb_reader::read(const onnx::MapProto& m) {
  result<value> keys = read_keys(m);
  if (!keys) return keys;
  result<value> sequence = read(m.values());
  if (!sequence) return sequence;
  result<value> values = join(*sequence, m.name());
  if (!values) return values;
  if (keys->shape != values->shape)
    return failed(status_code::invalid_graph, "map '{}': {} keys and {} values", m.name(), keys->shape.count(),
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
  if (!parse_message(message, bytes, deepest_value))
    return failed(status_code::invalid_protobuf, "not a serialized onnx.{}", what);
  if (name) {
    if constexpr (std::is_same_v<Message, onnx::SparseTensorProto>) *name = message.values().name();
    else *name = message.name();
  }
  return pb_reader{memory}.read(message);
}

// --- writing ---

class pb_writer {
 public:
  status write(const value& v, onnx::TensorProto& to) { return tensors_.write(v, to); }
  status write(const value& v, onnx::SparseTensorProto& to) { return tensors_.write(v, to); }
  status write(const value& v, onnx::SequenceProto& to) {
    if (v.kind != value_kind::sequence) return {status_code::invalid_argument, "no sequence: it cannot be written"};
    const value_kind kind = v.parts.empty() ? value_kind::tensor : v.parts[0].kind;
    to.set_elem_type(element_type(kind));
    for (const value& part : v.parts) {
      if (part.kind != kind) return {status_code::invalid_argument, "a sequence of different kinds"};
      if (status s = add(part, to); !s) return s;
    }
    return status_code::ok;
  }
  status write(const value& v, onnx::OptionalProto& to) {
    to.set_elem_type(element_type(v.kind));
    switch (v.kind) {
      case value_kind::none: return status_code::ok;
      case value_kind::tensor: return write(v, *to.mutable_tensor_value());
      case value_kind::sparse_tensor: return write(v, *to.mutable_sparse_tensor_value());
      case value_kind::sequence: return write(v, *to.mutable_sequence_value());
      case value_kind::map: return write(v, *to.mutable_map_value());
    }
    return status_code::fail;
  }
  status write(const value&, onnx::MapProto&);

 private:
  static int element_type(value_kind kind) {
    switch (kind) {
      case value_kind::none: return onnx::SequenceProto::UNDEFINED;
      case value_kind::tensor: return onnx::SequenceProto::TENSOR;
      case value_kind::sparse_tensor: return onnx::SequenceProto::SPARSE_TENSOR;
      case value_kind::sequence: return onnx::SequenceProto::SEQUENCE;
      case value_kind::map: return onnx::SequenceProto::MAP;
    }
    return onnx::SequenceProto::UNDEFINED;
  }
  status add(const value& part, onnx::SequenceProto& to) {
    switch (part.kind) {
      case value_kind::tensor: return write(part, *to.add_tensor_values());
      case value_kind::sparse_tensor: return write(part, *to.add_sparse_tensor_values());
      case value_kind::sequence: return write(part, *to.add_sequence_values());
      case value_kind::map: return write(part, *to.add_map_values());
      case value_kind::none: break;
    }
    return {status_code::invalid_argument, "an empty element of a sequence cannot be written"};
  }
  tensor_writer tensors_;
};

template <class T>
void add_keys(const value& keys, onnx::MapProto& to) {
  for (T key : keys.as_unchecked<T>()) to.add_keys(std::int64_t(key));
}

status pb_writer::write(const value& v, onnx::MapProto& to) {
  if (v.kind != value_kind::map || v.parts.size() != 2)
    return {status_code::invalid_argument, "no map: it cannot be written"};
  const value &keys = v.parts[0], &values = v.parts[1];
  to.set_key_type(int(keys.type));
  switch (keys.type) {
    case dtype::string:
      for (std::string_view key : keys.as_unchecked<std::string_view>()) to.add_string_keys(std::string{key});
      break;
    case dtype::i8: add_keys<std::int8_t>(keys, to); break;
    case dtype::i16: add_keys<std::int16_t>(keys, to); break;
    case dtype::i32: add_keys<std::int32_t>(keys, to); break;
    case dtype::i64: add_keys<std::int64_t>(keys, to); break;
    case dtype::u8: add_keys<std::uint8_t>(keys, to); break;
    case dtype::u16: add_keys<std::uint16_t>(keys, to); break;
    case dtype::u32: add_keys<std::uint32_t>(keys, to); break;
    case dtype::u64: add_keys<std::uint64_t>(keys, to); break;
    default: return failed(status_code::invalid_argument, "a map's keys cannot be {}", row_of(keys.type).name);
  }
  const std::size_t each = row_of(values.type).bits / 8;
  if (values.kind != value_kind::tensor || each == 0)
    return {status_code::invalid_argument, "a map's values must be a tensor of whole bytes"};
  auto& sequence = *to.mutable_values();
  sequence.set_elem_type(onnx::SequenceProto::TENSOR);
  for (std::size_t i = 0; i < std::size_t(values.shape.count()); ++i) {
    const value one = value::tensor(values.type, extents{}, static_cast<const std::byte*>(values.data) + i * each);
    if (status s = write(one, *sequence.add_tensor_values()); !s) return s;
  }
  return status_code::ok;
}

template <class Message>
result<std::string> write_message(const value& v, std::string_view name) {
  Message message;
  if constexpr (std::is_same_v<Message, onnx::SparseTensorProto>) message.mutable_values()->set_name(std::string{name});
  else message.set_name(std::string{name});
  if (status s = pb_writer{}.write(v, message); !s) return std::move(s).in(name);
  std::string bytes;
  if (!message.SerializeToString(&bytes))
    return failed(status_code::invalid_argument, "'{}': over 2 GB, more than protobuf allows", name);
  return bytes;
}

}  // namespace

result<value> read_pb(std::span<const std::byte> bytes, pb_kind kind, arena& memory, std::string* name) {
  return guarded([&]() -> result<value> {
    switch (kind) {
      case pb_kind::tensor: return read_message<onnx::TensorProto>(bytes, "TensorProto", memory, name);
      case pb_kind::sequence: return read_message<onnx::SequenceProto>(bytes, "SequenceProto", memory, name);
      case pb_kind::optional: return read_message<onnx::OptionalProto>(bytes, "OptionalProto", memory, name);
      case pb_kind::map: return read_message<onnx::MapProto>(bytes, "MapProto", memory, name);
      case pb_kind::sparse_tensor:
        return read_message<onnx::SparseTensorProto>(bytes, "SparseTensorProto", memory, name);
    }
    return status_code::invalid_argument;
  });
}

result<std::string> write_pb(const value& v, pb_kind kind, std::string_view name) {
  return guarded([&]() -> result<std::string> {
    switch (kind) {
      case pb_kind::tensor: return write_message<onnx::TensorProto>(v, name);
      case pb_kind::sequence: return write_message<onnx::SequenceProto>(v, name);
      case pb_kind::optional: return write_message<onnx::OptionalProto>(v, name);
      case pb_kind::map: return write_message<onnx::MapProto>(v, name);
      case pb_kind::sparse_tensor: return write_message<onnx::SparseTensorProto>(v, name);
    }
    return status_code::invalid_argument;
  });
}

}  // namespace cameo::inline CAMEO_ABI
