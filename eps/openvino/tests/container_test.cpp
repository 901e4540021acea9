#include "../src/container.hpp"

#include <cameo/file/file_bytes.hpp>
#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>

#include <doctest/doctest.h>
#include <cameo/test_paths.hpp>

#include <algorithm>
#include <cstring>

namespace {

using namespace cameo;
using namespace cameo::eps::openvino_detail;
using bytes = std::vector<std::byte>;

bytes bytes_of(std::string_view text) {
  const auto all = std::as_bytes(std::span{text});
  return {all.begin(), all.end()};
}

/// Writes a BSON document element by element, so that tests can write invalid ones.
struct bson {
  std::string elements;

  static std::string number(std::uint64_t n, int size) {
    std::string made;
    for (int i = 0; i < size; ++i) made.push_back(char(n >> 8 * i & 0xFF));
    return made;
  }
  bson& raw(char type, std::string_view key, std::string_view content) {
    elements += type;
    elements.append(key).push_back('\0');
    elements += content;
    return *this;
  }
  bson& text(std::string_view key, std::string_view t) {
    return raw(2, key, number(t.size() + 1, 4) + std::string{t} + '\0');
  }
  bson& i32(std::string_view key, std::int32_t n) { return raw(0x10, key, number(std::uint32_t(n), 4)); }
  bson& i64(std::string_view key, std::int64_t n) { return raw(0x12, key, number(std::uint64_t(n), 8)); }
  bson& object(std::string_view key, const bson& inner) { return raw(3, key, inner.document()); }
  std::string document() const { return number(elements.size() + 5, 4) + elements + '\0'; }
};

bson blob_entry(std::int64_t offset, std::int64_t size) { return bson{}.i64("data_offset", offset).i64("size", size); }
bson named_blobs(const bson& blobs) {
  return bson{}.object("blob_metadata_map", blobs).text("producer", "someone").text("version", "1.0.0");
}

std::string header(std::uint64_t version, std::uint64_t header_size, std::uint64_t offset, std::uint64_t size) {
  return "OVEP_BIN" + bson::number(version, 8) + bson::number(header_size, 8) + bson::number(offset, 8) +
         bson::number(size, 8);
}
/// A container with this document, and 100 bytes for blobs at offset 65536.
bytes container_with(const std::string& document) {
  bytes made = bytes_of(header(1, 40, 40, document.size()) + document);
  made.resize(65536 + 100);
  return made;
}

bytes joined(const container_pieces& pieces) {
  bytes made = bytes_of(pieces.head);
  for (const auto piece : pieces.rest) made.insert(made.end(), piece.begin(), piece.end());
  return made;
}

/// Checks that a container is rejected with a message that contains these words.
void refuses(std::span<const std::byte> what, std::string_view words) {
  CAPTURE(words);
  const result<container> read = read_container(what);
  REQUIRE(!read);
  CHECK(read.error().code() == status_code::invalid_graph);
  CHECK_MESSAGE(read.error().words().find(words) != std::string_view::npos, read.error().words());
}

struct sample {
  std::string_view folder;
  std::vector<std::string_view> names;  // in the order of their offsets
  std::shared_ptr<const detail::file_bytes> file;
  std::unique_ptr<model> net;
  std::span<const std::byte> content;
};

/// Reads a container that ONNX Runtime wrote: a separate file, or the attribute of the first node.
sample read_sample(std::string_view folder, std::vector<std::string_view> names) {
  sample made{folder, std::move(names), {}, {}, {}};
  const std::string base = std::string{test::source_dir} + "/tests/data/epctx/" + std::string{folder} + "/model_ctx";
  if (folder.find("external") != folder.npos) {
    auto mapped = detail::file_bytes::map(base + "_OpenVINOExecutionProvider.bin");
    REQUIRE(mapped);
    made.file = *mapped;
    made.content = made.file->bytes();
    return made;
  }
  auto read = read_onnx(base + ".onnx");
  REQUIRE_MESSAGE(read, read.error().words());
  made.net = std::move(*read);
  const graph& g = made.net->main();
  for (std::size_t i = 0; i < g.node_capacity() && made.content.empty(); ++i)
    if (const attribute* a = detail::find_attribute(g[node_id(i)].attributes, "ep_cache_context"))
      made.content = std::as_bytes(std::span{a->s});
  return made;
}

std::vector<sample> samples() {
  std::vector<sample> all;
  all.push_back(read_sample("one_partition_external", {"OpenVINOExecutionProvider_OpenVINO-EP-subgraph_1_0"}));
  all.push_back(read_sample("one_partition_embedded", {"OpenVINOExecutionProvider_OpenVINO-EP-subgraph_2_0"}));
  all.push_back(read_sample("two_partitions_external", {"OpenVINOExecutionProvider_OpenVINO-EP-subgraph_4_1",
                                                        "OpenVINOExecutionProvider_OpenVINO-EP-subgraph_3_0"}));
  all.push_back(read_sample("two_partitions_embedded", {"OpenVINOExecutionProvider_OpenVINO-EP-subgraph_6_1",
                                                        "OpenVINOExecutionProvider_OpenVINO-EP-subgraph_5_0"}));
  return all;
}

std::size_t document_end(std::span<const std::byte> content) {
  std::uint64_t size = 0;
  std::memcpy(&size, content.data() + 32, sizeof size);
  return 40 + size;
}

TEST_CASE("containers that ONNX Runtime wrote have their partitions' blobs") {
  for (const sample& s : samples()) {
    CAPTURE(s.folder);
    const auto read = read_container(s.content);
    REQUIRE_MESSAGE(read, read.error().words());
    CHECK(read->producer == "onnxruntime-openvino-ep-1.24.1");
    CHECK(read->schema_version == "1.0.0");
    CHECK(read->weights.empty());
    REQUIRE(read->blobs.size() == s.names.size());
    for (std::size_t i = 0; i < s.names.size(); ++i) {
      CHECK(read->blobs[i].name == s.names[i]);
      CHECK(read->blobs[i].bytes.data() == s.content.data() + 65536 * (i + 1));
      CHECK(read->find(s.names[i]) == &read->blobs[i]);
    }
    CHECK(read->find("another") == nullptr);
  }
}

TEST_CASE("a container of ONNX Runtime is written again with the same bytes, except for the bytes between its parts") {
  for (const sample& s : samples()) {
    CAPTURE(s.folder);
    const auto read = read_container(s.content);
    REQUIRE(read);
    const auto pieces = write_container(*read);
    REQUIRE(pieces);
    const bytes written = joined(*pieces);
    const std::size_t end = document_end(s.content);
    REQUIRE(written.size() == s.content.size());
    CHECK(std::equal(written.begin(), written.begin() + std::ptrdiff_t(end), s.content.begin()));
    CHECK(std::equal(written.begin() + 65536, written.end(), s.content.begin() + 65536));
    CHECK(std::all_of(written.begin() + std::ptrdiff_t(end), written.begin() + 65536,
                      [](std::byte b) { return b == std::byte{}; }));
  }
}

TEST_CASE("a container that was written can be read: no blobs, empty ones, long documents, weights") {
  const bytes content = bytes_of(std::string(70000, 'x'));
  container made;
  made.producer = "test";
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{900}}) {
    while (made.blobs.size() < count) {
      const std::size_t i = made.blobs.size();
      made.blobs.push_back({"blob " + std::to_string(i) + std::string(100, 'n'), std::span{content}.first(i * 77)});
    }
    made.weights.push_back({"weight " + std::to_string(count), "sub/model.data", count * 1000, 1000});
    const auto pieces = write_container(made);
    REQUIRE(pieces);
    CHECK(pieces->head.size() % 65536 == 0);
    CHECK(pieces->head.size() == (count == 900 ? 2 : 1) * std::size_t{65536});
    const bytes written = joined(*pieces);
    CHECK(written.size() % 65536 == 0);
    const auto read = read_container(written);
    REQUIRE_MESSAGE(read, read.error().words());
    CHECK(read->producer == "test");
    REQUIRE(read->blobs.size() == count);
    for (const container_blob& blob : made.blobs) {
      const container_blob* const found = read->find(blob.name);
      REQUIRE(found);
      CHECK((found->bytes.data() - written.data()) % 65536 == 0);
      CHECK(std::ranges::equal(found->bytes, blob.bytes));
    }
    REQUIRE(read->weights.size() == made.weights.size());
    const auto weight = std::ranges::find(read->weights, made.weights.back().name, &container_weight::name);
    REQUIRE(weight != read->weights.end());
    CHECK(weight->location == "sub/model.data");
    CHECK(weight->offset == count * 1000);
    CHECK(weight->size == 1000);
  }
}

