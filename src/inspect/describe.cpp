#include "inspect/describe.hpp"

#include <cameo/partition/lower.hpp>

#include "inspect/layout.hpp"
#include "inspect/timeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>
#include <array>

namespace cameo::inspect {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t shown_elements = 16, shown_bytes = 200;
constexpr double widest_note = 236;  // pixels

std::string clipped(std::string_view text) {
  return text.size() <= shown_bytes ? std::string{text}
                                    : fmt::format("{}... ({} bytes)", text.substr(0, shown_bytes), text.size());
}

template <class T>
std::string list_text(std::span<const T> all) {
  const std::span<const T> shown = all.first(std::min(all.size(), shown_elements));
  return fmt::format("[{}{}]", fmt::join(shown, ", "),
                     shown.size() < all.size() ? fmt::format(", ... {} in all", all.size()) : std::string{});
}

std::string tensor_text(const value& v) {
  const bool small = v.kind == value_kind::tensor && v.shape.count() <= std::int64_t(shown_elements);
  return small && detail::is_aligned(v)
             ? clipped(to_string(v))
             : fmt::format("{}[{}]", detail::row_of(v.type).name, fmt::join(v.shape.dims(), ","));
}

std::string attribute_text(const attribute& a, const std::vector<std::string>& symbols) {
  std::string text;
  switch (a.kind) {
    case attribute_kind::f: return fmt::format("{}", a.f);
    case attribute_kind::i: return fmt::format("{}", a.i);
    case attribute_kind::s: return clipped(a.s);
    case attribute_kind::floats: return list_text(a.floats);
    case attribute_kind::ints: return list_text(a.ints);
    case attribute_kind::strings:
      for (std::string_view each : a.strings.first(std::min(a.strings.size(), shown_elements)))
        text += (text.empty() ? "" : ", ") + clipped(each);
      return a.strings.size() > shown_elements ? fmt::format("{}, ... {} in all", text, a.strings.size()) : text;
    case attribute_kind::t:
    case attribute_kind::sparse_tensor:
      if (!a.tensors.empty()) return tensor_text(a.tensors.front());
      break;
    case attribute_kind::type_proto:
      if (!a.types.empty()) return a.types.front()->to_string(&symbols);
      break;
    default: break;
  }
  return std::string{detail::attribute_kind_rows[std::size_t(a.kind)].name};
}

std::string type_text(const detail::graph_value& v, const std::vector<std::string>& symbols) {
  if (v.type || v.declared) return detail::described_type(v).to_string(&symbols);
  if (v.constant)
    return fmt::format("tensor({})[{}]", detail::row_of(v.constant->type).name,
                       fmt::join(v.constant->shape.dims(), ","));
  return "unknown";
}

/// Placements by graph and node, in the order in which session::placements() gives them.
using placements_by_node = std::map<std::pair<const graph*, node_id>, const placement_info*>;
void index_placements(const graph& g, const std::vector<placement_info>& all, std::size_t& next,
                      placements_by_node& into) {
  for (node_id n : g.order()) {
    if (g[n].provider < 0 || next == all.size()) continue;
    into[{&g, n}] = &all[next++];
    if (g[n].fused < 0)
      for (const graph* sub : g[n].subgraphs) index_placements(*sub, all, next, into);
  }
}

/// A graph to be described, and its position.
struct job {
  const graph* described;
  const plan_view* plan;  // null: its provider runs it without a plan
  int in_graph, in_box;
  std::string as;
  std::vector<node_id> nodes = {};  // for a folded graph: its nodes of the main graph
  std::size_t prefix = 0;           // for a folded graph: the length of their common prefix
  bool folded = false;
};

/// A node's box in the main graph.
struct described_node {
  json box;
  double width, height;
};

/// The part of a node's name from `prefix` to the next separator, which is included; empty if there is none.
std::string_view part_of(std::string_view name, std::size_t prefix, char separator) {
  const std::size_t end = name.size() > prefix ? name.find(separator, prefix) : name.npos;
  return end == name.npos ? std::string_view{} : name.substr(prefix, end - prefix + 1);
}

/// The data that the descriptions of all graphs of a model share.
struct context {
  const session& loaded;
  const profiled_run* profile;
  placements_by_node placements;
  std::vector<job> jobs;                        // indexed by the graph's number
  std::map<node_id, described_node> main = {};  // for folded graphs, which contain these nodes again
  bool folds = false;                           // there will be folded graphs
  char separator = '/';                         // between the parts of nodes' names
};

double text_width(std::size_t characters, double each) {
  return std::clamp(std::round(double(characters) * each) + 26, 76.0, 190.0);
}

class graph_description {
 public:
  graph_description(context& all, std::size_t number)
      : all_{all},
        number_{number},
        at_{all.jobs[number]},
        g_{*at_.described},
        symbols_{all.loaded.graph().symbols},
        box_of_value_(g_.value_count(), -1) {}

