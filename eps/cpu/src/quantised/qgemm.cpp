#include <cameo/eps/cpu/qgemm.hpp>

#include "common/operand_values.hpp"
#include "quantized.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

std::int32_t code_at(const value& v, std::int64_t i) {
  const std::uint8_t byte = static_cast<const std::uint8_t*>(v.data)[i];
  return v.type == dtype::i8 ? std::int32_t(std::int8_t(byte)) : std::int32_t{byte};
}

/// One number, or one per column.
status check_spread(const value& v, std::int64_t columns, std::string_view what) {
  if (v.shape.count() == 1 || v.shape == extents{columns}) return {};
  return bad_input(what, " has shape ", v.shape, "; it must be one number, or ", columns, " for the columns of B");
}
std::int64_t at(const value& v, std::int64_t column) { return v.shape.count() == 1 ? 0 : column; }

/// How far C goes per row and column of Y [m, n].
struct steps {
  std::int64_t row = 0, column = 0;
};
result<steps> steps_of(const value& c, std::int64_t m, std::int64_t n) {
  if (!c) return steps{};
  const std::size_t rank = c.shape.rank();
  const std::int64_t columns = rank > 0 ? c.shape.back() : 1, rows = rank > 1 ? c.shape[0] : 1;
  if (rank > 2 || (columns != 1 && columns != n) || (rows != 1 && rows != m))
    return bad_input("C ", c.shape, " does not broadcast to ", extents{m, n});
  return steps{rows == 1 ? 0 : columns, columns == 1 ? 0 : 1};
}

struct scaling {
  float alpha;
  const value &a_scale, &b_scale, &c, &y_scale, &y_zero;
  steps of_c;

  void store(const value& y, std::int64_t row, std::int64_t n, const std::int32_t* sums) const {
    const float factor = alpha * a_scale.as_unchecked<float>()[0];
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int32_t add = c ? c.as_unchecked<std::int32_t>()[row * of_c.row + j * of_c.column] : 0;
      const auto sum = std::int32_t(std::uint32_t(sums[j]) + std::uint32_t(add));
      const float factor_b = b_scale.as_unchecked<float>()[at(b_scale, j)];
      if (y.type == dtype::f32) {
        y.as_mutable_unchecked<float>()[row * n + j] = factor * factor_b * float(sum);
      } else {
        const std::int64_t zero = y_zero ? code_at(y_zero, 0) : 0;
        const float v = scale_of_sums(factor, factor_b, y_scale.as_unchecked<float>()[0]) * float(sum);
        static_cast<std::uint8_t*>(y.data)[row * n + j] = std::uint8_t(saturated_sum(v, zero, range_of(y.type)));
      }
    }
  }
};

}  // namespace

status qgemm::run(run_context& c) const {
  const value &a = c.input(0), &b = c.input(3), &a_zero = c.input(2), &b_zero = c.input(5);
  const scaling how{alpha, c.input(1), c.input(4), c.input(6), c.input(7), c.input(8), {}};
  if (a.shape.rank() != 2 || b.shape.rank() != 2) return bad_input("A ", a.shape, " and B ", b.shape, " need rank 2");
  const std::int64_t m = a.shape[turn_a ? 1 : 0], k = a.shape[turn_a ? 0 : 1];
  const std::int64_t n = b.shape[turn_b ? 0 : 1], rows = b.shape[turn_b ? 1 : 0];
  if (rows != k) return bad_input("A ", a.shape, " and B ", b.shape, ": ", k, " columns meet ", rows, " rows");
  if (how.a_scale.shape.count() != 1 || a_zero.shape.count() != 1)
    return bad_input("a_scale ", how.a_scale.shape, " and a_zero_point ", a_zero.shape, " must be one number each");
  if (status fits = check_spread(how.b_scale, n, "b_scale"); !fits) return fits;
  if (status fits = check_spread(b_zero, n, "b_zero_point"); !fits) return fits;
  if (how.y_scale && how.y_scale.shape.count() != 1)
    return bad_input("y_scale ", how.y_scale.shape, " must be one number");
  if (how.y_zero && how.y_zero.shape.count() != 1)
    return bad_input("y_zero_point ", how.y_zero.shape, " must be one number");
  if ((c.output_type(0) == dtype::f32) == bool(how.y_scale))
    return bad_input("Y is ", c.output_type(0),
                     how.y_scale ? " though there is a y_scale" : " though there is no y_scale");
  const result<steps> of_c = steps_of(how.c, m, n);
  if (!of_c) return of_c.error();
  scaling with_c = how;
  with_c.of_c = *of_c;
  const result<value*> y = c.output(0, {m, n});
  if (!y) return y.error();
  const result<std::span<std::int32_t>> sums = c.scratch<std::int32_t>(std::size_t(n) * c.lanes());
  if (!sums) return sums.error();
  const std::int32_t a_origin = code_at(a_zero, 0);
  c.parallel_lanes(std::size_t(m), [&](std::size_t unit, std::size_t lane) {
    const auto row = std::int64_t(unit);
    std::int32_t* const sum = sums->data() + std::int64_t(lane) * n;
    std::fill_n(sum, n, 0);
    for (std::int64_t p = 0; p < k; ++p) {
      const auto factor = std::uint32_t(code_at(a, turn_a ? p * m + row : row * k + p) - a_origin);
      for (std::int64_t j = 0; j < n; ++j) {
        const auto weight = std::uint32_t(code_at(b, turn_b ? j * k + p : p * n + j) - code_at(b_zero, at(b_zero, j)));
        sum[j] = std::int32_t(std::uint32_t(sum[j]) + factor * weight);
      }
    }
    with_c.store(**y, row, n, sum);
  });
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
