#include <cameo/kernel/match.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE {
namespace {

bool holds(const operand& o, detail::type_mask allowed) {
  return !o.present || (o.kind == type_kind::tensor && (allowed & detail::bit_of(o.type)));
}

/// The first operand that breaks a rule, or null.
const operand* broken_by(const detail::node_signature& node, detail::type_mask allowed,
                         detail::bound_parameters bound) {
  for (std::size_t i = 0; i < node.inputs.size(); ++i)
    if ((bound.inputs >> std::min<std::size_t>(i, 31) & 1) && !holds(node.inputs[i], allowed)) return &node.inputs[i];
  for (std::size_t i = 0; i < node.outputs.size(); ++i)
    if ((bound.outputs >> std::min<std::size_t>(i, 15) & 1) && !holds(node.outputs[i], allowed))
      return &node.outputs[i];
  return nullptr;
}

/// Matches a node against a row. `source` is null if the operator's tag contains the node's version. Otherwise `source`
/// maps type strings to parameters, and the row must be for `newest`, the newest version in the tag, and later ones.
verdict try_row(const detail::node_signature& node, const detail::kernel_row& row,
                std::span<const detail::kernel_rule> rules, int newest, const detail::type_string_source* source) {
  if (node.since < row.first || (source ? row.last < newest : node.since > row.last)) return {refusal::version, &row};
  for (int i = 0; i < row.rule_count; ++i) {
    const detail::kernel_rule& rule = rules[std::size_t(row.rules + i)];
    // The kernel relies on the types of these parameters, whatever else the resolver of a file binds.
    detail::bound_parameters bound{rule.inputs, rule.outputs};
    if (source && !(*source)(rule.type_string, bound))
      return {refusal::type, &row, &rule, dtype::undefined, rule.allowed, i};
    if (const operand* o = broken_by(node, rule.allowed, bound))
      return {refusal::type, &row, &rule, o->type, rule.allowed, i};
  }
  return {refusal::none, &row};
}

/// The row that matches, or the one that came closest.
verdict best_of(const detail::node_signature& node, const detail::kernel_table& kernels, int newest,
                const detail::type_string_source* source) {
  verdict closest;
  for (const detail::kernel_row& row : detail::rows_with(node.op, &detail::kernel_row::op, kernels.rows)) {
    const verdict next = try_row(node, row, kernels.rules, newest, source);
    if (next) return next;
    if constexpr (!status::has_words) continue;  // the reason is not used
    const int closer = next.why != closest.why ? int(next.why) - int(closest.why) : next.obeyed - closest.obeyed;
    if (closer > 0) closest = next;
    if (closer == 0) closest.accepted |= next.accepted;
  }
  for (const detail::lacking_kernel& each : kernels.lacking)
    if (status::has_words && each.op == node.op && closest.why == refusal::no_kernel) closest.advice = each.advice;
  return closest;
}

/// Composes a message in a buffer, without the heap; truncates it at the end.
struct line_writer {
  std::span<char> line;
  std::size_t size = 0;

  void add(std::string_view words) {
    const std::size_t count = std::min(words.size(), line.size() - size);
    if (count) std::memcpy(line.data() + size, words.data(), count);
    size += count;
  }
  void add(int number) {  // a version: not negative
    char digits[10];
    std::size_t count = 0;
    do digits[sizeof digits - ++count] = char('0' + number % 10);
    while (number /= 10);
    add({digits + sizeof digits - count, count});
  }
  template <class... Parts>
  void operator()(Parts... parts) {
    (add(parts), ...);
  }
};

}  // namespace

verdict match(const detail::node_signature& node, const detail::kernel_table& kernels) {
  return best_of(node, kernels, 0, nullptr);
}

verdict match(const detail::node_signature& node, const detail::kernel_table& kernels,
              detail::type_string_source says) {
  int newest = 0;
  for (const op_row& op : detail::rows_with(node.op, &op_row::id, kernels.ops))
    for (const op_version& v : op.versions) newest = std::max(newest, v.since);
  return best_of(node, kernels, newest, &says);
}

std::string_view explain(const verdict& v, std::span<char> line) {
  line_writer say{line};
  switch (v.why) {
    case refusal::none: say(" runs it"); break;
    case refusal::no_kernel: say(" has no kernel for it", v.advice.empty() ? "" : ": ", v.advice); break;
    case refusal::declined: say(" declines it"); break;
    case refusal::version: say(" has it for versions ", int(v.row->first), " to ", int(v.row->last)); break;
    case refusal::type:
      say(" does not take ", std::string_view{v.rule->type_string}, " = ");
      say(v.found == dtype::undefined ? std::string_view{"unknown"} : detail::row_of(v.found).name, " but");
      for (const detail::dtype_row& type : detail::elements::rows)
        if (v.accepted & detail::bit_of(type.id)) say(" ", type.name);
  }
  return {line.data(), say.size};
}

}  // namespace CAMEO_NAMESPACE
