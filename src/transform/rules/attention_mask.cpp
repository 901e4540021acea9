#include "transform/rules/attention_mask.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::look {
namespace {

bool is_one(dim d) { return d.known() && d.size == 1; }

/// An integer computed from shapes: a number plus multiples of symbols.
struct size_sum {
  std::int64_t number = 0;
  std::vector<std::pair<std::uint32_t, std::int64_t>> symbols;  // sorted, without zero factors

  void add(const size_sum& other, std::int64_t times) {
    number += times * other.number;
    for (const auto& each : other.symbols) {
      const auto at =
          std::find_if(symbols.begin(), symbols.end(), [&](const auto& s) { return s.first == each.first; });
      if (at == symbols.end()) symbols.emplace_back(each.first, times * each.second);
      else at->second += times * each.second;
    }
    std::erase_if(symbols, [](const auto& s) { return s.second == 0; });
    std::sort(symbols.begin(), symbols.end());
  }
  bool operator==(const size_sum&) const = default;

  static std::optional<size_sum> read(dim d) {
    if (d.known()) return size_sum{d.size, {}};
    if (d.symbol) return size_sum{0, {{d.symbol, 1}}};
    return {};
  }
  /// The size of an axis. An unnamed size is identified by its value and axis.
  static std::optional<size_sum> of_axis(rewriter& r, const axis_of& a) {
    const std::vector<dim>* const shape = r.shape(a.value);
    if (!shape || a.axis >= shape->size() || a.axis >= 8) return {};
    if (const auto named = read((*shape)[a.axis])) return named;
    constexpr std::uint32_t unnamed = 0x80000000;
    return size_sum{0, {{unnamed | (std::uint32_t(a.value.id()) * 8 + std::uint32_t(a.axis)), 1}}};
  }
  static std::optional<size_sum> read(rewriter& r, const value_view& v, int depth = 0) {
    if (const auto n = number_of(r.constant(v))) return size_sum{std::int64_t(*n), {}};
    if (const std::vector<dim>* const known = r.elements(v); known && known->size() == 1 && read((*known)[0]))
      return read((*known)[0]);
    const node_view n = made_by<op::Add, op::Sub, op::Unsqueeze, op::Squeeze, op::Reshape, op::Cast, op::Gather>(r, v);
    constexpr int deepest = 8;
    if (!n || depth == deepest) return {};
    if (n.has_op<op::Gather>()) {
      const node_view shape = made_by<op::Shape>(r, n.input(0));
      const auto axis = look::number_in(r, n.input(1));
      if (!shape || !axis || *axis < 0 || *axis >= 8 || shape.attributes<op::Shape>().start != 0) return {};
      return of_axis(r, axis_of{shape.input(0), std::size_t(*axis)});
    }
    std::optional<size_sum> sum = read(r, n.input(0), depth + 1);
    if (!n.has_op<op::Add, op::Sub>()) return sum;
    const std::optional<size_sum> second = read(r, n.input(1), depth + 1);
    if (!sum || !second) return {};
    sum->add(*second, n.has_op<op::Add>() ? 1 : -1);
    return sum;
  }
};

bool is_lower_triangle(const value* v) {
  constexpr std::int64_t most = 2048;  // larger ones take too long to check
  if (!v || v->kind != value_kind::tensor || v->type != dtype::boolean || v->memory != 0 || v->shape.rank() != 4)
    return false;
  const std::int64_t n = v->shape[2];
  if (v->shape[0] != 1 || v->shape[1] != 1 || v->shape[3] != n || n > most) return false;
  const auto* const cell = static_cast<const std::uint8_t*>(v->data);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if ((cell[i * n + j] != 0) != (j <= i)) return false;
  return true;
}

/// The rows and columns that Slices take from axes 2 and 3 of a tensor of rank 4.
struct window {
  value_view source;
  value_view first[2], last[2];  // of axes 2 and 3; absent: all

  static window read(rewriter& r, value_view v) {
    window w;
    for (int slices = 0; slices < 2; ++slices) {
      const node_view n = made_by<op::Slice>(r, v);
      if (!n || n.input_count() < 4) break;
      const auto axes = ints_of(r.constant(n.input(3)));
      const bool step_of_one = !n.input(4) || number_in(r, n.input(4)) == 1.0;
      if (!axes || axes->size() != 1 || !step_of_one) return {};
      const std::int64_t axis = (*axes)[0] < 0 ? (*axes)[0] + 4 : (*axes)[0];
      if ((axis != 2 && axis != 3) || w.last[axis - 2]) return {};
      w.first[axis - 2] = n.input(1), w.last[axis - 2] = n.input(2);
      v = n.input(0);
    }
    w.source = v;
    return w;
  }
};

/// The value before up to four casts and added axes.
value_view before_casts(const rewriter& r, value_view v) {
  for (int steps = 0; steps < 4; ++steps)
    if (const node_view n = made_by<op::Cast, op::Unsqueeze>(r, v)) v = n.input(0);
  return v;
}

}  // namespace

