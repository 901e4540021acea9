#include <cameo/core/elements.hpp>
#include <cameo/eps/cpu/integer_matmul.hpp>

#include "common/refuse.hpp"
#include "integer_factor.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// A stack of products [m, k] * [k, n], as numpy's matmul sees two shapes.
struct stacked_product {
  std::int64_t m = 1, k = 1, n = 1;
  extents a_stack, b_stack, stack, y;
  std::int64_t count() const { return stack.count(); }
};
result<stacked_product> stack_of(const extents& a, const extents& b) {
  if (a.rank() == 0 || b.rank() == 0) return bad_input("A ", a, " and B ", b, " need at least rank 1");
  stacked_product p;
  p.k = a.back(), p.n = b.rank() > 1 ? b.back() : 1;
  if (a.rank() > 1) p.m = a[a.rank() - 2];
  const std::int64_t rows = b.rank() > 1 ? b[b.rank() - 2] : b[0];
  if (rows != p.k) return bad_input("A ", a, " and B ", b, ": ", p.k, " columns meet ", rows, " rows");
  p.a_stack = extents{a.dims().first(a.rank() > 2 ? a.rank() - 2 : 0)};
  p.b_stack = extents{b.dims().first(b.rank() > 2 ? b.rank() - 2 : 0)};
  if (!broadcast(p.a_stack, p.b_stack, p.stack)) return bad_input("A ", a, " and B ", b, " don't broadcast");
  p.y = p.stack;
  if (a.rank() > 1) p.y.push_back(p.m);
  if (b.rank() > 1) p.y.push_back(p.n);
  return p;
}
/// Number of the matrix, in a stack that broadcasts to `whole`, that product i of `whole` takes.
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

/// How scales and zero points spread over the rows (columns) of a stack: row r of matrix i has number
/// i * matrix_step + r * step.
struct spread {
  std::int64_t step = 0, matrix_step = 0;
  std::int64_t at(std::int64_t matrix, std::int64_t r) const { return matrix * matrix_step + r * step; }
};
/// `shape` is of a parameter of a tensor of `whole`, with `size` rows (columns) and `matrices` of them.
result<spread> spread_of(const extents& shape, const extents& whole, std::int64_t size, std::int64_t matrices,
                         std::string_view what) {
  if (shape.count() == 1) return spread{};
  if (shape.rank() == 1 && shape[0] == size) return spread{1, 0};
  if (shape.rank() == whole.rank() && shape.rank() > 1 && shape.count() == matrices * size) return spread{1, size};
  return bad_input(what, " ", shape, " of a tensor ", whole, " must be one number or ", size,
                   " numbers, or these for each matrix");
}

/// The products of a stack, one after the other; all rows of A at once where they meet one B.
class product_run {
 public:
  product_run(run_context& c, const stacked_product& p, const integer_factor& b, const value& a, const value& a_zero,
              const value& b_value, const value& b_zero)
      : c_{c}, p_{p}, b_{b}, a_{a}, a_zero_{a_zero}, b_value_{b_value}, b_zero_{b_zero} {}

