// Attention, losses, and single operators.
#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/op/attributes/onnx.hpp>

namespace CAMEO_NAMESPACE::infer {
namespace {

/// The dims of Q, K or V, from [batch, heads, sequence, size] or [batch, sequence, heads * size].
struct head_shape {
  dim batch, heads, sequence, size;
  bool split = false;  // rank 4
};

result<head_shape> heads_of(const dims* in, std::int64_t heads, std::string_view name) {
  if (!in) return head_shape{};
  if (in->size() == 4) return head_shape{(*in)[0], (*in)[1], (*in)[2], (*in)[3], true};
  if (heads < 1) return invalid("attribute ", name, " is ", heads, ", must be 1 or more for an input of rank 3");
  const dim width = (*in)[2];
  return head_shape{(*in)[0], dim::fixed(heads), (*in)[1], width.known() ? dim::fixed(width.size / heads) : dim{}};
}

/// The number of keys, those of the past included.
result<dim> total_length(const infer_context& c, const head_shape& key) {
  if (c.input_count() <= 4) return key.sequence;
  const dims* past = c.shape(4);
  if (!past) return dim{};
  return sum((*past)[2], key.sequence);
}

}  // namespace

status attention(infer_context& c) {
  const attributes_of<op::Attention> a{c.attributes()};
  const std::int64_t heads = a.q_num_heads.value_or(0), key_heads = a.kv_num_heads.value_or(0);
  result<head_shape> q = heads_of(c.shape(0), heads, "q_num_heads"),
                     k = heads_of(c.shape(1), key_heads, "kv_num_heads"),
                     v = heads_of(c.shape(2), key_heads, "kv_num_heads");
  for (result<head_shape>* h : {&q, &k, &v})
    if (!*h) return h->error();
  result<dim> total = total_length(c, *k);
  if (!total) return total.error();
  std::optional<dims> out;
  if (c.shape(0) && q->split) {
    out = dims{q->batch, q->heads, q->sequence, v->size};
  } else if (c.shape(0)) {
    const dim both[] = {q->heads, v->size};
    result<dim> hidden = product(both);
    if (!hidden) return hidden.error();
    out = dims{q->batch, q->sequence, *hidden};
  }
  give(c, 0, c.element(0), std::move(out));
  give(c, 1, c.element(1), dims{k->batch, k->heads, *total, k->size});
  give(c, 2, c.element(2), dims{v->batch, v->heads, *total, v->size});
  return give(c, 3, c.element(0), dims{q->batch, q->heads, q->sequence, *total});
}

/// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss: a scalar, or a loss for each label; then log_prob.
status loss(infer_context& c) {
  const attributes_of<op::NegativeLogLikelihoodLoss> a{c.attributes()};
  const dims *scores = c.shape(0), *labels = c.shape(1);
  if (scores && labels)
    if (status s = check_rank(*scores, labels->size() + 1, "input 0"); !s) return s;
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
    if (status s = check_rank(*to, 4, 5, "the tensor that size describes"); !s) return s;
    out = dims{(*to)[0]};
    out->insert(out->end(), to->begin() + 2, to->end());
    out->push_back(dim::fixed(std::int64_t(to->size()) - 2));
  }
  return give(c, 0, c.element(0), std::move(out));
}

status center_crop_pad(infer_context& c) {
  const dims *in = c.shape(0), *to = elements_at(c, 1);
  std::optional<dims> out;
  if (in) out = dims(in->size());
  if (in && to) {
    const attributes_of<op::CenterCropPad> a{c.attributes()};
    result<std::vector<std::size_t>> axes =
        a.axes.given ? axes_in(a.axes, in->size(), "attribute axes") : axes_of(in->size());
    if (!axes) return axes.error();
    if (to->size() != axes->size())
      return invalid("shape has ", to->size(), " elements, must have ", axes->size(), ", one per axis");
    out = *in;
    for (std::size_t i = 0; i < axes->size(); ++i) (*out)[(*axes)[i]] = (*to)[i];
  }
  return give(c, 0, c.element(0), std::move(out));
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
