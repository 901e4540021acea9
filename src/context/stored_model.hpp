#pragma once
#include <cameo/graph/model.hpp>

#include <optional>

namespace CAMEO_NAMESPACE {

/// The attribute `notes` of a compiled node whose context is a model. Such contexts are written for providers that have
/// no contexts.
inline constexpr std::string_view model_notes = "a model, for cameo";

/// The bytes of the model that is the context of the only node of `m`; std::nullopt if its context is of another kind.
/// A context in a file is read from the folder of `compiled_model` or, if that is empty, of `m`: INVALID_GRAPH if it is
/// not there.
result<std::optional<std::vector<std::byte>>> stored_model(const model& m, std::string_view compiled_model);

}  // namespace CAMEO_NAMESPACE
