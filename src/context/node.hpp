#pragma once
#include <cameo/ep/context.hpp>

namespace CAMEO_NAMESPACE {

/// The attributes of a compiled node, with the operator's defaults for missing ones.
struct context_record {
  context_node facts;
  bool is_main = true, is_embedded = true;
  std::string_view context;  // the bytes of the context, or the name of its file
  std::string_view id;       // identifies the compilation that wrote the context; empty in models of other programs
};

/// The operator that compiled groups become, from the table of operators.
const op_row& compiled_operator();

/// A unique id of a compilation: 32 random hexadecimal digits.
std::string new_context_id();
/// The text of a node's attribute `notes`: the provider's notes, followed by a line with the id unless it is empty.
std::string notes_with(std::string_view notes, std::string_view id);

/// The node of a model with a single node; an empty view for any other model.
node_view only_node(const model&);
/// Copies the context of the compiled node of `main` to that of `to`, which is secondary; each is the only node of its
/// model. Returns false if the node of `main` is secondary, too. Errors are those of read_context_node(), and
/// OUT_OF_MEMORY.
result<bool> lend_context(const model& main, model& to);

/// Reads the attributes of a compiled node. INVALID_GRAPH when main_context or embed_mode is neither 0 nor 1.
result<context_record> read_context_node(const node_view&);

}  // namespace CAMEO_NAMESPACE
