#include <cameo/eps/cpu/dynamic_matmul.hpp>
#include <cameo/kernel/broadcast.hpp>

#include <algorithm>

#include "code_product.hpp"
#include "code_rows.hpp"
#include "common/refuse.hpp"
#include "dynamic_range.hpp"
#include "integer_factor.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// Products [m, k] * [k, n] of two stacks, as numpy's matmul sees two shapes.
struct matrix_stacks {
  std::int64_t m = 1, k = 1, n = 1;
  extents a_stack, b_stack, y;
  broadcast_loops<2> loops;
};
status make_stacks(const extents& a, const extents& b, matrix_stacks& p) {
  if (a.rank() == 0 || b.rank() == 0) return bad_input("A ", a, " and B ", b, " need at least rank 1");
  p.k = a.back(), p.n = b.rank() > 1 ? b.back() : 1;
  if (a.rank() > 1) p.m = a[a.rank() - 2];
  const std::int64_t rows = b.rank() > 1 ? b[b.rank() - 2] : b[0];
  if (rows != p.k) return bad_input("A ", a, " and B ", b, ": ", p.k, " columns meet ", rows, " rows");
  p.a_stack = extents{a.dims().first(a.rank() > 2 ? a.rank() - 2 : 0)};
  p.b_stack = extents{b.dims().first(b.rank() > 2 ? b.rank() - 2 : 0)};
  if (!p.loops.make({&p.a_stack, &p.b_stack})) return bad_input("A ", a, " and B ", b, " don't broadcast");
  p.y = p.loops.shape();
  if (a.rank() > 1) p.y.push_back(p.m);
  if (b.rank() > 1) p.y.push_back(p.n);
  return {};
}

/// f(matrix of A, matrix of B, matrix of Y) for each product; all rows of A are one matrix where they meet one B.
template <class F>
status each_product(const matrix_stacks& p, const F& f) {
  status done;
  p.loops.rows(0, p.loops.count(), [&](std::int64_t out, const std::array<std::int64_t, 2>& in, std::int64_t count) {
    for (std::int64_t i = 0; i < count && done; ++i)
      done = f(in[0] + i * p.loops.steps()[0], in[1] + i * p.loops.steps()[1], out + i);
  });
  return done;
}

/// The inputs that say what B's codes stand for, and what is added.
struct float_operands {
  const value &b, &scale, &zero, &bias;
};
/// A as codes.
struct coded_rows {
  const std::uint8_t* data;
  bool is_signed;
  float scale;
  std::int32_t zero;
};

status check_columns(const value& v, std::int64_t n, std::string_view what) {
  if (!v || v.shape.count() == 1 || (v.shape.rank() == 1 && v.shape[0] == n)) return {};
  return bad_input(what, " has shape ", v.shape, "; it must be one number, or ", n, " for the columns of B");
}

class float_product {
 public:
  float_product(run_context& c, const matrix_stacks& p, const integer_factor& packed, const float_operands& with,
                const coded_rows& a)
      : c_{c}, p_{p}, packed_{packed}, with_{with}, a_{a} {}

  status run(float* y) {
    if (status fits = check_columns(with_.scale, p_.n, "b_scale"); !fits) return fits;
    if (status fits = check_columns(with_.zero, p_.n, "b_zero_point"); !fits) return fits;
    if (with_.bias && (with_.bias.shape.count() != p_.n))
      return bad_input("bias has shape ", with_.bias.shape, "; it must have ", p_.n, " numbers, one per column of B");
    if (status read = read_parameters(); !read) return read;
    const bool joined = p_.b_stack.count() == 1 && p_.a_stack.count() == p_.loops.count();
    if (joined) return multiply(0, 0, p_.m * p_.loops.count(), y);
    return each_product(p_, [&](std::int64_t of_a, std::int64_t of_b, std::int64_t of_y) -> status {
      if (c_.stopped()) return status_code::canceled;
      return multiply(of_a, of_b, p_.m, y + of_y * p_.m * p_.n);
    });
  }

