#pragma once
#include <cameo/op/attributes/attributes_of.hpp>

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

namespace detail {
/// An enumeration that stands for strings.
template <class T>
concept attribute_choice = choice_names<T> != nullptr;

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
  if (!found) return false;
  std::string_view rest{names};
  for (std::uint8_t number = 0; !rest.empty(); ++number) {
    std::size_t length = rest.find('|');
    if (length == std::string_view::npos) length = rest.size();
    if (std::string_view{rest.data(), length} == found->s) to = number;
    rest.remove_prefix(length < rest.size() ? length + 1 : length);
  }
  return true;
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
template <detail::attribute_choice Choice>
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

}  // namespace CAMEO_NAMESPACE
