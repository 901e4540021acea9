#pragma once
#include <cameo/graph/views.hpp>
#include <cameo/plan/plan.hpp>

namespace CAMEO_NAMESPACE {

/// The properties of a value by which kernels are matched.
CAMEO_API operand describe(const detail::graph_value&);

/// Returns what kernels are matched by: the operator, its version, and the properties of inputs and outputs. The
/// signature borrows its operands from `storage`, which is cleared first.
CAMEO_API detail::node_signature signature_of(const node_view&, std::vector<operand>& storage);

/// True for a node whose outputs are all constants. Such a node never runs.
CAMEO_API bool is_known(const graph&, const detail::graph_node&);

/// Makes drafts of a partitioned graph and its subgraphs in `memory`. `compiled` holds the kernels of fused nodes,
/// indexed by graph_node::fused. If `overridable`, inputs with an initializer stay inputs (IR version 4 and later).
/// Texts, attributes and constants of the draft belong to the model. OUT_OF_MEMORY when the arena is full.
CAMEO_API result<draft*> lower(const graph&, std::span<const detail::bound_kernel> compiled, bool overridable,
                               arena& memory);

namespace detail {
/// For each step of a plan for `g`, the node that it runs; node_id::none for a copy between kinds of memory.
CAMEO_API std::vector<node_id> nodes_of_steps(const graph& g, const plan_view& plan);
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
