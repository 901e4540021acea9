#include "op/unchecked_attributes.hpp"

#include <cameo/op/contrib.hpp>
#include <cameo/op/microsoft.hpp>
#include <cameo/op/onnx.hpp>

#include <algorithm>
#include <iterator>

namespace CAMEO_NAMESPACE {
namespace {

using detail::op_id_of;

// All operators whose schema in ONNX Runtime allows any attribute. tests/scripts/oddities.py checks each operator.
constexpr detail::op_id unchecked[] = {
    op_id_of<op::LayerNormalization>,
    op_id_of<op::contrib::SimplifiedLayerNormalization>,
    op_id_of<op::contrib::Affine>,
    op_id_of<op::contrib::Crop>,
    op_id_of<op::contrib::DynamicSlice>,
    op_id_of<op::contrib::ImageScaler>,
    op_id_of<op::contrib::ParametricSoftplus>,
    op_id_of<op::contrib::Scale>,
    op_id_of<op::contrib::ScaledTanh>,
    op_id_of<op::microsoft::BiasDropout>,
    op_id_of<op::microsoft::BitmaskBiasDropout>,
    op_id_of<op::microsoft::BitmaskDropout>,
    op_id_of<op::microsoft::QOrderedLayerNormalization>,
    op_id_of<op::microsoft::Snpe>,
};

}  // namespace

bool has_unchecked_attributes(const op_row& op) {
  return std::find(std::begin(unchecked), std::end(unchecked), op.id) != std::end(unchecked);
}

}  // namespace CAMEO_NAMESPACE
