#include <cameo/op/compiled_context.hpp>
#include <cameo/partition/lower.hpp>
#include <cameo/partition/partition.hpp>
#include <cameo/transform/rules/channels_last.hpp>

#include "core/guarded.hpp"
#include "graph/messages.hpp"
#include "partition/fuse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <map>
#include <unordered_set>

namespace CAMEO_NAMESPACE {
namespace {

/// True if provider `p` has to wait for a later one that has a device of this kind.
bool must_wait(std::span<const claim_row> rows, std::size_t p, std::optional<device_kind> kind) {
  const auto has_one = [&](const claim_row& row) { return kind && row.kinds.has(*kind); };
  return !has_one(rows[p]) && std::any_of(rows.begin() + std::ptrdiff_t(p), rows.end(), has_one);
}

/// While it lives, nodes that rules withhold from a provider seem to be assigned.
class provider_turn {
 public:
  provider_turn(graph& g, const placement_rules* rules, std::span<const claim_row> rows, std::size_t p) : graph_{g} {
    if (!rules) return;
    for (node_id n : g.order()) {
      if (g[n].provider >= 0 || !must_wait(rows, p, rules->kind_of(g, n))) continue;
      g[n].provider = withholding_provider;
      withheld_.push_back(n);
    }
  }
  provider_turn(const provider_turn&) = delete;
  provider_turn& operator=(const provider_turn&) = delete;
  ~provider_turn() {
    for (node_id n : withheld_)
      if (graph_[n].provider == withholding_provider) graph_[n].provider = -1;
  }

 private:
  graph& graph_;
  std::vector<node_id> withheld_;
};

class partitioner {
 public:
  partitioner(model& m, std::span<const claim_row> rows, const op_table& ops, const partition_options& options)
      : model_{m}, rows_{rows}, ops_{ops}, options_{options} {}

  status inline_ahead() {
    for (bool inlined = has_calls(model_.main()); inlined;) {
      inlined = false;
      if (status s = inline_unwanted(model_.main(), inlined); !s) return s;
    }
    return {};
  }

  result<std::vector<fused_node>> run() {
    if (rows_.empty()) return status{status_code::invalid_argument, "a session needs at least one provider"};
    for (bool inlined = true; inlined;) {
      if (status s = claim_contexts(model_.main()); !s)
        return s;  // repeated, because a function's body may contain
                   // compiled nodes
      for (std::size_t p = 0; p < rows_.size(); ++p)
        if (status s = claim(model_.main(), p); !s) return s;
      inlined = false;
      if (status s = inline_unclaimed(model_.main(), inlined); !s) return s;
    }
    if (status s = require_all_claimed(model_.main()); !s) return s;
    return remaining_nodes();
  }

 private:
  status canceled() const {
    if (!options_.canceled()) return {};
    return {status_code::model_load_canceled, "a stop of loading was requested while providers chose nodes"};
  }

  /// Assigns compiled nodes to their providers before any provider is called.
  status claim_contexts(graph& g) {
    for (node_id n : g.order()) {
      for (graph* sub : g[n].subgraphs)
        if (status s = claim_contexts(*sub); !s) return s;
      if (g[n].provider >= 0 || !g[n].op || !detail::has_role(g[n].op->roles, role::is_compiled_context)) continue;
      const std::string_view source = compiled_context_attributes{g[n].attributes}.source;
      const std::size_t p = owner_of(source, rows_);
      if (p < rows_.size()) {
        if (status s = require_types(g, g[n]); !s) return s;
        note(g, {&n, 1}, p);
        fused_node made;
        made.name = g[n].name, made.in = &g, made.node = n;
        keep(g, std::move(made), p);
      } else if (options_.keep_external_contexts) {
        g[n].provider = external_provider;
      } else {
        return no_provider_of(g, g[n], source.empty() ? "unknown" : source);
      }
    }
    return {};
  }

