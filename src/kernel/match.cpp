#include <cameo/kernel/match.hpp>

#include <cstdio>

namespace cameo::inline CAMEO_ABI {
namespace {

bool holds(const operand& o, type_mask allowed) {
  return !o.present || (o.kind == type_kind::tensor && (allowed & bit_of(o.type)));
}

/// The first operand that breaks a rule, or null.
const operand* broken_by(const node_signature& node, const kernel_rule& rule) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if ((rule.inputs >> std::min<std::size_t>(i, 31) & 1) && !holds(node.inputs[i], rule.allowed))
      return &node.inputs[i];
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if ((rule.outputs >> std::min<std::size_t>(i, 15) & 1) && !holds(node.outputs[i], rule.allowed))
      return &node.outputs[i];
  return nullptr;
}

verdict try_row(const node_signature& node, const kernel_row& row, std::span<const kernel_rule> rules) {
  if (node.since < row.first || node.since > row.last) return {refusal::version, &row};
  for (int i = 0; i < row.rule_count; ++i) {
    const kernel_rule& rule = rules[std::size_t(row.rules + i)];
    if (const operand* o = broken_by(node, rule)) return {refusal::type, &row, &rule, o->type, rule.allowed, i};
  }
  return {refusal::none, &row};
}

/// Composes a line in place: no heap, cut where the line ends.
struct line_writer {
  std::span<char> line;
  std::size_t size = 0;

  void add(std::string_view words) { size += words.copy(line.data() + size, line.size() - size); }
  void add(int number) {
    char digits[12];
    add({digits, std::size_t(std::snprintf(digits, sizeof digits, "%d", number))});
  }
  template <class... Parts>
  void operator()(Parts... parts) {
    (add(parts), ...);
  }
};

}  // namespace

verdict match(const node_signature& node, const kernel_table& kernels) {
  verdict closest;
  for (const kernel_row& row : rows_with(node.op, &kernel_row::op, kernels.rows)) {
    const verdict next = try_row(node, row, kernels.rules);
    if (next) return next;
    const int closer = next.why != closest.why ? int(next.why) - int(closest.why) : next.obeyed - closest.obeyed;
    if (closer > 0) closest = next;
    if (closer == 0) closest.accepted |= next.accepted;
  }
  return closest;
}

std::string_view explain(const verdict& v, std::span<char> line) {
  line_writer say{line};
  switch (v.why) {
    case refusal::none: say(" runs it"); break;
    case refusal::no_kernel: say(" has no kernel for it"); break;
    case refusal::declined: say(" declines it"); break;
    case refusal::version: say(" has it for versions ", int(v.row->first), " to ", int(v.row->last)); break;
    case refusal::type:
      say(" does not take ", std::string_view{v.rule->type_string}, " = ");
      say(v.found == dtype::undefined ? std::string_view{"unknown"} : row_of(v.found).name, " but");
      for (const dtype_row& type : elements::rows)
        if (v.accepted & bit_of(type.id)) say(" ", type.name);
  }
  return {line.data(), say.size};
}

}  // namespace cameo::inline CAMEO_ABI
