#include "ort_files.hpp"

#include <cameo/eps/cpu.hpp>
#include <cameo/session/runtime.hpp>

#include <algorithm>

using namespace cameo;
using namespace cameo::test;

namespace {

result<session> load_as_ort(std::span<const std::byte> bytes) {
  session_options options;
  options.threads = 1;
  options.config.emplace_back("session.load_model_format", "ORT");
  options.limits.model_bytes = std::size_t{1} << 28;
  return runtime<eps::cpu>{}.load(bytes, options);
}

/// Loads from an exact copy in its own allocation, so that the address sanitizer detects a read past the end.
result<session> load_exactly(std::span<const std::byte> bytes) {
  const std::unique_ptr<std::byte[]> own{new std::byte[bytes.size() ? bytes.size() : 1]};
  std::copy(bytes.begin(), bytes.end(), own.get());
  return load_as_ort({own.get(), bytes.size()});
}

}  // namespace

TEST_CASE("every malformed file is refused with the expected code; sound ones with a gap may load") {
  const nlohmann::json all = json_of_file(ort_folder() + "malformed/expected.json");
  CHECK(all.size() == 76);
  for (const nlohmann::json& each : all) {
    const std::string file = each["file"];
    INFO(file);
    const auto loaded = load_exactly(bytes_of_file(ort_folder() + file));
    const bool may_load = file.find("int4_initializer") != file.npos || file.find("resolver_missing") != file.npos ||
                          file.find("resolver_op_missing") != file.npos;
    if (loaded) {
      CHECK(may_load);
      continue;
    }
    const std::string want = each["status"] == "exception" ? "INVALID_GRAPH" : each["status"].get<std::string>();
    CHECK_MESSAGE(loaded.error().name() == want, loaded.error().words());
    CHECK(!loaded.error().words().empty());
  }
}

TEST_CASE("messages name the tensor, the table and its field") {
  const auto words = [](const char* file) {
    const auto loaded = load_exactly(bytes_of_file(ort_folder() + "malformed/" + file));
    REQUIRE(!loaded);
    return std::string{loaded.error().words()};
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != text.npos; };
  CHECK(has(words("initializer_data_short.ort"), "Tensor.raw_data has 23 bytes, needs 24"));
  CHECK(has(words("initializer_data_short.ort"), "'W'"));
  CHECK(has(words("initializer_type_unknown.ort"), "99"));
  CHECK(has(words("future_version.ort"), "7"));
  CHECK(has(words("vector_length_far.ort"), "Graph.nodes"));
  CHECK(has(words("string_not_terminated.ort"), "InferenceSession.ort_version"));
  CHECK(has(words("node_arg_counts_sum.ort"), "Node.input_arg_counts"));
  CHECK(has(words("sparse_index_far.ort"), "SparseTensor.indices: 99"));
  CHECK(has(words("nested_too_deep.ort"), "64"));
  CHECK(has(words("resolver_keys_absent.ort"), "is missing"));
}

TEST_CASE("int4 initializers, which ONNX Runtime can't read back, can be read") {
  const auto loaded = load_exactly(bytes_of_file(ort_folder() + "malformed/int4_initializer.ort"));
  REQUIRE_MESSAGE(loaded, loaded.error().words());
  const auto outputs = loaded->run({});
  REQUIRE_MESSAGE(outputs, outputs.error().words());
  const auto got = (*outputs)[0].value.view().as_unchecked<float>();
  const std::vector<float> want{0.5f, 1, 1.5f, 2, 2.5f, 0};
  CHECK(std::vector<float>(got.begin(), got.end()) == want);
}

TEST_CASE("every prefix of a file is refused, or loads when only padding is missing") {
  const std::vector<std::byte> bytes = bytes_of_file(ort_sample("metadata"));
  std::size_t loads = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const auto loaded = load_exactly(std::span{bytes}.first(size));
    loads += bool(loaded);
    if (!loaded) CHECK(loaded.error().code() != status_code::ok);
  }
  CHECK(loads <= 8);
}

TEST_CASE("with any one byte flipped, loading ends with success or a status") {
  std::vector<std::byte> bytes = bytes_of_file(ort_sample("if_sequence"));
  std::size_t refused = 0;
  for (std::byte& each : bytes) {
    const std::byte was = each;
    each = ~was;
    refused += !load_exactly(bytes);
    each = was;
  }
  CHECK(refused > bytes.size() / 4);
  CHECK(load_exactly(bytes));
}
