#pragma once
// Shared by the sources that make graphs and values from messages; no other file includes it.
#include "../graph/messages.hpp"
#include "onnx_decode.hpp"

#include <cameo/graph/model.hpp>

#include <functional>
#include <map>

namespace CAMEO_NAMESPACE {

class model_folders;

/// Makes values from tensors. Weights that are aligned stay in place; the rest is copied to `memory`.
struct tensor_reader {
  arena& memory;
  std::size_t budget;                                                       // limit of `memory` in bytes
  bool stays = false;                                                       // the data of raw_data lives long enough to
                                                                            // stay in place
  std::vector<std::shared_ptr<const detail::file_bytes>>* files = nullptr;  // keeps mappings; null: no external data
  /// Opens the folders of external data when they are first needed; null: the model comes from memory, without a
  /// folder.
  std::function<result<std::shared_ptr<const model_folders>>()> open_folders = {};
  std::shared_ptr<const model_folders> folders = {};
  std::map<std::string, std::span<const std::byte>> mapped = {};  // by location
  std::span<const detail::given_tensor> given = {};               // these replace initializers, by name
  model* odd = nullptr;  // receives warnings about accepted deviations; null: they are errors

  result<value> read(const wire::tensor_message&);
  result<value> read(const wire::sparse_tensor_message&);
  /// An initializer of the main graph, or the tensor that replaces it, which must have the same type and shape.
  result<value> read_or_given(const wire::tensor_message&, std::string_view name);
  result<value> read_or_given(const wire::sparse_tensor_message& t, std::string_view) { return read(t); }

 private:
  result<value> read_raw(const wire::tensor_message&, const value& made, std::size_t bytes);
  result<value> read_strings(const wire::tensor_message&, value made, std::size_t count);
  result<std::span<const std::byte>> external(const wire::tensor_message&, std::size_t bytes);
  result<std::span<const std::byte>> map_file(const wire::tensor_message&, std::string_view location);
  result<value> place(value made, std::span<const std::byte>);
  result<value> unpack_six_bits(value made, std::span<const std::byte>);
  status sort_entries(const std::vector<std::int64_t>& positions, value& values, value& indices);
};

/// What a reader leaves out of a tensor, as the bytes of a message: documentation, unknown fields and, with
/// `with_name`, its name. Empty if there is nothing.
std::string rest_of_tensor(const wire::tensor_message&, bool with_name);
std::string rest_of_tensor(const wire::sparse_tensor_message&, bool with_name);

/// "tensor 'w' float[3,4]" for messages, also for a malformed tensor.
std::string describe(const wire::tensor_message&);
/// A dtype by its number in files; undefined for other numbers.
dtype dtype_of_number(std::int64_t number);

/// Reads a type; an unknown one becomes `undefined`. The model numbers its symbols.
result<value_type> read_type(const wire::type_message&, model&, int depth = 0);
/// What read_type() leaves out, as the bytes of a message: denotations of dims, opaque types, unknown fields. Empty if
/// there is nothing.
std::string rest_of_type(const wire::type_message&);

}  // namespace CAMEO_NAMESPACE
