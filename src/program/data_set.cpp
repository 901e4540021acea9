#include "file/messages.hpp"
#include "program/tensor_files.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace cameo::program {
namespace {

namespace fs = std::filesystem;

struct numbered_file {
  std::size_t number;
  std::string name;
};

/// The files PREFIX<number>.pb in a folder, sorted by number.
result<std::vector<numbered_file>> numbered_files(const std::string& folder, std::string_view prefix) {
  std::vector<numbered_file> found;
  std::error_code error;
  for (fs::directory_iterator at{folder, error}, end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(".pb") || name.size() < prefix.size() + 4) continue;
    std::size_t number = 0;
    const char *first = name.data() + prefix.size(), *last = name.data() + name.size() - 3;
    if (const auto read = std::from_chars(first, last, number); read.ec != std::errc{} || read.ptr != last) continue;
    found.push_back({number, name});
  }
  if (error) return status{status_code::no_suchfile, folder + ": " + error.message()};
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.number < b.number; });
  return found;
}

std::size_t find_io(const std::vector<io_info>& ios, std::string_view name) {
  for (std::size_t i = 0; i < ios.size(); ++i)
    if (ios[i].name == name) return i;
  return ios.size();
}

/// The index of the `number`-th input without a default value; `number` itself if there are not that many.
std::size_t io_at(const std::vector<io_info>& ios, std::size_t number) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < ios.size(); ++i)
    if (!ios[i].optional && seen++ == number) return i;
  return number;
}

/// Gives a uint16 tensor the type bfloat16 if the input has that type: older test files of ONNX store bfloat16 as
/// uint16.
void restore_bfloat16(value& v, const io_info& io) {
  const bool wanted = io.type.is_tensor() && io.type.type == dtype::bf16;
  if (wanted && v.kind == value_kind::tensor && v.type == dtype::u16) v.type = dtype::bf16;
}

/// Reads one file. How a file is parsed depends on the kind of its input, and the input's name is in the file. So the
/// file is parsed as the kind of the input at its number first, then as that of each input until the name matches.
result<read_value> read_one(std::span<const std::byte> bytes, const numbered_file& file,
                            const std::vector<io_info>& ios, arena& memory) {
  const std::size_t position = io_at(ios, file.number);
  const auto as_kind = [&](pb_kind kind, bool must_be_named) -> result<read_value> {
    std::string name;
    result<value> read = read_pb(bytes, kind, memory, &name);
    if (!read) return read.error();
    const std::size_t named = name.empty() ? ios.size() : find_io(ios, name);
    const bool is_named = named < ios.size() && pb_kind_of(ios[named].type.kind) == kind;
    if (!is_named && (must_be_named || position >= ios.size()))
      return failed(status_code::invalid_argument, "the model has no '{}' and nothing at position {}", name,
                    file.number);
    const std::size_t io = is_named ? named : position;
    restore_bfloat16(*read, ios[io]);
    return read_value{io, file.name, *read};
  };
  result<read_value> first =
      as_kind(position < ios.size() ? pb_kind_of(ios[position].type.kind) : pb_kind::tensor, false);
  if (first) return first;
  for (const io_info& io : ios)
    if (result<read_value> other = as_kind(pb_kind_of(io.type.kind), true)) return other;
  return first.error();
}

}  // namespace

pb_kind pb_kind_of(type_kind kind) {
  switch (kind) {
    case type_kind::sequence: return pb_kind::sequence;
    case type_kind::optional: return pb_kind::optional;
    case type_kind::map: return pb_kind::map;
    case type_kind::sparse_tensor: return pb_kind::sparse_tensor;
    default: return pb_kind::tensor;
  }
}

result<std::vector<read_value>> read_data_set(const std::string& folder, std::string_view prefix,
                                              const std::vector<io_info>& ios, arena& memory) {
  result<std::vector<numbered_file>> files = numbered_files(folder, prefix);
  if (!files) return files.error();
  std::vector<read_value> values;
  for (const numbered_file& file : *files) {
    const std::string path = folder + "/" + file.name;
    result<std::shared_ptr<const detail::file_bytes>> mapped = detail::file_bytes::map(path);
    if (!mapped) return std::move(mapped).error();
    // The values may refer to the file's bytes, so the mapping has to live as long as they do.
    if (!memory.keep(*mapped)) return status_code::out_of_memory;
    result<read_value> read = read_one((*mapped)->bytes(), file, ios, memory);
    if (!read) return std::move(read).error().in(path);
    values.push_back(std::move(*read));
  }
  return values;
}

}  // namespace cameo::program
