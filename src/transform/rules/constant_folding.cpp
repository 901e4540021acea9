// Evaluates nodes whose inputs are constants, and removes nodes that are unused.
#include <cameo/core/checked.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rules/standard.hpp>
#include <cameo/transform/transform.hpp>

#include <optional>
#include <vector>

namespace CAMEO_NAMESPACE {
namespace {

/// A folded constant may be larger by this many bytes than the constants that only its node reads, which are then
/// removed.
constexpr std::uint64_t allowance = std::uint64_t{4} << 20;
/// The allowance for a whole graph.
constexpr std::uint64_t allowance_of_all = std::uint64_t{256} << 20;

struct fold_constants {
  static constexpr std::string_view name = "ConstantFolding";

  static bool may_fold(rewriter& r, const node_view& n) {
    constexpr role never = role::is_random | role::is_constant | role::is_compiled_context | role::needs_training;
    if (!r.may_touch(n) || !n.op() || detail::has_role(n.op()->roles, never) || !n.subgraphs().empty() ||
        !n.input_count())
      return false;
    if (r.around().keeps_quantized && n.has_op<op::DequantizeLinear>()) return false;
    for (value_view v : n.inputs())
      if (v && !r.constant(v)) return false;
    for (value_view v : n.outputs())
      if (v && (v.is_graph_output() || v.constant())) return false;
    return true;
  }

  /// Bytes of the constants that are unused once the node is removed.
  static std::uint64_t freed_by(rewriter& r, const node_view& n) {
    std::uint64_t bytes = 0;
    for (value_view v : n.inputs())
      if (v && v.sole_use() && r.constant(v)->kind == value_kind::tensor) bytes += r.constant(v)->bytes();
    return bytes;
  }

  /// Bytes of the outputs whose shapes are known.
  static std::uint64_t bytes_of(const node_view& n) {
    std::uint64_t all = 0;
    for (value_view v : n.outputs()) {
      const std::optional<extents> shape = v && v.type() ? v.type()->fixed_shape() : std::nullopt;
      std::uint64_t count = 1, bytes = 0;
      if (!shape) continue;
      for (std::int64_t d : *shape)
        if (!checked_multiply(count, std::uint64_t(d), count)) return ~std::uint64_t{};
      if (!detail::checked_bytes(v.element(), count, bytes)) return ~std::uint64_t{};
      all += bytes;
    }
    return all;
  }

  /// Evaluates a node. Whether a node is folded must not depend on a temporary lack of memory, so it tries again; a
  /// node that needs more memory than evaluation may use fails again.
  static result<std::span<const value>> evaluated(rewriter& r, const node_view& n) {
    result<std::span<const value>> made = r.around().evaluate(n, r.owner().memory);
    if (made || made.error().code() != status_code::out_of_memory) return made;
    return r.around().evaluate(n, r.owner().memory);
  }

  static result<bool> run(rewriter& r) {
    bool changed = false;
    std::uint64_t grown = 0;
    for (node_id id : detail::ordered_nodes(r.in())) {
      const node_view n = r.node(id);
      if (n.raw().removed || !may_fold(r, n)) continue;
      const std::uint64_t freed = freed_by(r, n);
      if (bytes_of(n) > freed + allowance) continue;
      const result<std::span<const value>> made = evaluated(r, n);
      if (!made) continue;  // a run reports the error
      std::uint64_t bytes = 0;
      bool usable = true;
      for (std::size_t i = 0; i < n.output_count(); ++i)
        if (n.output(i)) usable = usable && (*made)[i].kind == value_kind::tensor, bytes += (*made)[i].bytes();
      grown += bytes > freed ? bytes - freed : 0;
      if (!usable || bytes > freed + allowance || grown > allowance_of_all) continue;
      replace(r, n, *made);
      changed = true;
    }
    return changed;
  }

  static void replace(rewriter& r, const node_view& n, std::span<const value> made) {
    graph& g = r.in();
    const node_id id = n.id();
    const std::vector<value_id> outputs{n.raw().outputs.begin(), n.raw().outputs.end()};
    std::vector<value_id> inputs;
    for (value_view v : n.inputs())
      if (v) inputs.push_back(v.id());
    g.remove_node(id);
    for (std::size_t i = 0; i < outputs.size(); ++i)
      if (outputs[i] != value_id::none) {
        g.add_initializer(outputs[i], &made[i]);
        r.touch(outputs[i]);
      }
    for (value_id v : inputs) r.prune(g[v].producer);
  }
};

/// DequantizeLinear of a constant stays while a group may need it.
constexpr transform_condition for_groups_first{.phase = transform_phase::at_level_and_after_groups};

struct remove_dead_code {
  static constexpr std::string_view name = "DeadCodeElimination";
  static result<bool> run(rewriter& r) { return r.remove_dead(); }
};

}  // namespace

const transform_table& rules::constant_folding::table() {
  return transform_list<optimization_level::basic, fold_constants, remove_dead_code>::table<for_groups_first>();
}

}  // namespace CAMEO_NAMESPACE
