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

/// The legal strings of an enumeration, in the order of its enumerators: "constant|edge". With them, an attribute that
/// is a string can be a member of this type.
template <class Choice>
inline constexpr const char* choice_names = nullptr;
/// An enumeration that stands for strings.
template <class T>
concept attribute_choice = choice_names<T> != nullptr;

namespace detail {
/// The attribute with this name and kind, or null. An attribute of another kind counts as absent: there is none in a
/// checked model.
constexpr const attribute* find_attribute(std::span<const attribute> node, std::string_view name, attribute_kind kind) {
  const attribute* found = find_attribute(node, name);
  return found && found->kind == kind ? found : nullptr;
}

/// Sets `to` to a member of the attribute with this name and kind, if the node has it. Returns whether it has.
template <class T, class Member>
constexpr bool read_member(std::span<const attribute> node, std::string_view name, attribute_kind kind, Member member,
                           T& to) {
  const attribute* const found = find_attribute(node, name, kind);
  if (found) to = T(found->*member);
  return found != nullptr;
}

/// Sets `to` to the number of a string among `names` ("constant|edge"). Returns whether the node has the attribute.
constexpr bool read_choice(std::span<const attribute> node, std::string_view name, const char* names,
                           std::uint8_t& to) {
  const attribute* const found = find_attribute(node, name, attribute_kind::s);
  if (found) to = legal_values{names}.number_of(found->s, to);
  return found != nullptr;
}
}  // namespace detail

/// Sets a member of a struct of attributes to the attribute with this name, if the node has it with the member's kind.
/// Otherwise the member keeps its default. Returns whether the node has it.
constexpr bool read_attribute(std::span<const attribute> node, std::string_view name, std::int64_t& to) {
  return detail::read_member(node, name, attribute_kind::i, &attribute::i, to);
}
constexpr bool read_attribute(std::span<const attribute> node, std::string_view name, float& to) {
  return detail::read_member(node, name, attribute_kind::f, &attribute::f, to);
}
constexpr bool read_attribute(std::span<const attribute> node, std::string_view name, std::string_view& to) {
  return detail::read_member(node, name, attribute_kind::s, &attribute::s, to);
}
constexpr bool read_attribute(std::span<const attribute> node, std::string_view name,
                              attribute_list<std::int64_t>& to) {
  return detail::read_member(node, name, attribute_kind::ints, &attribute::ints, to);
}
constexpr bool read_attribute(std::span<const attribute> node, std::string_view name, attribute_list<float>& to) {
  return detail::read_member(node, name, attribute_kind::floats, &attribute::floats, to);
}
constexpr bool read_attribute(std::span<const attribute> node, std::string_view name,
                              attribute_list<std::string_view>& to) {
  return detail::read_member(node, name, attribute_kind::strings, &attribute::strings, to);
}
constexpr bool read_attribute(std::span<const attribute> node, std::string_view name, subgraph_index& to) {
  return detail::read_member(node, name, attribute_kind::g, &attribute::i, to);
}
constexpr bool read_attribute(std::span<const attribute> node, std::string_view name, attribute_tensor& to) {
  const attribute* const found = detail::find_attribute(node, name);
  const bool has = found && (found->kind == attribute_kind::t || found->kind == attribute_kind::sparse_tensor) &&
                   !found->tensors.empty();
  if (has) to = found->tensors.data();
  return has;
}
constexpr bool read_attribute(std::span<const attribute> node, std::string_view name, const value_type*& to) {
  const attribute* const found = detail::find_attribute(node, name, attribute_kind::type_proto);
  const bool has = found && !found->types.empty();
  if (has) to = found->types[0];
  return has;
}
template <attribute_choice Choice>
constexpr bool read_attribute(std::span<const attribute> node, std::string_view name, Choice& to) {
  auto number = std::uint8_t(to);
  const bool has = detail::read_choice(node, name, choice_names<Choice>, number);
  to = Choice(number);
  return has;
}
/// An attribute without a default.
template <class T>
constexpr bool read_attribute(std::span<const attribute> node, std::string_view name, std::optional<T>& to) {
  T found{};
  const bool has = read_attribute(node, name, found);
  if (has) to = found;
  return has;
}

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