  json run() {
    if (at_.folded) return run_folded();
    add_sources();
    const std::vector<node_id> of_steps = at_.plan ? detail::nodes_of_steps(g_, *at_.plan) : std::vector<node_id>{};
    std::map<node_id, const plan_step*> steps;
    for (std::size_t i = 0; i < of_steps.size(); ++i) steps[of_steps[i]] = &at_.plan->steps[i];
    std::map<node_id, int> box_of_node;
    for (node_id n : g_.order()) {
      if (at_.plan ? g_[n].provider < 0 : is_known(g_, g_[n])) continue;
      box_of_node[n] = int(boxes_.size());
      const auto step = steps.find(n);
      add_node(n, step == steps.end() ? nullptr : step->second);
    }
    for (value_id v : g_.outputs()) add_pill("output", v);
    json step_boxes = json::array();
    for (node_id n : of_steps) step_boxes.push_back(box_of_node.count(n) ? box_of_node[n] : -1);
    return finish(std::move(step_boxes));
  }

 private:
  int add_box(json box, double width, double height) {
    boxes_.push_back(std::move(box));
    drawn_.boxes.push_back({width, height});
    return int(boxes_.size()) - 1;
  }

  int add_pill(std::string_view kind, value_id v) {
    const int made = add_box({{"k", kind}, {"v", index_of(v)}}, text_width(g_[v].name.size(), 6.6), 26);
    if (kind == "output") read(v, made);
    else box_of_value_[index_of(v)] = made;
    return made;
  }

  /// Adds what the graph reads from outside: inputs, and captures that are not constants.
  void add_sources() {
    for (value_id v : g_.inputs())
      if (!g_.constant_of(v)) add_pill("input", v);  // before IR 4 each initializer is an input, too
    for (value_id v : g_.captures())
      if (!g_.constant_of(v)) add_pill("outer", v);
  }

  void read(value_id v, int box) {
    const int from = box_of_value_[index_of(v)];
    if (from < 0) return;
    const auto [at, is_new] = flow_of_value_.try_emplace(index_of(v), drawn_.flows.size());
    if (is_new) drawn_.flows.push_back({std::uint32_t(from), {}, {}}), flow_values_.push_back(index_of(v));
    std::vector<drawing::target>& targets = drawn_.flows[at->second].targets;
    if (targets.empty() || targets.back().box != std::uint32_t(box)) targets.push_back({std::uint32_t(box)});
  }

  json numbers_of(std::size_t count, auto value_at) {
    json numbers = json::array();
    for (std::size_t i = 0; i < count; ++i) {
      const value_id v = value_at(i);
      numbers.push_back(v == value_id::none ? -1 : int(index_of(v)));
    }
    return numbers;
  }

  /// True for an attribute that needs no note: the default, or windows that do not stride, dilate or pad.
  static bool is_usual(const attribute& a, const detail::graph_node& node) {
    if (a.kind == attribute_kind::ints && a.ints.size() > 1)
      return std::all_of(a.ints.begin(), a.ints.end(),
                         [&](std::int64_t i) { return i == a.ints[0] && (i == 0 || i == 1); });
    if (!node.version) return false;
    for (const attribute_rule& rule : node.version->attributes)
      if (rule.name == a.name && rule.has_default)
        return (a.kind == attribute_kind::i && a.i == rule.default_int) ||
               (a.kind == attribute_kind::f && a.f == rule.default_float) ||
               (a.kind == attribute_kind::s && a.s == rule.default_string);
    return false;
  }