 private:
  status read_parameters() {
    const result<std::span<float>> factors = c_.scratch<float>(std::size_t(p_.n));
    const result<std::span<const std::int32_t>> zeros = read_zeros(c_, with_.zero);
    if (!factors || !zeros) return status_code::out_of_memory;
    const tensor_view<const float> scales = with_.scale.as_unchecked<float>();
    const bool one = scales.count() == 1;
    for (std::int64_t j = 0; j < p_.n; ++j) (*factors)[std::size_t(j)] = a_.scale * scales[one ? 0 : j];
    factors_ = *factors, zeros_ = *zeros;
    return {};
  }
  status pack(std::int64_t matrix) {
    if (matrix == at_) return {};
    if (packed_.data) {
      panels_ = panels_of(packed_);
    } else {
      const code_matrix b{static_cast<const std::uint8_t*>(with_.b.data) + matrix * p_.k * p_.n,
                          with_.b.type == dtype::i8,
                          false,
                          p_.k,
                          p_.n,
                          zeros_};
      const result<integer_panels> made = panels_of(c_, b, false, room_);
      if (!made) return made.error();
      panels_ = *made;
    }
    at_ = matrix;
    if (start_.empty()) {
      const result<std::span<std::int32_t>> start = c_.scratch<std::int32_t>(std::size_t(panels_.width()));
      if (!start) return start.error();
      start_ = *start;
    }
    start_sums(panels_, nullptr, zero_as_bytes(a_.is_signed, a_.zero), start_.data());
    return {};
  }
  status multiply(std::int64_t of_a, std::int64_t of_b, std::int64_t rows, float* y) {
    if (status s = pack(of_b); !s) return s;
    integer_product product{rows, p_.k, {}, p_.k, 1, panels_, start_.data()};
    product.a = {a_.data + of_a * p_.m * p_.k, a_.is_signed, &a_.zero, 0};
    const float* const bias = with_.bias ? with_.bias.as_unchecked<float>().data() : nullptr;
    return multiply_to_sums(c_, product, [&](const integer_block& block) {
      for (std::int64_t i = 0; i < block.rows; ++i)
        sums_to_floats(block.sums + i * block.step, factors_.data() + block.column,
                       bias ? bias + block.column : nullptr, block.columns, y + (block.row + i) * p_.n + block.column);
    });
  }

  run_context& c_;
  const matrix_stacks& p_;
  const integer_factor& packed_;
  const float_operands& with_;
  const coded_rows& a_;
  std::span<const float> factors_;
  std::span<const std::int32_t> zeros_;
  std::int64_t at_ = -1;
  integer_panels panels_{};
  std::span<std::byte> room_;
  std::span<std::int32_t> start_;
};

}  // namespace

result<matmul_integer_to_float> matmul_integer_to_float::bind(bind_context& c) {
  const result<integer_factor> b = integer_factor::bind(c, 1, 5, 4);
  if (!b) return b.error();
  return matmul_integer_to_float{*b};
}

status matmul_integer_to_float::run(run_context& c) const {
  const scaled_codes factors{c.input(0), c.input(1), c.input(2), c.input(3), c.input(4), c.input(5), c.input(6)};
  const result<extents> shape = shape_of_product(factors);
  if (!shape) return shape.error();
  if (factors.a_scale.shape.count() != 1 || (factors.a_zero && factors.a_zero.shape.count() != 1))
    return bad_input("a_scale ", factors.a_scale.shape, " and a_zero_point ", factors.a_zero.shape,
                     " must be one number each");
  const result<tensor_view<float>> y = c.output<float>(0, *shape);
  if (!y || y->empty()) return y ? status{} : y.error();
  return multiply_to_floats(c, factors, b, y->data());
}

