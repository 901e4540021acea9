#include "transform/rules/attention_parts.hpp"

#include <cameo/op/microsoft.hpp>

#include <algorithm>
#include <unordered_set>

namespace CAMEO_NAMESPACE::look {

bool has_perm(const node_view& transpose, std::initializer_list<std::int64_t> perm) {
  const std::span<const std::int64_t> given = transpose.attributes<op::Transpose>().perm;
  return std::equal(given.begin(), given.end(), perm.begin(), perm.end());
}

bool same_but_one(const rewriter& r, const value_view& from, const std::vector<dim>& is, const value_view& to) {
  const std::vector<dim>*const a = r.shape(from), *const b = r.shape(to);
  if (!a || !b || a->size() != b->size() || a->size() != is.size()) return false;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < a->size(); ++i) differing += !(*a)[i].same((*b)[i]) && !is[i].same((*b)[i]);
  // A dim of 0 says nothing about the others.
  const auto zero = [](dim d) { return d.known() && d.size == 0; };
  return differing <= 1 && std::none_of(a->begin(), a->end(), zero);
}

bool score_chain::read(rewriter& r, const value_view& scores, int depth) {
  constexpr int deepest = 8;
  const node_view n = made_by<op::MatMul, op::microsoft::FusedMatMul, op::Add, op::Mul, op::Div, op::Where>(r, scores);
  if (!n || depth == deepest || !scores.sole_use()) return false;
  if (n.has_op<op::MatMul, op::microsoft::FusedMatMul>()) return read_product(r, n);
  if (n.has_op<op::Where>()) {
    for (std::size_t i : {1u, 2u}) {
      const auto hidden = number_in(r, n.input(3 - i));
      if (!hidden || *hidden > -1e4 || causal || !read(r, n.input(i), depth + 1)) continue;
      causal = scores;
      return true;
    }
    return false;
  }
  const bool adds = n.has_op<op::Add>();
  const score_chain before = *this;
  for (std::size_t i = 0; i < 2; ++i, *this = before) {
    const auto f = adds ? std::optional{1.0} : scalar_factor(r, n, i);
    if (!f || number_in(r, n.input(i)) || !read(r, n.input(i), depth + 1)) continue;
    if (adds) {
      biases.push_back(n.input(1 - i));
      return true;
    }
    if (!biases.empty() || causal) return false;
    scale *= *f;
    return true;
  }
  return false;
}

value_view score_chain::without_scale(const rewriter& r, value_view v) {
  for (int steps = 0; steps < 2; ++steps) {
    const node_view n = made_by<op::Mul, op::Div>(r, v);
    if (!n || !v.sole_use()) return v;
    std::size_t x = 0;
    std::optional<double> f = scalar_factor(r, n, 0);
    if (!f) x = 1, f = scalar_factor(r, n, 1);
    if (!f) return v;
    scale *= *f;
    v = n.input(x);
  }
  return v;
}

namespace {

/// The key before it was transposed to [batch, heads, size, length], in one step or through [batch * heads, length,
/// size].
heads_value transposed_key(const rewriter& r, const value_view& v) {
  if (const node_view n = made_by<op::Transpose>(r, v)) {
    if (has_perm(n, {0, 1, 3, 2})) return {n.input(0), false};
    if (has_perm(n, {0, 2, 3, 1})) return {n.input(0), true};
    return {};
  }
  const node_view last = made_by<op::Reshape>(r, v);
  const node_view turn = last ? made_by<op::Transpose>(r, last.input(0)) : node_view{};
  const node_view first = turn && has_perm(turn, {0, 2, 1}) ? made_by<op::Reshape>(r, turn.input(0)) : node_view{};
  if (!first) return {};
  const std::vector<dim>*const whole = r.shape(first.input(0)), *const merged = r.shape(turn.input(0)),
                               *const out = r.shape(v);
  if (!whole || !merged || !out || whole->size() != 4 || merged->size() != 3 || out->size() != 4) return {};
  const bool kept = (*merged)[1].same((*whole)[2]) && (*merged)[2].same((*whole)[3]);
  const bool swapped = (*out)[1].same((*whole)[1]) && (*out)[2].same((*whole)[3]) && (*out)[3].same((*whole)[2]);
  return kept && swapped ? heads_value{first.input(0), false} : heads_value{};
}

bool same_known(dim d, std::int64_t size) { return d.known() && d.size == size; }

}  // namespace

