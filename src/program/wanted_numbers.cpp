#include "program/wanted_numbers.hpp"

#include <cameo/core/elements.hpp>
#include <cameo/graph/model.hpp>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <set>

namespace cameo::program {
namespace {

using detail::number_elements;

/// A value of a graph that has the elements of the input, with `shift` added.
struct derived_value {
  const graph* in;
  value_id value;
  std::int64_t shift;
};

/// The largest or smallest element of a constant, as an integer; nullopt if there is none or it is too large.
std::optional<std::int64_t> whole_number(const value* v, bool largest) {
  if (!v || v->kind != value_kind::tensor || v->shape.count() == 0) return {};
  return number_elements::visit(v->type, std::optional<std::int64_t>{}, [&]<class T>(std::type_identity<T>) {
    std::optional<double> found;
    for (std::int64_t i = 0; i < v->shape.count(); ++i) {
      const auto number = double(detail::number_at<T>(*v, std::size_t(i)));
      if (!found || (largest ? number > *found : number < *found)) found = number;
    }
    constexpr double most = 1e15;
    return found && std::abs(*found) < most ? std::optional{std::int64_t(*found)} : std::nullopt;
  });
}

/// Follows an input through the graph and intersects the ranges that operators allow.
class follower {
 public:
  follower(const session& loaded, const dim_sizes& sizes) : session_{loaded}, sizes_{sizes} {}

  wanted_numbers follow(value_id input) {
    visit_later({&session_.graph().main(), input, 0});
    while (!todo_.empty()) {
      const derived_value at = todo_.back();
      todo_.pop_back();
      for (const graph::use use : at.in->uses(at.value)) apply_use(at, use);
    }
    if (found_.known && found_.pattern == operand_use::none) found_.high = std::max(found_.low, found_.high);
    // The smallest lookup table of usual models has two rows: that of token types.
    if (!found_.known && is_hidden_) found_.high = 1;
    return found_;
  }

 private:
  void visit_later(const derived_value& to) {
    constexpr std::size_t enough = 10000;
    constexpr std::int64_t most = std::int64_t{1} << 60;  // avoids an overflow of later sums
    if (std::abs(to.shift) < most && to.value != value_id::none && seen_.size() < enough &&
        seen_.insert({to.in, to.value}).second)
      todo_.push_back(to);
  }

  void apply_use(const derived_value& at, graph::use use) {
    const detail::graph_node& node = (*at.in)[use.node];
    if (use.position >= node.input_count) {
      for (const graph* const inner : node.subgraphs)
        for (const value_id c : inner->captures())
          if ((*inner)[c].outer == at.value) visit_later({inner, c, at.shift});
    } else if (node.fused >= 0) {
      const graph* const body = session_.fused_body(node);
      if (body && use.position < body->inputs().size()) visit_later({body, body->inputs()[use.position], at.shift});
      is_hidden_ = is_hidden_ || !body;
    } else if (node.op) {
      apply(use_of_operand(*node.op, use.position), at, use);
    }
  }

  void apply(const operand_row& row, const derived_value& at, graph::use use) {
    const detail::graph_node& node = (*at.in)[use.node];
    const auto operand = [&] {
      return row.other < node.input_count ? at.in->input(use.node, row.other) : value_id::none;
    };
    switch (row.use) {
      case operand_use::none: return;
      case operand_use::carried: return carry(node, at, 0);
      case operand_use::shifted:
      case operand_use::unshifted: return shift(node, at, row.use, operand());
      case operand_use::index: return restrict_to(0, size_along(at, operand(), axis_of(row, node)) - 1, at.shift);
      case operand_use::length: return restrict_to(1, size_along(at, operand(), axis_of(row, node)), at.shift);
      case operand_use::below: {
        const value_id depth = operand();
        const auto end = depth == value_id::none ? std::nullopt : whole_number(at.in->constant_of(depth), false);
        return end ? restrict_to(0, *end - 1, at.shift) : void();
      }
      case operand_use::tuple: return restrict_to(0, tuple_end(row, at, use, operand()) - 1, at.shift);
      case operand_use::zeros: return restrict_to(0, 0, at.shift);
      case operand_use::ones: return restrict_to(1, 1, at.shift);
      case operand_use::ends: return restrict_to(INT32_MAX, INT32_MAX, at.shift);
      case operand_use::places:
      case operand_use::form:
        if (!found_.known) found_.known = true, found_.pattern = row.use;
        return;
    }
  }

