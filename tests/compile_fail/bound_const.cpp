// expect: cameo: runs write to a bound output, but these elements are const
// naming: const std::vector<float>
#include <cameo/cameo.hpp>

#include <vector>

#ifdef CAMEO_MUST_FAIL
using elements = const std::vector<float>;
#else
using elements = std::vector<float>;
#endif
bool bind(cameo::io_binding& b, elements& y) { return bool(b.bind_output("y", y)); }
