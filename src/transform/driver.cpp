#include <cameo/transform/transform.hpp>

#include "graph/messages.hpp"
#include "transform/new_nodes.hpp"

#include <algorithm>
#include <set>

namespace CAMEO_NAMESPACE {

namespace {

/// A row of any kind of transform.
struct any_row {
  std::string_view name;
  std::span<const detail::op_id> roots;
  std::span<const made_op> makes;
  std::span<const detail::op_id> needs;

  template <class Row>
  any_row(const Row& row) : name{row.name}, roots{row.roots}, makes{row.makes}, needs{row.needs} {}
};

/// Adds the operators of a node and of its subgraphs, whose nodes may move to the node's graph.
void collect_operators(const detail::graph_node& n, std::set<detail::op_id>& to) {
  if (n.op) to.insert(n.op->id);
  for (const graph* body : n.subgraphs)
    for (node_id inner : body->order()) collect_operators((*body)[inner], to);
}

}  // namespace

void transform_log::add(std::string_view name) {
  const auto at = std::find_if(transforms.begin(), transforms.end(), [&](const entry& e) { return e.name == name; });
  if (at == transforms.end()) transforms.push_back({name, 1});
  else ++at->changes;
}

namespace {

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The rows that may make nodes while a model is loaded without special options, except for the disabled ones.
std::vector<any_row> rows_that_make_nodes(std::span<const transform_table* const> tables,
                                          std::span<const std::string_view> disabled) {
  std::vector<any_row> rows;
  for (const transform_table* table : tables) {
    if (table->when.phase > transform_phase::at_level_and_after_groups || !table->when.required.empty()) continue;
    rows.insert(rows.end(), table->rewrites.begin(), table->rewrites.end());
    rows.insert(rows.end(), table->passes.begin(), table->passes.end());
    rows.insert(rows.end(), table->groups.begin(), table->groups.end());
  }
  std::erase_if(rows, [&](const any_row& row) { return row.makes.empty() || is_one_of(row.name, disabled); });
  return rows;
}

/// The rewrites of some tables, by the operators that they start at.
class rewrite_index {
 public:
  rewrite_index(std::span<const transform_table* const> tables, std::span<const std::string_view> disabled) {
    for (const transform_table* table : tables) {
      for (const rewrite_row& row : table->rewrites)
        if (!is_one_of(row.name, disabled))
          for (detail::op_id op : row.roots) rewrites_.push_back({op, &row});
      for (const pass_row& row : table->passes)
        if (!is_one_of(row.name, disabled)) passes_.push_back(&row);
    }
    std::stable_sort(rewrites_.begin(), rewrites_.end(), [](const auto& a, const auto& b) { return a.op < b.op; });
  }
  struct entry {
    detail::op_id op;
    const rewrite_row* row;
  };
  std::span<const entry> at(const detail::graph_node& n) const {
    if (!n.op) return {};
    const auto less = [](const entry& e, detail::op_id id) { return e.op < id; };
    const auto first = std::lower_bound(rewrites_.begin(), rewrites_.end(), n.op->id, less);
    auto last = first;
    while (last != rewrites_.end() && last->op == n.op->id) ++last;
    return {first, last};
  }
  std::span<const pass_row* const> passes() const { return passes_; }
  bool has_rewrites() const { return !rewrites_.empty(); }

 private:
  std::vector<entry> rewrites_;
  std::vector<const pass_row*> passes_;
};

class driver {
 public:
  driver(const rewrite_index& index, const rewriter::surroundings& around, const transform_options& options)
      : index_{index}, around_{around}, options_{options} {}

  /// One step over a graph, after its subgraphs.
  result<bool> step(graph& g) {
    bool changed = false;
    const std::vector<node_id> order{g.order().begin(), g.order().end()};
    for (node_id n : order) {
      if (g[n].fused >= 0) continue;
      for (graph* body : g[n].subgraphs) {
        const result<bool> below = step(*body);
        if (!below) return below.error();
        changed = changed || *below;
      }
    }
    rewriter r{g, around_};
    known_.clear();
    looked_at_ = 0;
    if (index_.has_rewrites() && walk(r)) {
      changed = true;
      if (status s = r.refresh(); !s) return s;
    }
    for (const pass_row* pass : index_.passes()) {
      look_at_new(g);
      const result<bool> done = pass->run(r);
      if (!done) return done.error();
      if (!*done) continue;
      changed = true;
      note(g, *pass);
      if (status s = r.refresh(); !s) return s;
    }
    return changed;
  }

