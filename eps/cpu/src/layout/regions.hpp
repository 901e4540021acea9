#pragma once
#include <cameo/transform/transform.hpp>

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "min_cut.hpp"

namespace CAMEO_NAMESPACE::eps {

/// Whether a node can run in another layout of images: not at all, with a gain, or only to save reorders.
enum class image_role : std::uint8_t { none, gains, follows };
/// Returns the role of a kind of nodes: convolutions are faster in the other layout, and all other kinds only save
/// reorders.
template <class Kind>
constexpr image_role role_of_kind(Kind k) {
  return k == Kind::none ? image_role::none : k == Kind::conv ? image_role::gains : image_role::follows;
}

/// The requirements of region_rewrite on a layout: which nodes can run in it, what that gains, and how values and
/// nodes are converted. The form of a value is the same image in the layout. Costs and gains are numbers of elements
/// moved.
template <class L>
concept image_layout = requires(const L& l, const node_view& n, const value_view& v, edit& e, value_id form,
                                std::size_t input, std::vector<value_id> inputs) {
  { l.role_of(n) } -> std::same_as<image_role>;
  { l.gain(n) } -> std::same_as<std::int64_t>;  // for nodes whose role is `gains`
  { l.is_image(v) } -> std::same_as<bool>;
  { l.takes_image(n, input) } -> std::same_as<bool>;  // the input is an image, in the layout of the node
  { l.reads_plain(n, input) } -> std::same_as<bool>;  // the moved node still reads this image in the plain layout
  { l.elements(v) } -> std::same_as<std::int64_t>;    // the cost of a reorder
  { l.is_same_bytes(v) } -> std::same_as<bool>;       // both layouts have the same bytes: a value is its own form
  { l.to_form(e, v) } -> std::same_as<value_id>;
  { l.from_form(e, form, v) } -> std::same_as<value_id>;  // `v` is the value in the plain layout
  { l.moved(e, n, inputs) } -> std::same_as<value_id>;    // the output of the node that replaces `n`
};

/// Moves the nodes to a layout of images for which that costs least: a reorder costs the number of elements of its
/// value, and the gains of nodes that are faster in the layout reduce the cost. The choice is a minimum cut, so no
/// other choice is cheaper.
template <image_layout Layout>
class region_rewrite {
 public:
  /// Larger regions are not moved: finding the cut would take too much of the time to load a model.
  static constexpr std::size_t most_nodes = 20'000;

  explicit region_rewrite(rewriter& r) : r_{r}, layout_{r}, edit_{r, r.node(r.in().order().front())} {}

  bool run() {
    const std::vector<node_id> order{r_.in().order().begin(), r_.in().order().end()};
    bool any_gains = false;
    for (node_id n : order)
      if (const image_role role = layout_.role_of(r_.node(n)); role != image_role::none) {
        roles_.emplace(std::uint32_t(n), role);
        any_gains = any_gains || role == image_role::gains;
      }
    if (!any_gains || roles_.size() > most_nodes) return false;
    choose(order);
    bool changed = false;
    for (node_id n : order)
      if (is_chosen(n)) changed = true, move(r_.node(n));
    if (!changed) return false;
    give_back(order);
    return edit_.commit();
  }

 private:
  using vertices = std::unordered_map<std::uint32_t, std::uint32_t>;

  bool is_chosen(node_id n) const { return n != node_id::none && chosen_.contains(std::uint32_t(n)); }
  /// True if a node that moves to the layout still needs this value in the plain layout.
  bool reads_plain(const node_view& reader, const value_view& v) const {
    for (std::size_t i = 0; i < reader.input_count(); ++i)
      if (reader.input(i) == v && layout_.takes_image(reader, i) && layout_.reads_plain(reader, i)) return true;
    return false;
  }

  /// Chooses the nodes to move. Every node that can run in both layouts is a vertex; the source's side is the layout. A
  /// value costs one reorder if it is made on one side and read on the other, by one node or by several.
  void choose(std::span<const node_id> order) {
    min_cut cut;
    vertices vertex;
    for (node_id n : order)
      if (roles_.contains(std::uint32_t(n))) vertex.emplace(std::uint32_t(n), cut.add_vertex());
    for (node_id n : order) {
      const node_view node = r_.node(n);
      const auto me = vertex.find(std::uint32_t(n));
      if (me != vertex.end() && roles_.at(std::uint32_t(n)) == image_role::gains)
        cut.add_edge(min_cut::source, me->second, layout_.gain(node));
      for (value_view v : node.outputs())
        if (v && layout_.is_image(v)) add_value(cut, vertex, v, me == vertex.end() ? min_cut::sink : me->second);
    }
    for (value_id v : r_.in().inputs())
      if (layout_.is_image(r_.at(v))) add_value(cut, vertex, r_.at(v), min_cut::sink);
    const std::vector<bool> near = cut.solve();
    for (const auto& [n, at] : vertex)
      if (near[at]) chosen_.insert(n);
  }

