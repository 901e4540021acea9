#pragma once
#include <cameo/format/format.hpp>
#include <cameo/session/options.hpp>

#include <optional>

namespace CAMEO_NAMESPACE {

class file_batch;

/// The model to compile: a file, bytes that stay valid until compile() returns, or a graph. One of them must be set.
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
/// The destination of the compiled model: a file, which is written completely or not at all; a string that receives the
/// bytes; or a function that is called with at most 64 KiB of the bytes at a time, and whose error ends the
/// compilation. If none is set, the destination is the file "<stem>_ctx.onnx" beside the input file.
struct compile_output {
  using sink = detail::callback<status(std::span<const std::byte>)>;
  std::optional<std::string> path = {};
  std::string* bytes = nullptr;
  sink function = {};

  compile_output() = default;
  compile_output(std::string file) : path{std::move(file)} {}
  compile_output(const char* file) : path{file} {}
  compile_output(std::string* receiver) : bytes{receiver} {}
  compile_output(sink receiver) : function{std::move(receiver)} {}
  template <std::invocable<std::span<const std::byte>> F>
  compile_output(F receiver) : function{std::move(receiver)} {}
  bool is_memory() const { return bytes || function; }
  bool is_nothing() const { return !path && !is_memory(); }
};

/// Options of runtime::compile. Names and meanings are those of ONNX Runtime's compile API.
struct compile_options {
  compile_input input = {};
  compile_output output = {};
  /// The providers, configuration keys, limits and callbacks. Its member `optimize` is not used. The members below
  /// decide where the model and its contexts are written.
  session_options session = {};
  /// The level of rewrites, with the same meaning as for a session. The rewrites of basic precede the providers' choice
  /// of groups, so that a provider receives the graph that it would receive when the model is loaded. Higher levels
  /// rewrite nodes that stay outside contexts; the result of layout and all may only be useful on this machine. `none`,
  /// ONNX Runtime's default, leaves the model unchanged.
  optimization_level optimize = optimization_level::basic;
  bool embed = false;                      // contexts are inside the model; false: in files beside it
  bool fail_if_nothing_compiled = false;   // FAIL if no node was compiled; false: the model is written without contexts
  bool fail_if_output_exists = false;      // FAIL if the output file exists; false: it is replaced
  std::string external_initializers = {};  // file beside the model for the remaining initializers; empty: in the model
  std::size_t external_threshold = 0;      // the least size in bytes of an initializer that is written to that file
  std::size_t external_alignment = 0;      // of each initializer in that file (write_options)
  std::string* external_buffer = nullptr;  // receives the contents of that file, which is then not written
  /// Called for every initializer that stays in the compiled model: returns its location in a file that the caller
  /// writes, or std::nullopt to store it in the model. Replaces external_initializers.
  detail::callback<result<std::optional<external_place>>(std::string_view name, const value&)> place_initializer = {};
  /// Collects the written files: all of them appear together when the caller commits the batch, as is needed for
  /// several models that share a context. Null: they appear before compile() returns.
  file_batch* files = nullptr;
  /// The folder (with a final separator) and the model name for files of contexts when the model is written to memory.
  std::string binary_folder = {}, binary_model = {};
};

/// The result of a compilation.
struct compile_report {
  std::size_t compiled_nodes = 0;
  std::string path;  // of the compiled model's file; empty: it was not written to a file
};

}  // namespace CAMEO_NAMESPACE
