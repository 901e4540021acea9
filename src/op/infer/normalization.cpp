#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/op/attributes/onnx.hpp>

namespace CAMEO_NAMESPACE::infer {
namespace {

/// Inputs 1 to 4 must be vectors with one element per channel of input 0.
status check_channels(const infer_context& c) {
  const dims* x = c.shape(0);
  if (!x || x->size() < 2) return status_code::ok;
  for (std::size_t i = 1; i <= 4; ++i) {
    const dims* v = c.shape(i);
    if (!v) continue;
    if (v->size() != 1 || ((*v)[0].known() && (*x)[1].known() && (*v)[0].size != (*x)[1].size))
      return invalid("input ", i, " has shape ", *v, ", must have [", (*x)[1], "], one per channel of X ", *x);
  }
  return status_code::ok;
}

}  // namespace

status batch_normalization(infer_context& c) {
  // Until version 9, `spatial` 0 meant a mean for each element, with the shape of one X.
  if (attributes_of<op::BatchNormalization>{c.attributes()}.spatial != 0 || c.version().since >= 9)
    if (status s = check_channels(c); !s) return s;
  if (c.has_input(0)) give(c, 0, c.input(0));
  for (std::size_t i = 1; i < c.output_count(); ++i) {
    // The outputs are mean, var and, until version 9, saved_mean and saved_var.
    const std::size_t from = i % 2 ? 3 : 4;
    give(c, i, c.element(from), copy_of(c.shape(from)));
  }
  return status_code::ok;
}

namespace {

/// X's shape with 1 from `axis` on: the shape of statistics with kept axes.
result<std::optional<dims>> statistics_shape(const infer_context& c, std::int64_t axis) {
  const dims* x = c.shape(0);
  if (!x) return std::optional<dims>{};
  result<std::size_t> first = axis_in(axis, x->size());
  if (!first) return first.error();
  dims shape = *x;
  for (std::size_t i = *first; i < shape.size(); ++i) shape[i] = dim::fixed(1);
  return std::optional<dims>{std::move(shape)};
}

}  // namespace

/// LayerNormalization, SimplifiedLayerNormalization, RMSNormalization: Y, and statistics in stash_type.
status layer_normalization(infer_context& c) {
  const attributes_of<op::LayerNormalization> a{c.attributes()};
  result<std::optional<dims>> statistics = statistics_shape(c, a.axis);
  if (!statistics) return statistics.error();
  result<dtype> stash = dtype_of("stash_type", a.stash_type);
  if (!stash) return stash.error();
  if (c.has_input(0)) give(c, 0, c.input(0));
  for (std::size_t i = 1; i < c.output_count(); ++i) give(c, i, *stash, *statistics);
  return status_code::ok;
}

/// The sum with the skip (output 3) has the input's type; mean and variance are float.
status skip_layer_normalization(infer_context& c) {
  result<std::optional<dims>> statistics = statistics_shape(c, -1);
  if (!statistics) return statistics.error();
  if (c.has_input(0)) give(c, 0, c.input(0));
  give(c, 1, dtype::f32, *statistics);
  give(c, 2, dtype::f32, std::move(*statistics));
  return give_type_of(c, 3, 0);
}

/// RNN, GRU and LSTM: Y [seq, directions, batch, hidden], then the last states [directions, batch, hidden]. With
/// `layout` 1 the batch comes first.
status recurrent(infer_context& c) {
  const attributes_of<op::RNN> a{c.attributes()};
  const dim size = a.hidden_size ? dim::fixed(*a.hidden_size) : dim{};
  const dim directions = dim::fixed(a.direction == op::direction_choice::bidirectional ? 2 : 1);
  const dims* const x = c.shape(0);
  const bool batch_first = a.layout != 0;
  const dim steps = x ? (*x)[batch_first] : dim{}, batch = x ? (*x)[!batch_first] : dim{};
  give(c, 0, c.element(0), batch_first ? dims{batch, steps, directions, size} : dims{steps, directions, batch, size});
  for (std::size_t i = 1; i < c.output_count(); ++i)
    give(c, i, c.element(0), batch_first ? dims{batch, directions, size} : dims{directions, batch, size});
  return status_code::ok;
}

}  // namespace CAMEO_NAMESPACE::infer