  void add_value(min_cut& cut, const vertices& vertex, const value_view& v, std::uint32_t maker) {
    if (layout_.is_same_bytes(v)) return;
    const std::int64_t cost = layout_.elements(v);
    const std::uint32_t to_plain = cut.add_vertex(), to_layout = cut.add_vertex();
    cut.add_edge(maker, to_plain, cost);
    cut.add_edge(to_layout, maker, cost);
    if (v.is_graph_output()) cut.add_edge(to_plain, min_cut::sink, min_cut::endless);
    for (node_view reader : v.consumers()) {
      const auto at = vertex.find(std::uint32_t(reader.id()));
      const bool is_plain = at == vertex.end();
      if (!is_plain && reads_plain(reader, v)) {
        cut.add_edge(to_plain, min_cut::sink, min_cut::endless);
        continue;
      }
      cut.add_edge(to_plain, is_plain ? min_cut::sink : at->second, min_cut::endless);
      if (!is_plain) cut.add_edge(at->second, to_layout, min_cut::endless);
    }
  }

  /// Returns a value in the layout; adds a reorder if a node that is not moved makes it, once for each value.
  value_id form_of(const value_view& v) {
    const auto known = forms_.find(std::uint32_t(v.id()));
    if (known != forms_.end()) return known->second;
    const value_id made = layout_.is_same_bytes(v) ? v.id() : layout_.to_form(edit_, v);
    forms_.emplace(std::uint32_t(v.id()), made);
    return made;
  }

  void move(const node_view& n) {
    edit_.follow(n);
    std::vector<value_id> inputs;
    for (std::size_t i = 0; i < n.input_count(); ++i) {
      if (!n.input(i)) inputs.push_back(value_id::none);
      else if (!layout_.takes_image(n, i) || layout_.reads_plain(n, i)) inputs.push_back(n.input(i).id());
      else inputs.push_back(form_of(n.input(i)));
    }
    forms_.insert_or_assign(std::uint32_t(n.output(0).id()), layout_.moved(edit_, n, inputs));
  }

  /// Adds reorders to the plain layout for values of moved nodes that other nodes read.
  void give_back(std::span<const node_id> order) {
    for (node_id id : order) {
      if (!is_chosen(id)) continue;
      const node_view n = r_.node(id);
      const value_view v = n.output(0);
      bool is_wanted = v.is_graph_output();
      for (node_view reader : v.consumers()) is_wanted = is_wanted || !is_chosen(reader.id()) || reads_plain(reader, v);
      if (!is_wanted) continue;
      edit_.follow(n);
      const value_id form = forms_.at(std::uint32_t(v.id()));
      edit_.replace(v, layout_.is_same_bytes(v) ? form : layout_.from_form(edit_, form, v));
    }
  }

  rewriter& r_;
  Layout layout_;
  edit edit_;
  std::unordered_map<std::uint32_t, image_role> roles_;
  std::unordered_set<std::uint32_t> chosen_;
  std::unordered_map<std::uint32_t, value_id> forms_;
};

// --- properties of nodes and values that layouts share ---

/// The images of a graph: tensors [N, C, ...] with a known number of channels.
class image_facts {
 public:
  explicit image_facts(const rewriter& r) : r_{r} {}

  bool has_channels(const value_view& v) const {
    const std::vector<dim>* const s = r_.shape(v);
    return s && s->size() >= 3 && (*s)[1].known() && (*s)[1].size > 0;
  }
  std::size_t rank(const value_view& v) const { return r_.shape(v)->size(); }
  std::int64_t channels(const value_view& v) const { return (*r_.shape(v))[1].size; }
  bool is_one_pixel(const value_view& v) const {
    const std::vector<dim>& s = *r_.shape(v);
    return std::all_of(s.begin() + 2, s.end(), [](const dim& d) { return d.size == 1; });
  }
  /// The approximate number of elements: an unknown batch counts as 1, an unknown spatial size as 32.
  std::int64_t elements(const value_view& v) const {
    const std::vector<dim>& s = *r_.shape(v);
    std::int64_t all = std::clamp<std::int64_t>(s[0].known() ? s[0].size : 1, 1, 1 << 10);
    all *= std::min<std::int64_t>(s[1].size, 1 << 14);
    for (std::size_t i = 2; i < s.size(); ++i)
      all = std::min<std::int64_t>(all * (s[i].known() ? std::clamp<std::int64_t>(s[i].size, 1, 1 << 14) : 32),
                                   min_cut::endless / (1 << 24));
    return all;
  }
  bool have_same_shape(const value_view& a, const value_view& b) const {
    if (!has_channels(a) || !has_channels(b) || rank(a) != rank(b)) return false;
    const std::vector<dim>&x = *r_.shape(a), &y = *r_.shape(b);
    return std::equal(x.begin(), x.end(), y.begin(), [](const dim& p, const dim& q) { return p.same(q); });
  }
  /// True if the node has one output and may be rewritten.
  bool is_movable(const node_view& n) const {
    if (!r_.may_touch(n) || !n.op() || !n.output(0)) return false;
    for (std::size_t i = 1; i < n.output_count(); ++i)
      if (n.output(i)) return false;
    return true;
  }
  /// The gain of a convolution by a layout in which its loops need not reorder images, in the unit of a reordered
  /// element: measured, moving an element takes as long as some 32 multiplications.
  std::int64_t convolution_gain(const value& w, const value_view& out) const {
    std::int64_t per_output = 1;
    for (std::size_t i = 1; i < w.shape.rank(); ++i)
      per_output = std::min<std::int64_t>(per_output * w.shape[i], 1 << 20);
    return elements(out) * (per_output / 32 + 4);
  }

 protected:
  const rewriter& r_;
};

}  // namespace CAMEO_NAMESPACE::eps