padding_mask padding_mask::read(const rewriter& r, const value_view& bias, dim batch, dim keys) {
  const node_view product = made_by<op::Mul>(r, bias);
  const std::vector<dim>* const shape = r.shape(bias);
  if (!product || !shape || shape->size() != 4 || !is_one((*shape)[1]) || !is_one((*shape)[2])) return {};
  for (std::size_t i = 0; i < 2; ++i) {
    const auto hidden = number_in(r, product.input(i));
    const node_view less = hidden ? made_by<op::Sub>(r, product.input(1 - i)) : node_view{};
    if (!less || *hidden > -1e3 || !std::isfinite(float(*hidden)) || number_in(r, less.input(0)) != 1.0) continue;
    const value_view mask = before_casts(r, less.input(1));
    const dtype t = mask.element();
    const std::vector<dim>* const given = r.shape(mask);
    if ((t != dtype::i64 && t != dtype::i32 && t != dtype::boolean) || !given || given->size() != 2) return {};
    if (is_one((*given)[0]) != is_one(batch) || is_one((*given)[1]) != is_one(keys)) return {};
    return {mask, float(*hidden)};
  }
  return {};
}

value_id padding_mask::as_int32(const rewriter& r, edit& e) const {
  if (mask.element() == dtype::i32) return mask.id();
  constexpr std::size_t few = 64;
  const auto to = std::int64_t(dtype::i32);
  if (mask.use_count() <= few)
    for (node_view n : mask.consumers())
      if (n.has_op<op::Cast>() && r.may_touch(n) && n.input(0) == mask && n.attributes<op::Cast>().to == to)
        return n.output(0).id();
  return e.add<op::Cast>({mask.id()}, {attribute_of("to", to)});
}

bool is_causal(rewriter& r, const node_view& where, const axis_of& queries, const axis_of& keys) {
  if (!number_in(r, where.input(2))) return false;
  const window w = window::read(r, where.input(0));
  const auto q = size_sum::of_axis(r, queries), k = size_sum::of_axis(r, keys);
  if (!w.source || !w.last[0] || !w.last[1] || !q || !k || !is_lower_triangle(r.constant(w.source))) return false;
  size_sum before = *k;
  before.add(*q, -1);
  return size_sum::read(r, w.first[0]) == before && size_sum::read(r, w.last[0]) == k &&
         size_sum::read(r, w.first[1]) == size_sum{} && size_sum::read(r, w.last[1]) == k;
}

value_id bias_of_where(rewriter& r, edit& e, const node_view& where) {
  const bool hides_else = number_in(r, where.input(2)).has_value();
  const value_view hidden = where.input(hides_else ? 2 : 1);
  const value_id zero = e.scalar("seen", hidden.element(), 0);
  return hides_else ? e.add<op::Where>({where.input(0).id(), zero, hidden.id()})
                    : e.add<op::Where>({where.input(0).id(), hidden.id(), zero});
}

value_id legal_bias(edit& e, value_id bias, const std::vector<dim>* shape, dim queries, dim keys, value_id query) {
  if (shape && (shape->size() > 4 || shape->empty() || (is_one(shape->back()) && !is_one(keys)))) return value_id::none;
  if (shape && shape->size() == 4 && (*shape)[2].same(queries)) return bias;
  const std::int64_t one[] = {1}, two[] = {1, 1};
  if (queries.known()) {
    const std::int64_t target[] = {1, 1, queries.size, 1};
    return e.add<op::Expand>({bias, e.ints("bias_shape", target)});
  }
  const value_id length = e.add<op::Gather>({e.add<op::Shape>({query}), e.ints("axis_of_queries", one)});
  const value_id target =
      e.add<op::Concat>({e.ints("bias_batch", two), length, e.ints("bias_keys", one)}, {attribute_of("axis", 0)});
  return e.add<op::Expand>({bias, target});
}

}  // namespace CAMEO_NAMESPACE::look
