#pragma once
#include <cameo/core/byte_sink.hpp>
#include <cameo/core/callback.hpp>
#include <cameo/core/function_ref.hpp>
#include <cameo/file/file_bytes.hpp>
#include <cameo/format/given_weights.hpp>
#include <cameo/format/limits.hpp>
#include <cameo/graph/model_pointer.hpp>

#include <optional>
#include <vector>

namespace CAMEO_NAMESPACE {

class arena;
namespace detail {
class held_folder;
}  // namespace detail

/// Options for reading a model.
struct read_options {
  load_limits limits = {};
  std::string external_data_folder = {};  // contains the external data; empty: the model's folder
  /// The model's file if it is already mapped; it is read instead of the file at the path.
  std::shared_ptr<const detail::file_bytes> file = {};
  /// An open folder (package::open_folder) that contains the external data; it is used instead of any folder's path.
  std::shared_ptr<const detail::held_folder> folder = {};
  /// Tensors and files from memory; see session_options. Null: none.
  const std::vector<detail::given_tensor>* initializers = nullptr;
  const std::vector<detail::given_file>* external_files = nullptr;
};

/// The location of an initializer's data in an existing file.
struct external_place {
  std::string file;  // relative to the model's folder
  std::uint64_t offset = 0;
};

/// Options for writing a model, mostly about the location of its initializers' data.
struct write_options {
  std::string external_data = {};         // name of a file beside the model; empty: all data is inside the model
  std::size_t external_threshold = 1024;  // size of the smallest tensor in the file, in bytes
  /// The alignment of each tensor in the file `external_data`, in bytes, a power of two; 0: 64 bytes, and 4 KiB for
  /// tensors of 1 MiB and more.
  std::size_t external_alignment = 0;
  /// If set, this is called instead of writing the file `external_data`, before the model's own bytes are written.
  /// `produce` appends the bytes of that file to a sink.
  detail::callback<status(detail::function_ref<status(byte_sink)> produce)> external_to = {};
  /// If set, this is called for every initializer and returns the location of its data in an existing file, or
  /// std::nullopt to write the data into the model. Cannot be combined with external_data.
  detail::callback<result<std::optional<external_place>>(std::string_view name, const value&)> place = {};
  /// Receives messages about content that is written although other programs refuse it.
  detail::callback<void(std::string_view)> report = {};
};

namespace detail {
/// A format with its type erased.
struct format_row {
  std::string_view name;
  /// True if a model with these bytes or this path has this format. `path` is empty for bytes from memory; `bytes` is
  /// empty for a file that is to be written or cannot be read.
  bool (*recognizes)(std::span<const std::byte> bytes, std::string_view path);
  result<std::unique_ptr<model>> (*read_file)(const std::string& path, const read_options&);
  result<std::unique_ptr<model>> (*read_bytes)(std::span<const std::byte>, std::string_view name, const read_options&);
  /// Writes a whole model, or no file. NOT_IMPLEMENTED for formats that cannot be written.
  status (*write_file)(const model&, const std::string& path, const write_options&);
  /// Writes a model to a sink. External data is written to a file in `folder`, a path that ends with its separator;
  /// empty: the current folder.
  status (*write_to)(const model&, byte_sink, const std::string& folder, const write_options&);
  /// True if readers run only operators that they have kernels for, without function bodies. Code that writes such a
  /// file applies `rules::kernels_only` (transform/rules/definitions.hpp) first.
  bool needs_kernels;
  /// The denotations of a tensor's dims ("DATA_BATCH"; an empty text for a dim without one), decoded from `unknown`,
  /// the graph_value::unknown that this format's reader has set. The list is empty if no dim has a denotation.
  std::vector<std::string> (*dim_denotations)(std::string_view unknown);
  /// False if no model of at most `most` bytes begins with these bytes; a stream is then not read further. True if the
  /// format cannot decide.
  bool (*can_begin)(std::span<const std::byte> first, std::size_t most);
};
}  // namespace detail

/// A format: a type with a `name` and these static functions, with exactly these parameters. Only the formats in a
/// session's list are linked.
template <class F>
concept model_format = requires {
  { F::name } -> std::convertible_to<std::string_view>;
  static_cast<decltype(detail::format_row::recognizes)>(F::recognizes);
  static_cast<decltype(detail::format_row::read_file)>(F::read);
  static_cast<decltype(detail::format_row::read_bytes)>(F::read);
};
/// A format that can be written, too:
///   static status write(const model&, const std::string& path, const write_options&)
///   static status write(const model&, byte_sink, const std::string& folder, const write_options&)
template <class F>
concept writable_format = model_format<F> && requires {
  static_cast<decltype(detail::format_row::write_file)>(F::write);
  static_cast<decltype(detail::format_row::write_to)>(F::write);
};

namespace detail {
/// The overload of F::write for these arguments; for a format without F::write, a function that returns
/// NOT_IMPLEMENTED.
template <model_format F, class... Where>
constexpr auto write_as() -> status (*)(const model&, Where...) {
  if constexpr (writable_format<F>) return F::write;
  else return [](const model&, Where...) { return status{status_code::not_implemented}; };
}
/// True if F has `static constexpr bool needs_kernels = true`; see format_row.
template <model_format F>
constexpr bool for_kernels() {
  if constexpr (requires { F::needs_kernels; }) return F::needs_kernels;
  else return false;
}
/// Calls F::dim_denotations; empty if F has no such function. See format_row.
template <model_format F>
std::vector<std::string> denotations_as(std::string_view unknown) {
  if constexpr (requires { F::dim_denotations(unknown); }) return F::dim_denotations(unknown);
  else return {};
}
/// Calls F::can_begin; true if F has no such function. See format_row.
template <model_format F>
bool can_begin_as(std::span<const std::byte> first, std::size_t most) {
  if constexpr (requires { F::can_begin(first, most); }) return F::can_begin(first, most);
  else return static_cast<void>(first), static_cast<void>(most), true;
}
/// The row of F.
template <model_format F>
inline constexpr format_row format_row_of{F::name,
                                          F::recognizes,
                                          F::read,
                                          F::read,
                                          write_as<F, const std::string&, const write_options&>(),
                                          write_as<F, byte_sink, const std::string&, const write_options&>(),
                                          for_kernels<F>(),
                                          denotations_as<F>,
                                          can_begin_as<F>};

/// Formats to try, in order. Bytes that no format recognizes are read as the last one.
template <model_format... Fs>
struct format_list {
  static constexpr format_row rows[] = {format_row_of<Fs>...};
};
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
