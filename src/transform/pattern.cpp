#include <cameo/transform/pattern.hpp>

#include <algorithm>
#include <cmath>

namespace CAMEO_NAMESPACE {
namespace {

constexpr double tolerance = 1e-4;  // constants in files are rounded in several ways

bool about(double actual, double expected) {
  return std::abs(actual - expected) <= tolerance * std::max(1e-30, std::abs(expected));
}

/// An attribute of the node; else its default in the node's version of the operator, or 0.
attribute attribute_or_default(const node_view& n, std::string_view name) {
  if (const attribute* const a = n.find(name)) return *a;
  attribute made;
  if (const op_version* const version = n.raw().version)
    for (const attribute_rule& rule : version->attributes)
      if (rule.name == name) made.i = rule.default_int, made.f = rule.default_float, made.s = rule.default_string;
  return made;
}

bool holds(const node_view& n, const attribute_check& check) {
  const attribute a = attribute_or_default(n, check.name);
  if (!a.ref_attr_name.empty()) return false;
  switch (check.kind) {
    case attribute_kind::i: return a.i == check.i;
    case attribute_kind::f: return a.f == check.f;
    case attribute_kind::s: return a.s == check.s;
    default: return false;
  }
}

/// The choices of a depth-first search. Each attempt starts anew, repeats the choices of the previous one up to the
/// last that has another answer left, and takes that answer.
class choices {
 public:
  /// Returns a number from 0 to count - 1.
  std::size_t choose(std::size_t count) {
    if (count < 2) return 0;
    if (at_ == known_) {
      if (known_ == most) return 0;
      taken_[known_++] = {0, std::uint8_t(count)};
    }
    return taken_[at_++].answer;
  }
  /// Prepares the next attempt; false if there is none.
  bool next() {
    known_ = at_, at_ = 0;
    while (known_ > 0 && taken_[known_ - 1].answer + 1 == taken_[known_ - 1].count) --known_;
    if (known_ == 0 || ++attempts_ == most_attempts) return false;
    ++taken_[known_ - 1].answer;
    return true;
  }

 private:
  static constexpr std::size_t most = 32, most_attempts = 1024;
  struct choice {
    std::uint8_t answer, count;
  };
  std::array<choice, most> taken_;
  std::size_t known_ = 0, at_ = 0, attempts_ = 0;
};

/// The operands of a sum or product, and the number that its constants form.
struct flat_terms {
  static constexpr std::size_t most = 6;
  double number;
  std::array<value_view, most> terms;
  std::size_t count = 0;

  bool add(const value_view& v) {
    if (count == most) return false;
    terms[count++] = v;
    return true;
  }
  void combine(double c, bool multiplies, bool undoes) {
    if (multiplies) number = undoes ? number / c : number * c;
    else number += undoes ? -c : c;
  }
  value_view take(std::size_t which) {
    const value_view taken = terms[which];
    std::copy(terms.begin() + std::ptrdiff_t(which) + 1, terms.begin() + std::ptrdiff_t(count--),
              terms.begin() + std::ptrdiff_t(which));
    return taken;
  }
};

class matcher {
 public:
  matcher(const rewriter& r, std::span<const pattern_step> steps, match_result& found, choices& way)
      : rewriter_{r}, steps_{steps}, found_{found}, way_{way} {}

  bool root(const node_view& n) {
    found_.root = found_.last = n;
    if (!rewriter_.may_touch(n) || !value(n.output(0), 0, true)) return false;
    for (std::size_t at = steps_[0].size; at < steps_.size(); ++at) follow(steps_[at]);
    return true;
  }

 private:
  bool value(const value_view& v, std::size_t at, bool is_root = false) {
    const pattern_step& step = steps_[at];
    using what = pattern_step::what;
    if (!v) return (step.kind == what::absent || step.kind == what::optional) && !found(step.name);
    switch (step.kind) {
      case what::absent: return false;
      case what::value:
      case what::optional: return bind(v, step.name);
      case what::constant: return rewriter_.constant(v) && bind(v, step.name);
      case what::scalar:
      case what::number: {
        const std::optional<double> n = number_of(rewriter_.constant(v));
        return n && is_number(*n, step);
      }
      case what::node: return node(made(v), at);
      case what::perhaps: return way_.choose(2) == 0 ? node(made(v), at + 1) : value(v, at + 2);
      case what::either: {
        std::size_t part = at + 1;
        for (std::size_t skipped = way_.choose(step.parts); skipped > 0; --skipped) part += steps_[part].size;
        return value(v, part, is_root);
      }
      case what::flattened: return flattened(v, at, is_root);
      case what::follower: break;
    }
    return false;
  }

  bool node(const node_view& n, std::size_t at) {
    const pattern_step& step = steps_[at];
    if (!n || !has_operator(n, step)) return false;
    for (std::size_t i = 1; i < n.output_count(); ++i)
      if (const value_view out = n.output(i); out && (out.use_count() > 0 || out.is_graph_output())) return false;
    for (std::size_t i = step.parts; i < n.input_count() && !step.others; ++i)
      if (n.input(i)) return false;
    if (step.sole_use && !n.output(0).sole_use()) return false;
    for (const attribute_check& check : step.checks)
      if (!holds(n, check)) return false;
    if (step.name != pattern_step::none && !bind(n, step.name)) return false;
    const std::size_t swap = step.any_order ? way_.choose(2) : 0;
    std::size_t part = at + 1;
    for (std::size_t i = 0; i < step.parts; part += steps_[part].size, ++i)
      if (!value(n.input(i < 2 ? i ^ swap : i), part)) return false;
    return true;
  }

