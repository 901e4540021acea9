#pragma once
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace digits {

/// An array of a file that numpy.save wrote, in row-major order.
template <class T>
struct npy {
  std::vector<std::int64_t> shape;
  std::vector<T> elements;
};

/// Reads a file whose elements have the numpy type `type` ("<f4", "<i8"), which must be that of T. Returns an empty
/// array for any other file. For little-endian processors.
template <class T>
npy<T> read_npy(const std::filesystem::path& path, const std::string& type) {
  std::ifstream file{path, std::ios::binary};
  const std::string bytes{std::istreambuf_iterator<char>{file}, {}};
  if (bytes.size() < 10 || bytes.compare(0, 7, "\x93NUMPY\x01") != 0) return {};
  const std::size_t header = std::uint8_t(bytes[8]) + 256u * std::uint8_t(bytes[9]), start = 10 + header;
  if (bytes.size() < start) return {};
  // {'descr': '<f4', 'fortran_order': False, 'shape': (360, 1, 8, 8), }
  const std::string words = bytes.substr(10, header);
  const std::size_t open = words.find("'shape': (");
  if (open == std::string::npos || words.find("'" + type + "'") == std::string::npos) return {};
  npy<T> read;
  std::size_t count = 1;
  for (const char* at = words.c_str() + open + 10; *at && *at != ')';) {
    char* end = nullptr;
    const long long dim = std::strtoll(at, &end, 10);
    if (end == at || dim < 0) return {};
    read.shape.push_back(dim);
    count *= std::size_t(dim);
    for (at = end; *at == ',' || *at == ' ';) ++at;
  }
  if (bytes.size() - start != count * sizeof(T)) return {};
  read.elements.resize(count);
  std::memcpy(read.elements.data(), bytes.data() + start, count * sizeof(T));
  return read;
}

}  // namespace digits
