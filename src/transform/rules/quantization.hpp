#pragma once
#include <cameo/core/elements.hpp>
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/transform/rewriter.hpp>

/// The parameters of QuantizeLinear and DequantizeLinear, if they are constant.
namespace CAMEO_NAMESPACE {

/// The integers of a quantized type.
struct integer_range {
  double lowest, highest;
};
/// The constants of a QuantizeLinear or DequantizeLinear.
struct quantization {
  dtype type = dtype::undefined;  // of the integers
  integer_range range{};
  const value* scale = nullptr;
  const value* zero = nullptr;  // null: 0
  std::int64_t axis = 0;        // -1: one scale for the whole tensor

  float scale_at(std::int64_t i) const { return detail::element_at<float>(*scale, std::size_t(i)); }
  double zero_at(std::int64_t i) const {
    return zero ? detail::integer_elements::visit(type, 0.0,
                                                  [&]<class T>(std::type_identity<T>) {
                                                    return double(detail::element_at<T>(*zero, std::size_t(i)));
                                                  })
                : 0.0;
  }
  bool whole_tensor() const { return axis < 0; }
};

/// The integers and the floats that a QuantizeLinear or DequantizeLinear converts.
struct quantized_sides {
  value_view integers, floats;
  explicit quantized_sides(const node_view& n) : integers{n.output(0)}, floats{n.input(0)} {
    if (!n.has_op<op::QuantizeLinear>()) std::swap(integers, floats);
  }
};
/// True for scales of blocks, and for a division in another precision than that of the scale.
inline bool has_blocks_or_precision(const node_view& n) {
  const auto a = n.attributes<op::QuantizeLinear>();
  return a.block_size != 0 || a.precision != 0;
}

/// The quantization of a node with float32 on one side and integers of 8 or 16 bits on the other, whose scales are
/// positive normal numbers: then rounding is monotonic, and an integer converted to float and back stays the same.
/// std::nullopt for other nodes.
std::optional<quantization> quantization_of(const rewriter&, const node_view&);

/// True if both quantize every element alike.
bool same(const quantization&, const quantization&);

/// True for a Relu or Clip whose bounds include all that this quantization can represent.
bool is_made_redundant(const rewriter&, const node_view& cut, const quantization&);

}  // namespace CAMEO_NAMESPACE