  /// The operator's name for its `i`-th input or output. All arguments of a variadic parameter have the name of the
  /// parameter. Empty if the operator is not known.
  static std::string_view formal_name(std::span<const parameter> formal, std::size_t i) {
    return formal.empty() ? std::string_view{} : formal[std::min(i, formal.size() - 1)].name;
  }
  static json formal_names(const detail::graph_node& node) {
    json names = json::array({json::array(), json::array()});
    if (!node.version) return names;
    for (std::size_t i = 0; i < node.input_count; ++i) names[0].push_back(formal_name(node.version->inputs, i));
    for (std::size_t i = 0; i < node.outputs.size(); ++i) names[1].push_back(formal_name(node.version->outputs, i));
    return names;
  }

  /// The value of an attribute for a note; empty if it is too long.
  static std::string short_text(const attribute& a) {
    if (a.kind == attribute_kind::i) return fmt::format("{}", a.i);
    if (a.kind == attribute_kind::f) return fmt::format("{:.4g}", a.f);
    if (a.kind == attribute_kind::s) return std::string{a.s.substr(0, 24)};
    if (a.kind == attribute_kind::ints && a.ints.size() <= 8) return fmt::format("{}", fmt::join(a.ints, ","));
    return {};
  }

  /// The lines in the box below the operator: constants with the operator's names for them, and attributes. Shapes of
  /// weights come before single numbers, which are clipped if the line is too long for its box.
  std::vector<std::string> notes_of(node_id n) const {
    const detail::graph_node& node = g_[n];
    std::string weights, numbers, attributes;
    for (std::size_t i = 0; i < node.input_count; ++i) {
      const value_id v = g_.input(n, i);
      const value* const constant = v == value_id::none ? nullptr : g_.constant_of(v);
      if (!constant || constant->kind != value_kind::tensor) continue;
      const std::string_view name = node.version ? formal_name(node.version->inputs, i) : std::string_view{};
      const bool single = constant->shape.count() == 1 && detail::is_aligned(*constant);
      const std::string size = single ? to_string(*constant).substr(to_string(*constant).rfind(' ') + 1)
                                      : fmt::format("{}", fmt::join(constant->shape.dims(), "\u00d7"));
      std::string& line = single ? numbers : weights;
      line += fmt::format("{}{} {}", line.empty() ? "" : "  ", name, size);
    }
    weights += (weights.empty() || numbers.empty() ? "" : "  ") + numbers;
    for (const attribute& a : node.attributes) {
      if (is_usual(a, node)) continue;
      if (const std::string text = short_text(a); !text.empty())
        attributes += fmt::format("{}{} {}", attributes.empty() ? "" : "  ", a.name, text);
    }
    std::vector<std::string> notes;
    for (const std::string* each : {&weights, &attributes})
      if (!each->empty()) notes.push_back(clipped(*each));
    return notes;
  }

  /// The number of characters in the shape of a node's first output, or in its type if it has no shape.
  std::size_t shape_length(const detail::graph_node& node) const {
    for (value_id v : node.outputs) {
      if (v == value_id::none) continue;
      const std::string type = type_text(g_[v], symbols_);
      const std::size_t shape = type.find('[');
      return shape == type.npos ? type.size() : type.size() - shape;
    }
    return 0;
  }

  void add_node(node_id n, const plan_step* step) {
    const detail::graph_node& node = g_[n];
    const auto found = all_.placements.find({&g_, n});
    const placement_info* const placed = found == all_.placements.end() ? nullptr : found->second;
    const std::string label = placed && !placed->fused_from.empty() ? placed->fused_from : std::string{node.op_type};
    json box{{"k", "node"}, {"op", node.op_type}, {"name", node.name}, {"domain", domain_name(node.domain)}};
    if (label != node.op_type) box["label"] = label;
    box["opset"] = node.opset;
    box["provider"] = node.provider;
    box["partition"] = placed ? partition_of(*placed) : 0;
    box["in"] = numbers_of(node.input_count, [&](std::size_t i) { return g_.input(n, i); });
    box["out"] = numbers_of(node.outputs.size(), [&](std::size_t i) { return node.outputs[i]; });
    box["formal"] = formal_names(node);
    if (node.capture_count)
      box["captures"] = numbers_of(node.capture_count, [&](std::size_t i) { return g_.capture(n, i); });
    json attributes = json::array();
    for (const attribute& a : node.attributes) attributes.push_back({a.name, attribute_text(a, symbols_)});
    if (!attributes.empty()) box["attributes"] = std::move(attributes);
    if (placed && !placed->refusals.empty()) box["why"] = placed->refusals;
    add_graphs(n, step, box);
    if (step && all_.profile)
      if (const auto time = all_.profile->steps.find(step); time != all_.profile->steps.end()) {
        box["time"] = {time->second.calls, time->second.total, time->second.own};
        box["work"] = work_of(time->second);
      }
    const std::vector<std::string> notes = notes_of(n);
    double width = std::max(text_width(label.size(), 7.8), text_width(shape_length(node), 6.6));
    for (const std::string& each : notes)
      width = std::max(width, std::min(std::round(double(each.size()) * 5.7) + 20, widest_note));
    if (!notes.empty()) box["notes"] = notes;
    const double height = 42 + 14 * double(notes.size());
    if (all_.folds && number_ == 0) all_.main.emplace(n, described_node{box, width, height});
    connect(n, add_box(std::move(box), width, height));
  }

