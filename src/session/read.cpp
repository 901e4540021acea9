// Reads a model from a file, bytes or a stream, and chooses the format that parses it.

#include "file/messages.hpp"
#include "session/stages.hpp"

#include <cameo/format/onnx.hpp>

#include <filesystem>
#include <istream>

namespace CAMEO_NAMESPACE {
namespace {

/// The format of session.load_model_format; if that is not set, the format that the path, or the bytes of a model
/// without a path, indicate.
result<const detail::format_row*> format_for(const load_settings& how, std::span<const std::byte> bytes,
                                             std::string_view path) {
  constexpr const config_key_row& key = config_key<"session.load_model_format">;
  const std::string_view wanted = how.config[key];
  if (wanted.empty()) return &format_of(how.formats, bytes, path);
  result<const detail::format_row*> row = how.format_named(wanted);
  if (!row) return std::move(row).error().in(key.key);
  return row;
}

read_options reading(const load_settings& how) {
  const opened_places& places = how.places;
  read_options made{how.options.limits, how.options.external_data_folder};
  made.initializers = &how.options.initializers, made.external_files = &how.options.external_files;
  made.file = places.model;
  made.folder = places.weights ? places.weights : made.external_data_folder.empty() ? places.model_folder : nullptr;
  return made;
}

/// Checks the caller's replacements. It warns of tensors for initializers that the model does not have, and of files
/// for a model without external data. NOT_IMPLEMENTED for tensors if the model was not read as ONNX, because only that
/// format replaces initializers.
status require_replaced(const load_settings& how, bool is_read_as_onnx, const model& net) {
  for (const auto& [name, tensor] : how.options.initializers) {
    if (const value_id v = net.main().find(name); v == value_id::none || !net.main()[v].constant)
      how.warn(fmt::format("session_options::initializers: the model has no initializer '{}'", name));
    else if (!is_read_as_onnx)
      return failed(status_code::not_implemented,
                    "initializer '{}' can't be replaced: only that of an ONNX model which is read from a file or from "
                    "bytes can",
                    name);
  }
  if (!is_read_as_onnx && !how.options.external_files.empty())
    how.warn(
        "session_options::external_files has no effect: only an ONNX model that is read from a file or from bytes has "
        "external data");
  return {};
}

result<read_model> read_by(const load_settings& how, const detail::format_row& format,
                           result<std::unique_ptr<model>>&& net) {
  if (!net) return std::move(net).error();
  if (status s = require_replaced(how, format.name == onnx_format::name, **net); !s) return s;
  return read_model{{}, &format, *std::move(net)};
}

/// Returns INVALID_PROTOBUF if no model of the session's formats can begin with these bytes.
status require_beginning(const load_settings& how, std::span<const std::byte> first) {
  std::string names;
  for (const detail::format_row& format : how.formats) {
    if (format.can_begin(first, how.options.limits.model_bytes)) return {};
    names += fmt::format("{}{}", names.empty() ? "" : ", ", format.name);
  }
  return failed(status_code::invalid_protobuf, "its first bytes are not those of a model (formats: {})", names);
}

/// Reads a stream to its end in pieces, because its length is not known. The stream may be an endless device, so
/// reading stops if the first piece does not begin like a model, and at the limit. It reads from the stream's buffer,
/// because std::istream::read swallows the exceptions of the buffer.
result<std::vector<std::byte>> read_all(std::istream& stream, const load_settings& how) {
  const std::size_t most = how.options.limits.model_bytes;
  std::vector<std::byte> bytes;
  std::size_t piece_size = std::size_t{1} << 16;
  const std::istream::sentry ready{stream, true};
  bool is_at_end = !ready;
  if (is_at_end && (!stream.eof() || stream.bad())) return status{status_code::fail, "the stream can't be read"};
  while (!is_at_end) {
    const std::size_t had = bytes.size();
    bytes.resize(had + piece_size);
    const std::streamsize got =
        stream.rdbuf()->sgetn(reinterpret_cast<char*>(bytes.data() + had), std::streamsize(piece_size));
    is_at_end = got < std::streamsize(piece_size);
    bytes.resize(had + std::size_t(got));
    if (bytes.size() > most)
      return failed(status_code::invalid_argument, "the stream has more than {} bytes (load_limits::model_bytes)",
                    most);
    if (had == 0 && !is_at_end)
      if (status s = require_beginning(how, bytes); !s) return s;
    piece_size = std::max(piece_size, bytes.size());
  }
  if (!(stream.exceptions() & std::ios::eofbit)) stream.setstate(std::ios::eofbit);
  return bytes;
}

}  // namespace

result<read_model> read_path(const load_settings& how, const std::string& path) {
  const read_options with = reading(how);
  if (std::error_code error; !with.file && std::filesystem::is_directory(path, error))
    return status{status_code::invalid_argument,
                  "a folder, not a model; if it is a model package, open it with cameo::package::open and select a "
                  "component of it (runtime::select)"};
  const auto file = with.file                ? result<std::shared_ptr<const detail::file_bytes>>{with.file}
                    : how.formats.size() > 1 ? detail::file_bytes::map(path)
                                             : status{status_code::no_suchfile};
  const result<const detail::format_row*> format =
      format_for(how, file ? (*file)->bytes() : std::span<const std::byte>{}, path);
  if (!format) return format.error();
  return read_by(how, **format, (*format)->read_file(path, with));
}

result<read_model> read_bytes(const load_settings& how, std::span<const std::byte> bytes, std::string_view name) {
  const result<const detail::format_row*> format = format_for(how, bytes, {});
  if (!format) return format.error();
  return read_by(how, **format, (*format)->read_bytes(bytes, name, reading(how)));
}

result<read_model> read_own_bytes(const load_settings& how, std::vector<std::byte>&& bytes, std::string_view name) {
  result<read_model> made = read_bytes(how, bytes, name);
  if (made) made->bytes = std::move(bytes);  // moving a vector does not move its elements, to which the model refers
  return made;
}

result<read_model> read_stream(const load_settings& how, std::istream& stream, std::string_view name) {
  result<std::vector<std::byte>> bytes = call_user("the stream", [&] { return read_all(stream, how); });
  if (!bytes) return std::move(bytes).error();
  return read_own_bytes(how, *std::move(bytes), name);
}

result<read_model> made_model(const load_settings& how, std::unique_ptr<model> net) {
  if (status s = require_replaced(how, false, *net); !s) return s;
  return read_model{{}, &how.formats.back(), std::move(net)};
}

}  // namespace CAMEO_NAMESPACE
