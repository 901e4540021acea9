#include "program/given_inputs.hpp"

#include "file/messages.hpp"
#include "program/tensor_files.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace cameo::program {
namespace {

const io_info* find_input(const runnable& loaded, std::string_view name) {
  for (const io_info& io : loaded.inputs())
    if (io.name == name) return &io;
  return nullptr;
}

/// Dims that any of the parts has.
status check_dims_of(const runnable& loaded, const dim_sizes& dims) {
  if (loaded.size() == 1) return check_dims(loaded.part(0), dims);
  for (const auto& each : dims) {
    status known;
    for (std::size_t i = 0; i < loaded.size(); ++i)
      if (known = check_dims(loaded.part(i), {each}); known) break;
    if (!known) return known;
  }
  return {};
}

std::string check_pair(const std::string& text) {
  const std::size_t equals = text.rfind('=');
  return equals == text.npos || equals == 0 || equals + 1 == text.size() ? "needs NAME=FILE" : std::string{};
}

}  // namespace

result<std::vector<named_value>> gather_inputs(const runnable& loaded, const given_inputs& o) {
  std::vector<named_value> given;
  for (const auto& [name, file] : o.files) {
    const io_info* const io = find_input(loaded, name);
    if (!io) {
      std::vector<std::string> known;
      for (const io_info& each : loaded.inputs()) known.push_back(each.name);
      return failed(status_code::invalid_argument, "the model has no input '{}', but {}", name, fmt::join(known, ", "));
    }
    result<any_value> read = read_value_file(file, *io);
    if (!read) return read.error();
    given.push_back({name, std::move(*read)});
  }
  if (!o.random) return given;
  if (status s = check_dims_of(loaded, o.dims); !s) return s;
  for (const io_info& io : loaded.inputs()) {
    const bool has = std::any_of(given.begin(), given.end(), [&](const named_value& v) { return v.name == io.name; });
    if (has || io.optional) continue;
    result<any_value> made = random_value(loaded.taker_of(io.name), io, o.dims, o.seed);
    if (!made) return made.error();
    given.push_back({io.name, std::move(*made)});
  }
  return given;
}

void add_input_options(const command& it, given_inputs& to) {
  it.add_each(
        "--input",
        [&to](const std::string& pair) {
          // The last '=' parts: names of inputs may hold one, and of files that come here seldom do.
          to.files.emplace_back(pair.substr(0, pair.rfind('=')), pair.substr(pair.rfind('=') + 1));
        },
        "An input from a .npy or .pb (TensorProto) file, or a .png or .jpg where it is an image; repeatable")
      .type_name("NAME=FILE")
      .check(check_pair);
  it.add("--seed", to.seed, "Seed of the random values (0)").type_name("N");
  add_dim_option(it, to.dims);
}

}  // namespace cameo::program
