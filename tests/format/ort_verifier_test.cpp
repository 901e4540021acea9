// The verifier beside FlatBuffers' own, with the code that flatc makes of the schema.
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

TEST_CASE("sound files are sound for FlatBuffers' verifier and for cameo's, damaged ones for neither") {
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

TEST_CASE("what cameo's verifier accepts of files with a changed byte, FlatBuffers' accepts; the other way nearly so") {
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
  // An offset of nothing, or one that wraps round the address space, in a vector: FlatBuffers follows it.
  CHECK(stricter * 100 < accepted);
  MESSAGE(accepted, " accepted, ", refused, " refused, ", stricter, " by cameo alone");
}

TEST_CASE("tables that are reached over ever more paths end in a status, quickly") {
  // One node 300,000 times, whose 300,000 inputs are one text: eight steps of work for each byte would be 10^11.
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
