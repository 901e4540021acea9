#include <cameo/format/onnx.hpp>
#include <cameo/format/pb.hpp>
#include <cameo/os/heap_arena.hpp>

#include "onnx_messages.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <limits>

using namespace cameo;
using namespace cameo::test;

namespace {

result<value> read(const onnx::TensorProto& t, arena& memory) {
  const std::string bytes = t.SerializeAsString();
  return read_pb(bytes_of(bytes), pb_kind::tensor, memory);
}

/// `count` elements as bytes of a file: every byte differs, and none is a value that a bool cannot have.
std::string file_bytes_for(dtype type, std::size_t count) {
  const bool six = type == dtype::f6e2m3 || type == dtype::f6e3m2;
  std::string bytes((count * (six ? 6 : detail::row_of(type).bits) + 7) / 8, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = char(type == dtype::boolean ? i % 2 : 37 * i + 11);
  return bytes;
}

/// Stores the elements of `raw` in the typed field that ONNX specifies.
onnx::TensorProto typed_message(const onnx::TensorProto& raw) {
  onnx::TensorProto t = raw;
  t.clear_raw_data();
  const dtype type = dtype(raw.data_type());
  const std::string& bytes = raw.raw_data();
  const auto each = [&]<class T>(T, auto add) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(T)) {
      T element;
      std::memcpy(&element, bytes.data() + at, sizeof element);
      add(element);
    }
  };
  const auto add_int32 = [&](auto e) { t.add_int32_data(std::int32_t(e)); };
  switch (type) {
    case dtype::f32:
    case dtype::c64: each(float{}, [&](float e) { t.add_float_data(e); }); break;
    case dtype::f64:
    case dtype::c128: each(double{}, [&](double e) { t.add_double_data(e); }); break;
    case dtype::i64: each(std::int64_t{}, [&](std::int64_t e) { t.add_int64_data(e); }); break;
    case dtype::u32: each(std::uint32_t{}, [&](std::uint32_t e) { t.add_uint64_data(e); }); break;
    case dtype::u64: each(std::uint64_t{}, [&](std::uint64_t e) { t.add_uint64_data(e); }); break;
    case dtype::i32: each(std::int32_t{}, add_int32); break;
    case dtype::i16: each(std::int16_t{}, add_int32); break;
    case dtype::u16:
    case dtype::f16:
    case dtype::bf16: each(std::uint16_t{}, add_int32); break;
    case dtype::i8: each(std::int8_t{}, add_int32); break;
    default: each(std::uint8_t{}, add_int32); break;
  }
  return t;
}

bool is_packed_in_files(dtype type) { return type == dtype::f6e2m3 || type == dtype::f6e3m2; }

}  // namespace

TEST_CASE("every element type is equal when read from raw_data and from its typed field, and written back") {
  for (int number = 1; number < int(dtype::count); ++number) {
    const dtype type = dtype(number);
    if (type == dtype::string || is_packed_in_files(type)) continue;
    CAPTURE(detail::row_of(type).name);
    for (std::int64_t count : {1, 3, 16, 129}) {
      detail::heap_arena memory;
      const std::string bytes = file_bytes_for(type, std::size_t(count));
      const onnx::TensorProto raw = tensor_message("t", number, {count}, bytes);
      const result<value> a = read(raw, memory), b = read(typed_message(raw), memory);
      REQUIRE_MESSAGE(a, a.error().words());
      REQUIRE_MESSAGE(b, b.error().words());
      CHECK(a->type == type);
      CHECK(a->shape == extents{count});
      REQUIRE(a->bytes() == bytes.size());
      CHECK(std::memcmp(a->data, bytes.data(), bytes.size()) == 0);
      CHECK(std::memcmp(b->data, bytes.data(), bytes.size()) == 0);
      CHECK(reinterpret_cast<std::uintptr_t>(a->data) % 64 == 0);
      const result<std::string> written = write_pb(*a, pb_kind::tensor, "t");
      REQUIRE(written);
      CHECK(*written == raw.SerializeAsString());
    }
  }
}

