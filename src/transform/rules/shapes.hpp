#pragma once
#include <cameo/transform/rewriter.hpp>

namespace CAMEO_NAMESPACE {

/// True if both are tensors whose shapes are certainly equal in every run.
inline bool same_shape(const rewriter& r, const value_view& a, const value_view& b) {
  const std::vector<dim>*const x = a ? r.shape(a) : nullptr, *const y = b ? r.shape(b) : nullptr;
  if (!x || !y || x->size() != y->size()) return false;
  for (std::size_t i = 0; i < x->size(); ++i)
    if (!(*x)[i].same((*y)[i])) return false;
  return true;
}

}  // namespace CAMEO_NAMESPACE
