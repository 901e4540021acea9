#pragma once
#include <cameo/graph/model.hpp>
#include <cameo/op/function_bodies.hpp>

namespace CAMEO_NAMESPACE {

/// The function of a standard body, for nodes of this model. Its constants lie in the row. Throws std::bad_alloc.
function make_function(model&, const function_body_row&);

}  // namespace CAMEO_NAMESPACE