bool score_chain::read_product(rewriter& r, const node_view& n) {
  const auto a = n.attributes<op::microsoft::FusedMatMul>();
  if (a.transA || a.transBatchA || a.transBatchB) return false;
  scale *= a.alpha;
  query.v = without_scale(r, n.input(0));
  const value_view second = without_scale(r, n.input(1));
  key = a.transB ? heads_value{second, false} : transposed_key(r, second);
  if (key.v && second == n.input(1)) key.v = without_scale(r, key.v);
  return bool(key.v);
}

head_split head_split::read(rewriter& r, const heads_value& from) {
  head_split s;
  (from.rows_first ? s.rows : s.whole) = from.v;
  if (const node_view n = made_by<op::Transpose>(r, s.whole); n && has_perm(n, {0, 2, 1, 3})) s.rows = n.input(0);
  const value_view seen = s.rows ? s.rows : s.whole;
  const std::vector<dim>* const shape = r.shape(seen);
  if (!shape || shape->size() != 4 || !(*shape)[3].known()) return {};
  const std::size_t at_heads = s.rows ? 2 : 1;
  s.batch = (*shape)[0], s.length = (*shape)[3 - at_heads], s.size = (*shape)[3].size;
  if ((*shape)[at_heads].known()) s.heads = (*shape)[at_heads].size;
  if (s.rows) s.find_flat(r);
  return s;
}

/// Finds the input [batch, length, heads * size] of a reshape to heads that certainly keeps batch and length.
void head_split::find_flat(rewriter& r) {
  const node_view n = made_by<op::Reshape>(r, rows);
  const std::vector<dim>* const shape = n ? r.shape(n.input(0)) : nullptr;
  if (!shape || shape->size() != 3 || !(*shape)[2].known() || size <= 0) return;
  const std::int64_t all = (*shape)[2].size;
  if (heads == 0 && all % size == 0) heads = all / size;
  if (heads <= 0 || all != heads * size) return;
  const auto target = ints_of(r.constant(n.input(1)));
  const bool copies = target && target->size() == 4 && ((*target)[0] == 0 || (*target)[1] == 0) &&
                      n.attributes<op::Reshape>().allowzero == 0;
  if (copies || (*shape)[0].same(batch) || (*shape)[1].same(length)) flat = n.input(0);
}

value_id head_split::joined(edit& e) const {
  if (flat) return flat.id();
  const std::int64_t moved[] = {0, 2, 1, 3}, target[] = {0, 0, heads * size};
  const value_id by_rows = rows ? rows.id() : e.add<op::Transpose>({whole.id()}, {attribute_of("perm", moved)});
  return e.add<op::Reshape>({by_rows, e.ints("joined_heads", target)});
}

value_id head_split::apart(edit& e) const {
  const std::int64_t moved[] = {0, 2, 1, 3};
  return whole ? whole.id() : e.add<op::Transpose>({rows.id()}, {attribute_of("perm", moved)});
}

joined_past joined_past::read(const rewriter& r, const heads_value& key, const value_view& values, std::int64_t heads) {
  if (key.rows_first) return {};
  const node_view keys_joined = made_by<op::Concat>(r, key.v), values_joined = made_by<op::Concat>(r, values);
  for (const node_view& n : {keys_joined, values_joined}) {
    if (!n || n.input_count() != 2) return {};
    const std::optional<std::int64_t> axis = n.attributes<op::Concat>().axis;
    const std::vector<dim>* const shape = r.shape(n.input(0));
    if ((axis != 2 && axis != -2) || !shape || shape->size() != 4 || !same_known((*shape)[1], heads)) return {};
  }
  return {keys_joined.input(0), values_joined.input(0), keys_joined.input(1), values_joined.input(1), key.v, values};
}

bool reaches(const rewriter& r, std::vector<value_id> from, const std::vector<value_id>& inputs,
             const value_view& end) {
  constexpr std::size_t most = 4096;
  std::unordered_set<std::uint32_t> seen;
  std::size_t steps = 0;
  while (!from.empty()) {
    const value_id v = from.back();
    from.pop_back();
    if (std::find(inputs.begin(), inputs.end(), v) != inputs.end()) return true;
    for (node_view n : r.at(v).consumers()) {
      if (++steps > most) return true;
      if (n == end.producer() || !seen.insert(std::uint32_t(n.id())).second) continue;
      for (value_view out : n.outputs())
        if (out) from.push_back(out.id());
    }
  }
  return false;
}

}  // namespace CAMEO_NAMESPACE::look
