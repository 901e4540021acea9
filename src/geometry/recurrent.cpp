#include <cameo/geometry/recurrent.hpp>

namespace CAMEO_NAMESPACE::geometry {

template result<basic_recurrent<dim>> recurrent_of(const basic_recurrent_inputs<dim>&, const recurrent_attributes&);
template result<recurrent> recurrent_of(const recurrent_inputs&, const recurrent_attributes&);

}  // namespace CAMEO_NAMESPACE::geometry