  /// Calls `does` for all values that a node reads, captures included.
  void for_each_read(node_id n, auto does) const {
    const detail::graph_node& node = g_[n];
    for (std::size_t i = 0; i < std::size_t(node.input_count) + node.capture_count; ++i) {
      const value_id v = i < node.input_count ? g_.input(n, i) : g_.capture(n, i - node.input_count);
      if (v != value_id::none) does(v);
    }
  }

  void connect(node_id n, int box) {
    for (value_id v : g_[n].outputs)
      if (v != value_id::none) box_of_value_[index_of(v)] = box;
    for_each_read(n, [&](value_id v) { read(v, box); });
  }

  // --- folded graphs: consecutive nodes whose names share a part become one box, with a graph inside ---

  std::string_view part_of(node_id n, std::size_t prefix) const {
    return inspect::part_of(g_[n].name, prefix, all_.separator);
  }

  /// The values that nodes read from other nodes, and the values that they make for other nodes or for the caller.
  struct boundary {
    std::vector<value_id> in, out;
  };
  boundary boundary_of(std::span<const node_id> nodes) const {
    std::vector<bool> mine(g_.node_capacity()), seen(g_.value_count());
    for (node_id n : nodes) mine[index_of(n)] = true;
    boundary made;
    for (node_id n : nodes) {
      for_each_read(n, [&](value_id v) {
        const node_id by = g_[v].producer;
        if (seen[index_of(v)] || g_.constant_of(v) || (by != node_id::none && mine[index_of(by)])) return;
        seen[index_of(v)] = true;
        made.in.push_back(v);
      });
      for (value_id v : g_[n].outputs) {
        if (v == value_id::none) continue;
        bool leaves = g_[v].is_output;
        for (const graph::use use : g_.uses(v)) leaves = leaves || !mine[index_of(use.node)];
        if (leaves) made.out.push_back(v);
      }
    }
    return made;
  }

  void add_fold(std::span<const node_id> nodes, std::string_view part, std::size_t prefix) {
    const boundary ends = boundary_of(nodes);
    const json& first = all_.main.at(nodes.front()).box;
    const std::string name{part.substr(0, part.size() - 1)};
    json box{{"k", "node"}, {"op", name}, {"name", g_[nodes.front()].name.substr(0, prefix + part.size() - 1)}};
    box.update({{"domain", ""}, {"opset", 0}, {"provider", first["provider"]}, {"partition", first["partition"]}});
    std::array<double, 3> time{};
    for (node_id n : nodes) {
      const json& one = all_.main.at(n).box;
      if (one["provider"] != box["provider"]) box["provider"] = -1;  // several providers
      if (one.contains("time"))
        for (std::size_t i = 0; i < time.size(); ++i) time[i] += one["time"][i].get<double>();
    }
    if (all_.profile) box["time"] = time;
    box["in"] = numbers_of(ends.in.size(), [&](std::size_t i) { return ends.in[i]; });
    box["out"] = numbers_of(ends.out.size(), [&](std::size_t i) { return ends.out[i]; });
    box["fold"] = nodes.size();
    box["graphs"] = {all_.jobs.size()};
    job inside{&g_, nullptr, int(number_), int(boxes_.size()), name};
    inside.nodes.assign(nodes.begin(), nodes.end());
    inside.prefix = prefix + part.size(), inside.folded = true;
    all_.jobs.push_back(std::move(inside));
    const int made = add_box(std::move(box), text_width(name.size(), 7.8), 42);
    for (value_id v : ends.out) box_of_value_[index_of(v)] = made;
    for (value_id v : ends.in) read(v, made);
  }

