// expect: cameo: with<...>, transforms<...>, formats<...> and devices_by<...> must precede the providers
// naming: devices_by
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#ifdef CAMEO_MUST_FAIL
cameo::runtime<cameo::eps::cpu, cameo::devices_by<cameo::prefer_npu>, cameo::eps::cpu> runtime;
#else
cameo::runtime<cameo::devices_by<cameo::prefer_npu>, cameo::eps::cpu> runtime;
#endif
