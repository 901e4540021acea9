#pragma once
// Shared by the sources that write .onnx files, the only ones that speak protobuf; nothing else includes it.
#include "../graph/messages.hpp"
#include "wire_pieces.hpp"

#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>

#include <onnx/onnx_pb.h>

#include <deque>
#include <string>
#include <vector>

CAMEO_BEGIN_NAMESPACE

namespace pb = google::protobuf;

/// What protobuf writes as the raw_data of a tensor: the number of its bytes among those that are borrowed.
std::string raw_index(std::size_t number);

/// A serialized onnx.ModelProto with the bytes in the place of their numbers.
result<wire_pieces> insert_raw_data(std::string_view model, std::span<const std::span<const std::byte>> raw);

/// Writes values into tensors. Weights become numbers of `raw` (see raw_index), or external data.
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

CAMEO_END_NAMESPACE
