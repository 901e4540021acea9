// expect: cameo: this result is a temporary: nothing has tested it for an error
// naming: named_values
#include <cameo/cameo.hpp>

std::size_t count(const cameo::session& session) {
#ifdef CAMEO_MUST_FAIL
  return session.run({})->size();
#else
  std::size_t nodes = 0;  // the list lives as long as the loop
  for (const cameo::ep_assignment& each : *session.assignments()) nodes += each.nodes.size();
  return nodes;
#endif
}
