// expect: cameo: the elements of an input must be contiguous in memory
// naming: std::(__cxx11::)?list<float>
#include <cameo/cameo.hpp>

#include <list>
#include <vector>

#ifdef CAMEO_MUST_FAIL
using numbers = std::list<float>;
#else
using numbers = std::vector<float>;
#endif
bool run(const cameo::session& s, const numbers& x) { return bool(s.run({{"x", x}})); }