  void carry(const detail::graph_node& node, const derived_value& at, std::int64_t more) {
    for (const value_id out : node.outputs) visit_later({at.in, out, at.shift + more});
  }

  /// Follows an addition or subtraction of a constant. Of a constant with several elements, the one that restricts the
  /// input most is used: the largest if it is added, the smallest if it is subtracted.
  void shift(const detail::graph_node& node, const derived_value& at, operand_use how, value_id other) {
    if (other == value_id::none) return;
    const bool adds = how == operand_use::shifted;
    if (const auto number = whole_number(at.in->constant_of(other), adds)) carry(node, at, adds ? *number : -*number);
  }

  std::int64_t axis_of(const operand_row& row, const detail::graph_node& node) const {
    if (row.axis.empty()) return row.otherwise;
    const attribute* const given = detail::find_attribute(node.attributes, row.axis);
    return given ? given->i : row.otherwise;
  }

  /// The size of a value along an axis; 1 if it is unknown before a run, since index 0 is then the safest choice.
  std::int64_t size_along(const derived_value& at, value_id v, std::int64_t axis) const {
    const std::vector<dim>* const dims = dims_of(at, v);
    if (!dims) return 1;
    if (axis < 0) axis += std::int64_t(dims->size());
    if (axis < 0 || axis >= std::int64_t(dims->size())) return 1;
    return size_of((*dims)[std::size_t(axis)], session_.graph(), sizes_);
  }

  const std::vector<dim>* dims_of(const derived_value& at, value_id v) const {
    if (v == value_id::none) return nullptr;
    const value_type* const type = (*at.in)[v].type;
    return type && type->is_tensor() && type->shape ? &*type->shape : nullptr;
  }

  /// The smallest size of the axes that an index tuple, as in GatherND, indexes.
  std::int64_t tuple_end(const operand_row& row, const derived_value& at, graph::use use, value_id data) const {
    const std::vector<dim>* const indices = dims_of(at, at.in->input(use.node, use.position));
    const std::int64_t first = std::clamp<std::int64_t>(axis_of(row, (*at.in)[use.node]), 0, max_rank);
    const std::int64_t count =
        indices && !indices->empty() && indices->back().known() ? indices->back().size : std::int64_t{1};
    std::int64_t end = std::numeric_limits<std::int32_t>::max();
    for (std::int64_t i = first; i < first + std::min<std::int64_t>(count, 64); ++i)
      end = std::min(end, size_along(at, data, i));
    return end;
  }

  void restrict_to(std::int64_t low, std::int64_t high, std::int64_t shift) {
    low -= shift, high -= shift;
    if (found_.known && found_.pattern == operand_use::none)
      low = std::max(low, found_.low), high = std::min(high, found_.high);
    found_ = {low, high, true, operand_use::none};
  }

  const session& session_;
  const dim_sizes& sizes_;
  wanted_numbers found_;
  bool is_hidden_ = false;  // a fused node without a body reads the input, so how it is used is unknown
  std::vector<derived_value> todo_;
  std::set<std::pair<const graph*, value_id>> seen_;
};

bool is_mask(std::string_view name) {
  std::string lower{name};
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char c) { return char(std::tolower(c)); });
  return lower.find("mask") != lower.npos;
}

}  // namespace

std::int64_t size_of(dim d, const model& m, const dim_sizes& sizes) {
  if (d.known()) return d.size;
  if (d.symbol < m.symbols.size())
    for (const auto& [name, size] : sizes)
      if (d.symbol != 0 && m.symbols[d.symbol] == name) return size;
  return 1;
}

wanted_numbers wanted_of(const session& loaded, const io_info& input, const dim_sizes& sizes) {
  if (is_mask(input.name)) return {1, 1, true, operand_use::none};
  const graph& g = loaded.graph().main();
  const value_id at = g.find(input.name);
  return at == value_id::none ? wanted_numbers{} : follower{loaded, sizes}.follow(at);
}

}  // namespace cameo::program