TEST_CASE("names that a container can't hold are refused when it is written") {
  for (const auto& names :
       {std::pair{std::string{"a"}, std::string{"a"}}, {std::string{"b"}, std::string{"a\0b", 3}}}) {
    container made;
    made.blobs = {{names.first, {}}, {names.second, {}}};
    const auto pieces = write_container(made);
    REQUIRE(!pieces);
    CHECK(pieces.error().code() == status_code::invalid_argument);
  }
}

TEST_CASE("a container that is truncated anywhere is rejected, down to the last byte of its last blob") {
  for (const sample& s : samples()) {
    CAPTURE(s.folder);
    const auto whole = read_container(s.content);
    REQUIRE(whole);
    const auto& last = whole->blobs.back().bytes;
    const auto end = std::size_t(last.data() + last.size() - s.content.data());
    for (std::size_t size = 0; size < end; size += size < 1000 || end - size < 100 ? 1 : 61) {
      const auto cut = read_container(s.content.first(size));
      REQUIRE(!cut);
      REQUIRE(cut.error().code() == status_code::invalid_graph);
    }
    CHECK(read_container(s.content.first(end)));
  }
}

TEST_CASE("with any bit of header and document flipped it is rejected, or its blobs are inside and do not overlap") {
  std::size_t refused = 0, read = 0;
  for (const sample& s : samples()) {
    bytes damaged{s.content.begin(), s.content.end()};
    const std::size_t end = document_end(s.content);
    for (std::size_t bit = 0; bit < end * 8; ++bit) {
      damaged[bit / 8] ^= std::byte(1 << bit % 8);
      const auto made = read_container(damaged);
      const std::byte* after = damaged.data();
      if (made)
        for (const container_blob& blob : made->blobs) {
          REQUIRE(blob.bytes.data() >= after);
          after = blob.bytes.data() + blob.bytes.size();
        }
      REQUIRE(after <= damaged.data() + damaged.size());
      if (!made) REQUIRE(made.error().code() == status_code::invalid_graph);
      ++(made ? read : refused);
      damaged[bit / 8] ^= std::byte(1 << bit % 8);
    }
  }
  CHECK(refused > 1000);
  CHECK(read > 1000);  // for example changed letters of names, and smaller sizes
}

