// AVX-VNNI's products as AVX512-VNNI encodes them: so processors that have one of both run what the other would. Which
// results are right is tested by what goes through all_with().
#define CAMEO_LOOPS_AS_CALLS  // sooner compiled, and as much tested
#include "../src/machine/target.hpp"
#include "../src/microkernels/integer_loops.hpp"
#include "../src/microkernels/nbits_loops.hpp"
#include "all_instruction_sets.hpp"

#include <doctest/doctest.h>
#include <algorithm>

#ifdef __x86_64__
#ifdef __clang__
#pragma clang optimize off  // which with a sanitizer takes longest
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

TEST_CASE("AVX-VNNI's products are among what tests of integers run, where AVX512-VNNI can be had") {
  const auto all = all_with(&eps::instruction_set::integers);
  CHECK((std::find(all.begin(), all.end(), &row) != all.end()) == is_added);
  if (!is_added) MESSAGE("this processor has no AVX512-VNNI of 256 bits");
}

}  // namespace
}  // namespace cameo::test
#endif
