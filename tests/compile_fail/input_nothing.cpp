// expect: cameo: an input is a value, an any_value, a range of elements
// naming: image
#include <cameo/cameo.hpp>

struct image {
  float pixels[64];
};
bool run(const cameo::session& s, const image& x) {
#ifdef CAMEO_MUST_FAIL
  return bool(s.run({{"x", x}}));
#else
  return bool(s.run({{"x", x.pixels}}));
#endif
}
