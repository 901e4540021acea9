// expect: cameo: a compiled program needs `status run
// naming: loose_program
#include <cameo/cameo.hpp>

struct loose_program {
#ifdef CAMEO_MUST_FAIL
  cameo::status run(cameo::run_context&) { return {}; }  // not const
#else
  cameo::status run(cameo::run_context&) const { return {}; }
#endif
};
cameo::compiled_node made() { return cameo::compiled(loose_program{}); }
