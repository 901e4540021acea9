// Operators on signals: DFT, STFT, MelWeightMatrix.
#include "infer_list.hpp"
#include "tools.hpp"

#include <cameo/op/attributes/onnx.hpp>

namespace CAMEO_NAMESPACE::infer {
namespace {

/// The size that a constant input with one element holds, unknown if the input is not constant; `otherwise` if the node
/// does not have the input.
dim size_in(const infer_context& c, std::size_t input, dim otherwise) {
  if (input >= c.input_count()) return otherwise;
  const std::optional<std::vector<std::int64_t>> sizes = c.constant_ints(input);
  return sizes && sizes->size() == 1 && (*sizes)[0] > 0 ? dim::fixed((*sizes)[0]) : dim{};
}
dim half_of(dim length) { return length.known() ? dim::fixed(length.size / 2 + 1) : dim{}; }

}  // namespace

status dft(infer_context& c) {
  const dims* in = c.shape(0);
  if (!in) return give(c, 0, c.element(0));
  dims out = *in;
  const attributes_of<op::DFT> a{c.attributes()};
  const bool inverse = a.inverse != 0, onesided = a.onesided != 0;
  out.back() = dim::fixed(onesided && inverse ? 1 : 2);
  std::int64_t axis = c.version().since >= 20 ? -2 : a.axis;
  if (c.version().since >= 20 && c.input_count() > 2) {
    const std::optional<std::vector<std::int64_t>> given = c.constant_ints(2);
    if (!given || given->size() != 1) {
      dims unknown(in->size());
      unknown.back() = out.back();
      return give(c, 0, c.element(0), std::move(unknown));
    }
    axis = given->front();
  }
  result<std::size_t> at = geometry::axis_of<dim>(axis, in->size(), "axis");
  if (!at) return at.error();
  const dim usual = inverse && onesided ? dim{} : (*in)[*at];
  const dim length = size_in(c, 1, usual);
  out[*at] = onesided && !inverse ? half_of(length) : length;
  return give(c, 0, c.element(0), std::move(out));
}

status stft(infer_context& c) {
  const dims *signal = c.shape(0), *window = c.shape(2);
  if (!signal) return give(c, 0, c.element(0));
  dim length = c.input_count() > 3 ? size_in(c, 3, {}) : dim{};
  if (!length.known() && window && window->size() == 1) length = window->front();
  const dim lines = attributes_of<op::STFT>{c.attributes()}.onesided != 0 ? half_of(length) : length;
  return give(c, 0, c.element(0), dims{signal->front(), dim{}, lines, dim::fixed(2)});
}

status mel_weight_matrix(infer_context& c) {
  result<dtype> type = dtype_of("output_datatype", attributes_of<op::MelWeightMatrix>{c.attributes()}.output_datatype);
  if (!type) return type.error();
  return give(c, 0, *type, dims{half_of(size_in(c, 1, {})), size_in(c, 0, {})});
}

}  // namespace CAMEO_NAMESPACE::infer
