#pragma once
#include <cameo/graph/model.hpp>

#include <optional>

namespace CAMEO_NAMESPACE {

/// What `notes` says of a compiled node that has a model as its context, for providers that have no contexts.
inline constexpr std::string_view model_notes = "a model, for cameo";

/// The bytes of a model that the only node of `m` has as its context; std::nullopt if it has a context of another kind.
/// INVALID_GRAPH for a file that is not beside `compiled_model`, or, if that is empty, the model.
result<std::optional<std::vector<std::byte>>> stored_model(const model& m, std::string_view compiled_model);

}  // namespace CAMEO_NAMESPACE
