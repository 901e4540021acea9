#pragma once
#include <cameo/graph/views.hpp>
#include <cameo/kernel/run_context.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace acme {

enum class opcode : std::uint8_t { add, subtract, multiply, relu };

/// Computes out = a op b for a block of elements. `a`, `b` and `out` are indices of the program's inputs, constants,
/// outputs and registers.
struct instruction {
  opcode code;
  std::uint32_t a, b, out;
};

/// The opcode of a node; std::nullopt if its operator has none.
std::optional<opcode> instruction_for(const cameo::node_view&);

/// A group compiled to a loop over blocks of elements that fit in the first-level cache. Its values are in places,
/// which are numbered: inputs, constants and outputs, which have the memory of whole tensors, then registers, which
/// have the memory of one block and are reused.
class program {
 public:
  /// Compiles a graph whose nodes all have an opcode and tensors of one shape. Its constants must outlive the program.
  static program make(const cameo::graph_view& body);
  /// Computes the outputs of a node from its inputs. Thread-safe. INVALID_ARGUMENT if inputs or constants have
  /// different shapes.
  cameo::status run(cameo::run_context&) const;

  /// The program in bytes for a file. Offsets in the bytes are relative to their beginning.
  std::string to_bytes() const;
  /// Reads a program from bytes. They are checked, so that a program that is returned can be run whatever the bytes
  /// are. It uses aligned constants in place; `owner` keeps the bytes alive. INVALID_GRAPH if the bytes are damaged.
  static cameo::result<program> from_bytes(std::span<const std::byte>, std::shared_ptr<const void> owner);
  /// True if the node has the program's numbers of inputs and outputs.
  bool fits(const cameo::node_view& node) const {
    return node.input_count() == input_count_ && node.output_count() == output_count_;
  }

 private:
  static constexpr std::int64_t block = 1024;
  std::size_t memory_places() const { return input_count_ + constants_.size() + output_count_; }

  std::vector<instruction> code_;
  std::size_t input_count_ = 0, output_count_ = 0, register_count_ = 0;
  std::vector<cameo::value> constants_;
  std::vector<std::shared_ptr<const void>> owners_;  // keep constants of files alive
};

}  // namespace acme