  /// Checks the types of a compiled node's outputs, which no shape function infers.
  static status require_types(const graph& g, const detail::graph_node& n) {
    for (value_id v : n.outputs)
      if (v != value_id::none && (!g[v].type || (g[v].type->is_tensor() && g[v].type->type == dtype::undefined)))
        return failed(status_code::invalid_graph, "{}: the model does not declare the type of its output '{}'",
                      name_of(g, n), g[v].name);
    return {};
  }

  static std::size_t owner_of(std::string_view source, std::span<const claim_row> rows) {
    std::size_t p = 0;
    while (p < rows.size() && std::none_of(
                                  rows[p].sources.begin(), rows[p].sources.end(),
                                  [&](const context_source& each) { return each.matches(source); }))
      ++p;
    return p;
  }

  status no_provider_of(const graph& g, const detail::graph_node& n, std::string_view source) const {
    const auto names = rows_ | ranges::views::transform(&claim_row::long_name);
    const std::size_t other = owner_of(source, options_.others);
    const std::string advice =
        other < options_.others.size()
            ? fmt::format("; add the provider '{0}', which does (--ep {0})", options_.others[other].name)
            : std::string{"; use a program that was built with a provider for it"};
    return failed(status_code::not_implemented,
                  "{} was compiled for source '{}', which no provider of this session has: {}{}", name_of(g, n), source,
                  fmt::join(names, ", "), advice);
  }

  /// Records an assignment. `whole`: with the nodes of subgraphs.
  void note(const graph& g, std::span<const node_id> nodes, std::size_t p, bool whole = false) const {
    if (!options_.assignments) return;
    ep_assignment made{std::string{rows_[p].long_name}, {}};
    add_free(g, nodes, whole, made);
    if (!made.nodes.empty()) options_.assignments->push_back(std::move(made));
  }
  static void add_free(const graph& g, std::span<const node_id> nodes, bool whole, ep_assignment& to) {
    for (node_id n : nodes) {
      if (g[n].provider < 0 && !is_known(g, g[n]))
        to.nodes.push_back({std::string{g[n].name}, std::string{g[n].domain}, std::string{g[n].op_type}});
      for (std::size_t i = 0; whole && i < g[n].subgraphs.size(); ++i)
        add_free(*g[n].subgraphs[i], g[n].subgraphs[i]->order(), whole, to);
    }
  }

  void keep(graph& g, fused_node made, std::size_t p) {
    made.provider = std::uint32_t(p);
    g[made.node].provider = std::int32_t(p);
    g[made.node].fused = std::int32_t(fused_.size());
    fused_.push_back(std::move(made));
  }

  /// The groups of nodes that one provider chooses in a graph.
  result<std::vector<node_group>> groups_of(graph& g, const claim_row& row) {
    result<std::vector<node_group>> groups = guarded_hook([&] { return row.groups(row.self, graph_view{g}); });
    if (!groups) return std::move(groups).error().in(row.long_name);
    if (status s = canceled(); !s) return s;
    if (row.layout != data_layout::nhwc || groups->empty()) return groups;
    groups = claim_with_channels_last(g, row, *groups);
    if (!groups) return std::move(groups).error().in(row.long_name);
    return groups;
  }

  /// Offers nested graphs and then this one to one provider.
  status claim(graph& g, std::size_t p) {
    for (std::size_t i = 0; i < g.order().size(); ++i)
      for (graph* sub : g[g.order()[i]].subgraphs)
        if (g[g.order()[i]].fused < 0)
          if (status s = claim(*sub, p); !s) return s;
    if (g.order().empty()) return {};
    if (status s = canceled(); !s) return s;
    const claim_row& row = rows_[p];
    const provider_turn turn{g, options_.rules, rows_, p};
    result<std::vector<node_group>> groups = groups_of(g, row);
    if (!groups) return groups.error();
    std::vector<group_to_fuse> to_fuse;
    for (const node_group& group : *groups)
      if (status s = take(g, group, p, to_fuse); !s) return std::move(s).in(row.long_name);
    if (to_fuse.empty()) return {};
    for (const group_to_fuse& each : to_fuse)
      for (node_id n : each.group->nodes)
        for (graph* sub : g[n].subgraphs)
          if (status s = release(*sub); !s) return s;
    result<std::vector<fused_node>> made = fuse(g, to_fuse);
    if (!made) return std::move(made).error().in(row.long_name);
    for (fused_node& each : *made) keep(g, std::move(each), p);
    return g.sort();
  }