  bool flattened(const value_view& v, std::size_t at, bool is_root) {
    const pattern_step& step = steps_[at];
    flat_terms all{step.algebra->neutral, {}};
    if (!take_apart(v, *step.algebra, is_root, 0, all)) return false;
    if (all.count != step.parts || !is_number(all.number, step)) return false;
    std::size_t part = at + 1;
    for (std::size_t i = 0; i < step.parts; part += steps_[part].size, ++i)
      if (!value(all.take(way_.choose(all.count)), part)) return false;
    return true;
  }

  /// Collects the base of a square or cube two or three times, and other powers as one operand.
  bool take_power(const node_view& n, flat_terms& to) {
    const std::optional<double> times = number_of(rewriter_.constant(n.input(1)));
    if (!times || (*times != 2 && *times != 3) || number_of(rewriter_.constant(n.input(0)))) return to.add(n.output(0));
    for (int i = 0; i < int(*times); ++i)
      if (!to.add(n.input(0))) return false;
    return true;
  }

  /// Collects operands; false if there are too many. A node with other readers is an operand.
  bool take_apart(const value_view& v, const flattening& algebra, bool is_root, std::size_t depth, flat_terms& to) {
    constexpr std::size_t deepest = 4;
    const node_view n = made(v);
    if (!n || !n.op() || depth == deepest || (!is_root && !v.sole_use()) || n.input_count() != 2) return to.add(v);
    const detail::op_id op = n.op()->id;
    const bool multiplies = algebra.neutral == 1, undoes = op == algebra.undo;
    if (op == algebra.power) return take_power(n, to);
    if (op != algebra.join && !undoes) return to.add(v);
    for (std::size_t i = 0; i < (undoes ? 1u : 2u); ++i) {
      const std::optional<double> c = scalar_beside(n, i);
      if (!c || (undoes && multiplies && *c == 0)) continue;
      to.combine(*c, multiplies, undoes);
      return take_apart(n.input(i), algebra, false, depth + 1, to);
    }
    if (undoes || !n.input(0) || !n.input(1)) return to.add(v);
    return take_apart(n.input(0), algebra, false, depth + 1, to) &&
           take_apart(n.input(1), algebra, false, depth + 1, to);
  }

  /// The number that a node combines with its input i, if its rank does not make the result larger than that input.
  std::optional<double> scalar_beside(const node_view& n, std::size_t i) const {
    const std::optional<double> c = number_of(rewriter_.constant(n.input(1 - i)));
    const std::vector<dim>*const given = rewriter_.shape(n.input(i)), *const shape = rewriter_.shape(n.input(1 - i));
    const bool fits = shape && (shape->empty() || (given && shape->size() <= given->size()));
    return c && fits && std::isfinite(*c) ? c : std::nullopt;
  }

  /// Continues with a node that reads the result, if it is the only reader. Not continuing is another choice.
  void follow(const pattern_step& step) {
    const value_view out = found_.last.output(0);
    if (!out.sole_use()) return;
    const node_view n = *out.consumers().begin();
    if (!rewriter_.may_touch(n) || !has_operator(n, step) || n.input_count() != 2) return;
    const bool is_first = n.input(0) == out;
    if (!is_first && !(n.input(1) == out)) return;  // it reads the result in its subgraph
    const value_view other = n.input(is_first ? 1 : 0);
    if (!other || way_.choose(2) != 0) return;
    found_.values[step.name] = other;
    found_.last = n;
  }

  static bool has_operator(const node_view& n, const pattern_step& step) {
    if (!n.op()) return false;
    if (step.ops.empty()) return n.has_role(step.roles);
    return std::find(step.ops.begin(), step.ops.end(), n.op()->id) != step.ops.end();
  }
  node_view made(const value_view& v) const {
    if (v.is_capture()) return {};
    const node_view n = v.producer();
    return n && rewriter_.may_touch(n) ? n : node_view{};
  }
  bool found(std::uint8_t name) const { return name != pattern_step::none && bool(found_.values[name]); }
  bool bind(const value_view& v, std::uint8_t name) { return bind(v, found_.values[name]); }
  bool bind(const node_view& n, std::uint8_t name) { return bind(n, found_.nodes[name]); }
  template <class View>
  static bool bind(const View& v, View& bound) {
    if (bound) return bound == v;
    bound = v;
    return true;
  }
  bool is_number(double n, const pattern_step& step) {
    if (step.name == pattern_step::none) return about(n, step.number);
    found_.numbers[step.name] = n;
    return true;
  }

  const rewriter& rewriter_;
  std::span<const pattern_step> steps_;
  match_result& found_;
  choices& way_;
};

}  // namespace

bool match_pattern(rewriter& r, const node_view& root, std::span<const pattern_step> steps,
                   detail::function_ref<bool(const match_result&)> accept) {
  match_result found;
  choices way;
  do {
    found = {};
    found.in = &r;
    if (matcher{r, steps, found, way}.root(root) && accept(found)) return true;
  } while (way.next());
  return false;
}

}  // namespace CAMEO_NAMESPACE
