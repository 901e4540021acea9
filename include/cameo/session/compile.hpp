#pragma once
#include <cameo/format/format.hpp>
#include <cameo/session/options.hpp>

#include <optional>

namespace CAMEO_NAMESPACE {

class file_batch;

/// The model to compile: a file, bytes that stay valid until it is done, or a graph. Nothing is an error.
struct compile_input {
  std::string path = {};
  std::span<const std::byte> bytes = {};
  std::unique_ptr<model> graph = {};

  compile_input() = default;
  compile_input(std::string from) : path{std::move(from)} {}
  compile_input(const char* from) : path{from} {}
  compile_input(std::span<const std::byte> from) : bytes{from} {}
  compile_input(std::unique_ptr<model> from) : graph{std::move(from)} {}
};
/// Where the compiled model goes: a file, complete or absent; a string that receives its bytes; a function that is
/// called with them, 64 KiB at a time, and may end it with an error. Nothing: "<stem>_ctx.onnx" beside the file.
struct compile_output {
  using sink = detail::callback<status(std::span<const std::byte>)>;
  std::optional<std::string> path = {};
  std::string* bytes = nullptr;
  sink to = {};

  compile_output() = default;
  compile_output(std::string file) : path{std::move(file)} {}
  compile_output(const char* file) : path{file} {}
  compile_output(std::string* receiver) : bytes{receiver} {}
  compile_output(sink receiver) : to{std::move(receiver)} {}
  template <std::invocable<std::span<const std::byte>> F>
  compile_output(F receiver) : to{std::move(receiver)} {}
  bool is_memory() const { return bytes || to; }
  bool is_nothing() const { return !path && !is_memory(); }
};

/// How to compile a model (runtime::compile). Names and meanings are those of ONNX Runtime's compile API.
struct compile_options {
  compile_input input = {};
  compile_output output = {};
  /// Providers, keys, limits, callbacks. Its `optimize` is not used; the members here decide where the model and its
  /// contexts go.
  session_options session = {};
  /// The level, with the same meaning as for a session: the rewrites of basic come before providers choose their
  /// groups, so that a provider sees the graph that it sees when the model is loaded; higher levels are for nodes that
  /// stay outside contexts, and the result of layout and all may only be useful on this machine. `none` keeps the model
  /// as it is, which is ONNX Runtime's default.
  optimization_level optimize = optimization_level::basic;
  bool embed = false;                      // contexts inside the model; else in files beside it
  bool fail_if_nothing_compiled = false;   // with FAIL; else the model is written without contexts
  bool fail_if_output_exists = false;      // with FAIL; else it is replaced
  std::string external_initializers = {};  // file beside the model for initializers that stay; empty: inside it
  std::size_t external_threshold = 0;      // initializers of at least so many bytes go there
  std::size_t external_alignment = 0;      // of each initializer there (write_options)
  std::string* external_buffer = nullptr;  // receives the bytes of that file, instead
  /// Called for every initializer that stays: returns its place in a file of the caller's, or std::nullopt to keep it
  /// in the model. Instead of external_initializers.
  detail::callback<result<std::optional<external_place>>(std::string_view name, const value&)> place_initializer = {};
  /// Receives the files instead of putting them in their places: they appear when the caller commits it, all together,
  /// as is needed for several models that share a context. Null: they appear before compile() returns.
  file_batch* files = nullptr;
  /// Folder (with its separator) and model name for files of contexts when the model itself goes to memory.
  std::string binary_folder = {}, binary_model = {};
};

/// The result of a compilation.
struct compile_report {
  std::size_t compiled_nodes = 0;
  std::string path;  // of the model, if it is a file
};

}  // namespace CAMEO_NAMESPACE
