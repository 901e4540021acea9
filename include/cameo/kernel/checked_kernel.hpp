#pragma once
#include <cameo/kernel/kernel.hpp>
#include <cameo/op/op.hpp>

namespace CAMEO_NAMESPACE::detail {

/// True if some version of an operator states the shapes of its inputs: see op_version::shapes.
constexpr bool states_shapes(std::span<const op_version> versions) {
  for (const op_version& version : versions)
    if (version.shapes) return true;
  return false;
}

/// Returns a kernel that checks the shapes of a run's inputs against the node's version of `versions`, and then runs
/// `bound`. It allocates from the plan's memory; OUT_OF_MEMORY.
CAMEO_API result<bound_kernel> check_shapes_first(bind_context&, std::span<const op_version> versions,
                                                  bound_kernel bound);

/// bind_kernel() for a kernel of Op, whose shapes are checked before each run. Kernels of operators that state no
/// shapes do not link the check.
template <declared_op Op, kernel K>
result<bound_kernel> bind_kernel_of(bind_context& context, bool only_check) {
  result<bound_kernel> bound = bind_kernel<K>(context, only_check);
  if constexpr (states_shapes(Op::versions))
    if (bound && !only_check) return check_shapes_first(context, Op::versions, *bound);
  return bound;
}

}  // namespace CAMEO_NAMESPACE::detail
