#include "program/inspect/describe.hpp"

#include <cameo/partition/lower.hpp>

#include "program/inspect/layout.hpp"
#include "program/inspect/timeline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <algorithm>

namespace cameo::program {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t shown_elements = 16, shown_bytes = 200;

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
  return small && is_aligned(v) ? clipped(to_string(v))
                                : fmt::format("{}[{}]", row_of(v.type).name, fmt::join(v.shape.dims(), ","));
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

std::string type_text(const graph_value& v, const std::vector<std::string>& symbols) {
  if (v.type) return v.type->to_string(&symbols);
  if (v.constant)
    return fmt::format("tensor({})[{}]", row_of(v.constant->type).name, fmt::join(v.constant->shape.dims(), ","));
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

/// A graph that is to be described, and where it stands.
struct job {
  const graph* of;
  const plan_view* plan;  // null: its provider runs it, we don't know how
  int in_graph, in_box;
  std::string as;
};

/// Everything that the description of one graph needs to know of the others.
struct context {
  const session& loaded;
  const profiled_run* profile;
  placements_by_node placements;
  std::vector<job> jobs;  // by number of the graph
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
        g_{*at_.of},
        symbols_{all.loaded.graph().symbols},
        box_of_value_(g_.value_count(), -1) {}

  json run() {
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

  /// What the graph gets from outside: inputs, and captures that are no constants.
  void add_sources() {
    for (value_id v : g_.inputs()) add_pill("input", v);
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

  void add_node(node_id n, const plan_step* step) {
    const graph_node& node = g_[n];
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
    std::size_t shape = 0;
    for (value_id v : node.outputs)
      if (v != value_id::none && shape == 0) {
        const std::string type = type_text(g_[v], symbols_);
        shape = type.find('[') == type.npos ? type.size() : type.size() - type.find('[');
      }
    const int made = add_box(std::move(box), std::max(text_width(label.size(), 7.8), text_width(shape, 6.6)), 42);
    for (value_id v : node.outputs)
      if (v != value_id::none) box_of_value_[index_of(v)] = made;
    for (std::size_t i = 0; i < std::size_t(node.input_count) + node.capture_count; ++i) {
      const value_id v = i < node.input_count ? g_.input(n, i) : g_.capture(n, i - node.input_count);
      if (v != value_id::none) read(v, made);
    }
  }

  /// Operations, bytes, and the least time that the machine would need for them; null: not known.
  json work_of(const step_time& time) const {
    const auto number = [](const std::optional<double>& n) { return n ? json(*n) : json(nullptr); };
    const std::optional<double> least =
        all_.profile->peak ? all_.profile->peak->least_nanoseconds(time.operations, time.bytes) : std::nullopt;
    return {number(time.operations), number(time.bytes), number(least)};
  }

  /// Numbers of the graphs in the node; they are described later.
  void add_graphs(node_id n, const plan_step* step, json& box) {
    const graph_node& node = g_[n];
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

  /// Nodes that follow each other on one provider have one number; a fused node has its own.
  std::size_t partition_of(const placement_info& p) {
    const bool joins = last_ && last_->provider == p.provider && last_->fused_from.empty() && p.fused_from.empty();
    if (last_ && !joins) ++partition_;
    last_ = &p;
    return partition_;
  }

  json values() const {
    json all = json::array();
    for (std::size_t i = 0; i < g_.value_count(); ++i) {
      const graph_value& v = g_[value_id(i)];
      const value* const constant = g_.constant_of(value_id(i));
      json one{v.name, type_text(v, symbols_)};
      if (constant) {
        const bool tensor = constant->kind == value_kind::tensor;
        one.push_back(tensor ? std::int64_t(constant->bytes()) : 0);
        if (tensor && constant->shape.count() <= 8 && is_aligned(*constant))
          one.push_back(clipped(to_string(*constant)));
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
      flows.push_back({drawn_.flows[f].from, flow_values_[f], std::move(chain), std::move(targets)});
    }
    json made{{"name", g_.name}};
    if (at_.in_graph >= 0) made["of"] = {at_.in_graph, at_.in_box}, made["as"] = at_.as;
    made.update({{"width", drawn_.width}, {"height", drawn_.height}, {"values", values()}});
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

json describe_graphs(const session& loaded, const inspection& seen, const profiled_run* profile) {
  context all{loaded, profile, {}, {}};
  const graph& main = loaded.graph().main();
  std::size_t next = 0;
  index_placements(main, seen.placements, next, all.placements);
  all.jobs.push_back({&main, &loaded.plan(), -1, -1, {}});
  json graphs = json::array();
  for (std::size_t i = 0; i < all.jobs.size(); ++i) graphs.push_back(graph_description{all, i}.run());
  return graphs;
}

json describe_memory(const session& loaded, const json& boxes) {
  const plan_view& plan = loaded.plan();
  const timeline made = timeline_of(loaded.graph().main(), plan);
  json values = json::array();
  for (const timeline::placed_value& v : made.values)
    values.push_back({plan.names[v.of], boxes[v.first], v.offset, v.bytes, v.first, v.last});
  return {{"bytes", made.region_bytes}, {"left_out", made.left_out}, {"values", std::move(values)},
          {"live", made.live},          {"read", made.read},         {"known", made.known}};
}

}  // namespace cameo::program
