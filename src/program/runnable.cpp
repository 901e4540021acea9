#include "program/runnable.hpp"
#include "file/messages.hpp"

#include "program/interrupt.hpp"
#include "program/runtime.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fcntl.h>
#include <unistd.h>

namespace cameo::program {
namespace {

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// "-", a pipe or a device: what can be read once, from its beginning to its end.
bool is_stream(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status what = std::filesystem::status(path, error);
  return path == "-" || std::filesystem::is_fifo(what) || std::filesystem::is_character_file(what) ||
         std::filesystem::is_socket(what);
}

/// All that a stream gives.
result<std::vector<std::byte>> read_stream(const std::string& path) {
  const bool is_input = path == "-";
  const int from = is_input ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto failure = [&](int error) {
    if (!is_input && from >= 0) ::close(from);
    if (interrupt::happened()) return failed(status_code::canceled, "{}: stopped while it was read", path);
    return failed(status_code::fail, "{}: {}", path, std::strerror(error));
  };
  if (from < 0) return failure(errno);
  std::vector<std::byte> bytes;
  for (std::size_t used = 0;;) {
    constexpr std::size_t piece = std::size_t{1} << 20;
    if (bytes.size() - used < piece) bytes.resize(std::max(used + piece, 2 * used));
    const ssize_t n = ::read(from, bytes.data() + used, bytes.size() - used);
    if (n < 0 && errno == EINTR && !interrupt::happened()) continue;
    if (n < 0) return failure(errno);
    if (n == 0 && interrupt::happened()) return failure(0);
    if (n == 0) {
      bytes.resize(used);
      break;
    }
    used += std::size_t(n);
  }
  if (!is_input) ::close(from);
  if (bytes.empty()) return failed(status_code::invalid_argument, "{}: nothing came out of it", path);
  return bytes;
}

result<session> load_bytes(std::vector<std::byte> bytes, const std::string& path, const common_options& o) {
  return program_runtime{}.load(std::move(bytes), o.session(), path == "-" ? "standard input" : path);
}

result<session> load_stream(const std::string& path, const common_options& o) {
  result<std::vector<std::byte>> bytes = read_stream(path);
  if (!bytes) return std::move(bytes).error();
  return load_bytes(std::move(*bytes), path, o);
}

/// Nothing was said that a package's own options would have to give way to.
bool leaves_options_to_package(const common_options& o) {
  return o.providers.empty() && !o.policy && o.config.empty() && o.threads == 0 && !o.strict &&
         o.optimize == optimization_level::all;
}

/// A folder without a manifest is no package; with one it is, whatever is wrong with it.
result<package> open_package(const std::string& folder) {
  package_problem why;
  result<package> made = package::open(folder, {}, &why);
  if (made || why.fault != package_fault::not_found || !why.file.empty()) return made;
  return failed(status_code::invalid_argument, "a folder, and no model package: {}; a model is a file",
                made.error().words());
}

result<session> load_component(const package& from, const std::string& component, const common_options& o) {
  if (component.empty() && from.components().size() != 1)
    return failed(status_code::invalid_argument, "{}: has {} components; name one with --component", from.folder(),
                  from.components().size());
  const program_runtime with;
  const session_options options = o.for_package();
  const result<component_context> chosen =
      with.select(from, component.empty() ? from.components().front().name : component, options, o.variants());
  if (!chosen) return status{chosen.error()};
  return leaves_options_to_package(o) ? with.load(*chosen) : with.load(*chosen, options);
}

}  // namespace

void add_package_options(const command& it, std::string& component, common_options& common) {
  it.group("Model packages")
      .add("--component", component, "Of a model package: this component (default: all, as one)")
      .type_name("NAME");
  add_ranked_option(it, common);
}

result<session> load_session(const std::string& model, const std::string& component, const common_options& o) {
  if (!component.empty() && !is_folder(model))
    return failed(status_code::invalid_argument, "{}: is no model package, and so has no component '{}'", model,
                  component);
  if (is_stream(model)) return load_stream(model, o);
  if (!is_folder(model)) return program_runtime{}.load(model, o.session());
  const result<package> from = open_package(model);
  if (!from) return status{from.error()};
  return load_component(*from, component, o);
}

result<runnable> runnable::load(const std::string& model, const std::string& component, const common_options& o) {
  runnable made;
  if (is_folder(model) && component.empty()) {
    const result<package> from = open_package(model);
    if (!from) return status{from.error()};
    const program_runtime with;
    result<pipeline> whole =
        leaves_options_to_package(o) ? with.load(*from, o.variants()) : with.load(*from, o.for_package(), o.variants());
    if (!whole) return std::move(whole).error();
    made.whole_ = *std::move(whole);
    return made;
  }
  result<session> one = load_session(model, component, o);
  if (!one) return std::move(one).error();
  made.single_.push_back(*std::move(one));
  return made;
}

result<std::array<runnable, 2>> runnable::load_twice(const std::string& model, const common_options& a,
                                                     const common_options& b) {
  std::array<runnable, 2> made;
  if (!is_stream(model)) {
    for (std::size_t i = 0; i < 2; ++i) {
      result<runnable> one = load(model, "", i == 0 ? a : b);
      if (!one) return std::move(one).error();
      made[i] = *std::move(one);
    }
    return made;
  }
  const result<std::vector<std::byte>> bytes = read_stream(model);
  if (!bytes) return bytes.error();
  for (std::size_t i = 0; i < 2; ++i) {
    result<session> one = load_bytes(*bytes, model, i == 0 ? a : b);
    if (!one) return std::move(one).error();
    made[i].single_.push_back(*std::move(one));
  }
  return made;
}

}  // namespace cameo::program