result<extents> shape_of_product(const scaled_codes& factors) {
  matrix_stacks p;
  if (status s = make_stacks(factors.a.shape, factors.b.shape, p); !s) return s;
  return p.y;
}

status multiply_to_floats(run_context& c, const scaled_codes& factors, const integer_factor& packed, float* y) {
  matrix_stacks p;
  if (status s = make_stacks(factors.a.shape, factors.b.shape, p); !s) return s;
  const coded_rows rows{static_cast<const std::uint8_t*>(factors.a.data), factors.a.type == dtype::i8,
                        factors.a_scale.as_unchecked<float>()[0], factors.a_zero ? code_of(factors.a_zero, 0) : 0};
  const float_operands with{factors.b, factors.b_scale, factors.b_zero, factors.bias};
  return float_product{c, p, packed, with, rows}.run(y);
}

result<dynamic_quantize_matmul> dynamic_quantize_matmul::bind(bind_context& c) {
  const std::size_t no_input = c.inputs.size();
  const result<integer_factor> b = integer_factor::bind(c, 1, 3, no_input);
  if (!b) return b.error();
  return dynamic_quantize_matmul{*b};
}

status dynamic_quantize_matmul::run(run_context& c) const {
  const tensor_view<const float> a = c.input<float>(0);
  const value& b_value = c.input(1);
  matrix_stacks p;
  if (status s = make_stacks(a.shape(), b_value.shape, p); !s) return s;
  const result<tensor_view<float>> y = c.output<float>(0, p.y);
  if (!y || y->empty()) return y ? status{} : y.error();
  const result<std::span<std::uint8_t>> room = c.scratch<std::uint8_t>(a.size());
  if (!room) return room.error();
  const result<byte_quantization> made = quantize_dynamically(c, a, room->data());
  if (!made) return made.error();
  const coded_rows rows{room->data(), false, made->scale, made->zero};
  const float_operands with{b_value, c.input(2), c.input(3), c.input(4)};
  return float_product{c, p, b, with, rows}.run(y->data());
}

namespace {

/// Y [m, n] = A [m, k] * B [k, n], a row of Y at a time.
template <class A, class B>
void multiply_shorts(run_context& c, const matrix_stacks& p, const A* a, const B* b, std::int32_t* y) {
  const std::int64_t work = std::max<std::int64_t>(1, p.k * p.n);
  parallel_for(c, p.m, std::max<std::int64_t>(1, (1 << 16) / work), [&](std::int64_t first, std::int64_t last) {
    for (; first < last; ++first) {
      std::fill_n(y + first * p.n, p.n, 0);
      for (std::int64_t l = 0; l < p.k; ++l)
        add_shorts(b + l * p.n, std::int32_t{a[first * p.k + l]}, y + first * p.n, p.n);
    }
  });
}

}  // namespace

status matmul_integer16::run(run_context& c) const {
  const value &a = c.input(0), &b = c.input(1);
  matrix_stacks p;
  if (status s = make_stacks(a.shape, b.shape, p); !s) return s;
  const result<value*> y = c.output(0, p.y);
  if (!y || (*y)->shape.count() == 0) return y ? status{} : y.error();
  const auto with = [](dtype type, const auto& f) {
    return type == dtype::i16 ? f(std::int16_t{}) : f(std::uint16_t{});
  };
  return each_product(p, [&](std::int64_t of_a, std::int64_t of_b, std::int64_t of_y) -> status {
    if (c.stopped()) return status_code::canceled;
    with(a.type, [&](auto left) {
      with(b.type, [&](auto right) {
        multiply_shorts(c, p, static_cast<const decltype(left)*>(a.data) + of_a * p.m * p.k,
                        static_cast<const decltype(right)*>(b.data) + of_b * p.k * p.n,
                        static_cast<std::int32_t*>((*y)->data) + of_y * p.m * p.n);
      });
    });
    return {};
  });
}

}  // namespace cameo::inline CAMEO_ABI::eps
