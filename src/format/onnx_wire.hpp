#pragma once
#include <cameo/core/result.hpp>
#include <cameo/format/onnx.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace cameo::inline CAMEO_ABI {

/// The messages of ONNX that can hold a tensor somewhere inside.
enum class wire_message : std::uint8_t { model, graph, node, attribute, tensor, sparse_tensor, function };

/// A message without its weights, small enough for protobuf. Each raw_data holds the number (raw_index) of its span
/// instead; all of them do, so that a file cannot forge one.
struct stripped_message {
  std::string bytes;
  std::vector<std::span<const std::byte>> raw;  // borrowed from the input
  std::string training;                         // fields of a model that are not interpreted at all
};

/// Walks the wire format. INVALID_PROTOBUF where it ends early or is none; INVALID_GRAPH when subgraphs are nested
/// deeper than the limit; OUT_OF_MEMORY when what it would take as objects is over the limit. Does not recurse deeper
/// than deepest_graph() subgraphs.
result<stripped_message> strip_raw_data(std::span<const std::byte> bytes, wire_message kind, const load_limits&);

/// The content of a raw_data of a stripped message.
std::string raw_index(std::size_t number);
/// False when it was not written by strip_raw_data.
bool read_raw_index(std::string_view raw_data, std::size_t& number);

/// The subgraph depth that is walked at most: recursion over it is bounded whatever the caller allows.
std::size_t deepest_graph(const load_limits&);
/// The recursion protobuf needs for that: three messages a level, and types inside.
int protobuf_depth(const load_limits&);

/// Bytes of a message in pieces: weights are borrowed, not copied.
struct wire_pieces {
  struct piece {
    std::size_t at;  // before this byte of `text`
    std::span<const std::byte> bytes;
  };
  std::string text;
  std::vector<piece> borrowed;  // in order
  std::size_t borrowed_bytes = 0;

  std::size_t size() const { return text.size() + borrowed_bytes; }
  void append(const wire_pieces&);
  void append(std::string_view);
  void borrow(std::span<const std::byte>);
  /// In order of the message.
  std::vector<std::span<const std::byte>> spans() const;
  /// In one string.
  std::string joined() const;
};

/// The reverse of strip_raw_data: `bytes` with the spans in the place of their numbers.
result<wire_pieces> insert_raw_data(std::string_view bytes, wire_message kind,
                                    std::span<const std::span<const std::byte>> raw);

}  // namespace cameo::inline CAMEO_ABI
