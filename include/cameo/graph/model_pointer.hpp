#pragma once
#include <cameo/core/abi.hpp>

#include <memory>

namespace CAMEO_NAMESPACE {

class model;  // defined in graph/model.hpp

namespace detail {
CAMEO_API void delete_model(model*) noexcept;
}

}  // namespace CAMEO_NAMESPACE

/// Deletes a model where model.hpp is not included: sessions and formats pass on models that most programs do not use.
template <>
struct std::default_delete<cameo::model> {
  void operator()(cameo::model* m) const noexcept { cameo::detail::delete_model(m); }
};
