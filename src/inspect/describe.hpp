#pragma once
#include "inspect/inspection.hpp"
#include "inspect/trace.hpp"

#include <nlohmann/json.hpp>

namespace cameo::inspect {

/// The graphs of a model as JSON for the page: first the main graph, then the graphs inside nodes and the bodies of
/// fused nodes.
///   [{name, of: [graph, node], as, width, height, values, boxes, flows, steps}]
///   values: [name, type, bytes of a constant or -1, its elements if they are few]
///   boxes:  {k: node|input|output|outer, x, y, w, h, and for nodes op, domain, name, opset, provider, partition,
///            attributes, in, out, captures (numbers of values; -1: absent), fused, why, graphs, time: [calls, ns, own
/// ns], work: [operations, bytes, least ns]}
///   flows:  [box, value, [x, y, ...], [box, point that the line to it leaves, or -1], ...]
///   steps:  the box of each step of the plan, or -1
nlohmann::ordered_json describe_graphs(const session&, const inspection&, const profiled_run*);

/// How the main graph's steps use memory: {bytes, left_out, values: [name, box, offset, bytes, first, last], live,
/// read, known}. `boxes` has the box of each step.
nlohmann::ordered_json describe_memory(const session&, const nlohmann::ordered_json& boxes);

}  // namespace cameo::inspect
