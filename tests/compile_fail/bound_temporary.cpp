// expect: cameo: a binding uses this memory in every run, but it belongs to a temporary
// naming: std::vector<float>
#include <cameo/cameo.hpp>

#include <vector>

bool bind(cameo::io_binding& b) {
#ifdef CAMEO_MUST_FAIL
  return bool(b.bind_input("x", std::vector<float>{1, 2, 3}));
#else
  static const std::vector<float> x{1, 2, 3};
  return bool(b.bind_input("x", x));
#endif
}
