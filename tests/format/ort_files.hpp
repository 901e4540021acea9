#pragma once
// The files in tests/data/ort: models that ONNX Runtime wrote, the manifest of their contents, and damaged files.
#include <cameo/file/file_bytes.hpp>
#include <cameo/format/onnx.hpp>
#include <cameo/format/ort.hpp>
#include <cameo/format/pb.hpp>
#include <cameo/graph/check.hpp>
#include <cameo/test_paths.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "texts.hpp"

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

/// The name of an input's or output's kind in the file of its data.
inline pb_kind pb_kind_of(type_kind kind) {
  return kind == type_kind::sequence ? pb_kind::sequence : kind == type_kind::map ? pb_kind::map : pb_kind::tensor;
}

/// The position of `needle` in a file.
inline std::size_t place_of(const std::vector<std::byte>& bytes, std::string_view needle) {
  const std::string_view all{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  const std::size_t at = all.find(needle);
  REQUIRE(at != all.npos);
  return at;
}
/// The file with another version text, which has one digit.
inline std::vector<std::byte> with_version(std::vector<std::byte> bytes, char digit) {
  const std::string_view text{
      "\1\0\0\0"
      "6\0",
      6};
  bytes[place_of(bytes, text) + 4] = std::byte(digit);
  return bytes;
}

/// Whether elements are equal within the tolerances; texts and integers must be equal.
template <class T>
bool near(const value& a, const value& b, double rtol, double atol) {
  const auto x = a.as_unchecked<T>(), y = b.as_unchecked<T>();
  for (std::int64_t i = 0; i < x.count(); ++i) {
    if constexpr (std::is_same_v<T, std::string_view>) {
      if (x[i] != y[i]) return false;
    } else if (!(std::abs(double(x[i]) - double(y[i])) <= atol + rtol * std::abs(double(y[i]))) && !(x[i] == y[i])) {
      return false;
    }
  }
  return true;
}

/// Whether two values of any kind are equal, compared with near().
inline bool same(const value& got, const value& want, double rtol, double atol) {
  if (got.kind != want.kind) return false;
  if (got.kind != value_kind::tensor) {
    bool all = got.parts.size() == want.parts.size();
    for (std::size_t i = 0; i < want.parts.size() && all; ++i) all = same(got.parts[i], want.parts[i], rtol, atol);
    return all;
  }
  if (got.type != want.type || got.shape != want.shape) return false;
  switch (got.type) {
    case dtype::f32: return near<float>(got, want, rtol, atol);
    case dtype::f64: return near<double>(got, want, rtol, atol);
    case dtype::string: return near<std::string_view>(got, want, 0, 0);
    default: return got.bytes() == 0 || std::memcmp(got.data, want.data, got.bytes()) == 0;
  }
}

}  // namespace cameo::test
