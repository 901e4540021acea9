#pragma once
#include <cameo/ep/context.hpp>

namespace cameo::inline CAMEO_ABI {

/// A compiled node as its model has it, with the operator's defaults for what it leaves out (epcontext.md 1.1).
struct context_record {
  context_node facts;
  bool is_main = true, is_embedded = true;
  std::string_view context;  // its bytes, or the name of their file
};

/// INVALID_GRAPH when a number is out of its range, or a node that is secondary comes with a context.
result<context_record> read_context_node(const node_view&);

}  // namespace cameo::inline CAMEO_ABI
