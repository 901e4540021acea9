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
/// How geometry_of() finds the geometry of an operator: `make(attributes of the node, shapes)`.
template <class Op>
struct geometry_rule {
  static_assert(sizeof(Op) == 0,
                "cameo: geometry_of has no geometry of this operator; include/cameo/op/geometry_of.hpp lists those "
                "that it has, and include/cameo/geometry/ has the functions");
};

template <class Op>
struct conv_rule {
  template <geometry::size_kind D>
  static constexpr result<geometry::basic_conv<D>> make(std::span<const attribute> node, const node_shapes<D>& in) {
    const attributes_of<Op> a{node};
    return geometry::conv_of<D>(window_of(a), a.group, in[0], in[1], in[2]);
  }
};
template <>
struct geometry_rule<op::Conv> : conv_rule<op::Conv> {};
template <>
struct geometry_rule<op::microsoft::FusedConv> : conv_rule<op::microsoft::FusedConv> {};

template <>
struct geometry_rule<op::ConvTranspose> {
  template <geometry::size_kind D>
  static constexpr result<geometry::basic_conv<D>> make(std::span<const attribute> node, const node_shapes<D>& in) {
    const attributes_of<op::ConvTranspose> a{node};
    return geometry::conv_transpose_of<D>(window_of(a), a.group, in[0], in[1], in[2], a.output_padding, a.output_shape);
  }
};

/// The window of a pool, placed over the spatial axes.
template <class Op>
struct pool_rule {
  template <geometry::size_kind D>
  static constexpr result<geometry::basic_placed_window<D>> make(std::span<const attribute> node,
                                                                 const node_shapes<D>& in) {
    return window_of(attributes_of<Op>{node}).place(in[0], geometry::shape_view<D>{});
  }
};
template <>
struct geometry_rule<op::AveragePool> : pool_rule<op::AveragePool> {};
template <>
struct geometry_rule<op::LpPool> : pool_rule<op::LpPool> {};
template <>
struct geometry_rule<op::MaxPool> : pool_rule<op::MaxPool> {};

template <>
struct geometry_rule<op::MatMul> {
  template <geometry::size_kind D>
  static constexpr result<geometry::basic_matrix_product<D>> make(std::span<const attribute>,
                                                                  const node_shapes<D>& in) {
    return geometry::matrix_product_of<D>(in[0], in[1], {}, {});
  }
};
template <>
struct geometry_rule<op::Gemm> {
  template <geometry::size_kind D>
  static constexpr result<geometry::basic_gemm<D>> make(std::span<const attribute> node, const node_shapes<D>& in) {
    const attributes_of<op::Gemm> a{node};
    return geometry::gemm_of<D>(in[0], a.transA != 0, in[1], a.transB != 0, in[2]);
  }
};

/// The common shape of two inputs that broadcast.
struct broadcast_rule {
  template <geometry::size_kind D>
  static constexpr result<geometry::output_shape<D>> make(std::span<const attribute>, const node_shapes<D>& in) {
    return geometry::broadcast_of<D>(in[0], in[1], "B");
  }
};
template <>
struct geometry_rule<op::Add> : broadcast_rule {};
template <>
struct geometry_rule<op::Div> : broadcast_rule {};
template <>
struct geometry_rule<op::Mul> : broadcast_rule {};
template <>
struct geometry_rule<op::Sub> : broadcast_rule {};

template <>
struct geometry_rule<op::Transpose> {
  template <geometry::size_kind D>
  static constexpr result<geometry::basic_permutation<D>> make(std::span<const attribute> node,
                                                               const node_shapes<D>& in) {
    return geometry::transpose_of<D>(in[0], attributes_of<op::Transpose>{node}.perm);
  }
};
template <>
struct geometry_rule<op::Flatten> {
  template <geometry::size_kind D>
  static constexpr result<geometry::sizes<D>> make(std::span<const attribute> node, const node_shapes<D>& in) {
    return geometry::flatten_of<D>(in[0], attributes_of<op::Flatten>{node}.axis);
  }
};
template <>
struct geometry_rule<op::DepthToSpace> {
  template <geometry::size_kind D>
  static constexpr result<geometry::basic_pixel_blocks<D>> make(std::span<const attribute> node,
                                                                const node_shapes<D>& in) {
    return geometry::depth_to_space_of<D>(in[0], attributes_of<op::DepthToSpace>{node}.blocksize);
  }
};
template <>
struct geometry_rule<op::SpaceToDepth> {
  template <geometry::size_kind D>
  static constexpr result<geometry::basic_pixel_blocks<D>> make(std::span<const attribute> node,
                                                                const node_shapes<D>& in) {
    return geometry::space_to_depth_of<D>(in[0], attributes_of<op::SpaceToDepth>{node}.blocksize);
  }
};
template <>
struct geometry_rule<op::Gather> {
  template <geometry::size_kind D>
  static constexpr result<geometry::basic_gather<D>> make(std::span<const attribute> node, const node_shapes<D>& in) {
    return geometry::gather_of<D>(in[0], in[1], attributes_of<op::Gather>{node}.axis);
  }
};

template <class Op>
struct extreme_rule {
  template <geometry::size_kind D>
  static constexpr result<geometry::basic_extreme<D>> make(std::span<const attribute> node, const node_shapes<D>& in) {
    const attributes_of<Op> a{node};
    return geometry::extreme_of<D>(in[0], a.axis, a.keepdims != 0);
  }
};
template <>
struct geometry_rule<op::ArgMax> : extreme_rule<op::ArgMax> {};
template <>
struct geometry_rule<op::ArgMin> : extreme_rule<op::ArgMin> {};

template <>
struct geometry_rule<op::LayerNormalization> {
  template <geometry::size_kind D>
  static constexpr result<geometry::basic_layer_normalization<D>> make(std::span<const attribute> node,
                                                                       const node_shapes<D>& in) {
    return geometry::layer_normalization_of<D>(in[0], attributes_of<op::LayerNormalization>{node}.axis, in[1], in[2]);
  }
};
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
  return detail::geometry_rule<Op>::make(attributes, shapes);
}

}  // namespace CAMEO_NAMESPACE
