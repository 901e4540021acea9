#include <cameo/op/function_bodies.hpp>

#include <algorithm>

namespace cameo::inline CAMEO_ABI {

const function_body_row* find_function_body(op_id op, int since, std::int64_t opset) {
  const function_body_row* best = nullptr;
  for (const function_body_row& row :
       std::ranges::equal_range(standard_function_bodies(), op, {}, &function_body_row::op))
    if (row.since == since && row.needs_opset <= std::max<std::int64_t>(opset, row.since)) best = &row;
  return best;
}

}  // namespace cameo::inline CAMEO_ABI
