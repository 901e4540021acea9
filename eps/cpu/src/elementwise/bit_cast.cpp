#include <cameo/eps/cpu/bit_cast.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include <cameo/core/booleans.hpp>

#include "operands/outputs.hpp"
#include "skeletons/strided_copy.hpp"

namespace CAMEO_NAMESPACE::eps {

result<bit_cast> bit_cast::bind(bind_context& c) {
  const std::int64_t number = attributes_of<op::BitCast>{c.attributes}.to;
  if (status s = of_model(check_number("to", number, 1, std::int64_t(dtype::count) - 1)); !s) return s;
  const dtype from = c.inputs[0].type, to = dtype(number);
  if (to == dtype::string || from == dtype::string || detail::row_of(from).bits != detail::row_of(to).bits)
    return bad_attribute(from, " has not the width of ", to);
  if (status same = check_output_type(c, to); !same) return same;
  c.may_overwrite(0, 0);
  return bit_cast{};
}

status bit_cast::run(run_context& c) const {
  const value& x = c.input(0);
  const result<value*> y = c.output(0, x.shape);
  if (!y) return y.error();
  std::uint64_t bytes = 0;
  if (!detail::checked_bytes(x.type, std::uint64_t(x.shape.count()), bytes)) return status_code::out_of_memory;
  const auto* const from = static_cast<const std::byte*>(x.data);
  auto* const to = static_cast<std::byte*>((*y)->data);
  if ((*y)->type == dtype::boolean && x.type != dtype::boolean)  // any byte but 0 is true
    parallel_for(c, std::int64_t(bytes), 1 << 16, [&](std::int64_t first, std::int64_t last) {
      to_booleans({from + first, std::size_t(last - first)}, to + first);
    });
  else copy_bytes(c, to, from, std::size_t(bytes));
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
