#include <cameo/eps/cpu/detail/gemm.hpp>
#include <cameo/eps/cpu/matmul_fp4.hpp>

#include <cstring>

#include "common/float_output.hpp"
#include "common/operand_values.hpp"
#include "common/row_rooms.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

/// The magnitudes of FP4 by the lower three bits, then the same below 0.
constexpr float fp4_values[16] = {0,     0.0052083333f,  0.66666667f,  1,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
                                  -0.0f, -0.0052083333f, -0.66666667f, -1, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
/// The middles of 16 equal shares of a normal distribution, scaled to [-1, 1], with 0 among them.
constexpr float nf4_values[16] = {-1.0f,         -0.69619280f, -0.52507305f, -0.39491749f, -0.28444138f, -0.18477343f,
                                  -0.091050036f, 0.0f,         0.079580300f, 0.16093020f,  0.24611230f,  0.33791524f,
                                  0.44070983f,   0.56261700f,  0.72295684f,  1.0f};

/// Y [..., n] = A [..., k] * B, which lies at `b` with these strides.
status multiply_floats(run_context& c, std::int64_t k, std::int64_t n, const matrix_ref<float>& b) {
  const value& a = c.input(0);
  extents shape = a.shape;
  shape[shape.rank() - 1] = n;
  const auto y = float_output<float>::make(c, 0, shape);
  if (!y) return y.error();
  if (shape.count() == 0) return {};
  const result<const float*> rows = wide_vector<float>(c, a);
  if (!rows) return rows.error();
  const gemm_problem<float> p{a.shape.count() / k, n, k, {*rows, k, 1}, b, nullptr, y->data};
  if (status done = multiply(c, p); !done) return done;
  y->store(c);
  return {};
}
status check_columns(const value& a, std::int64_t k) {
  if (a.shape.rank() > 0 && a.shape.back() == k) return {};
  return bad_input("A has shape ", a.shape, "; its last axis must have ", k, " elements");
}

}  // namespace

result<matmul_bnb4> matmul_bnb4::bind(bind_context& c) {
  const std::int64_t type = c.int_or("quant_type", -1);
  if (type != 0 && type != 1) return bad_attribute("quant_type is ", type, ", must be 0 (FP4) or 1 (NF4)");
  const matmul_bnb4 made{c.int_or("K", 0), c.int_or("N", 0), c.int_or("block_size", 0),
                         type == 0 ? fp4_values : nf4_values, c.int_or("transB", 1) != 0};
  std::int64_t count = 0;
  if (made.block < 16 || (made.block & (made.block - 1)) != 0)
    return bad_attribute("block_size is ", made.block, ", must be a power of two of at least 16");
  if (made.k < 1 || made.n < 1 || !checked_multiply(made.k, made.n, count) || !checked_add(count, made.block, count))
    return bad_attribute("K is ", made.k, " and N is ", made.n, "; they must be sizes of a matrix");
  return made;
}

status matmul_bnb4::run(run_context& c) const {
  const value &a = c.input(0), &codes = c.input(1), &absmax = c.input(2);
  const std::int64_t count = k * n;
  if (status fits = check_columns(a, transposed ? k : n); !fits) return fits;
  if (codes.shape.count() != (count + 1) / 2 || absmax.shape.count() != (count - 1) / block + 1)
    return bad_input("B ", codes.shape, " and absmax ", absmax.shape, " must have ", (count + 1) / 2, " and ",
                     (count - 1) / block + 1, " elements");
  const result<std::span<float>> b = c.scratch<float>(std::size_t(count));
  const auto scales = wide_vector<float>(c, absmax);
  if (!b || !scales) return status_code::out_of_memory;
  const std::uint8_t* const from = static_cast<const std::uint8_t*>(codes.data);
  parallel_elements(c, count, 1 << 14, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      (*b)[std::size_t(i)] = values[i % 2 ? from[i / 2] & 15 : from[i / 2] >> 4] * (*scales)[i / block];
  });
  if (c.stopped()) return status_code::canceled;
  return transposed ? multiply_floats(c, k, n, {b->data(), 1, k}) : multiply_floats(c, n, k, {b->data(), k, 1});
}

result<matmul_fpq4> matmul_fpq4::bind(bind_context& c) { return matmul_fpq4{c.int_or("blk_quant_type", 1) != 0}; }

status matmul_fpq4::run(run_context& c) const {
  constexpr std::int64_t block = 32;
  const value &a = c.input(0), &codes = c.input(1), &of_b = c.input(2);
  if (of_b.shape != extents{2}) return bad_input("B_shape ", of_b.shape, " must be [2]");
  const std::int64_t k = integers{of_b}[0], n = integers{of_b}[1], bytes = has_zeros ? 21 : 20;
  std::int64_t size = 0, count = 0;
  const bool usable = k > 0 && n > 0 && k < std::int64_t{1} << 40 && n < std::int64_t{1} << 40 &&
                      checked_multiply((k - 1) / block + 1, n, count) && checked_multiply(count, bytes, size);
  if (!usable || codes.shape.count() != size)
    return bad_input("B ", codes.shape, " must have ", size, " bytes for a matrix of ", k, " x ", n);
  if (status fits = check_columns(a, k); !fits) return fits;
  const std::int64_t blocks = (k - 1) / block + 1, depth = blocks * block;
  const result<std::span<float>> b = c.scratch<float>(std::size_t(depth * n));
  if (!b) return b.error();
  parallel_each(c, count, 1 << 9, [&](std::int64_t i, std::size_t) {
    const std::uint8_t* from = static_cast<const std::uint8_t*>(codes.data) + i * bytes;
    float scale = 0;
    std::memcpy(&scale, from, sizeof scale);
    const int zero = has_zeros ? from[4] : 8;
    from += has_zeros ? 5 : 4;
    float* const to = b->data() + i * block;
    for (std::int64_t j = 0; j < 16; ++j) {
      to[j] = float((from[j] & 15) - zero) * scale;
      to[j + 16] = float((from[j] >> 4) - zero) * scale;
    }
  });
  if (c.stopped()) return status_code::canceled;
  return multiply_floats(c, k, n, {b->data(), 1, depth});
}

}  // namespace cameo::inline CAMEO_ABI::eps
