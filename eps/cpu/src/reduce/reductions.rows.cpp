// Instantiates the loops of the reductions of reduce_rows.hpp for each element type.
#include "reduce_rows.hpp"
#include "skeletons/reduce.hpp"

namespace CAMEO_NAMESPACE::eps {
namespace {

/// The first version that has the axes as an input.
template <class Op>
inline constexpr int axes_are_input_since = [] {
  for (const op_version& version : Op::versions)
    if (version.inputs.size() > 1) return int(version.since);
  return 256;
}();

}  // namespace

template <class Op>
result<reduce<Op>> reduce<Op>::bind(bind_context& c) {
  reduce made;
  made.rows = elements_in<Op, reductions>::visit(c.inputs[0].type, row_function{},
                                                 []<class T>(std::type_identity<T>) { return units_of<Op, T>(); });
  made.finish(c, axes_are_input_since<Op>);
  return made;
}

template struct bound_rows<reductions>;

}  // namespace CAMEO_NAMESPACE::eps
