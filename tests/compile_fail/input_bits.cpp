// expect: cameo: std::vector<bool> packs its elements into bits
// naming: vector<bool>
#include <cameo/cameo.hpp>

#include <array>
#include <vector>

#ifdef CAMEO_MUST_FAIL
using flags = std::vector<bool>;
#else
using flags = std::array<bool, 8>;
#endif
bool run(const cameo::session& s, const flags& mask) { return bool(s.run({{"mask", mask}})); }
