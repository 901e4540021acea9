// Simplifies shapes that the model computes, as far as they are known before a run.
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rule.hpp>
#include <cameo/transform/rules/fusions.hpp>
#include <cameo/transform/rules/standard.hpp>

#include <algorithm>
#include <map>

#include "transform/rules/look.hpp"

namespace CAMEO_NAMESPACE {
namespace {

/// The elements of an integer tensor of rank 0 or 1 that a node of this graph computes and that has readers.
const std::vector<dim>* worked_out(rewriter& r, const value_view& v) {
  if (!v || v.use_count() == 0 || v.is_graph_output() || v.constant()) return nullptr;
  if (v.element() != dtype::i64 && v.element() != dtype::i32) return nullptr;
  const std::vector<dim>* const shape = r.shape(v);
  if (!shape || shape->size() > 1) return nullptr;
  const std::vector<dim>* const elements = r.elements(v);
  if (!elements || elements->size() != std::size_t(shape->empty() ? 1 : (*shape)[0].size)) return nullptr;
  return elements;
}

/// Replaces small integer tensors whose elements are all known by constants.
struct fold_shapes {
  static constexpr std::string_view name = "ShapeFolding";

  static bool fold(rewriter& r, const node_view& n, const value_view& v) {
    const std::vector<dim>* const elements = worked_out(r, v);
    if (!elements || !std::ranges::all_of(*elements, &dim::known)) return false;
    const extents shape = r.shape(v)->empty() ? extents{} : extents{std::int64_t(elements->size())};
    std::vector<std::int64_t> numbers;
    for (dim d : *elements) numbers.push_back(d.size);
    std::vector<std::int32_t> narrow{numbers.begin(), numbers.end()};
    edit e{r, n};
    e.replace(v, e.constant(v.name(), v.element() == dtype::i64
                                          ? value::tensor<std::int64_t>(shape, std::span<const std::int64_t>{numbers})
                                          : value::tensor<std::int32_t>(shape, std::span<const std::int32_t>{narrow})));
    return e.commit();
  }
  static result<bool> run(rewriter& r) {
    bool changed = false;
    const std::vector<node_id> order{r.in().order().begin(), r.in().order().end()};
    for (auto at = order.rbegin(); at != order.rend(); ++at)  // nodes that only led to a constant are removed before
                                                              // they are visited
      for (std::size_t i = 0; i < r.node(*at).output_count() && r.may_touch(r.node(*at)); ++i)
        changed = fold(r, r.node(*at), r.node(*at).output(i)) || changed;
    return changed;
  }
};

/// Merges tensors with equal elements, symbols included: all readers use the first.
struct merge_shapes {
  static constexpr std::string_view name = "CommonShapeElimination";

