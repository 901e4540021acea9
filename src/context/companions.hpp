#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/format/format.hpp>

namespace CAMEO_NAMESPACE {

/// A file that is to be written beside a model.
struct companion {
  std::string path;
  provider owner = {};  // the provider of the context; without a row: the file has initializers
};

/// Checks that a companion may be written: before compilation, and again when the files are committed. A file that
/// exists may be replaced if the model at `output` (empty: none), which is replaced with it, refers to it. Otherwise no
/// model in its folder may refer to it, and it must contain initializers, or a context that its provider recognizes (a
/// provider without the hook recognizes every file): then it is left from a model that was removed. FAIL otherwise,
/// naming the file and the model. The models of the folder are read only if that at `output` does not refer to the
/// file.
status require_replaceable(const companion&, const std::string& output, std::span<const detail::format_row>);

}  // namespace CAMEO_NAMESPACE
