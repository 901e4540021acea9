#pragma once
#include <cameo/core/abi.hpp>

#include <memory>

namespace cameo::inline CAMEO_ABI {

class model;  // graph/model.hpp

namespace detail {
CAMEO_API void delete_model(model*) noexcept;
}

}  // namespace cameo::inline CAMEO_ABI

/// Deletes a model where model.hpp is not included: sessions and formats hand models on that most programs never look
/// into.
template <>
struct std::default_delete<cameo::model> {
  void operator()(cameo::model* of) const noexcept { cameo::detail::delete_model(of); }
};
