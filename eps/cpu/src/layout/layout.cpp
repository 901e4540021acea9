#include <cameo/eps/cpu/layout.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/nchwc.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/transform.hpp>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "min_cut.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

constexpr std::int64_t block = 16;
/// Regions larger than this are left alone: the cut would cost too much of the time to load.
constexpr std::size_t most_nodes = 20'000;

/// How a node can run on blocked images.
enum class kind : std::uint8_t { none, conv, pool, unary, same_shape, concat };

template <class... Ops>
bool is_any(const node_view& n) {
  return (n.is<Ops>() || ...);
}

class region_finder {
 public:
  explicit region_finder(rewriter& r) : r_{r} {}

  kind kind_of(const node_view& n) {
    if (!r_.may_touch(n) || !n.op() || !is_image(n.output(0))) return kind::none;
    for (std::size_t i = 1; i < n.output_count(); ++i)
      if (n.output(i)) return kind::none;
    if (is_any<op::Conv, op::microsoft::FusedConv>(n)) return conv_fits(n) ? kind::conv : kind::none;
    if (!n.input(0) || !is_image(n.input(0))) return kind::none;
    if (is_any<op::MaxPool, op::AveragePool, op::GlobalAveragePool, op::GlobalMaxPool>(n))
      return int_attribute(n, "storage_order") == 0 ? kind::pool : kind::none;
    // Further inputs are constants of one element: Clip's limits.
    if (has_role(n.op()->roles, role::is_pointwise)) return others_are_numbers(n) ? kind::unary : kind::none;
    if (has_role(n.op()->roles, role::broadcasts))
      return all_inputs(n, [&](const value_view& v) { return have_same_shape(v, n.output(0)); }) ? kind::same_shape
                                                                                                 : kind::none;
    if (n.is<op::Concat>() && (int_attribute(n, "axis") == 1 || int_attribute(n, "axis") == -3))
      return all_inputs(n, [&](const value_view& v) { return is_image(v) && channels(v) % block == 0; }) ? kind::concat
                                                                                                         : kind::none;
    return kind::none;
  }

  /// float32 [N, C, H, W] with a known number of channels.
  bool is_image(const value_view& v) const {
    const std::vector<dim>* const s = r_.shape(v);
    return s && s->size() == 4 && (*s)[1].known() && (*s)[1].size > 0 && v.element() == dtype::f32;
  }
  std::int64_t channels(const value_view& v) const { return (*r_.shape(v))[1].size; }
  /// Both layouts are the same bytes: one pixel, full blocks.
  bool is_one_pixel(const value_view& v) const {
    const std::vector<dim>& s = *r_.shape(v);
    return s[2].size == 1 && s[3].size == 1 && s[1].size % block == 0;
  }
  /// Elements, about: an unknown batch is 1, an unknown side 32.
  std::int64_t elements(const value_view& v) const {
    const std::vector<dim>& s = *r_.shape(v);
    const auto side = [](dim d) { return d.known() ? std::clamp<std::int64_t>(d.size, 1, 1 << 14) : 32; };
    return std::clamp<std::int64_t>(s[0].known() ? s[0].size : 1, 1, 1 << 10) *
           std::min<std::int64_t>(s[1].size, 1 << 14) * side(s[2]) * side(s[3]);
  }
  /// A first convolution reads plain images.
  bool reads_plain(const node_view& n) const {
    return channels(n.input(0)) < block && int_attribute(n, "group", 1) == 1;
  }
  /// What a convolution gains by blocks, in elements reordered: measured, one is worth some 32 multiplications.
  std::int64_t gain(const node_view& n) const {
    const value& w = *r_.constant(n.input(1));
    const std::int64_t per_output = std::min<std::int64_t>(w.shape[1] * w.shape[2] * w.shape[3], 1 << 20);
    return elements(n.output(0)) * (per_output / 32 + 4);
  }