TEST_CASE("the 6-bit floats are packed in raw_data and a byte each in memory and in int32_data") {
  // 4 elements in 3 bytes, the first in the lowest bits.
  const std::string three{"\x41\x30\x0C", 3};  // 1, 1, 3, 3
  for (dtype type : {dtype::f6e2m3, dtype::f6e3m2}) {
    detail::heap_arena memory;
    const result<value> four = read(tensor_message("t", int(type), {4}, three), memory);
    REQUIRE_MESSAGE(four, four.error().words());
    const auto* at = static_cast<const std::uint8_t*>(four->data);
    CHECK(std::vector<int>(at, at + 4) == std::vector<int>{1, 1, 3, 3});
    CHECK(*write_pb(*four, pb_kind::tensor, "t") == tensor_message("t", int(type), {4}, three).SerializeAsString());
    CHECK(read(tensor_message("t", int(type), {5}, three), memory).error().code() == status_code::invalid_graph);
    for (std::int64_t count = 1; count < 9; ++count) {  // every remainder, with all bits of each element in use
      onnx::TensorProto t = tensor_message("t", int(type), {count}, {});
      t.clear_raw_data();
      for (int i = 0; i < count; ++i) t.add_int32_data(63 - 5 * i);
      const result<value> typed = read(t, memory);
      REQUIRE_MESSAGE(typed, typed.error().words());
      const result<std::string> written = write_pb(*typed, pb_kind::tensor, "t");
      REQUIRE(written);
      const result<value> again = read_pb(bytes_of(*written), pb_kind::tensor, memory);
      REQUIRE_MESSAGE(again, again.error().words());
      CHECK(std::memcmp(again->data, typed->data, std::size_t(count)) == 0);
    }
  }
}

TEST_CASE("a value over 2 GB is refused before its elements are read, and before memory for them is taken") {
  const std::byte one{};
  const std::int64_t most = std::numeric_limits<int>::max();
  for (const std::int64_t count : {most + 1, 1000 * most}) {
    const value large = value::tensor(dtype::u8, extents{count}, &one);
    value parts[] = {large};
    value all;
    all.kind = value_kind::sequence, all.parts = {parts, 1};
    for (const auto& written : {write_pb(large, pb_kind::tensor, "t"), write_pb(all, pb_kind::sequence, "t")}) {
      CHECK(written.error().code() == status_code::invalid_argument);
      CHECK(says(written.error(), "'t': over 2 GB"));
    }
  }
}

TEST_CASE("data of the wrong length is INVALID_GRAPH, and the message says name, type, dims, present and needed") {
  for (int number = 1; number < int(dtype::count); ++number) {
    const dtype type = dtype(number);
    CAPTURE(detail::row_of(type).name);
    detail::heap_arena memory;
    if (type != dtype::string) {
      const std::string bytes = file_bytes_for(type, 16);
      for (const std::string& wrong : {bytes + "x", bytes.substr(1), std::string{}}) {
        const status s = read(tensor_message("wrong", number, {2, 8}, wrong), memory).error();
        CHECK(s.code() == status_code::invalid_graph);
        CHECK(says(s, std::string{"tensor 'wrong' "} + detail::row_of(type).name + "[2,8]"));
        CHECK(says(s, std::to_string(wrong.size()) + " bytes"));
        CHECK(says(s, "needs " + std::to_string(bytes.size())));
      }
      onnx::TensorProto more = typed_message(tensor_message("wrong", number, {2, 8}, bytes + bytes));
      const status s = read(more, memory).error();
      CHECK(s.code() == status_code::invalid_graph);
      CHECK(says(s, "needs"));
    }
    onnx::TensorProto none = tensor_message("none", number, {3}, {});
    none.clear_raw_data();
    CHECK(read(none, memory).error().code() == status_code::invalid_graph);
  }
}

TEST_CASE("strings are copied with all bytes that they hold") {
  detail::heap_arena memory;
  onnx::TensorProto t = tensor_message("t", onnx::TensorProto::STRING, {2, 2}, {});
  t.clear_raw_data();
  const std::string_view texts[] = {"", {"\0\xFF", 2}, "third", "a text that is longer than any small string"};
  for (std::string_view text : texts) t.add_string_data(std::string{text});
  const result<value> v = read(t, memory);
  REQUIRE_MESSAGE(v, v.error().words());
  CHECK(std::equal(std::begin(texts), std::end(texts), v->as_unchecked<std::string_view>().begin()));
  CHECK(*write_pb(*v, pb_kind::tensor, "t") == t.SerializeAsString());
  CHECK(read(tensor_message("t", onnx::TensorProto::STRING, {1}, "a"), memory).error().code() ==
        status_code::invalid_graph);
}

