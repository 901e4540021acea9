#pragma once
// Shared by the sources that make graphs and values of messages; nothing else includes it.
#include "../graph/messages.hpp"
#include "onnx_decode.hpp"

#include <cameo/graph/model.hpp>

#include <functional>
#include <map>

CAMEO_BEGIN_NAMESPACE

class model_folders;

/// Reads tensors into values. Weights that lie aligned stay where they lie; the rest is copied into `memory`.
struct tensor_reader {
  arena& memory;
  std::size_t budget;                                                       // of `memory`, bytes
  bool stays = false;                                                       // what raw_data points to lasts
  std::vector<std::shared_ptr<const detail::file_bytes>>* files = nullptr;  // keeps mappings; null: no external data
  /// Opens the folders of external data, once there is some; null: the model comes from memory, without a folder.
  std::function<result<std::shared_ptr<const model_folders>>()> open_folders = {};
  std::shared_ptr<const model_folders> folders = {};
  std::map<std::string, std::span<const std::byte>> mapped = {};  // by location
  std::span<const detail::given_tensor> given = {};               // instead of initializers, by name
  model* odd = nullptr;  // whose warnings tell what is odd and harmless; null: that is an error, too

  result<value> read(const wire::tensor_message&);
  result<value> read(const wire::sparse_tensor_message&);
  /// An initializer of the main graph: the tensor that was given for its name, if it is of the same type and shape.
  result<value> read_or_given(const wire::tensor_message&, std::string_view name);
  result<value> read_or_given(const wire::sparse_tensor_message& t, std::string_view) { return read(t); }

 private:
  result<value> read_strings(const wire::tensor_message&, value made, std::size_t count);
  result<std::span<const std::byte>> external(const wire::tensor_message&, std::size_t bytes);
  result<value> place(value made, std::span<const std::byte>);
  result<value> unpack_six_bits(value made, std::span<const std::byte>);
  status sort_entries(const std::vector<std::int64_t>& positions, value& values, value& indices);
};

/// What a reader leaves out of a tensor, as the bytes of a message: its documentation and unknown fields, and its name
/// where nothing else keeps that. Empty if there is nothing.
std::string rest_of_tensor(const wire::tensor_message&, bool with_name);
std::string rest_of_tensor(const wire::sparse_tensor_message&, bool with_name);

/// "tensor 'w' float[3,4]" for messages, also for a malformed tensor.
std::string describe(const wire::tensor_message&);
/// A dtype by its number in files; undefined if there is none.
dtype dtype_of_number(std::int64_t number);

/// The static type. `undefined`: an unknown one. The model numbers its symbols.
result<value_type> read_type(const wire::type_message&, model&, int depth = 0);
/// What read_type leaves out, as the bytes of a message: denotations of dims, opaque types, unknown fields. Empty if
/// there is nothing.
std::string rest_of_type(const wire::type_message&);

CAMEO_END_NAMESPACE