  json run_folded() {
    const std::vector<node_id>& nodes = at_.nodes;
    const boundary ends = boundary_of(nodes);
    const bool is_whole = at_.in_graph < 0;
    if (is_whole) add_sources();
    else
      for (value_id v : ends.in) add_pill("outer", v);
    std::size_t prefix = at_.prefix;
    const auto run_end = [&](std::size_t from, std::string_view part) {
      std::size_t end = from + 1;
      while (!part.empty() && end < nodes.size() && part_of(nodes[end], prefix) == part) ++end;
      return end;
    };
    // A part that all names share distinguishes nothing.
    for (std::string_view part; !(part = part_of(nodes[0], prefix)).empty() && run_end(0, part) == nodes.size();)
      prefix += part.size();
    for (std::size_t i = 0; i < nodes.size();) {
      const std::string_view part = part_of(nodes[i], prefix);
      const std::size_t end = run_end(i, part);
      if (end > i + 1) {
        add_fold(std::span{nodes}.subspan(i, end - i), part, prefix);
      } else {
        const described_node& known = all_.main.at(nodes[i]);
        connect(nodes[i], add_box(known.box, known.width, known.height));
      }
      i = end;
    }
    for (value_id v : is_whole ? std::vector<value_id>{g_.outputs().begin(), g_.outputs().end()} : ends.out)
      add_pill("output", v);
    return finish(json::array());
  }

  /// Operations, bytes, and the least time that the machine would need for them; null: unknown.
  json work_of(const step_time& time) const {
    const auto number = [](const std::optional<double>& n) { return n ? json(*n) : json(nullptr); };
    const std::optional<double> least =
        all_.profile->peak ? all_.profile->peak->least_nanoseconds(time.operations, time.bytes) : std::nullopt;
    return {number(time.operations), number(time.bytes), number(least)};
  }

  /// Adds the numbers of the graphs in the node; they are described later.
  void add_graphs(node_id n, const plan_step* step, json& box) {
    const detail::graph_node& node = g_[n];
    const auto add = [&](const graph* inner, const plan_view* plan, std::string as) {
      box["graphs"].push_back(all_.jobs.size());
      all_.jobs.push_back({inner, plan, int(number_), int(boxes_.size()), std::move(as)});
    };
    if (const graph* body = all_.loaded.fused_body(node)) return add(body, nullptr, "fused");
    for (std::size_t i = 0; i < node.subgraphs.size(); ++i) {
      std::string as = fmt::format("graph {}", i);
      for (const attribute& a : node.attributes)
        if (a.kind == attribute_kind::g && a.i == std::int64_t(i)) as = std::string{a.name};
      add(node.subgraphs[i], step && i < step->subplans.size() ? step->subplans[i] : nullptr, std::move(as));
    }
  }

  /// The number of the partition that a node belongs to: consecutive nodes of one provider form a partition, and so
  /// does each fused node.
  std::size_t partition_of(const placement_info& p) {
    const bool joins = last_ && last_->provider == p.provider && last_->fused_from.empty() && p.fused_from.empty();
    if (last_ && !joins) ++partition_;
    last_ = &p;
    return partition_;
  }

  json values() const {
    json all = json::array();
    for (std::size_t i = 0; i < g_.value_count(); ++i) {
      const detail::graph_value& v = g_[value_id(i)];
      const value* const constant = g_.constant_of(value_id(i));
      json one{v.name, type_text(v, symbols_)};
      if (constant) {
        const bool tensor = constant->kind == value_kind::tensor;
        one.push_back(tensor ? std::int64_t(constant->bytes()) : 0);
        if (tensor && detail::is_aligned(*constant))
          one.push_back(clipped(to_string(*constant)));  // the first elements
      }
      all.push_back(std::move(one));
    }
    return all;
  }

