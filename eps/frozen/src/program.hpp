#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/plan/plan.hpp>
#include <cameo/plan/planner.hpp>
#include <cameo/session/session.hpp>

#include "container.hpp"

namespace cameo::inline CAMEO_ABI::eps::frozen_file {

/// The base provider, without its type.
struct base_provider {
  const provider_row& row;
  const void* self;
};

/// A constant as its kernel packed it, in the order of binding.
struct packed_constant {
  const void* data;
  std::size_t bytes;
};

/// A graph planned for the base's kernels, to be run as a step of a session's plan. Runs change nothing in it.
class program {
 public:
  /// Optimizes a graph as a session with the base alone would at level all, and plans it. What the graph refers to
  /// outlives the program.
  static result<std::shared_ptr<const program>> compile(const base_provider&, const graph_view& body);
  /// From a plan in a container. Nothing that the plan says is believed: INVALID_GRAPH. The program keeps the binary
  /// that the container lies in, or the copy of it.
  static result<std::shared_ptr<const program>> restore(const base_provider&, const context_binary&, const opened&,
                                                        const opened::plan&);

  /// What a container has of it; constants go to the builder. Only of one that was compiled.
  std::vector<std::byte> text(builder&, std::shared_ptr<const program> self) const;
  const draft& net() const { return *net_; }
  status run(run_context&) const;

 private:
  status make_plan(const base_provider&, const detail::pack_keeper&);
  std::vector<bool> slots_read_raw() const;

  std::optional<session> optimized_;    // holds what a compiled draft refers to
  std::optional<context_binary> from_;  // holds what a restored one refers to,
  std::shared_ptr<const void> copy_;    // or this does
  heap_arena memory_{1 << 14};
  draft* net_ = nullptr;
  const plan_view* plan_ = nullptr;
  std::vector<packed_constant> packs_;
};

/// Whether a container can hold a node: what it reads, makes and is told.
bool can_hold(const node_view&);

/// Reads a plan's text into a draft in `memory`; texts, attributes and constants stay in the container. `packs` gets
/// the packed constants. Every node is one that the kernels of the base take, in an order of execution. INVALID_GRAPH.
result<draft*> read_plan(std::span<const std::byte> text, const opened& from, const base_provider&,
                         std::vector<packed_constant>& packs, arena& memory);

/// The text of a draft. `raw`: by slot, whether a run reads its constant as it is.
std::vector<std::byte> write_plan(const draft&, const std::vector<bool>& raw, std::span<const packed_constant> packs,
                                  const std::shared_ptr<const void>& keeps_packs, builder& blobs);

}  // namespace cameo::inline CAMEO_ABI::eps::frozen_file
