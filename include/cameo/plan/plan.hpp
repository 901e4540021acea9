#pragma once
#include <cameo/core/memory.hpp>
#include <cameo/plan/draft.hpp>

CAMEO_BEGIN_NAMESPACE

struct plan_view;

/// A bound node, or a copy between memory kinds that the planner inserted.
struct plan_step {
  detail::bound_kernel kernel;
  std::span<const slot> inputs, outputs;  // 0: absent
  std::span<const slot> releases;         // values in run-time blocks that no step after this one reads
  std::span<const detail::output_hint> hints;
  std::span<const plan_view* const> subplans;  // by the index of the graph attribute
  std::string_view name, op_type;              // for errors and profiles
  std::uint32_t level = 0;                     // steps of one level don't depend on each other
  std::uint8_t provider = 0;                   // index into plan_options::binders; without meaning for a copy
};

/// As an offset: the value has no place of its own in the plan.
inline constexpr std::size_t not_planned = std::size_t(-1);

/// The places of a plan's values whose shapes are known before a run: offsets into one region per memory kind.
struct placement {
  std::span<std::size_t> offsets;       // per slot; not_planned: not in a region
  std::span<std::size_t> region_bytes;  // per memory kind
};

/// The kind and type that kernels were bound for: a value of the slot must have them, wherever it comes from. For a
/// sequence, the type is that of the tensors in it.
struct slot_promise {
  type_kind kind = type_kind::unknown;  // unknown: any kind
  dtype type = dtype::undefined;        // undefined: any element type
};

/// Everything that the runner needs, all of it constant: spans into the arena that the plan was made in. `initial` is
/// the content of a new frame: constants and types are set. A value is fixed when it has an offset in `fixed`.
struct plan_view {
  std::span<const plan_step> steps;
  std::span<const value> initial;           // per slot; slot 0 is `none`
  std::span<const std::string_view> names;  // per slot
  std::span<const slot_promise> promises;   // per slot
  std::span<const slot> inputs, outputs;    // of the graph, in its order
  std::span<const capture> captures;        // of a subgraph: filled from the enclosing frame
  placement fixed;
  std::size_t levels = 0;    // one more than the highest level of a step
  bool by_level = false;     // lifetimes also hold for a run level by level
  bool has_dynamic = false;  // some tensor's shape is known only in a run
};

CAMEO_END_NAMESPACE