TEST_CASE("bools are 0 or 1 in memory, whatever the file holds") {
  detail::heap_arena memory;
  for (const std::size_t count : {4, 400}) {
    std::string odd(count, '\0');
    odd[1] = '\1', odd[2] = '\2', odd[3] = '\xFF';
    onnx::ModelProto m = new_model();
    *m.mutable_graph()->add_initializer() = tensor_message("b", onnx::TensorProto::BOOL, {std::int64_t(count)}, odd);
    auto read_back = read_message(m);
    REQUIRE_MESSAGE(read_back, read_back.error().words());
    const graph& g = (*read_back)->main();
    const auto* const at = static_cast<const char*>(g[g.find("b")].constant->data);
    CHECK(std::string(at, 4) == std::string("\0\1\1\1", 4));
    CHECK(std::string(at + 4, count - 4) == std::string(count - 4, '\0'));
  }
}

TEST_CASE("dims that are negative or too large are INVALID_GRAPH; too many are NOT_IMPLEMENTED and name the limit") {
  detail::heap_arena memory;
  const std::int64_t huge = std::int64_t{1} << 62;
  for (const std::vector<std::int64_t>& dims :
       {std::vector<std::int64_t>{-1}, {2, -3}, {0, -1}, {huge, huge}, {huge, 4}, {huge}, {INT64_MAX}})
    CHECK(read(tensor_message("t", onnx::TensorProto::DOUBLE, dims, "12345678"), memory).error().code() ==
          status_code::invalid_graph);
  const status s = read(tensor_message("t", 1, std::vector<std::int64_t>(13, 1), "1234"), memory).error();
  CHECK(s.code() == status_code::not_implemented);
  CHECK(says(s, "limit of 12"));
  const result<value> empty = read(tensor_message("t", 1, {0, huge}, ""), memory);
  REQUIRE_MESSAGE(empty, empty.error().words());
  CHECK(empty->shape.count() == 0);
}

TEST_CASE("element types that ONNX does not have, values that do not fit and doubled data are INVALID_GRAPH") {
  detail::heap_arena memory;
  for (int type : {0, -1, 29, 1000, INT32_MAX})
    CHECK(read(tensor_message("t", type, {1}, "a"), memory).error().code() == status_code::invalid_graph);
  const auto with_int32 = [&](int type, std::int32_t entry) {
    onnx::TensorProto t = tensor_message("t", type, {1}, {});
    t.clear_raw_data();
    t.add_int32_data(entry);
    return read(t, memory).error().code();
  };
  CHECK(with_int32(onnx::TensorProto::UINT8, 256) == status_code::invalid_graph);
  CHECK(with_int32(onnx::TensorProto::INT8, -129) == status_code::invalid_graph);
  CHECK(with_int32(onnx::TensorProto::FLOAT16, 0x10000) == status_code::invalid_graph);
  CHECK(with_int32(onnx::TensorProto::INT16, -32768) == status_code::ok);
  onnx::TensorProto wide = tensor_message("t", onnx::TensorProto::UINT32, {1}, {});
  wide.clear_raw_data();
  wide.add_uint64_data(std::uint64_t{1} << 32);
  CHECK(read(wide, memory).error().code() == status_code::invalid_graph);
  onnx::TensorProto both = tensor_message("t", 1, {1}, "1234");
  both.add_float_data(1);
  CHECK(read(both, memory).error().code() == status_code::invalid_graph);
  onnx::TensorProto part = tensor_message("t", 1, {1}, "1234");
  part.mutable_segment()->set_begin(0);
  CHECK(read(part, memory).error().code() == status_code::not_implemented);
}

