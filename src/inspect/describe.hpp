#pragma once
#include "inspect/inspection.hpp"
#include "inspect/trace.hpp"

#include <nlohmann/json.hpp>

namespace cameo::inspect {

/// The graphs of a model for the page: the main graph first, then graphs in nodes and bodies of fused nodes.
///   [{name, of: [graph, node], as, width, height, values, boxes, flows, steps}]
///   values: [name, type, bytes of a constant or -1, its elements if they are few]
///   boxes:  {k: node|input|output|outer, x, y, w, h, and for nodes op, domain, name, opset, provider, partition,
///            attributes, in, out, captures (numbers of values; -1: absent), fused, why, graphs, time: [calls, ns, own
///            ns], work: [operations, bytes, least ns]}
///   flows:  [box, value, [x, y, ...], [box, where it leaves], ...]
///   steps:  of the plan: the box of each, or -1
nlohmann::ordered_json describe_graphs(const session&, const inspection&, const profiled_run*);

/// What the main graph's steps do to memory: {bytes, left_out, values: [name, box, offset, bytes, first, last], live,
/// read, known}. `boxes`: of each step.
nlohmann::ordered_json describe_memory(const session&, const nlohmann::ordered_json& boxes);

}  // namespace cameo::inspect
