#include "transform/rules/quantization.hpp"

#include <limits>

#include "transform/rules/look.hpp"

namespace CAMEO_NAMESPACE {
namespace {

std::optional<integer_range> range_of(dtype t) {
  using types = detail::element_set<std::uint8_t, std::int8_t, std::uint16_t, std::int16_t>;
  return types::visit(t, std::optional<integer_range>{}, []<class T>(std::type_identity<T>) {
    return integer_range{double(std::numeric_limits<T>::lowest()), double(std::numeric_limits<T>::max())};
  });
}

/// True if quantization limits values at least as much as the bounds. Rounding is monotonic: if a bound becomes the
/// last integer, so does all beyond it.
bool ends_at_bounds(const quantization& q, float low, float high) {
  for (std::int64_t i = 0; i < q.scale->shape.count(); ++i) {
    const auto at = [&](float x) { return double(std::nearbyint(x / q.scale_at(i))) + q.zero_at(i); };
    if (!(at(low) <= q.range.lowest) || !(at(high) >= q.range.highest)) return false;
  }
  return true;
}

}  // namespace

std::optional<quantization> quantization_of(const rewriter& r, const node_view& n) {
  const quantized_sides sides{n};
  quantization q;
  q.type = sides.integers.element();
  const std::optional<integer_range> range = range_of(q.type);
  q.scale = r.constant(n.input(1));
  if (!range || sides.floats.element() != dtype::f32 || !q.scale || q.scale->type != dtype::f32 || q.scale->memory != 0)
    return {};
  q.range = *range;
  const std::vector<dim>* const shape = r.shape(n.input(0));
  if (q.scale->shape.rank() > 1 || has_blocks_or_precision(n)) return {};
  q.axis = -1;
  if (q.scale->shape.count() != 1) {
    q.axis = n.attributes<op::QuantizeLinear>().axis;
    if (!shape || !normalize_axis(q.axis, shape->size())) return {};
  }
  if (n.input(2)) {
    q.zero = r.constant(n.input(2));
    if (!q.zero || q.zero->type != q.type || q.zero->memory != 0 || q.zero->shape.count() != q.scale->shape.count())
      return {};
  }
  for (std::int64_t i = 0; i < q.scale->shape.count(); ++i)
    if (!(q.scale_at(i) >= std::numeric_limits<float>::min() && q.scale_at(i) <= 1e30f)) return {};
  return q;
}

bool same(const quantization& a, const quantization& b) {
  if (a.type != b.type || a.axis != b.axis || a.scale->shape.count() != b.scale->shape.count()) return false;
  for (std::int64_t i = 0; i < a.scale->shape.count(); ++i)
    if (a.scale_at(i) != b.scale_at(i) || a.zero_at(i) != b.zero_at(i)) return false;
  return true;
}

bool is_made_redundant(const rewriter& r, const node_view& cut, const quantization& q) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  if (cut.has_op<op::Relu>()) return ends_at_bounds(q, 0, infinity);
  if (!cut.has_op<op::Clip>()) return false;
  float low = -infinity, high = infinity;
  if (cut.since() < 11) {
    const auto a = cut.attributes<op::Clip>();
    low = a.min.value_or(low), high = a.max.value_or(high);
  } else {
    for (std::size_t i : {1u, 2u}) {
      if (!cut.input(i)) continue;
      const std::optional<double> bound = look::number_in(r, cut.input(i));
      if (!bound) return false;
      (i == 1 ? low : high) = float(*bound);
    }
  }
  return low <= high && ends_at_bounds(q, low, high);
}

}  // namespace CAMEO_NAMESPACE