TEST_CASE("sparse tensors have sorted indices in range, flat or by axis") {
  detail::heap_arena memory;
  const auto read_sparse = [&](std::vector<std::int64_t> indices, std::vector<std::int64_t> shape,
                               std::int64_t count = 2) {
    onnx::SparseTensorProto t;
    *t.mutable_values() = tensor_message("s", 1, {count}, std::string(std::size_t(4 * count), '\0'));
    *t.mutable_indices() = tensor_message("", 7, shape, std::string((const char*)indices.data(), 8 * indices.size()));
    t.add_dims(3);
    t.add_dims(4);
    const std::string bytes = t.SerializeAsString();
    return read_pb(bytes_of(bytes), pb_kind::sparse_tensor, memory);
  };
  const result<value> flat = read_sparse({0, 11}, {2}), rows = read_sparse({1, 3, 2, 0}, {2, 2});
  REQUIRE_MESSAGE(flat, flat.error().words());
  REQUIRE_MESSAGE(rows, rows.error().words());
  CHECK(flat->shape == extents{3, 4});
  CHECK(rows->parts[1].shape == extents{2, 2});
  for (const std::vector<std::int64_t>& wrong : {std::vector<std::int64_t>{0, 12}, {-1, 3}, {3, 3}, {4, 3}})
    CHECK(read_sparse(wrong, {2}).error().code() == status_code::invalid_graph);
  for (const std::vector<std::int64_t>& wrong :
       {std::vector<std::int64_t>{0, 4, 1, 1}, {0, 0, 3, 0}, {1, 1, 1, 1}, {1, 1, 1, 0}, {0, -1, 0, 0}})
    CHECK(read_sparse(wrong, {2, 2}).error().code() == status_code::invalid_graph);
  CHECK(read_sparse({0, 1, 2}, {3}).error().code() == status_code::invalid_graph);
  CHECK(read_sparse({0, 1}, {1, 2}).error().code() == status_code::invalid_graph);
}

TEST_CASE("indices of sparse tensors may be of any signed integer type, and are int64 from then on") {
  detail::heap_arena memory;
  const auto read_sparse = [&](int type, const std::string& indices) {
    onnx::SparseTensorProto t;
    *t.mutable_values() = tensor_message("s", 1, {2}, std::string(8, '\0'));
    *t.mutable_indices() = tensor_message("", type, {2}, indices);
    t.add_dims(9);
    const std::string bytes = t.SerializeAsString();
    return read_pb(bytes_of(bytes), pb_kind::sparse_tensor, memory);
  };
  const std::int8_t narrow[] = {3, 8};
  const std::int16_t short_ones[] = {3, 8};
  const std::int32_t ints[] = {3, 8};
  const auto text = [](const auto& a) { return std::string(reinterpret_cast<const char*>(a), sizeof a); };
  for (const auto& [type, indices] : {std::pair{onnx::TensorProto::INT8, text(narrow)},
                                      {onnx::TensorProto::INT16, text(short_ones)},
                                      {onnx::TensorProto::INT32, text(ints)}}) {
    const result<value> made = read_sparse(type, indices);
    REQUIRE_MESSAGE(made, made.error().words());
    CHECK(std::ranges::equal(made->parts[1].as_unchecked<std::int64_t>(), std::array<std::int64_t, 2>{3, 8}));
  }
  CHECK(read_sparse(onnx::TensorProto::UINT8, text(narrow)).error().code() == status_code::invalid_graph);
}

TEST_CASE("sequences, optionals and maps come back as they were written") {
  detail::heap_arena memory;
  const float numbers[] = {1, 2, 3};
  const std::string_view words[] = {"b", "a", ""};
  value tensors[] = {value::tensor<float>({3}, numbers), value::tensor<float>({1, 1}, numbers)};
  value sequence{value_kind::sequence};
  sequence.parts = tensors;
  value columns[] = {value::tensor<std::string_view>({3}, words), value::tensor<float>({3}, numbers)};
  value map{value_kind::map, dtype::string};
  map.parts = columns;
  value maps[] = {map, map};
  value of_maps{value_kind::sequence};
  of_maps.parts = maps;
  const struct {
    value v;
    pb_kind kind;
  } cases[] = {{sequence, pb_kind::sequence},  {map, pb_kind::map},      {of_maps, pb_kind::sequence},
               {value{}, pb_kind::optional},   {map, pb_kind::optional}, {sequence, pb_kind::optional},
               {tensors[0], pb_kind::optional}};
  for (const auto& [v, kind] : cases) {
    const result<std::string> bytes = write_pb(v, kind, "name");
    REQUIRE_MESSAGE(bytes, bytes.error().words());
    std::string name;
    const result<value> again = read_pb(bytes_of(*bytes), kind, memory, &name);
    REQUIRE_MESSAGE(again, again.error().words());
    CHECK(name == "name");
    CHECK(again->kind == v.kind);
    CHECK(again->parts.size() == v.parts.size());
    CHECK(*write_pb(*again, kind, "name") == *bytes);
  }
  CHECK(write_pb(sequence, pb_kind::tensor, "name").error().code() == status_code::invalid_argument);
}
