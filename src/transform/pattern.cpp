#include <cameo/transform/pattern.hpp>

#include <algorithm>
#include <cmath>

namespace cameo::inline CAMEO_ABI {
namespace {

constexpr double tolerance = 1e-4;

bool holds(const node_view& n, const attribute_check& check) {
  const attribute* const a = n.find(check.name);
  if (a && !a->ref_attr_name.empty()) return false;
  switch (check.kind) {
    case attribute_kind::i: return int_attribute(n, check.name) == check.i;
    case attribute_kind::f: return float_attribute(n, check.name) == check.f;
    case attribute_kind::s: return string_attribute(n, check.name) == check.s;
    default: return false;
  }
}

class matcher {
 public:
  /// Bit i of `swapped`: the i-th commutative node has its first two inputs the other way round.
  matcher(const rewriter& r, std::span<const pattern_step> steps, match_result& found, std::uint32_t swapped)
      : rewriter_{r}, steps_{steps}, found_{found}, swapped_{swapped} {}

  bool node(const node_view& n, std::size_t at) {
    const pattern_step& step = steps_[at];
    const std::uint32_t swap_inputs = step.any_order ? (swapped_ >> commutative_++) & 1 : 0;
    if (!n || !rewriter_.may_touch(n) || !n.op()) return false;
    if (std::find(step.ops.begin(), step.ops.end(), n.op()->id) == step.ops.end()) return false;
    for (std::size_t i = 1; i < n.output_count(); ++i)
      if (n.output(i)) return false;
    for (std::size_t i = step.inputs; i < n.input_count(); ++i)
      if (n.input(i)) return false;
    if (step.sole_use && !n.output(0).sole_use()) return false;
    for (const attribute_check& check : step.checks)
      if (!holds(n, check)) return false;
    if (step.name != pattern_step::none) found_.nodes[step.name] = n;
    std::array<std::size_t, 256> input_steps;
    std::size_t next = at + 1;
    for (std::size_t i = 0; i < step.inputs; ++i) {
      input_steps[i] = next;
      next += steps_[next].size;
    }
    for (std::size_t i = 0; i < step.inputs; ++i) {
      const std::size_t from = swap_inputs && i < 2 ? 1 - i : i;
      if (!value(n.input(from), input_steps[i])) return false;
    }
    return true;
  }

 private:
  bool value(const value_view& v, std::size_t at) {
    const pattern_step& step = steps_[at];
    switch (step.kind) {
      case pattern_step::what::absent: return !v;
      case pattern_step::what::number: {
        const std::optional<double> n = number_of(rewriter_.constant(v));
        return n && std::abs(*n - step.number) <= tolerance * std::max(1e-30, std::abs(step.number));
      }
      case pattern_step::what::constant: return rewriter_.constant(v) && bind(v, step.name);
      case pattern_step::what::value: return v && bind(v, step.name);
      case pattern_step::what::node: return v && !v.is_capture() && node(v.producer(), at);
    }
    return false;
  }
  bool bind(const value_view& v, std::uint8_t name) {
    value_view& bound = found_.values[name];
    if (bound) return bound == v;
    bound = v;
    return true;
  }

  const rewriter& rewriter_;
  std::span<const pattern_step> steps_;
  match_result& found_;
  std::uint32_t swapped_, commutative_ = 0;
};

}  // namespace

bool match_pattern(rewriter& r, const node_view& root, std::span<const pattern_step> steps, match_result& found) {
  const auto commutative = std::count_if(steps.begin(), steps.end(), [](const pattern_step& s) { return s.any_order; });
  for (std::uint32_t swapped = 0; swapped < std::uint32_t{1} << commutative; ++swapped) {
    found = {};
    found.in = &r;
    found.root = root;
    if (matcher{r, steps, found, swapped}.node(root, 0)) return true;
  }
  return false;
}

}  // namespace cameo::inline CAMEO_ABI
