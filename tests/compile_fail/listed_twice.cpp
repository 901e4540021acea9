// expect: cameo: this provider, or another with its name, is listed twice
// naming: eps::cpu
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#ifdef CAMEO_MUST_FAIL
cameo::runtime<cameo::eps::cpu, cameo::eps::cpu> runtime;
#else
cameo::runtime<cameo::eps::cpu> runtime;
#endif