  json finish(json step_boxes) {
    lay_out(drawn_);
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      const drawing::box& box = drawn_.boxes[b];
      boxes_[b].update({{"x", box.x}, {"y", box.y}, {"w", box.width}, {"h", box.height}});
    }
    json flows = json::array();
    for (std::size_t f = 0; f < drawn_.flows.size(); ++f) {
      json chain = json::array(), targets = json::array();
      for (const drawing::point& p : drawn_.flows[f].chain) chain.push_back(p.x), chain.push_back(p.y);
      for (const drawing::target& t : drawn_.flows[f].targets) targets.push_back(t.box), targets.push_back(t.leaves);
      flows.push_back({drawn_.flows[f].source, flow_values_[f], std::move(chain), std::move(targets)});
    }
    json made{{"name", g_.name}};
    if (at_.in_graph >= 0) made["of"] = {at_.in_graph, at_.in_box}, made["as"] = at_.as;
    made.update({{"width", drawn_.width}, {"height", drawn_.height}});
    if (at_.folded) made["folded"] = true, made["values"] = 0;  // the values of the main graph
    else made["values"] = values();
    made.update({{"boxes", std::move(boxes_)}, {"flows", std::move(flows)}, {"steps", std::move(step_boxes)}});
    return made;
  }

  context& all_;
  std::size_t number_;
  job at_;
  const graph& g_;
  const std::vector<std::string>& symbols_;
  drawing drawn_;
  std::vector<json> boxes_;
  std::vector<int> box_of_value_;
  std::unordered_map<std::size_t, std::size_t> flow_of_value_;
  std::vector<std::size_t> flow_values_;
  const placement_info* last_ = nullptr;
  std::size_t partition_ = 0;
};

}  // namespace

namespace {

/// The separator that most names of nodes contain.
char separator_of(const graph& g, std::span<const node_id> nodes) {
  const auto with = [&](char c) {
    return std::count_if(nodes.begin(), nodes.end(), [&](node_id n) { return g[n].name.find(c) != g[n].name.npos; });
  };
  return with('/') >= with('.') ? '/' : '.';
}

/// True if two consecutive nodes share a part of their names that not all nodes share.
bool folds(const graph& g, std::span<const node_id> nodes, char separator) {
  if (nodes.empty()) return false;
  const auto part = [&](node_id n, std::size_t prefix) { return part_of(g[n].name, prefix, separator); };
  for (std::size_t prefix = 0;;) {
    const std::string_view first = part(nodes[0], prefix);
    const auto shares = [&](node_id n) { return part(n, prefix) == first; };
    if (first.empty() || !std::all_of(nodes.begin(), nodes.end(), shares))
      return std::adjacent_find(nodes.begin(), nodes.end(), [&](node_id a, node_id b) {
               return !part(a, prefix).empty() && part(a, prefix) == part(b, prefix);
             }) != nodes.end();
    prefix += first.size();
  }
}

}  // namespace

json describe_graphs(const session& loaded, const inspection& seen, const profiled_run* profile) {
  context all{loaded, profile, {}, {}};
  const graph& main = loaded.graph().main();
  std::size_t next = 0;
  index_placements(main, seen.placements, next, all.placements);
  all.jobs.push_back({&main, &loaded.plan(), -1, -1, {}});
  std::vector<node_id> nodes;
  for (node_id n : main.order())
    if (main[n].provider >= 0) nodes.push_back(n);
  all.separator = separator_of(main, nodes);
  all.folds = folds(main, nodes, all.separator);
  json graphs = json::array();
  const auto describe_jobs = [&] {
    for (std::size_t i = graphs.size(); i < all.jobs.size(); ++i) graphs.push_back(graph_description{all, i}.run());
  };
  describe_jobs();
  if (!all.folds) return graphs;
  all.jobs.push_back({&main, nullptr, -1, -1, {}, std::move(nodes), 0, true});
  describe_jobs();
  return graphs;
}

json describe_memory(const session& loaded, const json& boxes) {
  const plan_view& plan = loaded.plan();
  const timeline made = timeline_of(loaded.graph().main(), plan);
  json values = json::array();
  for (const timeline::placed_value& v : made.values)
    values.push_back({plan.names[v.position], boxes[v.first], v.offset, v.bytes, v.first, v.last});
  return {{"bytes", made.region_bytes}, {"left_out", made.left_out}, {"values", std::move(values)},
          {"live", made.live},          {"read", made.read},         {"known", made.known}};
}

}  // namespace cameo::inspect
