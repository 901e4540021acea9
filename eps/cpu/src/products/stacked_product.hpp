#pragma once
#include <cameo/geometry/product.hpp>

#include "integer_factor.hpp"

namespace CAMEO_NAMESPACE::eps {

/// A stack of products [m, k] * [k, n], with the shapes of numpy's matmul.
struct stacked_product : geometry::matrix_product {
  extents a_steps, b_steps;  // the strides of the stacks, in matrices, along the axes of `stack`

  std::int64_t count() const { return extents{stack}.count(); }
  /// The index of the matrix of A (or B) that product `i` uses.
  std::int64_t matrix_of_a(std::int64_t i) const { return matrix_of(a_steps, i); }
  std::int64_t matrix_of_b(std::int64_t i) const { return matrix_of(b_steps, i); }

 private:
  std::int64_t matrix_of(const extents& steps, std::int64_t i) const;
};
result<stacked_product> stack_of(const value& a, const value& b);

/// How scales and zero points are assigned to the rows (columns) of a stack: row r of matrix i has the one with index
/// i * matrix_step + r * step.
struct spread {
  std::int64_t step = 0, matrix_step = 0;
  std::int64_t at(std::int64_t matrix, std::int64_t r) const { return matrix * matrix_step + r * step; }
};
/// Finds how `v` (a scale or zero point, or absent) is assigned to a tensor of shape `whole`, which has `matrices`
/// matrices with `size` rows (columns) each. INVALID_ARGUMENT if its shape doesn't fit; `what` is its name in the
/// message.
result<spread> spread_of(const value& v, const extents& whole, std::int64_t size, std::int64_t matrices,
                         std::string_view what);

/// Computes the products of a stack of quantized matrices one after the other, or as one product if all have the same
/// B.
class product_run {
 public:
  product_run(run_context& c, const stacked_product& p, const integer_factor& b, const value& a, const value& a_zero,
              const value& b_value, const value& b_zero)
      : c_{c}, p_{p}, b_{b}, a_{a}, a_zero_{a_zero}, b_value_{b_value}, b_zero_{b_zero} {}

  /// Reads the zero points and checks their shapes.
  status prepare();
  /// Calls f(product, first row of C, index of the product) for each product, until one returns an error.
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
