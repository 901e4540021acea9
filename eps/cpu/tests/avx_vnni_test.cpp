// AVX-VNNI's products as AVX512-VNNI encodes them: so processors that have one of both run what the other would. Which
// results are right other tests say, of all_integer_cells().
#define CAMEO_CELLS_AS_CALLS  // sooner compiled, and as much tested
#include "../src/microkernels/integer_target.hpp"
#include "all_integer_cells.hpp"

#include <doctest/doctest.h>
#include <algorithm>

#if CAMEO_CELLS_X86
#ifdef __clang__
#pragma clang optimize off  // which with a sanitizer takes longest
#endif
CAMEO_CELLS_TARGET("avx512vnni,avx512vl,avx2,fma")
CAMEO_BEGIN_NAMESPACE
namespace eps {
namespace avx_vnni_as_avx512 {
namespace {
#include "../src/microkernels/integer_avx_vnni-inl.hpp"

constinit const integer_cells table{"avx_vnni as avx512_vnni", arithmetic_of<bytes>, arithmetic_of<shorts>,
                                    nbits_of<few_bits>};
}  // namespace
}  // namespace avx_vnni_as_avx512
}  // namespace eps
CAMEO_END_NAMESPACE
CAMEO_CELLS_TARGET_END
#ifdef __clang__
#pragma clang optimize on
#endif

namespace cameo::test {
namespace {

using eps::avx_vnni_as_avx512::table;

const bool runs_here = [] {
  const bool has_it = __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl");
  if (has_it) more_integer_cells().push_back(&table);
  return has_it;
}();

TEST_CASE("AVX-VNNI's products are among what tests of integers run, where AVX512-VNNI can be had") {
  const auto all = all_integer_cells();
  CHECK((std::find(all.begin(), all.end(), &table) != all.end()) == runs_here);
  if (!runs_here) MESSAGE("this processor has no AVX512-VNNI of 256 bits");
}

}  // namespace
}  // namespace cameo::test
#endif
