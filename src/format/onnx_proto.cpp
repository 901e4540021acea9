#include "onnx_proto.hpp"

#include <google/protobuf/io/coded_stream.h>

#include <climits>

namespace cameo::inline CAMEO_ABI {

bool parse_message(pb::Message& message, std::span<const std::byte> bytes, int depth) {
  if (bytes.size() > std::size_t{INT_MAX}) return false;
  pb::io::CodedInputStream stream{reinterpret_cast<const std::uint8_t*>(bytes.data()), int(bytes.size())};
  stream.SetRecursionLimit(depth);
  return message.ParseFromCodedStream(&stream) && stream.ConsumedEntireMessage();
}

bool parse_message(pb::Message& message, std::string_view bytes, int depth) {
  return parse_message(message, std::as_bytes(std::span{bytes.data(), bytes.size()}), depth);
}

std::vector<std::string> take_fields(pb::UnknownFieldSet& unknown, int number) {
  std::vector<std::string> taken;
  for (int i = 0; i < unknown.field_count(); ++i) {
    const pb::UnknownField& f = unknown.field(i);
    if (f.number() == number && f.type() == pb::UnknownField::TYPE_LENGTH_DELIMITED)
      taken.emplace_back(f.length_delimited());  // a std::string or, in later versions, a view
  }
  if (!taken.empty()) unknown.DeleteByNumber(number);
  return taken;
}

void copy_unknown(const pb::Message& from, pb::Message& to) {
  const pb::UnknownFieldSet& fields = from.GetReflection()->GetUnknownFields(from);
  if (!fields.empty()) to.GetReflection()->MutableUnknownFields(&to)->MergeFrom(fields);
}

std::string bytes_of(const pb::UnknownFieldSet& unknown) {
  std::string bytes;
  // It fails past 2 GB alone, which no message that was read had.
  if (!unknown.SerializeToString(&bytes)) bytes.clear();
  return bytes;
}

}  // namespace cameo::inline CAMEO_ABI
