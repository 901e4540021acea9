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

/// A value of some graph, to which the input was carried with `shift` added.
struct place {
  const graph* in;
  value_id value;
  std::int64_t shift;
};

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

class follower {
 public:
  follower(const session& of, const dim_sizes& sizes) : of_{of}, sizes_{sizes} {}

  wanted_numbers follow(value_id input) {
    reach({&of_.graph().main(), input, 0});
    while (!todo_.empty()) {
      const place at = todo_.back();
      todo_.pop_back();
      for (const graph::use use : at.in->uses(at.value)) meet(at, use);
    }
    if (found_.known && found_.pattern == operand_use::none) found_.high = std::max(found_.low, found_.high);
    // The smallest table that models look integers up in has two rows, those of the types of tokens.
    if (!found_.known && is_hidden_) found_.high = 1;
    return found_;
  }

 private:
  void reach(const place& to) {
    constexpr std::size_t enough = 10000;
    constexpr std::int64_t most = std::int64_t{1} << 60;  // what may still be added to
    if (std::abs(to.shift) < most && to.value != value_id::none && seen_.size() < enough &&
        seen_.insert({to.in, to.value}).second)
      todo_.push_back(to);
  }

  void meet(const place& at, graph::use use) {
    const detail::graph_node& node = (*at.in)[use.node];
    if (use.position >= node.input_count) {
      for (const graph* const inner : node.subgraphs)
        for (const value_id c : inner->captures())
          if ((*inner)[c].outer == at.value) reach({inner, c, at.shift});
    } else if (node.fused >= 0) {
      const graph* const body = of_.fused_body(node);
      if (body && use.position < body->inputs().size()) reach({body, body->inputs()[use.position], at.shift});
      is_hidden_ = is_hidden_ || !body;
    } else if (node.op) {
      apply(use_of_operand(*node.op, use.position), at, use);
    }
  }

  void apply(const operand_row& row, const place& at, graph::use use) {
    const detail::graph_node& node = (*at.in)[use.node];
    const auto operand = [&] {
      return row.other < node.input_count ? at.in->input(use.node, row.other) : value_id::none;
    };
    switch (row.use) {
      case operand_use::none: return;
      case operand_use::carried: return carry(node, at, 0);
      case operand_use::shifted:
      case operand_use::unshifted: return shift(node, at, row.use, operand());
      case operand_use::index: return between(0, size_along(at, operand(), axis_of(row, node)) - 1, at.shift);
      case operand_use::length: return between(1, size_along(at, operand(), axis_of(row, node)), at.shift);
      case operand_use::below: {
        const value_id depth = operand();
        const auto end = depth == value_id::none ? std::nullopt : whole_number(at.in->constant_of(depth), false);
        return end ? between(0, *end - 1, at.shift) : void();
      }
      case operand_use::tuple: return between(0, tuple_end(row, at, use, operand()) - 1, at.shift);
      case operand_use::zeros: return between(0, 0, at.shift);
      case operand_use::ones: return between(1, 1, at.shift);
      case operand_use::ends:
        return between(std::numeric_limits<std::int32_t>::max(), std::numeric_limits<std::int32_t>::max(), at.shift);
      case operand_use::places:
      case operand_use::form:
        if (!found_.known) found_.known = true, found_.pattern = row.use;
        return;
    }
  }

  void carry(const detail::graph_node& node, const place& at, std::int64_t more) {
    for (const value_id out : node.outputs) reach({at.in, out, at.shift + more});
  }

  /// Only what is added to all of them alike is followed: of several numbers, the one that leaves the least room.
  void shift(const detail::graph_node& node, const place& at, operand_use how, value_id other) {
    if (other == value_id::none) return;
    const bool adds = how == operand_use::shifted;
    if (const auto number = whole_number(at.in->constant_of(other), adds)) carry(node, at, adds ? *number : -*number);
  }

  std::int64_t axis_of(const operand_row& row, const detail::graph_node& node) const {
    if (row.axis.empty()) return row.otherwise;
    const attribute* const given = detail::find_attribute(node.attributes, row.axis);
    return given ? given->i : row.otherwise;
  }

  /// 1 where it is not known before a run: index 0 is there unless nothing is.
  std::int64_t size_along(const place& at, value_id v, std::int64_t axis) const {
    const std::vector<dim>* const dims = dims_of(at, v);
    if (!dims) return 1;
    if (axis < 0) axis += std::int64_t(dims->size());
    if (axis < 0 || axis >= std::int64_t(dims->size())) return 1;
    return size_of((*dims)[std::size_t(axis)], of_.graph(), sizes_);
  }

  const std::vector<dim>* dims_of(const place& at, value_id v) const {
    if (v == value_id::none) return nullptr;
    const value_type* const type = (*at.in)[v].type;
    return type && type->is_tensor() && type->shape ? &*type->shape : nullptr;
  }

  /// An index of any of the axes that a tuple goes through.
  std::int64_t tuple_end(const operand_row& row, const place& at, graph::use use, value_id data) const {
    const std::vector<dim>* const indices = dims_of(at, at.in->input(use.node, use.position));
    const std::int64_t first = std::clamp<std::int64_t>(axis_of(row, (*at.in)[use.node]), 0, max_rank);
    const std::int64_t count =
        indices && !indices->empty() && indices->back().known() ? indices->back().size : std::int64_t{1};
    std::int64_t end = std::numeric_limits<std::int32_t>::max();
    for (std::int64_t i = first; i < first + std::min<std::int64_t>(count, 64); ++i)
      end = std::min(end, size_along(at, data, i));
    return end;
  }

  void between(std::int64_t low, std::int64_t high, std::int64_t shift) {
    low -= shift, high -= shift;
    if (found_.known && found_.pattern == operand_use::none)
      low = std::max(low, found_.low), high = std::min(high, found_.high);
    found_ = {low, high, true, operand_use::none};
  }

  const session& of_;
  const dim_sizes& sizes_;
  wanted_numbers found_;
  bool is_hidden_ = false;  // a node that was compiled elsewhere reads it, and does not say how
  std::vector<place> todo_;
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

wanted_numbers wanted_of(const session& of, const io_info& input, const dim_sizes& sizes) {
  if (is_mask(input.name)) return {1, 1, true, operand_use::none};
  const graph& g = of.graph().main();
  const value_id at = g.find(input.name);
  return at == value_id::none ? wanted_numbers{} : follower{of, sizes}.follow(at);
}

}  // namespace cameo::program
