#include "python/arrays.hpp"
#include "python/loading.hpp"

#include <cameo/core/version.hpp>

NB_MODULE(_core, m) {
  using namespace cameo::python;
  m.doc() = "The compiled part of cameo; use the package cameo.";
  // Objects of threads that still run when the process ends would be reported as leaks. The tests check memory instead.
  nb::set_leak_warnings(false);
  find_numpy();
  find_main_thread();
  m.attr("__version__") = CAMEO_VERSION;
  nb::dict codes;
  for (const cameo::detail::status_row& row : cameo::detail::status_rows) codes[row.name] = int(row.number);
  m.attr("codes") = codes;
  define_options(m);
  define_value(m);
  define_sessions(m);
  define_tools(m);
}
