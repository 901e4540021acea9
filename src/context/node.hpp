#pragma once
#include <cameo/ep/context.hpp>

namespace cameo::inline CAMEO_ABI {

/// A compiled node as its model has it, with the operator's defaults for what it leaves out (epcontext.md 1.1).
struct context_record {
  context_node facts;
  bool is_main = true, is_embedded = true;
  std::string_view context;  // its bytes, or the name of their file
  std::string_view id;       // of the output that the context was written for; empty in models of other programs
};

/// The operator that compiled groups become: the table says which.
const op_row& compiled_operator();

/// An id that no other output has: 32 hexadecimal digits of chance.
std::string new_context_id();
/// What stands in a node's `notes`: the provider's, and the id in a line of its own behind them. Without an id, the
/// provider's alone.
std::string notes_with(std::string_view notes, std::string_view id);

/// INVALID_GRAPH when a number is out of its range, or a node that is secondary comes with a context.
result<context_record> read_context_node(const node_view&);

}  // namespace cameo::inline CAMEO_ABI
