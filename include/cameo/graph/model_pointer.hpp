#pragma once
#include <cameo/core/abi.hpp>

#include <memory>

namespace cameo::inline CAMEO_ABI {

class model;  // graph/model.hpp

}  // namespace cameo::inline CAMEO_ABI

/// Deletes a model where model.hpp is not included: sessions and formats hand models on that most programs never look
/// into.
template <>
struct std::default_delete<cameo::model> {
  CAMEO_API void operator()(cameo::model*) const noexcept;
};
