#pragma once
// Shared by the sources that write .onnx files, the only ones that use protobuf; no other file includes it.
#include "../graph/messages.hpp"
#include "wire_pieces.hpp"

#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>

#include <onnx/onnx_pb.h>

#include <deque>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE {

namespace pb = google::protobuf;

/// What protobuf writes as the raw_data of a tensor: an index into the borrowed bytes.
std::string raw_index(std::size_t number);

/// A serialized onnx.ModelProto, with indices replaced by the borrowed bytes.
result<wire_pieces> insert_raw_data(std::string_view model, std::span<const std::span<const std::byte>> raw);

/// Makes tensors from values. Weights become indices into `raw` (see raw_index), or external data.
struct tensor_writer {
  std::vector<std::span<const std::byte>>* raw = nullptr;  // null: tensors contain their bytes
  write_options options = {};                              // where weights go
  std::vector<std::span<const std::byte>> external = {};   // contents of the file of external data, with padding
  std::uint64_t external_bytes = 0;
  std::deque<std::string> packed = {};  // data that was packed for the file

  status write(const value&, onnx::TensorProto&);
  status write(const value&, onnx::SparseTensorProto&);
  /// Writes an initializer, whose data may be elsewhere; `to` has its name.
  status write_initializer(const value&, onnx::TensorProto& to);

 private:
  void go_out(std::span<const std::byte> bytes, onnx::TensorProto&);
};

}  // namespace CAMEO_NAMESPACE
