#pragma once
#include "inspect/inspection.hpp"
#include "inspect/trace.hpp"

namespace cameo::inspect {

/// A self-contained HTML page: the model's properties, its graph as a drawing, memory over the steps of a run and, with
/// a `profile`, the time of each node. `path` is displayed as the model's name. Names may contain any bytes.
std::string page_of(const std::string& path, const session&, const inspection&, const profiled_run* profile = nullptr);

/// The files of the page that lie beside this header; CMake embeds them.
struct page_parts {
  std::string_view html, css, js;
};
page_parts parts_of_page();

}  // namespace cameo::inspect