 private:
  bool conv_fits(const node_view& n) const {
    const value* const w = r_.constant(n.input(1));
    if (!is_image(n.input(0)) || !w || w->type != dtype::f32 || w->shape.rank() != 4) return false;
    if (n.input(2) && !r_.constant(n.input(2))) return false;
    if (n.input(3) && !have_same_shape(n.input(3), n.output(0))) return false;
    const std::int64_t groups = int_attribute(n, "group", 1), c = channels(n.input(0)), m = w->shape[0];
    if (groups < 1 || c % groups || m % groups) return false;
    const bool is_depthwise = groups == c && groups == m;
    return groups == 1 || is_depthwise || (c / groups % block == 0 && m / groups % block == 0);
  }
  bool have_same_shape(const value_view& a, const value_view& b) const {
    if (!is_image(a) || !is_image(b)) return false;
    const std::vector<dim>&x = *r_.shape(a), &y = *r_.shape(b);
    for (std::size_t i = 0; i < 4; ++i)
      if (!x[i].same(y[i])) return false;
    return true;
  }
  bool others_are_numbers(const node_view& n) const {
    for (std::size_t i = 1; i < n.input_count(); ++i)
      if (n.input(i) && !number_of(r_.constant(n.input(i)))) return false;
    return true;
  }
  template <class Holds>
  static bool all_inputs(const node_view& n, Holds holds) {
    for (value_view v : n.inputs())
      if (!v || !holds(v)) return false;
    return n.input_count() > 0;
  }

  rewriter& r_;
};

/// Inputs of a node that are images in its own layout.
std::size_t image_inputs(const node_view& n, kind k) {
  switch (k) {
    case kind::conv:
    case kind::pool:
    case kind::unary: return 1;
    default: return n.input_count();
  }
}

class blocking {
 public:
  explicit blocking(rewriter& r) : r_{r}, facts_{r}, edit_{r, r.node(r.in().order().front())} {}

  bool run() {
    const std::vector<node_id> order{r_.in().order().begin(), r_.in().order().end()};
    bool any_conv = false;
    for (node_id n : order)
      if (const kind k = facts_.kind_of(r_.node(n)); k != kind::none) {
        kinds_.emplace(std::uint32_t(n), k);
        any_conv = any_conv || k == kind::conv;
      }
    if (!any_conv || kinds_.size() > most_nodes) return false;
    choose(order);
    bool changed = false;
    for (node_id n : order)
      if (is_blocked(n)) changed = true, move(r_.node(n));
    if (!changed) return false;
    give_back(order);
    return edit_.commit();
  }

 private:
  bool is_blocked(node_id n) const { return n != node_id::none && blocked_.contains(std::uint32_t(n)); }

  /// Every node that can be on either side is a vertex, the source's side is blocked. A value costs one reorder if it
  /// is made on one side and read, however often, on the other.
  void choose(std::span<const node_id> order) {
    min_cut cut;
    std::unordered_map<std::uint32_t, std::uint32_t> vertex;
    for (node_id n : order)
      if (kinds_.contains(std::uint32_t(n))) vertex.emplace(std::uint32_t(n), cut.add_vertex());
    for (node_id n : order) {
      const node_view node = r_.node(n);
      const auto me = vertex.find(std::uint32_t(n));
      if (me != vertex.end() && kinds_.at(std::uint32_t(n)) == kind::conv)
        cut.add_edge(min_cut::source, me->second, facts_.gain(node));
      for (value_view v : node.outputs())
        if (v && facts_.is_image(v)) add_value(cut, vertex, v, me == vertex.end() ? min_cut::sink : me->second);
    }
    for (value_id v : r_.in().inputs())
      if (facts_.is_image(r_.at(v))) add_value(cut, vertex, r_.at(v), min_cut::sink);
    const std::vector<bool> near = cut.solve();
    for (const auto& [n, at] : vertex)
      if (near[at]) blocked_.insert(n);
  }

  void add_value(min_cut& cut, const std::unordered_map<std::uint32_t, std::uint32_t>& vertex, const value_view& v,
                 std::uint32_t maker) {
    if (facts_.is_one_pixel(v)) return;
    const std::int64_t cost = facts_.elements(v);
    std::uint32_t to_plain = cut.add_vertex(), to_blocked = cut.add_vertex();
    cut.add_edge(maker, to_plain, cost);
    cut.add_edge(to_blocked, maker, cost);
    if (v.is_graph_output()) cut.add_edge(to_plain, min_cut::sink, min_cut::endless);
    for (node_view reader : v.consumers()) {
      const auto at = vertex.find(std::uint32_t(reader.id()));
      const bool is_plain = at == vertex.end();
      if (!is_plain && kinds_.at(std::uint32_t(reader.id())) == kind::conv && reader.input(0) == v &&
          facts_.reads_plain(reader)) {
        cut.add_edge(to_plain, min_cut::sink, min_cut::endless);
        continue;
      }
      cut.add_edge(to_plain, is_plain ? min_cut::sink : at->second, min_cut::endless);
      if (!is_plain) cut.add_edge(at->second, to_blocked, min_cut::endless);
    }
  }

