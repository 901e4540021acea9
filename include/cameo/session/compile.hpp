#pragma once
#include <cameo/file/atomic_file.hpp>
#include <cameo/session/options.hpp>

#include <variant>

namespace cameo::inline CAMEO_ABI {

/// What is compiled: a file, bytes that stay until it is done, a graph. Nothing is an error.
using compile_input = std::variant<std::monostate, std::string, std::span<const std::byte>, std::unique_ptr<model>>;
/// Where the compiled model goes: a file, complete or absent; a string that gets its bytes; a function that is called
/// with them, 64 KiB at a time, and may end it with an error. Nothing: beside the input's file, as "<stem>_ctx.onnx".
using compile_output =
    std::variant<std::monostate, std::string, std::string*, std::function<status(std::span<const std::byte>)>>;

/// How to compile a model (runtime::compile). Names and meanings are ONNX Runtime's compile API's.
struct compile_options {
  compile_input input = {};
  compile_output output = {};
  /// Providers, keys, limits, callbacks. Its `optimize` is not used; where the model and its contexts go, the members
  /// here say.
  session_options session = {};
  /// Of the nodes that stay outside contexts. `none` keeps them as they are; layout and all may be of use on this
  /// machine alone.
  optimization_level optimize = optimization_level::none;
  bool embed = false;                      // contexts inside the model; else in files beside it
  bool fail_if_nothing_compiled = false;   // with FAIL; else the model is written as it is
  bool fail_if_output_exists = false;      // with FAIL; else it is replaced
  std::string external_initializers = {};  // file beside the model for initializers that stay; empty: inside it
  std::size_t external_threshold = 0;      // bytes from which they go there
  std::size_t external_alignment = 0;      // of each there (write_options)
  std::string* external_buffer = nullptr;  // gets what would be in that file, instead
  /// Asked for every initializer that stays: where it is, in a file of the caller's, or nothing for inside the model.
  /// Instead of external_initializers.
  std::function<result<std::optional<external_place>>(std::string_view name, const value&)> place_initializer = {};
  /// Takes the files instead of putting them in their places: they appear when the caller commits it, all together, as
  /// several models that share a context should. Null: they appear before compile() returns.
  file_batch* files = nullptr;
  /// Folder (with its separator) and model name for files of contexts when the model itself goes to memory.
  std::string binary_folder = {}, binary_model = {};
};

/// What came of it.
struct compile_report {
  std::size_t compiled_nodes = 0;
  std::string path;  // of the model, if it is a file
};

}  // namespace cameo::inline CAMEO_ABI
