// Compares cameo's reader with protobuf and the installed onnx as the reference: random messages, two messages one
// after the other (which protobuf merges), and messages with changed bytes, for every message type that a file begins
// with.
#include "format/onnx_decode.hpp"
#include "full_speed.hpp"
#include "onnx_messages.hpp"

#include <doctest/doctest.h>
#include <google/protobuf/util/message_differencer.h>
#include <onnx/onnx-data_pb.h>

#include <cameo/os/heap_arena.hpp>
#include <cameo/test_paths.hpp>
#include <random>

using namespace cameo;
using namespace cameo::test;

namespace {

namespace pb = google::protobuf;

// --- the model that cameo has read, written as bytes again ---

template <class Message>
void encode(const Message&, std::string& out);

void encode_member(std::string& out, std::uint32_t number, wire::text words) { wire::put_if_there(out, number, words); }
void encode_member(std::string& out, std::uint32_t number, wire::byte_span bytes) {
  wire::put_if_there(out, number, wire::text_of(bytes));
}
void put_number(std::string& out, std::uint32_t number, std::uint64_t value) {
  wire::put_varint(out, std::uint64_t{number} << 3);
  wire::put_varint(out, value);
}
template <std::floating_point T>
void put_number(std::string& out, std::uint32_t number, T value) {
  wire::put_varint(
      out, std::uint64_t{number} << 3 | std::uint64_t(sizeof value == 4 ? wire::type::fixed32 : wire::type::fixed64));
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <std::integral T>
void encode_member(std::string& out, std::uint32_t number, T value) {
  if (value) put_number(out, number, std::uint64_t(std::int64_t(value)));
}
template <class T>
void encode_member(std::string& out, std::uint32_t number, const std::optional<T>& value) {
  if constexpr (std::integral<T>) value ? put_number(out, number, std::uint64_t(*value)) : void();
  else value ? put_number(out, number, *value) : void();
}
template <int Last>
void encode_member(std::string& out, std::uint32_t number, const wire::enumerated<Last>& value) {
  if (value.number) put_number(out, number, std::uint64_t(value.number));
}
template <class T>
void encode_member(std::string& out, std::uint32_t number, const wire::numbers<T>& values) {
  values.each([&](T value) {
    if constexpr (std::integral<T>) put_number(out, number, std::uint64_t(value));
    else put_number(out, number, value);
  });
}
template <class Message>
  requires std::derived_from<Message, wire::message>
void encode_member(std::string& out, std::uint32_t number, const Message& message) {
  std::string inside;
  encode(message, inside);
  wire::put(out, number, inside);
}
template <class Message>
void encode_member(std::string& out, std::uint32_t number, Message* message) {
  if (message) encode_member(out, number, *message);
}
template <class T>
void encode_member(std::string& out, std::uint32_t number, const wire::chain<T>& items) {
  for (const T& item : items) encode_member(out, number, item);
}
template <class Message>
void encode_member(std::string&, std::uint32_t, const wire::looked_through<Message>&) {}

template <class Message>
void encode(const Message& message, std::string& out) {
  [&]<class... Rows>(wire::rows<Rows...>*) {
    (encode_member(out, Rows::number, message.*Rows::member), ...);
  }(static_cast<typename Message::fields*>(nullptr));
  wire::put(out, message.rest);
}

// --- the message that protobuf has read ---

/// Removes the fields that cameo reads and that an older installed onnx may lack. Other tests, which write these fields
/// by number, compare them.
void forget_newer(pb::Message& m) {
  const std::string& name = m.GetDescriptor()->name();
  std::vector<int> newer;
  if (name == "NodeProto") newer = {8, 9};
  if (name == "GraphProto") newer = {16};
  if (name == "ValueInfoProto") newer = {4};
  if (name == "FunctionProto") newer = {11, 12, 13, 14};
  const pb::Reflection& of = *m.GetReflection();
  for (const int number : newer) of.MutableUnknownFields(&m)->DeleteByNumber(number);
  std::vector<const pb::FieldDescriptor*> fields;
  of.ListFields(m, &fields);
  for (const pb::FieldDescriptor* f : fields) {
    if (f->cpp_type() != pb::FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!f->is_repeated()) forget_newer(*of.MutableMessage(&m, f));
    else
      for (int i = 0; i < of.FieldSize(m, f); ++i) forget_newer(*of.MutableRepeatedMessage(&m, f, i));
  }
}

std::string difference_of(pb::Message& a, pb::Message& b) {
  forget_newer(a), forget_newer(b);
  std::string words;
  pb::util::MessageDifferencer differencer;
  // A number that is 0 equals an absent one, where the message type does not distinguish them.
  differencer.set_message_field_comparison(pb::util::MessageDifferencer::EQUIVALENT);
  differencer.ReportDifferencesToString(&words);
  return differencer.Compare(a, b) ? "" : words.empty() ? "different" : words;
}

// --- random messages ---

void fill(pb::Message& m, std::mt19937& random, int depth) {
  const pb::Descriptor& of = *m.GetDescriptor();
  const pb::Reflection& set = *m.GetReflection();
  using kind = pb::FieldDescriptor;
  for (int i = 0; i < of.field_count(); ++i) {
    const kind& f = *of.field(i);
    const bool is_message = f.cpp_type() == kind::CPPTYPE_MESSAGE;
    if (f.name() == "training_info" || (is_message && depth == 0) || random() % 3) continue;
    for (unsigned n = f.is_repeated() ? 1 + random() % 3 : 1; n > 0; --n) {
      const auto number = std::int64_t(random() % 4 ? random() % 300 : random() * 0x9E3779B97F4A7C15u);
      const auto put = [&](auto add, auto only, auto value) {
        f.is_repeated() ? (set.*add)(&m, &f, value) : (set.*only)(&m, &f, value);
      };
      using r = pb::Reflection;
      switch (f.cpp_type()) {
        case kind::CPPTYPE_INT32: put(&r::AddInt32, &r::SetInt32, std::int32_t(number)); break;
        case kind::CPPTYPE_INT64: put(&r::AddInt64, &r::SetInt64, number); break;
        case kind::CPPTYPE_UINT64: put(&r::AddUInt64, &r::SetUInt64, std::uint64_t(number)); break;
        case kind::CPPTYPE_FLOAT: put(&r::AddFloat, &r::SetFloat, float(number)); break;
        case kind::CPPTYPE_DOUBLE: put(&r::AddDouble, &r::SetDouble, double(number)); break;
        case kind::CPPTYPE_ENUM:
          set.SetEnumValue(&m, &f, int(random() % unsigned(f.enum_type()->value_count())));
          break;
        case kind::CPPTYPE_STRING: put(&r::AddString, &r::SetString, std::string(random() % 5, char(random()))); break;
        case kind::CPPTYPE_MESSAGE:
          fill(f.is_repeated() ? *set.AddMessage(&m, &f) : *set.MutableMessage(&m, &f), random, depth - 1);
          break;
        default: FAIL("a type of field that ONNX did not have");
      }
    }
  }
  if (random() % 4 == 0) set.MutableUnknownFields(&m)->AddVarint(int(100 + random() % 3), random());
  if (random() % 8 == 0) set.MutableUnknownFields(&m)->AddGroup(105)->AddLengthDelimited(1, "in a group");
}

std::string with_changes(std::string bytes, std::mt19937& random) {
  for (unsigned n = random() % 3; n-- > 0 && !bytes.empty();) {
    const std::size_t at = random() % bytes.size();
    if (random() % 4) bytes[at] = char(random());
    else bytes.erase(at, 1 + random() % 3);
  }
  return bytes;
}

struct counts {
  int same = 0, neither = 0;
};

/// Checks that both read the bytes and agree about them, or that both refuse them.
template <class Message, class Oracle>
void judge(const std::string& bytes, counts& seen) {
  Oracle expected, found;
  const bool accepted = expected.ParseFromString(bytes);
  detail::heap_arena memory;
  Message message;
  const status read = decode(bytes_of(bytes), "no message", {200, 100}, {}, memory, message);
  INFO(read.words());
  INFO(Oracle::descriptor()->name());
  if (!accepted) {
    // Cameo keeps the bytes of training_info without checking them.
    CHECK((!read || bytes.find("\xA2\x01") != std::string::npos));
    ++seen.neither;
    return;
  }
  if (!read) {
    // Cameo refuses a tag of more than 32 bits, of which protobuf ignores the upper bits; and the installed onnx does
    // not check fields that it lacks.
    const std::size_t size = expected.ByteSizeLong();
    forget_newer(expected);
    CHECK((says(read, "no field tag") || expected.ByteSizeLong() < size));
    return;
  }
  std::string again;
  encode(message, again);
  REQUIRE(found.ParseFromString(again));
  CHECK(difference_of(expected, found) == "");
  ++seen.same;
}

template <class Message, class Oracle>
void judge_all(unsigned seed) {
  std::mt19937 random{seed};
  counts whole, changed;
  const int rounds = full_speed ? 1500 : 300;
  for (int i = 0; i < rounds; ++i) {
    Oracle one, two;
    fill(one, random, 4), fill(two, random, 3);
    const std::string a = one.SerializeAsString(), b = two.SerializeAsString();
    judge<Message, Oracle>(a, whole);
    judge<Message, Oracle>(a + b, whole);
    for (int n = 0; n < 4; ++n) judge<Message, Oracle>(with_changes(a, random), changed);
  }
  CHECK(whole.neither == 0);
  CHECK(whole.same == 2 * rounds);
  CHECK(changed.same > rounds);
  CHECK(changed.neither > rounds / 4);
}

std::string content_of(const std::filesystem::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

TEST_CASE("cameo reads in bytes of models, types and values what protobuf reads, and refuses what protobuf refuses") {
  judge_all<wire::model_message, onnx::ModelProto>(1);
  judge_all<wire::value_info_message, onnx::ValueInfoProto>(2);
  judge_all<wire::tensor_message, onnx::TensorProto>(3);
  judge_all<wire::sparse_tensor_message, onnx::SparseTensorProto>(4);
  judge_all<wire::sequence_message, onnx::SequenceProto>(5);
  judge_all<wire::map_message, onnx::MapProto>(6);
  judge_all<wire::optional_message, onnx::OptionalProto>(7);
}

TEST_CASE("the models of the tests are equal messages after they were read and written") {
  const std::string data = std::string{source_dir} + "/tests/data";
  int models = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator{data}) {
    if (file.path().extension() != ".onnx") continue;
    CAPTURE(file.path().string());
    const std::string bytes = content_of(file.path());
    onnx::ModelProto original, written;
    REQUIRE(original.ParseFromString(bytes));
    auto read = read_onnx(bytes_of(bytes), "sample");
    REQUIRE_MESSAGE(read, read.error().words());
    const result<std::string> again = write_onnx(**read);
    REQUIRE(again);
    REQUIRE(written.ParseFromString(*again));
    CHECK(difference_of(original, written) == "");
    ++models;
  }
  CHECK(models >= 8);
}