  /// Checks zero points and reads them.
  status prepare() {
    if (a_zero_) {
      const result<spread> over = spread_of(a_zero_.shape, a_.shape, p_.m, p_.a_stack.count(), "a_zero_point");
      if (!over) return over.error();
      a_over_ = *over;
    }
    if (b_zero_) {
      const result<spread> over = spread_of(b_zero_.shape, b_value_.shape, p_.n, p_.b_stack.count(), "b_zero_point");
      if (!over) return over.error();
      b_over_ = *over;
    }
    const result<std::span<const std::int32_t>> a_zeros = read_zeros(c_, a_zero_), b_zeros = read_zeros(c_, b_zero_);
    if (!a_zeros || !b_zeros) return status_code::out_of_memory;
    a_zeros_ = *a_zeros, b_zeros_ = *b_zeros;
    joined_ = p_.b_stack.count() == 1 && p_.a_stack.count() == p_.count() && a_over_.step == 0;
    return {};
  }
  /// f(product, first row of C, its number) for each product; an error ends the run.
  template <class F>
  status each(const F& f) {
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

 private:
  status pack(std::int64_t matrix) {
    if (matrix == packed_) return {};
    if (b_.data) {
      if (a_over_.step != 0) return bad_input("a_zero_point ", a_zero_.shape, " must be one number, as the model says");
      panels_ = panels_of(b_);
    } else {
      const code_matrix b{static_cast<const std::uint8_t*>(b_value_.data) + matrix * p_.k * p_.n,
                          b_value_.type == dtype::i8,
                          false,
                          p_.k,
                          p_.n,
                          b_zeros_.subspan(std::size_t(b_over_.at(matrix, 0)), std::size_t(b_over_.step ? p_.n : 1))};
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

struct scales {
  spread over;
  std::span<float> numbers;
  float at(std::int64_t matrix, std::int64_t r) const { return numbers[std::size_t(over.at(matrix, r))]; }
};
result<scales> read_scales(run_context& c, const value& v, const extents& whole, std::int64_t size,
                           std::int64_t matrices, std::string_view what) {
  const result<spread> over = spread_of(v.shape, whole, size, matrices, what);
  if (!over) return over.error();
  const result<std::span<float>> numbers = c.scratch<float>(std::size_t(v.shape.count()));
  if (!numbers) return numbers.error();
  using floats = detail::element_set<float, float16, bfloat16>;
  for (std::size_t i = 0; i < numbers->size(); ++i)
    (*numbers)[i] =
        floats::visit(v.type, 0.0f, [&]<class T>(std::type_identity<T>) { return float(detail::element_at<T>(v, i)); });
  return scales{*over, *numbers};
}

}  // namespace

status matmul_integer::run(run_context& c) const {
  const value &a = c.input(0), &b_value = c.input(1);
  const result<stacked_product> p = stack_of(a.shape, b_value.shape);
  if (!p) return p.error();
  const result<tensor_view<std::int32_t>> y = c.output<std::int32_t>(0, p->y);
  if (!y) return y.error();
  if (y->empty()) return {};
  product_run all{c, *p, b, a, c.input(2), b_value, c.input(3)};
  if (status s = all.prepare(); !s) return s;
  return all.each([&](const integer_product& product, std::int64_t row, std::int64_t) {
    return multiply_to_sums(c, product, y->data() + row * p->n);
  });
}

namespace {

/// What makes codes of qlinear_matmul's sums.
struct product_scaling {
  const stacked_product& p;
  scales a, b, y;
  spread zero_over;
  const value& zero;
  dtype type;
  std::span<float> factors;  // of one matrix

  /// One scale for all rows of A, one scale and zero point for those of Y.
  bool is_by_columns() const { return a.over.step == 0 && y.over.step == 0 && zero_over.step == 0; }
  float factor(std::int64_t matrix, std::int64_t row, std::int64_t column) const {
    return scale_of_sums(a.at(matrix_of(p.a_stack, p.stack, matrix), row),
                         b.at(matrix_of(p.b_stack, p.stack, matrix), column), y.at(matrix, row));
  }
  void store(const integer_block& block, std::int64_t matrix, std::uint8_t* to) const {
    for (std::int64_t i = 0; i < block.rows; ++i) {
      const std::int64_t row = (block.row + i) % p.m, at = matrix + (block.row + i) / p.m;
      const std::int64_t origin = zero ? code_of(zero, zero_over.at(at, row)) : 0;
      for (std::int64_t j = 0; j < block.columns; ++j) {
        const float v = float(block.sums[i * block.step + j]) * factor(at, row, block.column + j);
        to[(block.row + i) * p.n + block.column + j] = std::uint8_t(saturated_sum(v, origin, range_of(type)));
      }
    }
  }
};

}  // namespace

status qlinear_matmul::run(run_context& c) const {
  const value &a = c.input(0), &b_value = c.input(3), &y_zero = c.input(7);
  const result<stacked_product> p = stack_of(a.shape, b_value.shape);
  if (!p) return p.error();
  const result<value*> y = c.output(0, p->y);
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  const result<scales> a_scale = read_scales(c, c.input(1), a.shape, p->m, p->a_stack.count(), "a_scale");
  if (!a_scale) return a_scale.error();
  const result<scales> b_scale = read_scales(c, c.input(4), b_value.shape, p->n, p->b_stack.count(), "b_scale");
  if (!b_scale) return b_scale.error();
  const result<scales> y_scale = read_scales(c, c.input(6), p->y, p->m, p->count(), "y_scale");
  if (!y_scale) return y_scale.error();
  result<spread> zero_over = spread{};
  if (y_zero) zero_over = spread_of(y_zero.shape, p->y, p->m, p->count(), "y_zero_point");
  if (!zero_over) return zero_over.error();
  product_run all{c, *p, b, a, c.input(2), b_value, c.input(5)};
  if (status s = all.prepare(); !s) return s;
  const result<std::span<float>> factors = c.scratch<float>(std::size_t(p->n) + widest_panel);
  if (!factors) return factors.error();
  std::fill(factors->begin(), factors->end(), 0.0f);
  const product_scaling scaling{*p, *a_scale, *b_scale, *y_scale, *zero_over, y_zero, (*y)->type, *factors};
  auto* const out = static_cast<std::uint8_t*>((*y)->data);
  return all.each([&](const integer_product& product, std::int64_t row, std::int64_t matrix) -> status {
    std::uint8_t* const to = out + row * p->n;
    if (scaling.is_by_columns()) {
      for (std::int64_t j = 0; j < p->n; ++j) (*factors)[std::size_t(j)] = scaling.factor(matrix, 0, j);
      if (all_finite(*factors)) {
        const std::int64_t origin = y_zero ? code_of(y_zero, zero_over->at(matrix, 0)) : 0;
        return multiply_to_codes(c, product, form_of((*y)->type, origin, factors->data()), to);
      }
    }
    return multiply_to_sums(c, product, [&](const integer_block& block) { scaling.store(block, matrix, to); });
  });
}

namespace {

using code_elements = qlinear_matmul_of_codes::elements;

/// Codes as numbers; none are one 0.
result<std::span<const float>> read_codes(run_context& c, const value& v) {
  const std::int64_t count = v ? v.shape.count() : 1;
  const result<std::span<float>> made = c.scratch<float>(std::size_t(count));
  if (!made) return made.error();
  (*made)[0] = 0;
  code_elements::call(v.type, [&]<class T>(std::type_identity<T>) {
    const T* const from = static_cast<const T*>(v.data);
    parallel_elements(c, count, 1 << 14, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t i = first; i < last; ++i) (*made)[std::size_t(i)] = float(from[i]);
    });
  });
  return std::span<const float>{*made};
}

/// A tensor of codes, and what spreads over its rows (or columns).
struct code_tensor {
  std::span<const float> codes, zeros;
  scales scale;
  spread zero_over;

  static status read(run_context& c, std::size_t input, const extents& whole, std::int64_t size, std::int64_t matrices,
                     std::string_view name, code_tensor& out) {
    const value &of = c.input(input + 1), &zero = c.input(input + 2);
    const result<scales> scale = read_scales(c, of, whole, size, matrices, name);
    if (!scale) return scale.error();
    result<spread> over = spread{};
    if (zero) over = spread_of(zero.shape, whole, size, matrices, name);
    if (!over) return over.error();
    const auto codes = read_codes(c, c.input(input)), zeros = read_codes(c, zero);
    if (!codes || !zeros) return status_code::out_of_memory;
    out = {*codes, *zeros, *scale, *over};
    return {};
  }
  float zero_at(std::int64_t matrix, std::int64_t i) const { return zeros[std::size_t(zero_over.at(matrix, i))]; }
  /// The number that element `at` stands for, in row (column) i of a matrix.
  float number(std::int64_t at, std::int64_t matrix, std::int64_t i) const {
    return (codes[std::size_t(at)] - zero_at(matrix, i)) * scale.at(matrix, i);
  }
};

}  // namespace

result<qlinear_matmul_of_codes> qlinear_matmul_of_codes::bind(bind_context& c) {
  qlinear_matmul_of_codes made;
  for (const dtype type : {c.inputs[0].type, c.inputs[3].type, c.outputs[0].type})
    made.of_integers = made.of_integers && (type == dtype::u8 || type == dtype::i8);
  if (!made.of_integers) return made;
  const result<qlinear_matmul> integers = qlinear_matmul::bind(c);
  if (!integers) return integers.error();
  made.integers = *integers;
  return made;
}

status qlinear_matmul_of_floats::run(run_context& c) {
  const value &a_value = c.input(0), &b_value = c.input(3), &y_zero = c.input(7);
  const result<stacked_product> p = stack_of(a_value.shape, b_value.shape);
  if (!p) return p.error();
  const result<value*> y = c.output(0, p->y);
  if (!y) return y.error();
  if ((*y)->shape.count() == 0) return {};
  code_tensor a, b;
  status read = code_tensor::read(c, 0, a_value.shape, p->m, p->a_stack.count(), "a_scale or a_zero_point", a);
  if (read) read = code_tensor::read(c, 3, b_value.shape, p->n, p->b_stack.count(), "b_scale or b_zero_point", b);
  if (!read) return read;
  const result<scales> y_scale = read_scales(c, c.input(6), p->y, p->m, p->count(), "y_scale");
  if (!y_scale) return y_scale.error();
  result<spread> zero_over = spread{};
  if (y_zero) zero_over = spread_of(y_zero.shape, p->y, p->m, p->count(), "y_zero_point");
  if (!zero_over) return zero_over.error();
  const result<std::span<const float>> zeros = read_codes(c, y_zero);
  if (!zeros) return zeros.error();
  const std::int64_t work = std::max<std::int64_t>(1, p->k * p->n);
  code_elements::call((*y)->type, [&]<class T>(std::type_identity<T>) {
    T* const to = static_cast<T*>((*y)->data);
    parallel_each(c, p->count() * p->m, 1 + (1 << 14) / work, [&](std::int64_t line, std::size_t) {
      const std::int64_t matrix = line / p->m, row = line % p->m;
      const std::int64_t of_a = matrix_of(p->a_stack, p->stack, matrix), of_b = matrix_of(p->b_stack, p->stack, matrix);
      const float zero = (*zeros)[std::size_t(zero_over->at(matrix, row))];
      for (std::int64_t j = 0; j < p->n; ++j) {
        float sum = 0;
        for (std::int64_t l = 0; l < p->k; ++l)
          sum += a.number((of_a * p->m + row) * p->k + l, of_a, row) * b.number((of_b * p->k + l) * p->n + j, of_b, j);
        const float v = sum / y_scale->at(matrix, row);
        if constexpr (std::is_integral_v<T>)
          to[line * p->n + j] = T(saturated_sum(v, std::int64_t(zero), range_of((*y)->type)));
        else to[line * p->n + j] = T(v + zero);
      }
    });
  });
  return {};
}

}  // namespace cameo::inline CAMEO_ABI::eps
