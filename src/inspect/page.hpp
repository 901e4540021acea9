#pragma once
#include "inspect/inspection.hpp"
#include "inspect/trace.hpp"

namespace cameo::inspect {

/// One HTML page that needs nothing else: the model's facts, its graph drawn, memory over the steps of a run and, with
/// a `profile`, the time of each node. `path` is shown as the model's name. Names may contain any bytes.
std::string page_of(const std::string& path, const session&, const inspection&, const profiled_run* profile = nullptr);

/// The parts of the page, as they lie beside this file; CMake embeds them.
struct page_parts {
  std::string_view html, css, js;
};
page_parts parts_of_page();

}  // namespace cameo::inspect
