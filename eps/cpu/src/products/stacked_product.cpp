#include "stacked_product.hpp"

#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

result<stacked_product> stack_of(const value& a, const value& b) {
  using geometry::repeating_strides;
  const auto p = geometry::matrix_product_of<std::int64_t>(a.shape, b.shape);
  if (!p) return p.error();
  return stacked_product{*p, repeating_strides(p->a.stack, p->stack), repeating_strides(p->b.stack, p->stack)};
}
std::int64_t stacked_product::matrix_of(const extents& steps, std::int64_t i) const {
  std::int64_t at = 0;
  for (std::size_t d = stack.rank(); d-- > 0; i /= stack[d]) at += i % stack[d] * steps[d];
  return at;
}

result<spread> spread_of(const value& v, const extents& whole, std::int64_t size, std::int64_t matrices,
                         std::string_view what) {
  const extents& shape = v.shape;
  if (!v) return spread{};
  if (shape.count() == 1) return spread{};
  if (shape.rank() == 1 && shape[0] == size) return spread{1, 0};
  if (shape.rank() == whole.rank() && shape.rank() > 1 && shape.count() == matrices * size) return spread{1, size};
  return bad_input(what, " has shape ", shape, ", must be one element or ", size, ", or these for each matrix");
}

status product_run::prepare() {
  const result<spread> a_over = spread_of(a_zero_, a_.shape, p_.m, extents{p_.a.stack}.count(), "a_zero_point");
  if (!a_over) return a_over.error();
  const result<spread> b_over = spread_of(b_zero_, b_value_.shape, p_.n, extents{p_.b.stack}.count(), "b_zero_point");
  if (!b_over) return b_over.error();
  const result<std::span<const std::int32_t>> a_zeros = read_zeros(c_, a_zero_), b_zeros = read_zeros(c_, b_zero_);
  if (!a_zeros || !b_zeros) return status_code::out_of_memory;
  a_over_ = *a_over, b_over_ = *b_over, a_zeros_ = *a_zeros, b_zeros_ = *b_zeros;
  joined_ = extents{p_.b.stack}.count() == 1 && extents{p_.a.stack}.count() == p_.count() && a_over_.step == 0;
  return {};
}

status product_run::each(detail::function_ref<status(const integer_product&, std::int64_t, std::int64_t)> f) {
  const std::int64_t count = joined_ ? 1 : p_.count();
  for (std::int64_t i = 0; i < count; ++i) {
    if (c_.stopped()) return status_code::canceled;
    if (status s = pack(p_.matrix_of_b(i)); !s) return s;
    const std::int64_t from = joined_ ? 0 : p_.matrix_of_a(i);
    integer_product product{joined_ ? p_.m * p_.count() : p_.m, p_.k, {}, p_.k, 1, panels_, start_.data()};
    product.a = {static_cast<const std::uint8_t*>(a_.data) + from * p_.m * p_.k, a_.type == dtype::i8,
                 a_zeros_.data() + a_over_.at(from, 0), a_over_.step};
    start_sums(panels_, nullptr, zero_as_bytes(product.a.is_signed, a_zeros_[0]), start_.data());
    if (status s = f(product, i * p_.m, i); !s) return s;
  }
  return {};
}

status product_run::pack(std::int64_t matrix) {
  if (matrix == packed_) return {};
  if (b_.data) {
    if (a_over_.step != 0) return check_count("a_zero_point", a_zero_.shape.count(), 1);
    panels_ = panels_of(b_);
  } else {
    const auto zeros = b_zeros_.subspan(std::size_t(b_over_.at(matrix, 0)), std::size_t(b_over_.step ? p_.n : 1));
    const auto* const codes = static_cast<const std::uint8_t*>(b_value_.data) + matrix * p_.k * p_.n;
    const code_matrix b{codes, b_value_.type == dtype::i8, false, p_.k, p_.n, zeros};
    const result<integer_panels> made = panels_of(c_, b, a_over_.step != 0, room_);
    if (!made) return made.error();
    panels_ = *made;
  }
  packed_ = matrix;
  if (start_.size() >= std::size_t(panels_.width())) return {};
  const result<std::span<std::int32_t>> start = c_.scratch<std::int32_t>(std::size_t(panels_.width()));
  if (!start) return start.error();
  start_ = *start;
  return {};
}

}  // namespace CAMEO_NAMESPACE::eps
