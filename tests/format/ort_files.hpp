#pragma once
// The files in tests/data/ort: models that ONNX Runtime wrote, what is in them, and damaged ones.
#include <cameo/file/file_bytes.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/test_paths.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace cameo::test {

inline std::string ort_folder() { return std::string{source_dir} + "/tests/data/ort/"; }
inline std::string ort_sample(std::string_view name) { return ort_folder() + std::string{name} + "/model.ort"; }

inline std::vector<std::byte> bytes_of_file(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  REQUIRE_MESSAGE(file, path);
  std::vector<std::byte> bytes;
  for (std::istreambuf_iterator<char> at{file}, end; at != end; ++at) bytes.push_back(std::byte(*at));
  return bytes;
}
inline nlohmann::json json_of_file(const std::string& path) {
  std::ifstream file{path};
  return nlohmann::json::parse(file);
}

inline std::unique_ptr<model> read_and_check(std::span<const std::byte> bytes, std::string_view name = "m.ort") {
  auto read = read_ort(bytes, name);
  REQUIRE_MESSAGE(read, read.error().words());
  const status checked = check_model(**read, {});
  REQUIRE_MESSAGE(checked, name, ": ", checked.words());
  return std::move(*read);
}

/// The place of `needle` in a file, to change it there.
inline std::size_t place_of(const std::vector<std::byte>& bytes, std::string_view needle) {
  const std::string_view all{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const std::size_t at = all.find(needle);
  REQUIRE(at != all.npos);
  return at;
}
/// The file with another version text, of one digit.
inline std::vector<std::byte> with_version(std::vector<std::byte> bytes, char digit) {
  const std::string_view text{
      "\1\0\0\0"
      "6\0",
      6};
  bytes[place_of(bytes, text) + 4] = std::byte(digit);
  return bytes;
}

}  // namespace cameo::test
