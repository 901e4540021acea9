#include <cameo/eps/cpu/variadic.hpp>
#include <cameo/kernel/broadcast.hpp>

#include "skeletons/zip.hpp"

#include "common/float_values.hpp"
#include "common/refuse.hpp"
#include "common/strided_copy.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

struct folding {
  run_context& c;
  binary_row row;
  std::size_t bytes;
  std::byte* out;

  /// out[i] = a[i] op b[i] over the whole output.
  status operator()(const extents& whole, const void* a, const extents& a_shape, const void* b,
                    const extents& b_shape) const {
    broadcast_loops<3> loops;
    if (!loops.make({&a_shape, &b_shape, &whole})) return bad_input("shapes do not broadcast");
    const auto* const x = static_cast<const std::byte*>(a);
    const auto* const y = static_cast<const std::byte*>(b);
    parallel_elements(c, loops.count(), 1 << 15, [&](std::int64_t first, std::int64_t last) {
      loops.rows(first, last, [&](std::int64_t to, const auto& from, std::int64_t n) {
        row(x + from[0] * std::int64_t(bytes), loops.steps()[0], y + from[1] * std::int64_t(bytes), loops.steps()[1],
            out + to * std::int64_t(bytes), n);
      });
    });
    return {};
  }
};

}  // namespace

status variadic_state::run(run_context& c) const {
  extents whole = c.input(0).shape;
  for (std::size_t i = 1; i < c.input_count(); ++i) {
    const extents so_far = whole;
    if (!broadcast(so_far, c.input(i).shape, whole))
      return bad_input("operand ", i, " of shape ", c.input(i).shape, " does not broadcast with ", so_far,
                       ", the shape of those before");
  }
  const result<value*> out = c.output(0, whole);
  if (!out) return out.error();
  if (whole.count() == 0) return {};
  const value& first = c.input(0);
  void* const to = (*out)->data;
  if (c.input_count() == 1) {
    copy_bytes(c, to, first.data, first.bytes());
    return {};
  }
  const folding fold_operands{c, fold, bytes, static_cast<std::byte*>(to)};
  status folded = fold_operands(whole, first.data, first.shape, c.input(1).data, c.input(1).shape);
  for (std::size_t i = 2; folded && i < c.input_count(); ++i)
    folded = fold_operands(whole, to, whole, c.input(i).data, c.input(i).shape);
  if (!folded || !divide) return folded;
  const std::uint64_t number = float_element(first.type, float(c.input_count()));
  return folding{c, divide, bytes, static_cast<std::byte*>(to)}(whole, to, whole, &number, extents{});
}

template <class Op>
result<variadic<Op>> variadic<Op>::bind(bind_context& c) {
  variadic made;
  const dtype type = c.inputs[0].type;
  made.fold = find_zip<Op>(type);
  if constexpr (std::is_same_v<Op, op::Mean>) made.divide = find_zip<op::Div>(type);
  made.bytes = std::uint8_t(detail::row_of(type).bits / 8);
  // With more operands the output is read again, while an operand that it lay over might be needed a second time.
  for (std::size_t i = 0; c.inputs.size() <= 2 && i < c.inputs.size(); ++i) c.may_overwrite(0, i);
  return made;
}

template struct variadic<op::Sum>;
template struct variadic<op::Min>;
template struct variadic<op::Max>;
template struct variadic<op::Mean>;

}  // namespace cameo::inline CAMEO_ABI::eps
