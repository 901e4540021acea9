#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/plan/plan.hpp>
#include <cameo/plan/planner.hpp>
#include <cameo/session/session.hpp>

#include "container.hpp"

namespace CAMEO_NAMESPACE::eps::frozen_file {

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

/// Constants that a weightless plan leaves in the model: of a group's graph, where they are large enough to be worth a
/// name, and where the plan has them with their type and shape.
class constants_outside {
 public:
  explicit constants_outside(const graph& body);
  /// Its number among those that are left, which it then is one of; std::nullopt for one that the plan has to hold.
  std::optional<std::uint32_t> take(const value&);
  /// In the order of their numbers.
  std::vector<value_id> taken;

 private:
  const graph& body_;
  std::unordered_map<const void*, value_id> by_data_;
  std::unordered_map<value_id, std::uint32_t> numbers_;
};

/// A graph planned for the base's kernels, to be run as a step of a session's plan. Runs change nothing in it.
class program {
 public:
  /// Optimizes a graph as a session with the base alone would at level all, and plans it. What the graph refers to
  /// outlives the program. `round_float16`: as with session.round_float16.
  static result<std::shared_ptr<const program>> compile(const base_provider&, const graph_view& body,
                                                        bool round_float16);
  /// From a plan in a container, for a compiled node of it. Nothing that the plan says is believed: INVALID_GRAPH. The
  /// program keeps the binary that the container lies in, or the copy of it; constants of the model outlive it.
  static result<std::shared_ptr<const program>> restore(const base_provider&, const context_binary&, const opened&,
                                                        const opened::plan&, const node_view&, bool verify);

  /// What a container has of it; constants go to the builder. Only of one that was compiled.
  std::vector<std::byte> text(builder&, std::shared_ptr<const program> self) const;
  /// The same without constants that stay outside, and with nothing packed.
  std::vector<std::byte> text(builder&, constants_outside&) const;
  const draft& net() const { return *net_; }
  status run(run_context&) const;

 private:
  status make_plan(const base_provider&, const detail::pack_keeper&);
  std::vector<bool> slots_read_raw() const;

  std::optional<session> optimized_;    // holds what a compiled draft refers to
  std::optional<context_binary> from_;  // holds what a restored one refers to,
  std::shared_ptr<const void> copy_;    // or this does
  detail::heap_arena memory_{1 << 14};
  draft* net_ = nullptr;
  const plan_view* plan_ = nullptr;
  std::vector<packed_constant> packs_;
};

/// Whether a container can hold a node: what it reads, makes and is told.
bool can_hold(const node_view&);

/// What a plan says.
struct plan_content {
  draft* net = nullptr;
  bool is_weightless = false;  // kernels pack constants, all of which are there
  std::vector<packed_constant> packs = {};
};
/// Reads a plan's text into a draft in `memory`; texts, attributes and constants stay in the container, or in the model
/// of the node, among whose inputs they are. Every node of the draft is one that the kernels of the base take, in an
/// order of execution. INVALID_GRAPH. `verify`: constants of the model are held against their checksums.
result<plan_content> read_plan(std::span<const std::byte> text, const opened& from, const base_provider&,
                               const node_view&, bool verify, arena& memory);

/// The text of a draft. `raw`: by slot, whether a run reads its constant as it is. `outside` (null: none): makes a
/// weightless plan.
std::vector<std::byte> write_plan(const draft&, const std::vector<bool>& raw, std::span<const packed_constant> packs,
                                  const std::shared_ptr<const void>& keeps_packs, builder& blobs,
                                  constants_outside* outside);

}  // namespace CAMEO_NAMESPACE::eps::frozen_file
