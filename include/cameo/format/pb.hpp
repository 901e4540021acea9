#pragma once
#include <cameo/core/arena.hpp>
#include <cameo/core/value.hpp>

#include <string>
#include <string_view>

namespace CAMEO_NAMESPACE {

/// The kind of value that a .pb file contains.
enum class pb_kind : std::uint8_t { tensor, sequence, optional, map, sparse_tensor };
/// Reads a value of a .pb file (TensorProto, SequenceProto, OptionalProto, ...) into `memory`, for tests and tools.
/// `name` receives the value's name in the file. INVALID_PROTOBUF, INVALID_GRAPH or OUT_OF_MEMORY.
CAMEO_API result<value> read_pb(std::span<const std::byte> bytes, pb_kind kind, arena& memory,
                                std::string* name = nullptr);
/// Returns the bytes of a .pb file with this value.
CAMEO_API result<std::string> write_pb(const value&, pb_kind kind, std::string_view name);

}  // namespace CAMEO_NAMESPACE
