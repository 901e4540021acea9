#include "ort_resolver.hpp"

#include "ort_schema.hpp"

#include <algorithm>

namespace CAMEO_NAMESPACE::ort {
namespace {

/// Checks that the tables are present, and their keys unique.
status check_keys(const vector_view& tables, std::size_t slot, std::string_view what, arena& scratch) {
  if (!tables) return wrong(status_code::fail, what, "s are missing");
  std::size_t i = 0, j = 0;
  const result<bool> differ = all_differ(tables, slot, scratch, i, j);
  if (!differ) return differ.error();
  return *differ ? status{} : wrong(status_code::fail, what, " '", tables.table(i).text(slot), "' is given twice");
}

}  // namespace

bool text_less(const table_view& a, const table_view& b, std::size_t slot) { return a.text(slot) < b.text(slot); }
bool number_less(const table_view& a, const table_view& b, std::size_t slot) {
  return a.number<std::uint32_t>(slot) < b.number<std::uint32_t>(slot);
}

result<std::span<std::uint32_t>> sorted(const vector_view& tables, std::size_t slot, arena& memory,
                                        table_less* is_less) {
  result<std::span<std::uint32_t>> order = memory.take<std::uint32_t>(tables.size());
  if (!order) return order;
  for (std::size_t at = 0; at < order->size(); ++at) (*order)[at] = std::uint32_t(at);
  const auto less = [&](std::uint32_t a, std::uint32_t b) { return is_less(tables.table(a), tables.table(b), slot); };
  std::make_heap(order->begin(), order->end(), less);  // a heap sort: small code, and never slow
  std::sort_heap(order->begin(), order->end(), less);
  return order;
}

result<bool> all_differ(const vector_view& tables, std::size_t slot, arena& scratch, std::size_t& i, std::size_t& j) {
  const auto text = [&](std::size_t at) { return tables.table(at).text(slot); };
  bool in_order = true;
  for (std::size_t at = 1; at < tables.size() && in_order; ++at) in_order = text(at - 1) < text(at);
  if (in_order) return true;
  result<std::span<std::uint32_t>> order = sorted(tables, slot, scratch, text_less);
  if (!order) return order.error();
  const auto same = [&](std::uint32_t a, std::uint32_t b) { return text(a) == text(b); };
  const auto twice = std::adjacent_find(order->begin(), order->end(), same);
  if (twice == order->end()) return true;
  i = twice[0], j = twice[1];
  return false;
}

result<op_name> parse_op_name(std::string_view text) {
  const std::size_t first = text.find(':'), last = text.rfind(':');
  op_name made;
  if (first == text.npos || first == last || text.find(':', first + 1) != last)
    return wrong(status_code::fail, "op id '", text, "' is not domain:op_type:since_version");
  const char* const chars = text.data();  // views made from pointers cannot throw
  made.domain = {chars, first};
  made.op_type = {chars + first + 1, last - first - 1};
  if (!parse_number({chars + last + 1, text.size() - last - 1}, made.since))
    return wrong(status_code::fail, "op id '", text, "' does not end in the number of a version");
  return made;
}

status check_resolver(const table_view& resolver, arena& scratch) {
  const vector_view ops = resolver.vector(resolver::op_kernel_type_str_args);
  if (status s = check_keys(ops, op_entry::op_id, "OpIdKernelTypeStrArgsEntry.op_id", scratch); !s) return s;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    const table_view op = ops.table(i);
    const std::string_view id = op.text(op_entry::op_id);
    if (const result<op_name> name = parse_op_name(id); !name)
      return status{name.error()}.in("kernel_type_str_resolver");
    const vector_view types = op.vector(op_entry::kernel_type_str_args);
    status s = check_keys(types, type_entry::kernel_type_str, "KernelTypeStrArgsEntry.kernel_type_str", scratch);
    for (std::size_t t = 0; t < types.size() && s; ++t)
      if (!types.table(t).has(type_entry::args))
        s = wrong(status_code::fail, "KernelTypeStrArgsEntry.args of '",
                  types.table(t).text(type_entry::kernel_type_str), "' is missing");
    if (!s) return std::move(s).in(short_text{} << "op id '" << id << "'");
  }
  return {};
}

}  // namespace CAMEO_NAMESPACE::ort
