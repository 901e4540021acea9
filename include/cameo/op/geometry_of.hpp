#pragma once
#include <cameo/geometry/blocks.hpp>
#include <cameo/geometry/broadcast.hpp>
#include <cameo/geometry/conv.hpp>
#include <cameo/geometry/gather.hpp>
#include <cameo/geometry/joining.hpp>
#include <cameo/geometry/permutation.hpp>
#include <cameo/geometry/product.hpp>
#include <cameo/geometry/reduction.hpp>
#include <cameo/geometry/reshape.hpp>
#include <cameo/op/attributes/microsoft.hpp>
#include <cameo/op/attributes/onnx.hpp>
#include <cameo/op/onnx.hpp>
#include <cameo/op/read_window.hpp>

namespace CAMEO_NAMESPACE {

/// The shapes of a node's inputs, as far as they are known: dims in a graph and where a kernel is bound, numbers in a
/// run and while a program is compiled. It owns them. An absent input has no shape, nor has one past the first eight.
template <geometry::size_kind D>
class node_shapes {
 public:
  constexpr node_shapes() = default;
  constexpr node_shapes(std::initializer_list<geometry::output_shape<D>> all) {
    for (const geometry::output_shape<D>& shape : all) push_back(shape);
  }
  /// Adds the shape of the next input; has no effect after eight.
  constexpr void push_back(const geometry::output_shape<D>& shape) {
    if (count_ < std::size(all_)) all_[count_++] = shape;
  }
  constexpr std::size_t size() const { return count_; }
  constexpr geometry::shape_view<D> operator[](std::size_t i) const {
    return i < count_ ? all_[i].view() : geometry::shape_view<D>{};
  }

 private:
  geometry::output_shape<D> all_[8]{};
  std::size_t count_ = 0;
};

namespace detail {
template <class Op, class... Ops>
concept any_of_ops = (std::same_as<Op, Ops> || ...);
using node_attributes = std::span<const attribute>;

// The geometry of each operator that has one here.
template <any_of_ops<op::Conv, op::microsoft::FusedConv> Op, geometry::size_kind D>
constexpr auto make_geometry(Op, node_attributes node, const node_shapes<D>& in) {
  const attributes_of<Op> a{node};
  return geometry::conv_of<D>(window_of(a), a.group, in[0], in[1], in[2]);
}
template <geometry::size_kind D>
constexpr auto make_geometry(op::ConvTranspose, node_attributes node, const node_shapes<D>& in) {
  const attributes_of<op::ConvTranspose> a{node};
  return geometry::conv_transpose_of<D>(window_of(a), a.group, in[0], in[1], in[2], a.output_padding, a.output_shape);
}
/// The window, placed over the spatial axes.
template <any_of_ops<op::AveragePool, op::LpPool, op::MaxPool> Op, geometry::size_kind D>
constexpr auto make_geometry(Op, node_attributes node, const node_shapes<D>& in) {
  return window_of(attributes_of<Op>{node}).place(in[0], geometry::shape_view<D>{});
}
template <geometry::size_kind D>
constexpr auto make_geometry(op::MatMul, node_attributes, const node_shapes<D>& in) {
  return geometry::matrix_product_of<D>(in[0], in[1], {}, {});
}
template <geometry::size_kind D>
constexpr auto make_geometry(op::Gemm, node_attributes node, const node_shapes<D>& in) {
  const attributes_of<op::Gemm> a{node};
  return geometry::gemm_of<D>(in[0], a.transA != 0, in[1], a.transB != 0, in[2]);
}
template <any_of_ops<op::Add, op::Div, op::Mul, op::Sub> Op, geometry::size_kind D>
constexpr auto make_geometry(Op, node_attributes, const node_shapes<D>& in) {
  return geometry::broadcast_of<D>(in[0], in[1], "B");
}
template <geometry::size_kind D>
constexpr auto make_geometry(op::Transpose, node_attributes node, const node_shapes<D>& in) {
  return geometry::transpose_of<D>(in[0], attributes_of<op::Transpose>{node}.perm);
}
template <geometry::size_kind D>
constexpr auto make_geometry(op::Flatten, node_attributes node, const node_shapes<D>& in) {
  return geometry::flatten_of<D>(in[0], attributes_of<op::Flatten>{node}.axis);
}
template <geometry::size_kind D>
constexpr auto make_geometry(op::DepthToSpace, node_attributes node, const node_shapes<D>& in) {
  return geometry::depth_to_space_of<D>(in[0], attributes_of<op::DepthToSpace>{node}.blocksize);
}
template <geometry::size_kind D>
constexpr auto make_geometry(op::SpaceToDepth, node_attributes node, const node_shapes<D>& in) {
  return geometry::space_to_depth_of<D>(in[0], attributes_of<op::SpaceToDepth>{node}.blocksize);
}
template <geometry::size_kind D>
constexpr auto make_geometry(op::Gather, node_attributes node, const node_shapes<D>& in) {
  return geometry::gather_of<D>(in[0], in[1], attributes_of<op::Gather>{node}.axis);
}
template <any_of_ops<op::ArgMax, op::ArgMin> Op, geometry::size_kind D>
constexpr auto make_geometry(Op, node_attributes node, const node_shapes<D>& in) {
  const attributes_of<Op> a{node};
  return geometry::extreme_of<D>(in[0], a.axis, a.keepdims != 0);
}
template <geometry::size_kind D>
constexpr auto make_geometry(op::LayerNormalization, node_attributes node, const node_shapes<D>& in) {
  return geometry::layer_normalization_of<D>(in[0], attributes_of<op::LayerNormalization>{node}.axis, in[1], in[2]);
}
}  // namespace detail

/// The checked geometry of a node of a standard operator, from its attributes and the shapes of its inputs: sizes,
/// strides, places of windows, and the output's shape. It is what inference and the kernels of `cpu` compute with. The
/// error states what the node has and what it must have.
///
///   const auto g = geometry_of<op::Conv>(step.attributes, shapes_of(context));  // in a provider's execute()
///   if (!g) return g.error();
///   for (const auto& axis : g->window.axes) ...
template <class Op, geometry::size_kind D>
constexpr auto geometry_of(std::span<const attribute> attributes, const node_shapes<D>& shapes) {
  static_assert(
      requires { detail::make_geometry(Op{}, attributes, shapes); },
      "cameo: geometry_of has no geometry of this operator; include/cameo/op/geometry_of.hpp lists those "
      "that it has, and include/cameo/geometry/ has the functions");
  return detail::make_geometry(Op{}, attributes, shapes);
}

}  // namespace CAMEO_NAMESPACE