TEST_CASE("headers that are not those of version 1 are rejected with a message about their contents") {
  const std::string document = named_blobs({}).document();
  const auto content = [&](const std::string& head) {
    bytes made = bytes_of(head + document);
    made.resize(70000);
    return made;
  };
  CHECK(read_container(content(header(1, 40, 40, document.size()))));
  refuses({}, "has 0 bytes");
  refuses(bytes_of("model_ctx_OpenVINOExecutionProvider.bin!"), "does not begin with 'OVEP_BIN'");
  refuses(content(header(2, 40, 40, document.size())), "version 2");
  refuses(content(header(1, 48, 40, document.size())), "says it has 48 bytes");
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{39}, std::uint64_t{70001}, ~std::uint64_t{0}})
    refuses(content(header(1, 40, offset, document.size())), "not inside");
  for (const std::uint64_t size : {std::uint64_t{0}, std::uint64_t{4}, std::uint64_t{70000}, ~std::uint64_t{0}})
    refuses(content(header(1, 40, 40, size)), "not inside");
  refuses(content(header(1, 40, 40, document.size() + 1)), "says it has");
}

TEST_CASE("documents with wrong offsets, types and versions are rejected") {
  const auto document = [](const bson& d) { return container_with(d.document()); };
  const auto blob = [&](std::int64_t offset, std::int64_t size) {
    return document(named_blobs(bson{}.object("b", blob_entry(offset, size))));
  };
  CHECK(read_container(blob(65536, 100)));
  CHECK(read_container(blob(65636, 0)));
  for (const auto& [offset, size] : {std::pair<std::int64_t, std::int64_t>{65536, 101},
                                     {65637, 0},
                                     {40, 10},
                                     {0, 0},
                                     {65536, INT64_MAX},
                                     {INT64_MAX, INT64_MAX},
                                     {INT64_MAX, 1}})
    refuses(blob(offset, size), "not inside");
  for (const auto& [offset, size] : {std::pair<std::int64_t, std::int64_t>{-1, 1}, {65536, -1}, {INT64_MIN, INT64_MIN}})
    refuses(blob(offset, size), "lacks its data_offset or its size");
  refuses(document(named_blobs(bson{}.object("b", bson{}.i32("size", 1)))), "lacks its data_offset");
  refuses(document(named_blobs(bson{}.i32("b", 1))), "lacks its data_offset");
  refuses(document(named_blobs(bson{}.object("b", bson{}.text("data_offset", "65536").i32("size", 1)))), "lacks");
  refuses(document(named_blobs(bson{}.object("a", blob_entry(65536, 60)).object("b", blob_entry(65580, 9)))),
          "overlap");
  refuses(document(named_blobs(bson{}.object("b", blob_entry(65536, 1)).object("b", blob_entry(65540, 1)))), "twice");
  refuses(document(bson{}.object("blob_metadata_map", {}).text("producer", "p")), "lacks its version");
  refuses(document(bson{}.object("blob_metadata_map", {}).text("version", "1.0.0")), "lacks its version");
  refuses(document(bson{}.text("producer", "p").text("version", "1.0.0")), "lacks its blob_metadata_map");
  refuses(document(bson{}.text("producer", "p").text("version", "1.0.0").i32("blob_metadata_map", 1)),
          "lacks its blob");
  for (const char* version :
       {"2.0.0", "0.9.9", "10.0.0", "1", "1.0", "1.0.0-rc", "", "a.b.c", "1..0", "1.0.0.0", "99999999999999999999.0.0"})
    refuses(document(bson{}.object("blob_metadata_map", {}).text("producer", "p").text("version", version)),
            "schema version");
  CHECK(
      read_container(document(bson{}.object("blob_metadata_map", {}).text("producer", "p").text("version", "1.12.3"))));
  refuses(document(named_blobs({}).i32("weights_metadata_map", 1)), "weights_metadata_map is not an object");
  refuses(document(named_blobs({}).object("weights_metadata_map", bson{}.object("w", blob_entry(0, 4)))),
          "weight 'w' lacks");
}

