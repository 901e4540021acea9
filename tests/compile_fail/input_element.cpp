// expect: cameo: not an element type of ONNX
// naming: long long
#include <cameo/cameo.hpp>

#include <vector>

#ifdef CAMEO_MUST_FAIL
using number = long long;  // std::int64_t is long here
#else
using number = std::int64_t;
#endif
bool run(const cameo::session& s, const std::vector<number>& ids) { return bool(s.run({{"ids", ids}})); }
