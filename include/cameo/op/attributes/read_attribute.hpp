#pragma once
#include <cameo/op/attribute.hpp>
#include <cameo/op/check_attribute.hpp>

#include <optional>

namespace CAMEO_NAMESPACE {

/// The elements of an attribute that is a list. A node need not have it: then the list is empty, and not `given`.
template <class T>
struct attribute_list : std::span<const T> {
  bool given = false;

  constexpr attribute_list() = default;
  constexpr explicit attribute_list(std::span<const T> elements) : std::span<const T>{elements}, given{true} {}
};

/// An attribute that is a tensor, dense or sparse; null if the node does not have it.
using attribute_tensor = const value*;

/// The index of an attribute that is a graph among the subgraphs of its node; -1 if the node does not have it.
enum class subgraph_index : int { none = -1 };

namespace detail {
/// The legal strings of an enumeration, in the order of its enumerators: "constant|edge".
template <class Choice>
inline constexpr const char* choice_names = nullptr;
/// An enumeration that stands for strings.
template <class T>
concept attribute_choice = choice_names<T> != nullptr;

/// The attribute with this name and kind, or null. An attribute of another kind counts as absent: there is none in a
/// checked model.
constexpr const attribute* find_attribute(std::span<const attribute> node, std::string_view name, attribute_kind kind) {
  const attribute* found = find_attribute(node, name);
  return found && found->kind == kind ? found : nullptr;
}

/// Sets `to` to the attribute of a node with this name, if the node has it.
constexpr void read_attribute(std::span<const attribute> node, std::string_view name, std::int64_t& to) {
  if (const attribute* a = find_attribute(node, name, attribute_kind::i)) to = a->i;
}
constexpr void read_attribute(std::span<const attribute> node, std::string_view name, float& to) {
  if (const attribute* a = find_attribute(node, name, attribute_kind::f)) to = a->f;
}
constexpr void read_attribute(std::span<const attribute> node, std::string_view name, std::string_view& to) {
  if (const attribute* a = find_attribute(node, name, attribute_kind::s)) to = a->s;
}
constexpr void read_attribute(std::span<const attribute> node, std::string_view name,
                              attribute_list<std::int64_t>& to) {
  if (const attribute* a = find_attribute(node, name, attribute_kind::ints)) to = attribute_list{a->ints};
}
constexpr void read_attribute(std::span<const attribute> node, std::string_view name, attribute_list<float>& to) {
  if (const attribute* a = find_attribute(node, name, attribute_kind::floats)) to = attribute_list{a->floats};
}
constexpr void read_attribute(std::span<const attribute> node, std::string_view name,
                              attribute_list<std::string_view>& to) {
  if (const attribute* a = find_attribute(node, name, attribute_kind::strings)) to = attribute_list{a->strings};
}
constexpr void read_attribute(std::span<const attribute> node, std::string_view name, subgraph_index& to) {
  if (const attribute* a = find_attribute(node, name, attribute_kind::g)) to = subgraph_index(a->i);
}
constexpr void read_attribute(std::span<const attribute> node, std::string_view name, attribute_tensor& to) {
  const attribute* a = find_attribute(node, name);
  if (a && (a->kind == attribute_kind::t || a->kind == attribute_kind::sparse_tensor)) to = a->tensors.data();
}
constexpr void read_attribute(std::span<const attribute> node, std::string_view name, const value_type*& to) {
  if (const attribute* a = find_attribute(node, name, attribute_kind::type_proto)) to = a->types[0];
}

/// The number of a string among `names` ("constant|edge"), or `otherwise`.
constexpr std::uint8_t number_of_choice(std::span<const attribute> node, std::string_view name, const char* names,
                                        std::uint8_t otherwise) {
  const attribute* a = find_attribute(node, name, attribute_kind::s);
  return a ? legal_values{names}.number_of(a->s, otherwise) : otherwise;
}
template <attribute_choice Choice>
constexpr void read_attribute(std::span<const attribute> node, std::string_view name, Choice& to) {
  to = Choice(number_of_choice(node, name, choice_names<Choice>, std::uint8_t(to)));
}
/// An attribute without a default.
template <class T>
constexpr void read_attribute(std::span<const attribute> node, std::string_view name, std::optional<T>& to) {
  if (find_attribute(node, name)) read_attribute(node, name, to.emplace());
}

/// attributes_of, for the operators of the generated headers.
template <class Op>
struct attributes_for {
  static_assert(sizeof(Op) == 0,
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
template <class Op>
using attributes_of = typename detail::attributes_for<Op>::type;

}  // namespace CAMEO_NAMESPACE
