#pragma once
#include <cameo/graph/views.hpp>
#include <cameo/kernel/run_context.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace acme {

enum class opcode : std::uint8_t { add, subtract, multiply, relu };

/// One step: out = a op b, over a block of elements. The numbers are those of places.
struct instruction {
  opcode code;
  std::uint32_t a, b, out;
};

/// The opcode of a node; std::nullopt when programs have none for it.
std::optional<opcode> instruction_for(const cameo::node_view&);

/// A group as a loop over blocks that fit the first-level cache. Places are numbered: inputs, then constants, then
/// outputs, which are memory of the whole tensor, then registers, which are memory of one block and reused.
class program {
 public:
  /// `body` has only nodes with an opcode, on tensors of one shape; its constants outlive the program.
  static program of(const cameo::graph_view& body);
  /// Thread-safe. INVALID_ARGUMENT when inputs or constants have different shapes.
  cameo::status run(cameo::run_context&) const;

  /// The bytes for a file. Offsets in the bytes are relative to their beginning.
  std::string to_bytes() const;
  /// Checked in every respect: the program can be run for any bytes. It reads its constants in place,
  /// in the bytes that `owner` keeps alive. INVALID_GRAPH.
  static cameo::result<program> from_bytes(std::span<const std::byte>, std::shared_ptr<const void> owner);
  /// True if the node has as many inputs and outputs.
  bool fits(const cameo::node_view& node) const {
    return node.input_count() == input_count_ && node.output_count() == output_count_;
  }

 private:
  static constexpr std::int64_t block = 1024;
  std::size_t memory_places() const { return input_count_ + constants_.size() + output_count_; }

  std::vector<instruction> code_;
  std::size_t input_count_ = 0, output_count_ = 0, register_count_ = 0;
  std::vector<cameo::value> constants_;
  std::vector<std::shared_ptr<const void>> owners_;  // of constants that came from a file
};

}  // namespace acme
