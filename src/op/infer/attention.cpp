// Attention, losses, and single operators.
#include <cameo/geometry/attention.hpp>
#include <cameo/geometry/pad.hpp>
#include <cameo/op/attributes/onnx.hpp>

#include "infer_list.hpp"
#include "tools.hpp"

namespace CAMEO_NAMESPACE::infer {

status attention(infer_context& c) {
  const attributes_of<op::Attention> a{c.attributes()};
  geometry::basic_attention_inputs<dim> in{.query = shape_of(c, 0), .key = shape_of(c, 1), .value = shape_of(c, 2)};
  in.past_key = shape_of(c, 4), in.has_past = c.input_count() > 4;
  const auto made = geometry::attention_of(in, a.q_num_heads.value_or(0), a.kv_num_heads.value_or(0));
  if (!made) return made.error();
  give(c, 0, c.element(0), copy_of(made->y.view()));
  give(c, 1, c.element(1), copy_of(made->present_key.view()));
  give(c, 2, c.element(2), copy_of(made->present_value.view()));
  return give(c, 3, c.element(0), copy_of(made->scores.view()));
}

/// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: a scalar, or a loss for each label; then log_prob.
status loss(infer_context& c) {
  const attributes_of<op::NegativeLogLikelihoodLoss> a{c.attributes()};
  const dims *scores = c.shape(0), *labels = c.shape(1);
  if (labels)
    if (status s = check_rank(scores, labels->size() + 1, labels->size() + 1, "input 0"); !s) return s;
  const bool is_each = a.reduction == op::negative_log_likelihood_loss_reduction_choice::none;
  give(c, 0, c.element(0), is_each ? copy_of(labels) : dims{});
  return give(c, 1, c.element(0), copy_of(scores));
}

status determinant(infer_context& c) {
  std::optional<dims> out;
  if (const dims* in = c.shape(0)) out = dims(in->begin(), in->end() - 2);
  return give(c, 0, c.element(0), std::move(out));
}

/// A size [N, C, spatial...] makes a grid [N, spatial..., 2 or 3].
status affine_grid(infer_context& c) {
  std::optional<dims> out;
  if (const dims* to = elements_at(c, 1)) {
    if (status s = check_rank(to, 4, 5, "the tensor that size describes"); !s) return s;
    out = dims{(*to)[0]};
    out->insert(out->end(), to->begin() + 2, to->end());
    out->push_back(dim::fixed(std::int64_t(to->size()) - 2));
  }
  return give(c, 0, c.element(0), std::move(out));
}

status center_crop_pad(infer_context& c) {
  const int_list axes = ints_of(attributes_of<op::CenterCropPad>{c.attributes()}.axes);
  return give(c, 0, c.element(0), geometry::center_crop_pad_of(shape_of(c, 0), axes, view_of(elements_at(c, 1))));
}

/// From [N, C * product of the block, blocks] to [N, C, image...].
status col2im(infer_context& c) {
  std::optional<dims> out;
  const dims *in = c.shape(0), *image = elements_at(c, 1), *block = elements_at(c, 2);
  if (image) {
    out = dims{in ? (*in)[0] : dim{}, dim{}};
    out->insert(out->end(), image->begin(), image->end());
  }
  if (in && image && block) {
    result<dim> size = product(*block);
    if (!size) return size.error();
    if (size->size == 0) return invalid("block_shape is ", *block, ", sizes must be 1 or more");
    if (size->known() && (*in)[1].known()) {
      if ((*in)[1].size % size->size != 0)
        return invalid("dim 1 of input ", *in, " must be a multiple of ", *size, ", the size of a block");
      (*out)[1] = dim::fixed((*in)[1].size / size->size);
    }
  }
  return give(c, 0, c.element(0), std::move(out));
}

}  // namespace CAMEO_NAMESPACE::infer
