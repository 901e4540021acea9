#include <cameo/core/elements.hpp>
#include <cameo/format/pb.hpp>

#include "memory_reserve.hpp"
#include "onnx_writing.hpp"
#include "tensor_bytes.hpp"

#include <onnx/onnx-data_pb.h>

#include <climits>

namespace CAMEO_NAMESPACE {
namespace {

class pb_writer {
 public:
  status write(const value& v, onnx::TensorProto& to) { return tensors_.write(v, to); }
  status write(const value& v, onnx::SparseTensorProto& to) { return tensors_.write(v, to); }
  status write(const value& v, onnx::SequenceProto& to) {
    if (v.kind != value_kind::sequence)
      return {status_code::invalid_argument, "the value is not a sequence, which a SequenceProto requires"};
    const value_kind kind = v.parts.empty() ? value_kind::tensor : v.parts[0].kind;
    to.set_elem_type(element_type(kind));
    for (const value& part : v.parts) {
      if (part.kind != kind)
        return {status_code::invalid_argument,
                "the elements of a sequence are of different kinds; a SequenceProto has one kind"};
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
    return {status_code::invalid_argument, "an element of a sequence is empty, which a SequenceProto cannot represent"};
  }
  tensor_writer tensors_;
};

using key_elements = detail::element_set<std::string_view, std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                         std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;

status pb_writer::write(const value& v, onnx::MapProto& to) {
  if (v.kind != value_kind::map || v.parts.size() != 2)
    return {status_code::invalid_argument, "the value is not a map with keys and values, which a MapProto requires"};
  const value &keys = v.parts[0], &values = v.parts[1];
  to.set_key_type(int(keys.type));
  const bool written = key_elements::visit(keys.type, false, [&]<class T>(std::type_identity<T>) {
    for (T key : keys.as_unchecked<T>()) {
      if constexpr (std::integral<T>) to.add_keys(std::int64_t(key));
      else to.add_string_keys(std::string{key});
    }
    return true;
  });
  if (!written)
    return failed(status_code::invalid_argument, "the keys of a map are {}; a MapProto takes integers and strings",
                  detail::row_of(keys.type).name);
  const std::size_t each = detail::row_of(values.type).bits / 8;
  if (values.kind != value_kind::tensor || each == 0)
    return {status_code::invalid_argument, "the values of a map are not a tensor of elements of 8 bits or more"};
  auto& sequence = *to.mutable_values();
  sequence.set_elem_type(onnx::SequenceProto::TENSOR);
  for (std::size_t i = 0; i < std::size_t(values.shape.count()); ++i) {
    const value one = value::tensor(values.type, extents{}, static_cast<const std::byte*>(values.data) + i * each);
    if (status s = write(one, *sequence.add_tensor_values()); !s) return s;
  }
  return status_code::ok;
}

/// An estimate of the memory for writing a value: its elements in the file, and protobuf's objects.
struct size_to_write {
  std::size_t elements = 0, objects = 0;

  void add(const value& v) {
    objects += 4096;
    for (const value& part : v.parts) add(part);
    // Each value of a map becomes a message, and each key a number of 8 bytes in a growing array.
    if (v.kind == value_kind::map && v.parts.size() == 2)
      objects += 32 * std::size_t(v.parts[0].shape.count()) + 512 * std::size_t(v.parts[1].shape.count());
    if (v.kind != value_kind::tensor) return;
    if (v.type != dtype::string) {
      const std::size_t bytes = v.bytes(), packed = bytes - bytes / 4;
      elements += is_six_bits(v.type) ? packed : bytes;
      if (is_six_bits(v.type)) objects += packed;
      return;
    }
    for (std::string_view text : v.as_unchecked<std::string_view>()) elements += text.size(), objects += 128;
  }
};

template <class Message>
result<std::string> write_message(const value& v, std::string_view name) {
  const auto too_large = [&] {
    return failed(status_code::invalid_argument, "'{}': over 2 GB, more than protobuf allows", name);
  };
  size_to_write size;
  size.add(v);
  if (size.elements > std::size_t(INT_MAX)) return too_large();
  // The message and the file each contain the elements.
  const memory_reserve spare{2 * (size.elements + name.size()) + size.objects};
  Message message;
  if constexpr (std::is_same_v<Message, onnx::SparseTensorProto>) message.mutable_values()->set_name(std::string{name});
  else message.set_name(std::string{name});
  if (status s = pb_writer{}.write(v, message); !s) return std::move(s).in(name);
  std::string bytes;
  if (!message.SerializeToString(&bytes)) return too_large();
  if (spare.is_used()) return status_code::out_of_memory;
  return bytes;
}

}  // namespace

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

}  // namespace CAMEO_NAMESPACE