  /// Calls `groups` again after the nodes of its first answer were moved to channels last. The second answer decides
  /// which nodes the provider takes.
  result<std::vector<node_group>> claim_with_channels_last(graph& g, const claim_row& row,
                                                           const std::vector<node_group>& wishes) {
    const auto never = [](const node_view&, arena&) -> result<std::span<const value>> { return status_code::fail; };
    const auto any = [](const node_view&) { return true; };
    rewriter r{g, {ops_, never, any}};
    std::vector<node_id> moved;
    for (const node_group& group : wishes)
      for (node_id n : group.nodes) {
        if (index_of(n) >= g.node_capacity() || !has_channels_last_form(r, r.node(n))) continue;
        const value_type* const type = r.node(n).output(0).type();
        const node_id made = make_channels_last(r, r.node(n));
        if (made == node_id::none) continue;
        moved.push_back(made);
        set_channels_last(g, made, type);
      }
    if (!moved.empty())
      if (status s = r.refresh(); !s) return s;
    result<std::vector<node_group>> groups = guarded_hook([&] { return row.groups(row.self, graph_view{g}); });
    if (!groups) return groups;
    std::unordered_set<node_id> taken;
    for (const node_group& group : *groups) taken.insert(group.nodes.begin(), group.nodes.end());
    for (node_id n : moved) {
      if (!taken.count(n))
        return failed(status_code::fail, "requests channels last for {}, but does not claim it in that layout",
                      name_of(g, g[n]));
    }
    return groups;
  }

  /// Sets the type of a moved node's output. Its operator has no shape function, but the type is that of before, with
  /// channels last.
  static void set_channels_last(graph& g, node_id moved, const value_type* before) {
    detail::graph_value& made = g[g[moved].outputs[0]];
    if ((made.type && made.type->shape) || !before || !before->is_tensor()) return;
    value_type type = *before;
    if (type.shape && type.shape->size() > 2)
      std::rotate(type.shape->begin() + 1, type.shape->begin() + 2, type.shape->end());
    made.type = g.owner().keep(std::move(type));
  }

  /// Takes a whole group or nothing: a group with a node that is gone or assigned is skipped. The other groups are
  /// assigned to the provider; named ones are fused when all groups have been processed.
  status take(graph& g, const node_group& group, std::size_t p, std::vector<group_to_fuse>& to_fuse) {
    for (node_id n : group.nodes) {
      if (index_of(n) >= g.node_capacity()) return {status_code::fail, "claims a node that does not exist"};
      if (g[n].provider >= 0) return group.insists ? unavailable(g, n, p) : status{};
      if (g[n].removed) return {};
    }
    if (group.nodes.empty()) return {};
    if (const node_view other = group.name.empty() ? node_view{} : unavailable_inside(g, group.nodes, p); other)
      return group.insists ? unavailable(other.in(), other.id(), p) : status{};
    if (group.name.empty()) {
      if (group.nodes.size() != 1) return {status_code::fail, "a group of several nodes needs a name"};
      note(g, group.nodes, p);
      g[group.nodes.front()].provider = std::int32_t(p);
      return {};
    }
    if (!options_.allow_compile)
      return failed(status_code::model_requires_compilation,
                    "would compile '{}', but session.disable_model_compile is set", group.name);
    const std::size_t number = options_.group_numbers ? (*options_.group_numbers)++ : fused_.size() + to_fuse.size();
    note(g, group.nodes, p, true);
    for (node_id n : group.nodes) g[n].provider = std::int32_t(p);
    to_fuse.push_back(
        {&group, fmt::format("{}{}_{}_{}", options_.fused_name_prefix, rows_[p].long_name, group.name, number)});
    return {};
  }

