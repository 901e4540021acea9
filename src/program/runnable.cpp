#include "program/runnable.hpp"
#include "file/messages.hpp"
#include "os/files.hpp"

#include "build/runtime.hpp"
#include "program/interrupt.hpp"

#include <filesystem>
#include <istream>
#include <streambuf>

namespace cameo::program {
namespace {

bool is_folder(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_directory(path, error);
}

/// True for "-", a pipe, a socket or a character device: they can be read once only.
bool is_stream(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status what = std::filesystem::status(path, error);
  return path == "-" || std::filesystem::is_fifo(what) || std::filesystem::is_character_file(what) ||
         std::filesystem::is_socket(what);
}

/// Reads a pipe, a device or standard input, for session loading from a stream, which bounds how much it reads. The
/// stream ends when the user interrupts the program.
class stream_buffer : public std::streambuf {
 public:
  /// The bytes read are also appended to `copy`, unless it is null.
  stream_buffer(const std::string& path, std::vector<std::byte>* copy) : copy_{copy} {
    result<os::handle> opened = path == "-" ? os::standard_input() : os::open_stream(path);
    if (opened) source_ = *std::move(opened);
    else state_ = std::move(opened).error();
  }

  bool is_empty() const { return taken_ == 0; }
  bool was_stopped() const { return was_stopped_; }
  const status& state() const { return state_; }

 protected:
  std::streamsize xsgetn(char* to, std::streamsize count) override {
    std::streamsize got = 0;
    while (got < count && !(was_stopped_ = interrupt::happened())) {
      const result<std::size_t> n =
          os::read_stream(source_, std::as_writable_bytes(std::span{to + got, std::size_t(count - got)}));
      if (!n && n.error().code() == status_code::canceled) continue;
      if (!n) state_ = n.error();
      if (!n || *n == 0) break;
      got += std::streamsize(*n);
    }
    taken_ += std::size_t(got);
    if (copy_) copy_->insert(copy_->end(), reinterpret_cast<std::byte*>(to), reinterpret_cast<std::byte*>(to) + got);
    return got;
  }

 private:
  os::handle source_;
  std::vector<std::byte>* copy_;
  std::size_t taken_ = 0;
  bool was_stopped_ = false;
  status state_;
};

/// Loads a model from a stream. The bytes read are also appended to `copy`, unless it is null.
result<session> load_stream(const std::string& path, const common_options& o, std::vector<std::byte>* copy = nullptr) {
  stream_buffer bytes{path, copy};
  std::istream stream{&bytes};
  result<session> made = status_code::fail;
  if (bytes.state()) made = build::runtime{}.load(stream, o.session(), path == "-" ? "standard input" : path);
  if (bytes.was_stopped() || (!bytes.state() && interrupt::happened()))
    return failed(status_code::canceled, "{}: stopped while reading", path);
  if (!bytes.state()) return failed(status_code::fail, "{}: {}", path, bytes.state().words());
  if (bytes.is_empty()) return failed(status_code::invalid_argument, "{}: ended before its first byte", path);
  return made;
}

/// Whether a package's own options are used, because no option was given that would replace them.
bool leaves_options_to_package(const common_options& o) { return !o.is_given && !o.strict && o.free_dims.empty(); }

/// Opens a model package. A folder without a manifest is not a package, which gets a separate error; other errors are
/// those of the package.
result<package> open_package(const std::string& folder) {
  package_problem why;
  result<package> made = package::open(folder, {}, &why);
  if (made || why.fault != package_fault::not_found || !why.file.empty()) return made;
  return failed(status_code::invalid_argument, "a folder, but not a model package: {}; a model is a file",
                made.error().words());
}

result<session> load_component(const package& from, const std::string& component, const common_options& o) {
  if (component.empty() && from.components().size() != 1)
    return failed(status_code::invalid_argument, "{}: has {} components; name one with --component", from.folder(),
                  from.components().size());
  const build::runtime with;
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
    return failed(status_code::invalid_argument, "{}: not a model package, so there is no component '{}'", model,
                  component);
  if (is_stream(model)) return load_stream(model, o);
  if (!is_folder(model)) return build::runtime{}.load(model, o.session());
  const result<package> from = open_package(model);
  if (!from) return status{from.error()};
  return load_component(*from, component, o);
}

result<runnable> runnable::load(const std::string& model, const std::string& component, const common_options& o) {
  runnable made;
  if (is_folder(model) && component.empty()) {
    const result<package> from = open_package(model);
    if (!from) return status{from.error()};
    const build::runtime with;
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
  std::vector<std::byte> copy;
  result<session> first = load_stream(model, a, &copy);
  if (!first) return std::move(first).error();
  result<session> second = build::runtime{}.load(std::move(copy), b.session(), model == "-" ? "standard input" : model);
  if (!second) return std::move(second).error();
  made[0].single_.push_back(*std::move(first)), made[1].single_.push_back(*std::move(second));
  return made;
}

}  // namespace cameo::program
