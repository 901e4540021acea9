// AVX-VNNI's products in the encoding of AVX512-VNNI, so that processors that only have the latter run this code, too.
// The tests that call all_with() check its results.
#define CAMEO_LOOPS_AS_CALLS  // compiles faster, and tests as much
#include "../src/machine/target.hpp"
#include "../src/microkernels/integer_loops.hpp"
#include "../src/microkernels/nbits_loops.hpp"
#include "all_instruction_sets.hpp"

#include <doctest/doctest.h>
#include <algorithm>

#ifdef __x86_64__
#ifdef __clang__
#pragma clang optimize off  // the optimizer takes too long with a sanitizer
#endif
CAMEO_TARGET("avx512vnni,avx512vl,avx2,fma")
namespace CAMEO_NAMESPACE::eps::avx_vnni_as_avx512 {
namespace {
#include "../src/microkernels/integer_avx_vnni-inl.hpp"

constinit const integer_loops integers{"", arithmetic_of<bytes>, arithmetic_of<shorts>};
}  // namespace
}  // namespace CAMEO_NAMESPACE::eps::avx_vnni_as_avx512
CAMEO_TARGET_END
#ifdef __clang__
#pragma clang optimize on
#endif

namespace cameo::test {
namespace {

bool runs_here() { return __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512vl"); }
constinit const eps::instruction_set row{"avx_vnni as avx512_vnni", 0, runs_here, &eps::avx_vnni_as_avx512::integers,
                                         &eps::avx_vnni_as_avx512::nbits_of<eps::avx_vnni_as_avx512::few_bits>};

const bool is_added = [] {
  if (runs_here()) more_instruction_sets().push_back(&row);
  return runs_here();
}();

TEST_CASE("AVX-VNNI's products are among the loops that tests of integers run, if the processor has AVX512-VNNI") {
  const auto all = all_with(&eps::instruction_set::integers);
  CHECK((std::find(all.begin(), all.end(), &row) != all.end()) == is_added);
  if (!is_added) MESSAGE("this processor has no AVX512-VNNI of 256 bits");
}

}  // namespace
}  // namespace cameo::test
#endif
