// Which loops for products of bfloat16 a processor can run.
#include "bf16_cells.hpp"

#include "integer_target.hpp"

namespace cameo::inline CAMEO_ABI::eps {
namespace {

// Without an instruction for it there is nothing to gain: float is then as fast, and exact.
constexpr cells_row<bf16_cells> bf16_rows[] = {
#if CAMEO_CELLS_X86
    {avx512_bf16_cells, "AVX3",
     [] { return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw"); }},
#endif
    {no_bf16_cells, "", [] { return true; }},
};

}  // namespace

constinit const bf16_cells no_bf16_cells{"", nullptr, nullptr};

const bf16_cells* best_bf16_cells() {
  for (const auto& row : bf16_rows)
    if (row.runs_here() && instruction_set_reaches(row.beside)) return row.table.line ? &row.table : nullptr;
  return nullptr;
}

}  // namespace cameo::inline CAMEO_ABI::eps
