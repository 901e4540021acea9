// expect: cameo: runs write to a bound output; these elements are const
// naming: const std::vector<float>
#include <cameo/cameo.hpp>

#include <vector>

#ifdef CAMEO_MUST_FAIL
using room = const std::vector<float>;
#else
using room = std::vector<float>;
#endif
bool bind(cameo::io_binding& b, room& y) { return bool(b.bind_output("y", y)); }
