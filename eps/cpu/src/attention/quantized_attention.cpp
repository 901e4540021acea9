#include <cameo/eps/cpu/quantized_attention.hpp>
#include <cameo/op/attributes/microsoft.hpp>

#include "operands/operand_values.hpp"
#include "operands/scratch_of.hpp"
#include "operands/usable_sizes.hpp"

#include "products/code_product.hpp"
#include "projected_rows.hpp"

namespace CAMEO_NAMESPACE::eps {

bool quantized_attention::accepts(const bind_context& c) {
  const attributes_of<op::microsoft::QAttention> a{c.attributes};
  return a.do_rotary.value_or(0) == 0 && (a.past_present_share_buffer.value_or(0) == 0 || !c.has_input(8));
}
result<quantized_attention> quantized_attention::bind(bind_context& c) {
  const result<integer_factor> weights = integer_factor::bind(c, 1, 7, 6);
  if (!weights) return weights.error();
  return quantized_attention{read(attributes_of<op::microsoft::QAttention>{c.attributes}), *weights};
}

status quantized_attention::run(run_context& c) const {
  const value &x = c.input(0), &w = c.input(1), &bias = c.input(2), &past = c.input(8);
  if (status s = usable_inputs(c, {0, 1, 8}); !s) return s;
  const result<projected_sizes> z = geometry::projected_attention_of<std::int64_t>(
      x.shape, w.shape, heads, {}, geometry::shape_of(past), bool(past), past || c.has_output(1));
  if (!z) return z.error();
  const result<value*> y = c.output(0, z->y);
  if (!y) return y.error();
  const extents shape{z->batches, z->length, w.shape[1]};
  const auto all = scratch_of<float>(c, shape);
  if (!all) return all.error();
  if (shape.count() != 0) {
    const scaled_codes factors{x, w, c.input(3), c.input(4), c.input(6), c.input(7), bias};
    if (status done = multiply_to_floats(c, factors, weights, *all); !done) return done;
  }
  return attend_projected(c, *this, *z, {*all, std::size_t(shape.count())}, c.input(5), past, {}, **y);
}

}  // namespace CAMEO_NAMESPACE::eps
