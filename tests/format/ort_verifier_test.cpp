// Compares cameo's verifier with FlatBuffers' verifier, for which flatc generates the code from the schema.
#include "ort_files.hpp"

#include "format/ort_view.hpp"

#if __has_include(<flatbuffers/ort_generated.h>)
#include <flatbuffers/ort_generated.h>

using namespace cameo;
using namespace cameo::test;

namespace {

bool flatbuffers_accepts(const std::vector<std::byte>& bytes) {
  flatbuffers::Verifier verifier{reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
  return ort_file::VerifyInferenceSessionBuffer(verifier);
}
bool cameo_accepts(const std::vector<std::byte>& bytes) { return bool(ort::verify(bytes)); }

}  // namespace

TEST_CASE("FlatBuffers' verifier and cameo's accept sound files and refuse damaged ones") {
  const nlohmann::json manifest = json_of_file(ort_folder() + "manifest.json");
  const nlohmann::json expected = json_of_file(ort_folder() + "malformed/expected.json");
  for (const auto& item : manifest.items()) {
    const std::string name = item.key();
    INFO(name);
    const std::vector<std::byte> bytes = bytes_of_file(ort_sample(name));
    CHECK(flatbuffers_accepts(bytes));
    CHECK(cameo_accepts(bytes));
  }
  for (const nlohmann::json& each : expected) {
    const std::string file = each["file"];
    INFO(file);
    const std::vector<std::byte> bytes = bytes_of_file(ort_folder() + file);
    CHECK(cameo_accepts(bytes) == flatbuffers_accepts(bytes));
    CHECK(cameo_accepts(bytes) == (each["stage"] != "verifier"));
  }
}

TEST_CASE("FlatBuffers' verifier accepts each file with a changed byte that cameo's accepts, and few others") {
  std::size_t accepted = 0, refused = 0, stricter = 0;
  for (const char* name : {"add", "metadata", "qdq_runtime_opt", "nested_if", "sparse"}) {
    std::vector<std::byte> bytes = bytes_of_file(ort_sample(name));
    for (std::size_t at = 0; at < bytes.size(); ++at)
      for (unsigned mask : {0x01, 0x04, 0x80, 0xFF}) {
        const std::byte was = bytes[at];
        bytes[at] ^= std::byte(mask);
        const bool theirs = flatbuffers_accepts(bytes), ours = cameo_accepts(bytes);
        INFO(name << ", byte " << at << " with " << mask);
        if (ours && !theirs) CHECK(theirs);
        accepted += ours, refused += !theirs, stricter += theirs && !ours;
        bytes[at] = was;
      }
  }
  CHECK(accepted > 1000);
  CHECK(refused > 1000);
  // FlatBuffers follows an offset in a vector that is zero or wraps around the address space.
  CHECK(stricter * 100 < accepted);
  MESSAGE(accepted, " accepted, ", refused, " refused, ", stricter, " by cameo alone");
}

TEST_CASE("tables that are reached through ever more paths end in a status, quickly") {
  // One node occurs 300,000 times, and its 300,000 inputs are one text: there are about 10^11 paths.
  const std::uint32_t count = 300'000;
  flatbuffers::FlatBufferBuilder builder;
  const auto name = builder.CreateString("a name of some length, for the sake of the argument");
  const std::vector<flatbuffers::Offset<flatbuffers::String>> names(count, name);
  const auto inputs = builder.CreateVector(names);
  ort_file::NodeBuilder node{builder};
  node.add_inputs(inputs);
  const std::vector<flatbuffers::Offset<ort_file::Node>> nodes(count, node.Finish());
  const auto all = builder.CreateVector(nodes);
  ort_file::GraphBuilder graph{builder};
  graph.add_nodes(all);
  const auto made = graph.Finish();
  ort_file::ModelBuilder of{builder};
  of.add_graph(made);
  const auto model = of.Finish();
  ort_file::InferenceSessionBuilder session{builder};
  session.add_model(model);
  ort_file::FinishInferenceSessionBuffer(builder, session.Finish());
  const auto root = ort::verify(std::as_bytes(std::span{builder.GetBufferPointer(), builder.GetSize()}));
  REQUIRE(!root);
  CHECK(root.error().code() == status_code::fail);
  CHECK(root.error().words().find("share too much") != std::string_view::npos);
}

TEST_CASE("a file with 1,000,001 tables is refused, one with 1,000,000 is not") {
  for (const std::size_t tables : {1'000'000, 1'000'001}) {
    flatbuffers::FlatBufferBuilder builder;
    std::vector<flatbuffers::Offset<ort_file::StringStringEntry>> entries;
    while (entries.size() + 2 < tables) entries.push_back(ort_file::CreateStringStringEntry(builder));
    const auto all = builder.CreateVector(entries);
    ort_file::ModelBuilder of{builder};
    of.add_metadata_props(all);
    const auto model = of.Finish();
    ort_file::InferenceSessionBuilder session{builder};
    session.add_model(model);
    ort_file::FinishInferenceSessionBuffer(builder, session.Finish());
    const auto root = ort::verify(std::as_bytes(std::span{builder.GetBufferPointer(), builder.GetSize()}));
    CHECK(bool(root) == (tables == 1'000'000));
  }
}
#endif
