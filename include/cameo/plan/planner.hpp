#pragma once
#include <cameo/plan/block_heap.hpp>
#include <cameo/plan/plan.hpp>

namespace CAMEO_NAMESPACE {

/// A function that binds the nodes of one provider to kernels.
struct node_binder {
  std::string_view provider;   // short name
  const void* self = nullptr;  // the provider's object
  /// Binds a node that the provider has taken.
  result<detail::bound_kernel> (*bind)(const void* self, const detail::draft_node&, const detail::node_signature&,
                                       bind_context&) = nullptr;
  std::uint8_t memory = 0;  // memory kind that its kernels read and write
};

/// A node_binder::bind for a provider with kernels; `self` is its kernel_table.
CAMEO_API result<detail::bound_kernel> bind_by_table(const void* kernels, const detail::draft_node&,
                                                     const detail::node_signature&, bind_context&);

/// Callbacks while a plan is made.
struct plan_watcher {
  const void* self = nullptr;
  /// Called for a constant that now has a packed or aligned copy, which is read instead.
  void (*copied)(const void* self, const value&) = [](const void*, const value&) {};
  /// Called with the number of nodes that are bound so far.
  void (*bound)(const void* self, std::size_t done, std::size_t total) = [](const void*, std::size_t, std::size_t) {};
};

/// The options of make_plan(). The objects that they refer to are borrowed.
struct plan_options {
  std::span<const node_binder> binders;     // indexed by draft_node::provider
  std::span<const memory_source> memories;  // indexed by kind; [0] is the host's. They outlive the plan.
  arena* scratch = nullptr;                 // for memory that is only needed while planning; null: the plan's arena
  bool prepack = true;
  bool by_level = false;  // plan lifetimes for runs in which steps of a level run in parallel
  /// The largest plausible size of one region in bytes; more is OUT_OF_MEMORY. 1 TB, or 2 GB with addresses of 32 bits.
  std::size_t memory_limit = std::size_t(-1) >> (sizeof(std::size_t) > 4 ? 24 : 1);
  plan_watcher watcher = {};
  detail::pack_keeper packs = {};
  /// The memory kind of the graph's inputs and outputs that are tensors of numbers; other inputs and outputs are in
  /// host memory. The plan copies them where nodes of another memory kind read or make them. plan_view::initial has the
  /// kind of each slot, in value::memory.
  std::uint8_t io_memory = 0;
  /// True for a plan that run_plan() runs as a step of other plans. Its outputs get no offsets, because they outlive
  /// its frame.
  bool as_step = false;
};

/// Binds every node and lays out memory. The plan lies in `memory`, with the kernels' states. The draft must outlive it
/// only if kernels keep its attributes. NOT_IMPLEMENTED, INVALID_GRAPH, ... as kernels return them, with the node's
/// path; OUT_OF_MEMORY when the arena is full or fixed values exceed the limit.
CAMEO_API result<const plan_view*> make_plan(const draft&, const plan_options&, arena& memory);

/// The arguments of place_values(), which borrows them all.
struct placement_request {
  std::span<const plan_step> steps;
  std::span<const value> initial;
  std::span<const slot> outputs;       // these live to the end
  std::span<const std::size_t> bytes;  // per slot; not_planned: the value is not placed
  bool by_level = false;               // steps of a level run in parallel, so their values share no memory
};
/// Assigns an offset to each value whose size is known, so that values with overlapping lifetimes do not share memory.
/// In the order of steps, each output gets the memory of an input if a kernel's hint allows it, else a free block of
/// about its size (a good fit). Writes `out`, whose spans have the size of `initial` and the number of memory kinds.
/// Offsets are multiples of 64. OUT_OF_MEMORY when scratch is full or the sizes do not fit into an address space.
CAMEO_API status place_values(const placement_request&, arena& scratch, placement out);

}  // namespace CAMEO_NAMESPACE
