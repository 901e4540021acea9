#include <cameo/op/function_bodies.hpp>

#include <algorithm>

namespace CAMEO_NAMESPACE {

const function_body_row* find_function_body(detail::op_id op, int since, std::int64_t opset) {
  const auto rows = standard_function_bodies();
  const function_body_row* best = nullptr;
  for (auto row = std::ranges::lower_bound(rows, op, {}, &function_body_row::op); row != rows.end() && row->op == op;
       ++row)
    if (row->since == since && row->needs_opset <= std::max<std::int64_t>(opset, row->since)) best = &*row;
  return best;
}

}  // namespace CAMEO_NAMESPACE
