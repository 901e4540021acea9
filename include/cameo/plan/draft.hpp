#pragma once
#include <cameo/core/arena.hpp>
#include <cameo/kernel/match.hpp>

namespace CAMEO_NAMESPACE {

/// The number of a value within one draft; slot 0 is the absent value.
using slot = std::uint32_t;

struct draft;

/// A value of a draft. Inputs have no producer. `info.constant` is set if its elements are known.
struct draft_value {
  std::string_view name;
  operand info;  // `present` is true
  bool is_input = false, is_output = false;
};

namespace detail {
/// A node of a draft, which reads and writes slots (0: absent). A subgraph reads slots of the outer draft through
/// captures.
struct draft_node {
  std::string_view name;
  const op_row* op = nullptr;  // null for a compiled node
  std::string_view op_type;    // for messages
  int since = 0;
  std::span<const slot> inputs, outputs;
  std::span<const attribute> attributes;
  std::span<draft* const> subgraphs;
  std::uint8_t provider = 0;                // index of its node_binder
  const detail::kernel_row* row = nullptr;  // the row that runs it, if the node was matched before
  detail::bound_kernel compiled = {};       // set if a provider has compiled the node
};
}  // namespace detail

/// A value of the enclosing draft that a subgraph reads, and the slot that it has in the subgraph's draft.
struct capture {
  slot inner, outer;
};

/// A graph as flat tables in the caller's memory: values, and nodes in order of execution. lower() makes it from a
/// graph, read_ort_draft() from a file. The graph's model or the file owns its texts, attributes and constants.
struct draft {
  arena& memory;
  detail::arena_vector<draft_value> values{memory};
  detail::arena_vector<detail::draft_node> nodes{memory};
  detail::arena_vector<slot> inputs{memory}, outputs{memory};
  detail::arena_vector<capture> captures{memory};
  /// A subgraph's outputs with the sizes that the file declares, if any; a run may contradict them. See
  /// bind_context::declared_subgraph_output().
  std::span<const operand> declared_outputs;

  explicit draft(arena& where) : memory{where} {}
  /// Appends a value; the first call also makes slot 0. OUT_OF_MEMORY when the arena is full.
  result<slot> add_value(const draft_value& value) {
    if (values.empty() && !values.push_back({})) return status_code::out_of_memory;
    if (!values.push_back(value)) return status_code::out_of_memory;
    return slot(values.size() - 1);
  }
};

}  // namespace CAMEO_NAMESPACE
