#include "stacked_product.hpp"

#include "operands/refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

result<stacked_product> stack_of(const extents& a, const extents& b) {
  stacked_product p;
  p.k = a.back(), p.n = b.rank() > 1 ? b.back() : 1;
  if (a.rank() > 1) p.m = a[a.rank() - 2];
  p.a_stack = extents{a.dims().first(a.rank() > 2 ? a.rank() - 2 : 0)};
  p.b_stack = extents{b.dims().first(b.rank() > 2 ? b.rank() - 2 : 0)};
  const bool fit = broadcast(p.a_stack, p.b_stack, p.stack);
  if (status s = check_broadcasts("A", a, b, fit); !s) return s;
  p.y = p.stack;
  if (a.rank() > 1) p.y.push_back(p.m);
  if (b.rank() > 1) p.y.push_back(p.n);
  return p;
}
std::int64_t matrix_of(const extents& stack, const extents& whole, std::int64_t i) {
  std::int64_t at = 0, step = 1;
  for (std::size_t d = 1; d <= whole.rank(); ++d) {
    const std::int64_t size = whole[whole.rank() - d], index = i % size;
    i /= size;
    if (d > stack.rank()) continue;
    const std::int64_t own = stack[stack.rank() - d];
    if (own != 1) at += index * step;
    step *= own;
  }
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
  const result<spread> a_over = spread_of(a_zero_, a_.shape, p_.m, p_.a_stack.count(), "a_zero_point");
  if (!a_over) return a_over.error();
  const result<spread> b_over = spread_of(b_zero_, b_value_.shape, p_.n, p_.b_stack.count(), "b_zero_point");
  if (!b_over) return b_over.error();
  const result<std::span<const std::int32_t>> a_zeros = read_zeros(c_, a_zero_), b_zeros = read_zeros(c_, b_zero_);
  if (!a_zeros || !b_zeros) return status_code::out_of_memory;
  a_over_ = *a_over, b_over_ = *b_over, a_zeros_ = *a_zeros, b_zeros_ = *b_zeros;
  joined_ = p_.b_stack.count() == 1 && p_.a_stack.count() == p_.count() && a_over_.step == 0;
  return {};
}

status product_run::each(detail::function_ref<status(const integer_product&, std::int64_t, std::int64_t)> f) {
  const std::int64_t count = joined_ ? 1 : p_.count();
  for (std::int64_t i = 0; i < count; ++i) {
    if (c_.stopped()) return status_code::canceled;
    if (status s = pack(matrix_of(p_.b_stack, p_.stack, i)); !s) return s;
    const std::int64_t from = joined_ ? 0 : matrix_of(p_.a_stack, p_.stack, i);
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
