#pragma once
// Shared by the sources that speak protobuf; nothing else includes it.
#include "../graph/messages.hpp"

#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>

#include <onnx/onnx_pb.h>

#include <deque>
#include <map>
#include <string>
#include <vector>

namespace cameo::inline CAMEO_ABI {

namespace pb = google::protobuf;
class held_folder;

/// Parses a message that is at most `depth` messages deep; false when it is none.
bool parse_message(pb::Message&, std::span<const std::byte> bytes, int depth);
bool parse_message(pb::Message&, std::string_view bytes, int depth);

// --- fields newer than the installed onnx: by number ---

/// Takes the texts or messages with this number out of what protobuf did not know.
std::vector<std::string> take_fields(pb::UnknownFieldSet&, int number);
/// Appends to `to` what is in `from`; both of one type.
void copy_unknown(const pb::Message& from, pb::Message& to);
std::string bytes_of(const pb::UnknownFieldSet&);

// --- tensors ---

/// Reads tensors into values. Weights that lie aligned stay where they lie; the rest is copied into `memory`.
struct tensor_reader {
  arena& memory;
  std::size_t budget;                                            // of `memory`, bytes
  const std::vector<std::span<const std::byte>>* raw = nullptr;  // of a stripped message; null: raw_data is the data
  bool copy_all = false;                                         // what raw_data points to does not last
  std::string folder = {};                                       // of external data
  bool has_folder = false;
  std::vector<std::shared_ptr<const file_bytes>>* files = nullptr;  // keeps mappings; null: no external data
  std::map<std::string, std::span<const std::byte>> mapped = {};    // by location
  std::shared_ptr<const held_folder> opened = {};                   // the folder, given or once it was needed

  result<value> read(const onnx::TensorProto&);
  result<value> read(const onnx::SparseTensorProto&);

 private:
  result<value> read_strings(const onnx::TensorProto&, value made, std::size_t count);
  result<std::span<const std::byte>> external(const onnx::TensorProto&, std::size_t bytes);
  result<value> place(const onnx::TensorProto&, value made, std::span<const std::byte>);
  result<value> unpack_six_bits(const onnx::TensorProto&, value made, std::span<const std::byte>);
};

/// Writes values into tensors. Weights become numbers of `raw` (see strip_raw_data), or external data.
struct tensor_writer {
  std::vector<std::span<const std::byte>>* raw = nullptr;  // null: the bytes themselves
  write_options options = {};                              // the places of weights
  std::vector<std::span<const std::byte>> external = {};   // the file's contents, padding included
  std::uint64_t external_bytes = 0;
  std::deque<std::string> packed = {};  // what had to be packed for the file

  status write(const value&, onnx::TensorProto&);
  status write(const value&, onnx::SparseTensorProto&);
  /// An initializer, which may be elsewhere; `to` has its name.
  status write_initializer(const value&, onnx::TensorProto& to);

 private:
  void go_out(std::span<const std::byte> bytes, onnx::TensorProto&);
};

/// "tensor 'w' float[3,4]" for messages, also for a malformed tensor.
std::string describe(const onnx::TensorProto&);
/// A dtype by its number in files; undefined if there is none.
dtype dtype_of_number(std::int64_t number);

// --- types ---

/// The static type. `undefined`: an unknown one. The model numbers its symbols.
result<value_type> read_type(const onnx::TypeProto&, model&, int depth = 0);
/// What read_type leaves out: denotations of dims, opaque types, unknown fields. False if nothing.
bool rest_of_type(const onnx::TypeProto& from, onnx::TypeProto& rest);
/// The other way, into what rest_of_type left.
void write_type(const value_type&, const model&, onnx::TypeProto&);

}  // namespace cameo::inline CAMEO_ABI