  static result<bool> run(rewriter& r) {
    using key = std::pair<std::pair<dtype, std::size_t>, std::vector<std::pair<std::int64_t, std::uint32_t>>>;
    std::map<key, value_id> seen;
    bool changed = false;
    for (node_id id : detail::ordered_nodes(r.in())) {
      if (!r.may_touch(r.node(id))) continue;
      for (std::size_t i = 0; i < r.node(id).output_count(); ++i) {
        const value_view v = r.node(id).output(i);
        const std::vector<dim>* const elements = worked_out(r, v);
        if (!elements || std::ranges::any_of(*elements, [](dim d) { return !d.known() && d.symbol == 0; })) continue;
        key k{{v.element(), r.shape(v)->size()}, {}};
        for (dim d : *elements) k.second.emplace_back(d.size, d.known() ? 0 : d.symbol);
        const auto [first, is_first] = seen.try_emplace(std::move(k), v.id());
        if (is_first) continue;
        if (!r.at(first->second).producer()) {  // it was removed with its reader
          first->second = v.id();
          continue;
        }
        edit e{r, r.node(id)};
        e.replace(v, first->second);
        changed = e.commit() || changed;
        if (!r.may_touch(r.node(id))) break;
      }
    }
    return changed;
  }
};

/// The element of a shape at some position, if a constant was put there: models write -1 into shapes that they compute.
std::optional<std::int64_t> literal_at(rewriter& r, value_view v, std::size_t at, int depth = 0) {
  constexpr int deepest = 8;
  if (!v || depth > deepest) return {};
  if (const auto ints = ints_of(r.constant(v))) return at < ints->size() ? std::optional{(*ints)[at]} : std::nullopt;
  const node_view n = v.is_capture() ? node_view{} : v.producer();
  if (!n || n.input_count() == 0) return {};
  const std::vector<dim>* const shape = r.shape(v);
  if (!shape || shape->size() > 1) return {};
  if (n.has_op<op::Unsqueeze, op::Squeeze, op::Identity>()) return literal_at(r, n.input(0), at, depth + 1);
  if (!n.has_op<op::Concat>()) return {};
  for (value_view part : n.inputs()) {
    const std::vector<dim>* const size = part ? r.shape(part) : nullptr;
    if (!size || size->size() != 1 || !(*size)[0].known()) return {};
    if (at < std::size_t((*size)[0].size)) return literal_at(r, part, at, depth + 1);
    at -= std::size_t((*size)[0].size);
  }
  return {};
}

using namespace pattern;

/// The sizes of a computed shape as constants, if they mean the same: known sizes, 0 for dims that are copied from the
/// same position, and -1 for one size that is left over.
bool sizes_of(rewriter& r, const node_view& n, std::vector<std::int64_t>& sizes) {
  const std::vector<dim>* const elements = r.elements(n.input(1));
  if (!elements) return false;
  const std::vector<dim>*const from = r.shape(n.input(0)), *const to = r.shape(n.output(0));
  const bool copies = n.attributes<op::Reshape>().allowzero == 0;
  std::size_t left_over = 0, guessed = 0;
  for (std::size_t i = 0; i < elements->size(); ++i) {
    const dim asked = (*elements)[i], is = to && to->size() == elements->size() ? (*to)[i] : dim{};
    const auto copied = [&](dim d) { return copies && from && i < from->size() && d.same((*from)[i]); };
    if (asked.known()) {
      sizes.push_back(asked.size);
    } else if (is.size > 0) {
      sizes.push_back(is.size);
    } else if (copied(asked) || copied(is)) {
      sizes.push_back(0);
    } else {
      const std::optional<std::int64_t> literal = literal_at(r, n.input(1), i);
      if (literal && *literal != -1) return false;
      guessed += !literal;
      ++left_over;
      sizes.push_back(-1);
    }
  }
  // -1 is undefined beside a size that may be 0, so a new -1 is only used beside known sizes.
  return left_over <= 1 && (guessed == 0 || std::ranges::count_if(sizes, [](std::int64_t s) { return s > 0; }) + 1 ==
                                                std::ptrdiff_t(sizes.size()));
}
value_id constant_sizes(const match_result& m, edit& e) {
  std::vector<std::int64_t> sizes;
  return sizes_of(*m.in, m.root, sizes) ? e.ints("shape", sizes) : value_id::none;
}
constexpr rule fold_reshape{"ReshapeFusion", name(n0, match<op::Reshape>(x, y)),
                            make<op::Reshape>(x, computed<constant_sizes>).copy_all(n0),
                            when(check<look::is_computed>(y))};

bool are_negative(const match_result& m, const value_view& v) {
  const std::optional<std::vector<std::int64_t>> numbers = ints_of(m.in->constant(v));
  return numbers && !numbers->empty() && std::ranges::all_of(*numbers, [](std::int64_t n) { return n < 0; });
}
bool are_sizes(const match_result& m, const value_view& v) {
  if (v.element() != dtype::i64 && v.element() != dtype::i32) return false;
  const std::vector<dim>* const elements = m.in->constant(v) ? nullptr : m.in->elements(v);
  return elements && std::ranges::all_of(*elements, [](dim d) { return d.known() || d.symbol != 0; });
}
bool has_shape_of_result(const match_result& m, const value_view& v) { return same_shape(*m.in, v, m.root.output(0)); }
/// Where(shape == -1, other, shape), by which exporters check whether a size is given. Sizes are never negative.
constexpr rule size_given{"ShapeFolding", match<op::Where>(any_order(match<op::Equal>(x, constant{c})), y, z), z,
                          when(check<are_sizes>(x), check<are_negative>(c), check<has_shape_of_result>(z))};

using late_list = transform_list<optimization_level::extended, rule_of<fold_reshape>, fold_shapes, merge_shapes>;

}  // namespace

const transform_table& rules::shape_folding::table() {
  return transform_list<optimization_level::basic, rule_of<size_given>, rule_of<fold_reshape>, fold_shapes,
                        merge_shapes>::table();
}
const transform_table& rules::late_shape_folding::table() { return late_list::table(); }

}  // namespace CAMEO_NAMESPACE
