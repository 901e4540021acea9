#include "unary_rows.hpp"

namespace cameo::inline CAMEO_ABI::eps {

status unary_state::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> out = c.output(0, x.shape);
  if (!out) return out.error();
  const auto* const from = static_cast<const std::byte*>(x.data);
  auto* const to = static_cast<std::byte*>((*out)->data);
  parallel_elements(c, x.shape.count(), 1 << 15, [&](std::int64_t first, std::int64_t last) {
    row(parameters, from + first * in_bytes, to + first * out_bytes, last - first);
  });
  return {};
}

status finish_binding(bind_context& c, const unary_choice& choice, unary_state& state) {
  if (!choice.row) return {status_code::not_implemented, "no row for this type"};
  state.row = choice.row;
  state.parameters = choice.parameters;
  state.in_bytes = std::uint8_t(row_of(c.inputs[0].type).bits / 8);
  state.out_bytes = choice.out_bytes ? std::uint8_t(choice.out_bytes) : state.in_bytes;
  if (state.in_bytes == state.out_bytes) c.may_overwrite(0, 0);
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