TEST_CASE("documents that would need much time or memory are rejected early") {
  bson nested;
  for (int depth = 0; depth < 1000; ++depth) nested = bson{}.object("a", nested);
  // This document is a hundred times as deep as `nested`. The lengths of its objects are wrong, which the parser does
  // not check.
  std::string deep = bson::number(800'005, 4);
  for (int depth = 0; depth < 100'000; ++depth) deep.append("\3a\0", 3).append(bson::number(100, 4));
  deep.resize(800'005);
  for (const std::string& document : {nested.document(), deep})
    refuses(bytes_of(header(1, 40, 40, document.size()) + document), "nested too deep");
  refuses(container_with(named_blobs({}).raw(4, "list", bson{}.document()).document()), "an array");
  refuses(container_with(named_blobs({}).raw(5, "data", bson::number(4, 4) + std::string(5, '\0')).document()),
          "binary data");
  refuses(container_with(named_blobs({}).raw(10, "null", "").document()), "a null");
  refuses(container_with(named_blobs({}).raw(1, "real", std::string(8, '\0')).document()), "a floating-point number");
  refuses(container_with(named_blobs({}).raw(8, "bool", std::string(1, '\1')).document()), "a boolean");
  refuses(container_with(named_blobs({}).raw(2, "text", bson::number(0x7FFFFFFF, 4)).document()), "not BSON from");
  refuses(container_with(named_blobs({}).raw(2, "text", bson::number(0xFFFFFFFF, 4)).document()), "not BSON from");
  bson many;
  for (int i = 0; i < 300'000; ++i) many.i32(std::to_string(i), 0);
  const std::string document = named_blobs(many).document();
  refuses(bytes_of(header(1, 40, 40, document.size()) + document), "more than");
}

}  // namespace
