#pragma once
#include <cameo/op/attribute.hpp>

namespace CAMEO_NAMESPACE {

namespace detail {
/// attributes_of, for the operators of the generated headers.
template <class Op>
struct attributes_for {
  static_assert(sizeof(Op*) == 0,
                "cameo: this operator has no struct of attributes: include the header of its domain from "
                "cameo/op/attributes/, or declare `struct attributes` in the operator");
};
template <class Attributes>
struct attributes_are {
  using type = Attributes;
};
/// An operator that declares its own struct of attributes.
template <class Op>
  requires requires { typename Op::attributes; }
struct attributes_for<Op> : attributes_are<typename Op::attributes> {};
}  // namespace detail

/// The attributes of an operator's nodes as a struct: a member per attribute, with its default. It is read from the
/// attributes of a node, once:
///
///   const attributes_of<op::Conv> a{context.attributes};
///   return a.group * a.strides.size();
///
/// Lists, strings and tensors refer to the node. An attribute without a default that the node may omit is a
/// std::optional; a list says whether it was `given`. The members are those of all versions of the operator. The kinds
/// and values were checked when the model was loaded.
///
/// An operator of yours declares its struct in its tag, with a call of read_attribute() for each member:
///
///   struct attributes {
///     float scale = 1.0f;
///     explicit attributes(std::span<const cameo::attribute> node) { read_attribute(node, "scale", scale); }
///   };
template <class Op>
using attributes_of = typename detail::attributes_for<Op>::type;

}  // namespace CAMEO_NAMESPACE
