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

/// A constant that a kernel packed. Lists of them are in the order in which kernels are bound.
struct packed_constant {
  const void* data;
  std::size_t bytes;
};

/// The constants that a weightless plan leaves in the model: constants of the group's graph that are large enough, and
/// that have the same type and shape in the plan.
class constants_outside {
 public:
  explicit constants_outside(const graph& body);
  /// Leaves a constant in the model and returns its number; std::nullopt if the plan has to contain it.
  std::optional<std::uint32_t> take(const value&);
  /// The constants that are left in the model, in the order of their numbers.
  std::vector<value_id> taken;

 private:
  const graph& body_;
  std::unordered_map<const void*, value_id> by_data_;
  std::unordered_map<value_id, std::uint32_t> numbers_;
};

/// A plan of a graph for the base's kernels, which runs as a step of a session's plan. Thread-safe.
class program {
 public:
  /// Optimizes a graph as a session with only the base would at level all, and plans it. The objects that the graph
  /// refers to must outlive the program. `round_float16`: as with session.round_float16.
  static result<std::shared_ptr<const program>> compile(const base_provider&, const graph_view& body,
                                                        bool round_float16);
  /// Restores a plan of a container for a compiled node. The plan is not trusted: INVALID_GRAPH if it is invalid. The
  /// program keeps the container's binary, or its copy, alive; constants of the model must outlive the program.
  static result<std::shared_ptr<const program>> restore(const base_provider&, const context_binary&, const opened&,
                                                        const opened::plan&, const node_view&, bool verify);

  /// The plan's bytes for a container; constants are added to the builder. Only for a program that was compiled.
  std::vector<std::byte> text(builder&, std::shared_ptr<const program> self) const;
  /// The bytes of a weightless plan, without the constants that stay in the model and without packed constants.
  std::vector<std::byte> text(builder&, constants_outside&) const;
  const draft& net() const { return *net_; }
  status run(run_context&) const;

 private:
  status make_plan(const base_provider&, const detail::pack_keeper&);
  std::vector<bool> slots_read_raw() const;

  std::optional<session> optimized_;      // contains the objects that a compiled draft refers to
  std::optional<context_binary> binary_;  // the bytes that a restored draft refers to
  std::shared_ptr<const void> copy_;      // the copy of these bytes, if the draft refers to a copy instead
  detail::heap_arena memory_{1 << 14};
  draft* net_ = nullptr;
  const plan_view* plan_ = nullptr;
  std::vector<packed_constant> packs_;
};

/// True if a plan can contain a node: its inputs, outputs and attributes.
bool can_hold(const node_view&);

/// True if a version of an operator may have maps, which types of values do not distinguish from tensors.
bool holds_maps(const op_version&);

/// The contents of a plan.
struct plan_content {
  draft* net = nullptr;
  bool is_weightless = false;  // kernels pack the constants, which are all present
  std::vector<packed_constant> packs = {};
};
/// Reads a plan's bytes into a draft in `memory`. Texts, attributes and constants refer to the container, or to
/// constants of the model that are inputs of the node. The base has a kernel for every node of the draft; the nodes are
/// in order of execution. INVALID_GRAPH if the bytes are not a valid plan. `verify`: constants of the model are
/// compared with their checksums.
result<plan_content> read_plan(std::span<const std::byte> text, const opened& from, const base_provider&,
                               const node_view&, bool verify, arena& memory);

/// The bytes of a draft's plan. `raw`: by slot, whether a run reads the constant unpacked. `outside`, unless it is
/// null, makes a weightless plan.
std::vector<std::byte> write_plan(const draft&, const std::vector<bool>& raw, std::span<const packed_constant> packs,
                                  const std::shared_ptr<const void>& keeps_packs, builder& blobs,
                                  constants_outside* outside);

}  // namespace CAMEO_NAMESPACE::eps::frozen_file