  /// A node in subgraphs of these that provider `p` cannot have: it is assigned to another provider, was compiled
  /// before, or is withheld from `p`. Subgraphs were offered first, so `p` may have some of their nodes already.
  node_view unavailable_inside(const graph& g, std::span<const node_id> nodes, std::size_t p) const {
    for (node_id holder : nodes)
      for (const graph* sub : g[holder].subgraphs) {
        for (node_id id : sub->order()) {
          const detail::graph_node& n = (*sub)[id];
          const bool is_kept = options_.rules && must_wait(rows_, p, options_.rules->kind_of(*sub, id));
          const bool is_compiled = n.fused >= 0 && !fused_[std::size_t(n.fused)].body;
          const bool is_taken = n.provider >= 0 && (n.provider != std::int32_t(p) || is_compiled);
          if (is_taken || (n.provider < 0 && is_kept)) return {*sub, id};
        }
        if (const node_view deeper = unavailable_inside(*sub, sub->order(), p); deeper) return deeper;
      }
    return {};
  }

  /// Takes back a provider's nodes in a graph that it takes now as part of a larger group.
  status release(graph& g) {
    const std::vector<node_id> nodes(g.order().begin(), g.order().end());
    for (node_id n : nodes) {
      for (graph* sub : g[n].subgraphs)
        if (status s = release(*sub); !s) return s;
      g[n].provider = -1;
      if (g[n].fused < 0) continue;
      fused_node& group = fused_[std::size_t(g[n].fused)];
      unfuse(group);
      group.in = nullptr;
    }
    return g.sort();
  }

  /// The fused nodes, without those that became part of others.
  std::vector<fused_node> remaining_nodes() {
    std::erase_if(fused_, [](const fused_node& each) { return !each.in; });
    for (std::size_t i = 0; i < fused_.size(); ++i) (*fused_[i].in)[fused_[i].node].fused = std::int32_t(i);
    return std::move(fused_);
  }

  status unavailable(const graph& g, node_id id, std::size_t p) const {
    const detail::graph_node& n = g[id];
    if (n.provider == withholding_provider || n.provider < 0)
      return failed(status_code::fail, "claims {}, but{}", name_of(g, n),
                    why_withheld(options_.rules, rows_, p, node_view{g, id}));
    return failed(status_code::fail, "claims {}, which {} has already", name_of(g, n),
                  n.provider == external_provider ? "another runtime" : rows_[std::size_t(n.provider)].long_name);
  }

  static bool has_calls(const graph& g) {
    for (node_id n : g.order()) {
      if (g[n].callee) return true;
      for (const graph* sub : g[n].subgraphs)
        if (has_calls(*sub)) return true;
    }
    return false;
  }

  /// Replaces calls that no provider would take, without assigning nodes.
  status inline_unwanted(graph& g, bool& inlined) {
    std::vector<bool> wanted(g.node_capacity(), false);
    const std::vector<node_id> nodes(g.order().begin(), g.order().end());
    for (std::size_t p = 0; p < rows_.size(); ++p) {
      const claim_row& row = rows_[p];
      const provider_turn turn{g, options_.rules, rows_, p};
      result<std::vector<node_group>> groups = guarded_hook([&] { return row.groups(row.self, graph_view{g}); });
      if (!groups) return std::move(groups).error().in(row.long_name);
      const auto is_here = [&](node_id n) { return index_of(n) < wanted.size(); };
      const auto is_withheld = [&](node_id n) { return is_here(n) && g[n].provider == withholding_provider; };
      for (const node_group& group : *groups)
        if (std::none_of(group.nodes.begin(), group.nodes.end(), is_withheld))
          for (node_id n : group.nodes)
            if (is_here(n)) wanted[index_of(n)] = true;
    }
    bool changed = false;
    for (node_id n : nodes) {
      for (graph* sub : g[n].subgraphs)
        if (status s = inline_unwanted(*sub, inlined); !s) return s;
      if (!g[n].callee || wanted[index_of(n)]) continue;
      if (++inlined_ > limit)
        return {status_code::invalid_graph, "functions of the model call themselves, or each other in a circle"};
      const result<std::vector<node_id>> made = inline_call(g, n, *g[n].callee, ops_);
      if (!made) return made.error();
      changed = true;
    }
    if (!changed) return {};
    inlined = true;
    if (status s = g.sort(); !s) return s;
    return infer_types(g);
  }

