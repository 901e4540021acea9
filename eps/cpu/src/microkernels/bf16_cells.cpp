// Which loops for products of bfloat16 a processor can run.
#include "bf16_cells.hpp"

#include "integer_target.hpp"

CAMEO_BEGIN_NAMESPACE
namespace eps {
namespace {

// Without an instruction for it there is nothing to gain: float is then as fast, and exact.
constexpr cells_row<bf16_cells> bf16_rows[] = {
#if CAMEO_CELLS_AMX
    {amx_bf16_cells, "AVX3",
     [] { return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw") && has_amx("bf16"); }},
#endif
#if CAMEO_CELLS_X86
    {avx512_bf16_cells, "AVX3",
     [] { return __builtin_cpu_supports("avx512bf16") && __builtin_cpu_supports("avx512bw"); }},
#endif
    {no_bf16_cells, "", [] { return true; }},
};

}  // namespace

constinit const bf16_cells no_bf16_cells{"", 1, 1, nullptr, nullptr};

std::span<const bf16_cells* const> runnable_bf16_cells() {
  const auto all = tables_that_run<bf16_rows>();
  return all.first(all.size() - 1);  // without the last, which stands for none
}

const bf16_cells* best_bf16_cells() {
  const bf16_cells& found = best_of<bf16_rows>();
  return found.line ? &found : nullptr;
}

}  // namespace eps
CAMEO_END_NAMESPACE
