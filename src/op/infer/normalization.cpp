#include <cameo/geometry/recurrent.hpp>
#include <cameo/geometry/reduction.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "infer_list.hpp"
#include "tools.hpp"

namespace CAMEO_NAMESPACE::infer {

status batch_normalization(infer_context& c) {
  // Until version 9, `spatial` 0 meant a mean for each element, with the shape of one X.
  const bool is_spatial = attributes_of<op::BatchNormalization>{c.attributes()}.spatial != 0 || c.version().since >= 9;
  const geometry::named_shape<dim> parameters[] = {
      {"scale", shape_of(c, 1)}, {"B", shape_of(c, 2)}, {"mean", shape_of(c, 3)}, {"var", shape_of(c, 4)}};
  if (status s = geometry::batch_normalization_of<dim>(shape_of(c, 0), is_spatial, parameters).error(); !s) return s;
  if (c.has_input(0)) give(c, 0, c.input(0));
  for (std::size_t i = 1; i < c.output_count(); ++i) {
    // The outputs are mean, var and, until version 9, saved_mean and saved_var.
    const std::size_t from = i % 2 ? 3 : 4;
    give(c, i, c.element(from), copy_of(c.shape(from)));
  }
  return status_code::ok;
}

/// LayerNormalization, SimplifiedLayerNormalization, RMSNormalization: Y, and statistics in stash_type.
status layer_normalization(infer_context& c) {
  const attributes_of<op::LayerNormalization> a{c.attributes()};
  const auto made = geometry::layer_normalization_of(shape_of(c, 0), a.axis, shape_of(c, 1), shape_of(c, 2));
  if (!made) return made.error();
  result<dtype> stash = dtype_of("stash_type", a.stash_type);
  if (!stash) return stash.error();
  if (c.has_input(0)) give(c, 0, c.input(0));
  for (std::size_t i = 1; i < c.output_count(); ++i) give(c, i, *stash, copy_of(made->statistics.view()));
  return status_code::ok;
}

/// The sum with the skip (output 3) has the input's type; mean and variance are float.
status skip_layer_normalization(infer_context& c) {
  const auto made = geometry::layer_normalization_of(shape_of(c, 0), -1);
  if (!made) return made.error();
  if (c.has_input(0)) give(c, 0, c.input(0));
  for (const std::size_t i : {1, 2}) give(c, i, dtype::f32, copy_of(made->statistics.view()));
  return give_type_of(c, 3, 0);
}

/// RNN, GRU, LSTM and AttnLSTM: Y, then the last states. The number of gates only matters for sizes that overflow.
status recurrent(infer_context& c) {
  const attributes_of<op::RNN> a{c.attributes()};
  const std::int64_t directions = a.direction == op::direction_choice::bidirectional ? 2 : 1;
  const auto made = geometry::recurrent_of<dim>({.x = shape_of(c, 0), .w = shape_of(c, 1), .r = shape_of(c, 2)},
                                                {a.hidden_size.value_or(0), directions, 4, a.layout != 0});
  if (!made) return made.error();
  for (std::size_t i = 0; i < c.output_count(); ++i) give(c, i, c.element(0), copy_of(i == 0 ? made->y : made->state));
  return status_code::ok;
}

}  // namespace CAMEO_NAMESPACE::infer
