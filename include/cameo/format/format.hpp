#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/graph/graph.hpp>

#include <functional>
#include <optional>

namespace cameo::inline CAMEO_ABI {

class held_folder;

/// Limits on what a hostile file may cost.
struct load_limits {
  std::size_t graph_depth = 128;                   // nested subgraphs; more than 500 are never read
  std::size_t model_bytes = std::size_t{1} << 33;  // of texts, attributes and constants outside mapped files
};

/// How a model is read.
struct read_options {
  load_limits limits = {};
  std::string external_data_folder = {};        // instead of the model's own folder
  std::shared_ptr<const file_bytes> file = {};  // of the model, if it is open already: what reads by path reads this
  /// Instead of any path: a folder that is held open (package::open_folder).
  std::shared_ptr<const held_folder> folder = {};
};

/// Takes the bytes of a model, piece by piece, in order.
using model_sink = function_ref<status(std::span<const std::byte>)>;

/// Where a weight lies that is in a file already.
struct external_place {
  std::string file;  // relative to the model's folder
  std::uint64_t offset = 0;
};

/// Where the weights of a model go that is written.
struct write_options {
  std::string external_data = {};         // file name beside the model; empty: everything inside
  std::size_t external_threshold = 1024;  // bytes from which a tensor goes there
  /// Each tensor there begins at a multiple of this, a power of two; 0: of 64 bytes, and large ones (1 MiB) of 4 KiB.
  std::size_t external_alignment = 0;
  /// Gets the bytes instead of a file, from `produce`, before the model's own.
  std::function<status(function_ref<status(model_sink)> produce)> external_to = {};
  /// Asked for every initializer instead: where it is, or nothing for inside the model. Not with external_data.
  std::function<result<std::optional<external_place>>(std::string_view name, const value&)> place = {};
};

/// A format without its type.
struct format_row {
  std::string_view name;
  /// True for what this format should read. `path` is a file's, whose bytes come along if it can be read; bytes that
  /// are of no file have none.
  bool (*recognises)(std::span<const std::byte> bytes, std::string_view path);
  result<std::unique_ptr<model>> (*read_file)(const std::string& path, const read_options&);
  result<std::unique_ptr<model>> (*read_bytes)(std::span<const std::byte>, std::string_view name, const read_options&);
  /// Parses a fixed function body (op/function_bodies.hpp); NOT_IMPLEMENTED for formats that can't.
  result<function> (*read_function)(model&, std::span<const std::byte>);
  /// Writes a whole model; complete or absent. NOT_IMPLEMENTED for formats that can't.
  status (*write_file)(const model&, const std::string& path, const write_options&);
  /// The same to a sink; external data goes to a file in `folder` (with its separator; empty: the current one).
  status (*write_to)(const model&, model_sink, const std::string& folder, const write_options&);
  /// Readers run what they have kernels for, and don't look definitions of operators up: who writes such a file applies
  /// `kernels_only` (transform/rules/definitions.hpp) first.
  bool needs_kernels;
};

/// A format is a type with these as static functions; a session links those it names.
template <class F>
concept model_format = requires(std::span<const std::byte> bytes, const std::string& path, const read_options& options,
                                model& m) {
  { F::name } -> std::convertible_to<std::string_view>;
  { F::recognises(bytes, path) } -> std::same_as<bool>;
  { F::read(path, options) } -> std::same_as<result<std::unique_ptr<model>>>;
  { F::read(bytes, path, options) } -> std::same_as<result<std::unique_ptr<model>>>;
  { F::read_function(m, bytes) } -> std::same_as<result<function>>;
};
/// A format that can also be written:
///   static status write(const model&, const std::string& path, const write_options&)
///   static status write(const model&, model_sink, const std::string& folder, const write_options&)
template <class F>
concept writable_format = model_format<F> &&
    requires(const model& m, const std::string& path, model_sink to, const write_options& options) {
  { F::write(m, path, options) } -> std::same_as<status>;
  { F::write(m, to, path, options) } -> std::same_as<status>;
};
/// Writes a model in format F, to where F::write takes it; NOT_IMPLEMENTED where F can't.
template <model_format F, class... Where>
status write_as(const model& m, const Where&... where) {
  if constexpr (writable_format<F>) return F::write(m, where...);
  else return static_cast<void>(m), status{status_code::not_implemented};
}
/// Whether F says `static constexpr bool needs_kernels = true`; see format_row.
template <model_format F>
constexpr bool for_kernels() {
  if constexpr (requires { F::needs_kernels; }) return F::needs_kernels;
  else return false;
}
/// F without its type.
template <model_format F>
inline constexpr format_row format_row_of{
    F::name,
    [](std::span<const std::byte> bytes, std::string_view path) { return F::recognises(bytes, path); },
    [](const std::string& path, const read_options& options) { return F::read(path, options); },
    [](std::span<const std::byte> bytes, std::string_view name, const read_options& options) {
      return F::read(bytes, name, options);
    },
    [](model& m, std::span<const std::byte> bytes) { return F::read_function(m, bytes); },
    [](const model& m, const std::string& path, const write_options& options) { return write_as<F>(m, path, options); },
    [](const model& m, model_sink to, const std::string& folder, const write_options& options) {
      return write_as<F>(m, to, folder, options);
    },
    for_kernels<F>()};

/// Formats to try, in order; the last is taken for bytes that none recognises.
template <model_format... Fs>
struct format_list {
  static constexpr format_row rows[] = {format_row_of<Fs>...};
};

}  // namespace cameo::inline CAMEO_ABI
