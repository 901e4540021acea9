#pragma once
#include <cameo/ep/provider_row.hpp>
#include <cameo/format/format.hpp>

namespace CAMEO_NAMESPACE {

/// A file that is to be written beside a model.
struct companion {
  std::string path;
  provider of = {};  // whose context it is; without a row: initializers
};

/// Before anything is compiled, and once more when the files get their names. A file that is there may be replaced when
/// the model at `output` (empty: none), which is replaced with it, refers to it; or when no model of its folder does,
/// and it is what a model leaves behind that was removed: initializers, a context that its provider recognizes, or a
/// file with the name of a context of a provider that recognizes none. FAIL naming the file and whose it is otherwise.
/// Reads the models of the folder only where the one at `output` does not answer.
status require_replaceable(const companion&, const std::string& output, std::span<const detail::format_row>);

}  // namespace CAMEO_NAMESPACE
