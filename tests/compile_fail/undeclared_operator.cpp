// expect: cameo: not a declared operator
// naming: Wish
#include "kernels.hpp"

struct Wish {
#ifndef CAMEO_MUST_FAIL
  static constexpr std::string_view domain = "my.domain", name = "Wish";
  static constexpr cameo::parameter inputs[] = {{"X", "T"}}, outputs[] = {{"Y", "T"}};
  static constexpr cameo::type_rule types[] = {{"T", cameo::mask_of<float>}};
  static constexpr cameo::op_version versions[] = {{1, inputs, outputs, types, {}, 1, 1}};
#endif
};
auto table =
    cameo::kernel_list<cameo::kernel_entry<Wish, cameo::since<1>, cameo::constrain<"T", float>, some_kernel>>::table;