  /// The blocked form of a value, reordered if a plain node makes it; once each.
  value_id blocked_form(const value_view& v) {
    const auto known = forms_.find(std::uint32_t(v.id()));
    if (known != forms_.end()) return known->second;
    const value_id made = facts_.is_one_pixel(v) ? v.id() : edit_.add<op::nchwc::ReorderInput>({v.id()});
    forms_.emplace(std::uint32_t(v.id()), made);
    return made;
  }

  void move(const node_view& n) {
    edit_.follow(n);
    const kind k = kinds_.at(std::uint32_t(n.id()));
    const std::size_t images = image_inputs(n, k);
    std::vector<value_id> inputs;
    for (std::size_t i = 0; i < n.input_count(); ++i) {
      const bool is_image = i < images || (k == kind::conv && i == 3);
      if (!n.input(i)) inputs.push_back(value_id::none);
      else if (!is_image || (k == kind::conv && i == 0 && facts_.reads_plain(n))) inputs.push_back(n.input(i).id());
      else inputs.push_back(blocked_form(n.input(i)));
    }
    const bool has_own_op = k == kind::conv || k == kind::pool;
    const std::string_view domain = has_own_op ? op::nchwc::Conv::domain : n.domain();
    const std::string_view op = n.is<op::microsoft::FusedConv>() ? op::nchwc::Conv::name : n.op_type();
    std::vector<attribute> attributes{n.raw().attributes.begin(), n.raw().attributes.end()};
    if (k == kind::conv) attributes.push_back(attribute_of("plain_weights", 1));
    forms_.insert_or_assign(std::uint32_t(n.output(0).id()), edit_.add(domain, op, inputs, attributes));
  }

  /// What plain nodes read of blocked ones.
  void give_back(std::span<const node_id> order) {
    for (node_id id : order) {
      if (!is_blocked(id)) continue;
      const node_view n = r_.node(id);
      const value_view v = n.output(0);
      bool is_wanted = v.is_graph_output();
      for (node_view reader : v.consumers())
        is_wanted =
            is_wanted || !is_blocked(reader.id()) ||
            (kinds_.at(std::uint32_t(reader.id())) == kind::conv && reader.input(0) == v && facts_.reads_plain(reader));
      if (!is_wanted) continue;
      edit_.follow(n);
      const value_id form = forms_.at(std::uint32_t(v.id()));
      edit_.replace(v, facts_.is_one_pixel(v) ? form
                                              : edit_.add<op::nchwc::ReorderOutput>(
                                                    {form}, {attribute_of("channels", facts_.channels(v))}));
    }
  }

  rewriter& r_;
  region_finder facts_;
  edit edit_;
  std::unordered_map<std::uint32_t, kind> kinds_;
  std::unordered_set<std::uint32_t> blocked_;
  std::unordered_map<std::uint32_t, value_id> forms_;
};

struct blocked_channels {
  static constexpr std::string_view name = "NchwcTransformer";
  using roots = op_set<op::Conv, op::microsoft::FusedConv>;
  using makes = op_set<op::nchwc::Conv, op::nchwc::ReorderInput, op::nchwc::ReorderOutput, op::nchwc::MaxPool,
                       op::nchwc::AveragePool, op::nchwc::GlobalMaxPool, op::nchwc::GlobalAveragePool>;
  static result<bool> run(rewriter& r) { return !r.in().order().empty() && blocking{r}.run(); }
};

}  // namespace

const transform_table& nchwc_layout::table() {
  return transform_list<optimization_level::layout, blocked_channels>::table();
}

}  // namespace cameo::inline CAMEO_ABI::eps
