// expect: cameo: a view refers to the elements of these values, but they are temporary
// naming: float
#include <cameo/cameo.hpp>

bool run(const cameo::session& session) {
#ifdef CAMEO_MUST_FAIL
  return bool((*session.run({})).get<float>("y"));
#else
  const auto outputs = session.run({});
  return outputs && outputs->get<float>("y");
#endif
}
