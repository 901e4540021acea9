#pragma once
#include "integer_factor.hpp"

namespace CAMEO_NAMESPACE::eps {

/// A stack of products [m, k] * [k, n], as numpy's matmul sees two shapes.
struct stacked_product {
  std::int64_t m = 1, k = 1, n = 1;
  extents a_stack, b_stack, stack, y;
  std::int64_t count() const { return stack.count(); }
};
result<stacked_product> stack_of(const extents& a, const extents& b);
/// Number of the matrix, in a stack that broadcasts to `whole`, that product i of `whole` takes.
std::int64_t matrix_of(const extents& stack, const extents& whole, std::int64_t i);

/// How scales and zero points spread over the rows (columns) of a stack: row r of matrix i has number
/// i * matrix_step + r * step.
struct spread {
  std::int64_t step = 0, matrix_step = 0;
  std::int64_t at(std::int64_t matrix, std::int64_t r) const { return matrix * matrix_step + r * step; }
};
/// `v`, or `none`, is a parameter of a tensor of `whole`, with `size` rows (columns) and `matrices` of them.
result<spread> spread_of(const value& v, const extents& whole, std::int64_t size, std::int64_t matrices,
                         std::string_view what);

/// The products of a stack, one after the other; all rows of A at once where they meet one B.
class product_run {
 public:
  product_run(run_context& c, const stacked_product& p, const integer_factor& b, const value& a, const value& a_zero,
              const value& b_value, const value& b_zero)
      : c_{c}, p_{p}, b_{b}, a_{a}, a_zero_{a_zero}, b_value_{b_value}, b_zero_{b_zero} {}

  /// Checks zero points and reads them.
  status prepare();
  /// f(product, first row of C, its number) for each product; an error ends the run.
  status each(detail::function_ref<status(const integer_product&, std::int64_t, std::int64_t)> f);

 private:
  status pack(std::int64_t matrix);

  run_context& c_;
  const stacked_product& p_;
  const integer_factor& b_;
  const value &a_, &a_zero_, &b_value_, &b_zero_;
  spread a_over_{}, b_over_{};
  std::span<const std::int32_t> a_zeros_, b_zeros_;
  bool joined_ = false;
  std::int64_t packed_ = -1;
  integer_panels panels_{};
  std::span<std::byte> room_;
  std::span<std::int32_t> start_;
};

}  // namespace CAMEO_NAMESPACE::eps
