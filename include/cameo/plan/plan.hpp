#pragma once
#include <cameo/core/memory.hpp>
#include <cameo/plan/draft.hpp>

namespace CAMEO_NAMESPACE {

struct plan_view;

/// A bound node, or a copy between memory kinds that the planner inserted.
struct plan_step {
  detail::bound_kernel kernel;
  std::span<const slot> inputs, outputs;  // 0: absent
  std::span<const slot> releases;         // values in run-time blocks that no later step reads
  std::span<const detail::output_hint> hints;
  std::span<const plan_view* const> subplans;  // by the index of the graph attribute
  std::string_view name, op_type;              // for errors and profiles
  std::uint32_t level = 0;                     // steps of one level do not depend on each other
  std::uint8_t provider = 0;                   // index into plan_options::binders; meaningless for a copy
};

/// An offset that means: the value has no planned memory.
inline constexpr std::size_t not_planned = std::size_t(-1);

/// The offsets of a plan's values whose shapes are known before a run, in one region per memory kind.
struct placement {
  std::span<std::size_t> offsets;       // per slot; not_planned: not in a region
  std::span<std::size_t> region_bytes;  // per memory kind
};

/// The kind and type that kernels were bound for, which each value of the slot must have. The type of a sequence is the
/// type of its tensors.
struct slot_promise {
  type_kind kind = type_kind::unknown;  // unknown: any kind
  dtype type = dtype::undefined;        // undefined: any element type
};

/// A plan: the constant data from which a runner runs a graph, as spans into the arena of the plan. `initial` holds the
/// values of a new frame, with constants and types. A value has planned memory if it has an offset in `fixed`.
struct plan_view {
  std::span<const plan_step> steps;
  std::span<const value> initial;           // per slot; slot 0 is `none`
  std::span<const std::string_view> names;  // per slot
  std::span<const slot_promise> promises;   // per slot
  std::span<const slot> inputs, outputs;    // of the graph, in its order
  std::span<const capture> captures;        // of a subgraph: filled from the enclosing frame
  placement fixed;
  std::size_t levels = 0;    // the highest level of a step, plus one
  bool by_level = false;     // lifetimes also hold for runs level by level
  bool has_dynamic = false;  // some tensor's shape is known only in a run
};

}  // namespace CAMEO_NAMESPACE