 private:
  /// Visits every node once, in order of execution; then nodes that were made, or whose inputs changed.
  bool walk(rewriter& r) {
    graph& g = r.in();
    std::deque<node_id> todo{g.order().begin(), g.order().end()};
    std::size_t left = 4 * todo.size() + 1000;  // ends rewrites that undo each other
    bool changed = false;
    look_at_new(g);
    for (std::size_t at = 0; at < todo.size() && left > 0; ++at) {
      const node_id n = todo[at];
      for (const rewrite_index::entry& each : index_.at(g[n])) {
        if (!r.may_touch(r.node(n))) break;
        if (!each.row->rewrite(r, r.node(n))) continue;
        changed = true;
        --left;
        note(g, *each.row);
        r.take_touched(todo);
        break;
      }
    }
    return changed;
  }
  /// Counts a change, and checks that the transform declares new operators.
  void note(const graph& g, const any_row& row) {
    if (!options_.log) return;
    options_.log->add(row.name);
    for (std::size_t i = looked_at_; i < g.node_capacity(); ++i) {
      const detail::graph_node& n = g[node_id(i)];
      if (n.removed || !n.op || known_.contains(n.op->id)) continue;
      const auto is_it = [&](const made_op& made) { return made.domain == n.domain && made.name == n.op_type; };
      if (std::none_of(row.makes.begin(), row.makes.end(), is_it))
        options_.log->unsaid.push_back(fmt::format("{} made {}", row.name, n.op_type));
    }
    look_at_new(g);
  }
  void look_at_new(const graph& g) {
    for (; looked_at_ < g.node_capacity(); ++looked_at_) collect_operators(g[node_id(looked_at_)], known_);
  }

  std::set<detail::op_id> known_;  // operators that the graph has had
  std::size_t looked_at_ = 0;      // number of nodes
  const rewrite_index& index_;
  const rewriter::surroundings& around_;
  const transform_options& options_;
};

}  // namespace

void rewriter::take_touched(std::deque<node_id>& to) {
  for (node_id n : touched_nodes_)
    if (!graph_[n].removed) to.push_back(n);
  // Readers of a value with many readers wait for the next step: visiting all of them each time would take quadratic
  // time.
  constexpr std::size_t few = 64;
  for (value_id v : touched_values_)
    if (graph_[v].use_count <= few)
      for (graph::use u : graph_.uses(v))
        if (!graph_[u.node].removed) to.push_back(u.node);
  touched_nodes_.clear();
  touched_values_.clear();
}

void note_operators_to_come(model& m, std::span<const transform_table* const> tables, const op_table& ops,
                            std::span<const std::string_view> disabled) {
  const std::vector<any_row> rows = rows_that_make_nodes(tables, disabled);
  std::set<detail::op_id> there;
  for (node_id n : m.main().order()) collect_operators(m.main()[n], there);
  const auto is_there = [&](detail::op_id id) { return there.contains(id); };
  std::vector<made_op> found;
  for (bool more = true; more;) {
    more = false;
    for (const any_row& row : rows) {
      if (!std::all_of(row.needs.begin(), row.needs.end(), is_there) ||
          !(row.roots.empty() || std::any_of(row.roots.begin(), row.roots.end(), is_there)))
        continue;
      for (const made_op& made : row.makes)
        if ((made.at == detail::op_id{} || is_there(made.at)) &&
            there.insert(detail::make_op_id(made.domain, made.name)).second)
          found.push_back(made), more = true;
    }
  }
  m.to_come.clear();
  for (const made_op& each : found) {
    const op_row* const op = ops.find(each.domain, each.name);
    if (!op || op->versions.empty()) continue;
    const std::int64_t opset = m.opset(each.domain);
    if (const op_version* const version = opset ? op->at(opset) : &op->versions.back())
      m.to_come.push_back({op, version});
  }
}

result<bool> apply_transforms(graph& g, std::span<const transform_table* const> tables,
                              const rewriter::surroundings& around, const transform_options& options) {
  return guarded([&]() -> result<bool> {
    const rewrite_index index{tables, options.disabled};
    if (!index.has_rewrites() && index.passes().empty()) return false;
    return with_conditions_of(tables, around, [&](const rewriter::surroundings& with_conditions) -> result<bool> {
      driver d{index, with_conditions, options};
      bool changed = false;
      for (std::size_t step = 0; step < options.most_steps; ++step) {
        const result<bool> done = d.step(g);
        if (!done) return done.error();
        if (!*done) break;
        changed = true;
      }
      return changed;
    });
  });
}

}  // namespace CAMEO_NAMESPACE