  status inline_unclaimed(graph& g, bool& inlined) {
    const std::vector<node_id> nodes(g.order().begin(), g.order().end());
    bool changed = false;
    for (node_id n : nodes) {
      if (g[n].fused >= 0) continue;
      for (graph* sub : g[n].subgraphs)
        if (status s = inline_unclaimed(*sub, inlined); !s) return s;
      if (g[n].provider >= 0 || is_known(g, g[n])) continue;
      const function* body = g[n].callee;
      if (!body) {
        const result<const function*> standard = options_.body_of(model_, g[n]);
        if (!standard) return standard.error();
        body = *standard;
      }
      if (!body) continue;
      if (++inlined_ > limit)
        return {status_code::invalid_graph, "functions of the model call themselves, or each other in a circle"};
      const auto outer = origins_.find({&g, n});
      const std::string origin = outer == origins_.end() ? refusals(g, n) : outer->second;
      const result<std::vector<node_id>> made = inline_call(g, n, *body, ops_);
      if (!made) return made.error();
      for (node_id part : *made) origins_[{&g, part}] = origin;
      changed = true;
    }
    if (!changed) return {};
    inlined = true;
    if (status s = g.sort(); !s) return s;
    return infer_types(g);
  }

  /// "node 'n' (Relu, opset 18): npu has no kernel for it; ...", with the reason of each provider.
  std::string refusals(const graph& g, node_id n) const {
    const detail::graph_node& node = g[n];
    std::string words = describe(g, node) + ":";
    for (std::size_t p = 0; p < rows_.size(); ++p) {
      const claim_row& row = rows_[p];
      std::string why = why_withheld(options_.rules, rows_, p, node_view{g, n});
      if (why.empty()) why = row.why_not(row.self, node_view{g, n});
      words += fmt::format("{} {}{}", p == 0 ? "" : ";", row.name, why);
    }
    return words;
  }

  status require_all_claimed(const graph& g) const {
    for (node_id n : g.order()) {
      const detail::graph_node& node = g[n];
      if (node.fused >= 0) continue;
      for (const graph* sub : node.subgraphs)
        if (status s = require_all_claimed(*sub); !s) return std::move(s).in(name_of(g, node));
      if (node.provider >= 0 || is_known(g, node)) continue;
      std::string words = refusals(g, n);
      if (const auto whole = origins_.find({&g, n}); whole != origins_.end())
        words += fmt::format("; it is part of the function of {}", whole->second);
      return {status_code::not_implemented, words};
    }
    return {};
  }

  static constexpr std::size_t limit = 100'000;
  model& model_;
  std::span<const claim_row> rows_;
  const op_table& ops_;
  const partition_options& options_;
  std::vector<fused_node> fused_;
  std::size_t inlined_ = 0;
  // For each inlined node, for messages: the call that it comes from, and why no provider took the call.
  std::map<std::pair<const graph*, node_id>, std::string> origins_;
};

}  // namespace

std::string why_withheld(const placement_rules* rules, std::span<const claim_row> rows, std::size_t p,
                         const node_view& n) {
  const std::optional<device_kind> kind = rules ? rules->kind_of(n.in(), n.id()) : std::nullopt;
  if (!must_wait(rows, p, kind)) return {};
  return fmt::format(" is not offered it: {} assigns the node to {}", rules->key, detail::name_of(*kind));
}

status inline_functions(model& m, std::span<const claim_row> rows, const op_table& ops,
                        const partition_options& options) {
  return partitioner{m, rows, ops, options}.inline_ahead();
}

result<std::vector<fused_node>> partition(model& m, std::span<const claim_row> rows, const op_table& ops,
                                          const partition_options& options) {
  return partitioner{m, rows, ops, options}.run();
}

bool ep_assignment::node::operator==(const node&) const = default;
bool ep_assignment::operator==(const ep_assignment&) const = default;

}  // namespace CAMEO_NAMESPACE
