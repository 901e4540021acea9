// expect: cameo: this result is a temporary: it has not been checked for an error
// naming: named_values
#include <cameo/cameo.hpp>

std::size_t count(const cameo::session& session) {
#ifdef CAMEO_MUST_FAIL
  return session.run({})->size();
#else
  std::size_t nodes = 0;  // in a range-based for loop, the list lives until the end of the loop
  for (const cameo::ep_assignment& each : *session.assignments()) nodes += each.nodes.size();
  return nodes;
#endif
}
