#pragma once
#include <cameo/ep/context.hpp>

namespace CAMEO_NAMESPACE {

/// A compiled node as in its model, with the operator's defaults for attributes that it does not have.
struct context_record {
  context_node facts;
  bool is_main = true, is_embedded = true;
  std::string_view context;  // its bytes, or the name of their file
  std::string_view id;       // of the output that the context was written for; empty in models of other programs
};

/// The operator that compiled groups become, from the table of operators.
const op_row& compiled_operator();

/// An id that no other output has: 32 hexadecimal digits of chance.
std::string new_context_id();
/// The text of a node's `notes`: the provider's notes, then the id in a line of its own. Without an id, the
/// provider's notes alone.
std::string notes_with(std::string_view notes, std::string_view id);

/// The node of a model that has just one; false for any other model.
node_view only_node(const model&);
/// Gives the compiled node of `to`, which is secondary, the context of `main`'s; each is its model's only node. False
/// if that one is secondary, too. Errors as read_context_node()'s; OUT_OF_MEMORY.
result<bool> lend_context(const model& main, model& to);

/// INVALID_GRAPH when a number is out of its range, or a node that is secondary comes with a context.
result<context_record> read_context_node(const node_view&);

}  // namespace CAMEO_NAMESPACE
