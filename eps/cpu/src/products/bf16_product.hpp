#pragma once
#include <cameo/eps/cpu/detail/float_product.hpp>
#include <cameo/eps/cpu/detail/math_choice.hpp>
#include <cameo/kernel/bind_context.hpp>

#include "microkernels/bf16_loops.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The loops for a node that multiplies in bfloat16 (option ep.cpu.math). Null if the option is not set, or if the
/// processor has no instruction for it: then the node computes in float, which takes no longer there.
inline const bf16_loops* asked_bf16(const bind_context& c) {
  return c.choice == cpu_math_is_bf16 && c.prepack ? best_bf16_loops() : nullptr;
}

/// One product, or several with the same B, as in gemm_problem. A and the sums are float; both factors are rounded to
/// bfloat16 before they are multiplied.
struct bf16_product {
  std::int64_t m, n, k;
  matrix_ref<float, any_float> a;
  const std::uint32_t* b;  // as keep_bf16_b() packs it
  float* c;
  gemm_epilogue<float> epilogue = {};
  std::span<const std::int64_t> a_offsets = {};
};
status multiply_bf16(run_context&, const bf16_product&);

/// The number of columns of a panel (consecutive columns of B that are packed together). The last panel may have only
/// one vector of them.
inline constexpr std::int64_t bf16_panel = 2 * bf16_lanes;

/// Packs B [k, n] as [panel][dot-product group][column]; b(i, j) returns an element as float.
template <class F>
void pack_bf16_b(std::int64_t k, std::int64_t n, const F& b, std::uint32_t* to) {
  const auto number = [&](std::int64_t i, std::int64_t j) -> std::uint32_t {
    return i < k && j < n ? bfloat16{b(i, j)}.bits : 0;
  };
  for (std::int64_t j0 = 0; j0 < n; j0 += bf16_panel) {
    const std::int64_t width = n - j0 > bf16_lanes ? bf16_panel : bf16_lanes;
    for (std::int64_t i = 0; i < k; i += 2)
      for (std::int64_t j = j0; j < j0 + width; ++j) *to++ = number(i, j) | number(i + 1, j) << 16;
  }
}

/// True if a product with elements of type T can be computed in bfloat16; never in programs of the target tier.
template <class T>
#ifdef CAMEO_CODE_ONLY
inline constexpr bool multiplies_bf16 = false;
#else
inline constexpr bool multiplies_bf16 = std::is_same_v<gemm_number<T>, float>;
#endif

/// Packs the constant B of input `input` for multiply_bf16(), in memory that lives as long as the plan; null if the
/// node does not multiply in bfloat16.
template <class T>
result<const std::uint32_t*> keep_bf16_b(bind_context& c, std::size_t input, bool transposed, std::int64_t k,
                                         std::int64_t n) {
  if constexpr (multiplies_bf16<T>) {
    std::int64_t columns = 0, size = 0;
    if (!asked_bf16(c) || k < 1 || n < 1) return static_cast<const std::uint32_t*>(nullptr);
    if (!checked_add(n, bf16_lanes - 1, columns) ||
        !checked_multiply(columns / bf16_lanes * bf16_lanes, (k - 1) / 2 + 1, size))
      return status_code::out_of_memory;
    const auto fill = [&](const value& elements, std::span<std::uint32_t> to) -> status {
      const T* const from = elements.as_unchecked<T>().data();
      const auto at = [&](std::int64_t i, std::int64_t j) { return float(from[transposed ? j * k + i : i * n + j]); };
      pack_bf16_b(k, n, at, to.data());
      return {};
    };
    const result<std::span<const std::uint32_t>> packed = c.pack<std::uint32_t>(input, std::size_t(size), fill);
    if (!packed) return packed.error();
    return packed->data();
  } else {
    return static_cast<const std::uint32_t*>(nullptr);
  }
}

}  // namespace CAMEO_NAMESPACE::eps
