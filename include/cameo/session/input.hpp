#pragma once
#include <cameo/session/any_value.hpp>

#include <concepts>
#include <iterator>
#include <optional>
#include <span>

namespace CAMEO_NAMESPACE {

namespace inputs {

template <class E>
concept text = std::convertible_to<const E&, std::string_view>;
template <class E>
concept texts = std::ranges::input_range<const E&> && text<std::ranges::range_value_t<const E&>>;
template <class E>
concept with_shape = requires(const E& elements) {
  { elements.shape() } -> std::convertible_to<const extents&>;
};
template <class E>
inline constexpr bool is_bits = false;
template <class A>
inline constexpr bool is_bits<std::vector<bool, A>> = true;

template <class E>
struct range_check {
  static_assert(!is_bits<E>,
                "cameo: std::vector<bool> packs its elements into bits; use std::array<bool, N>, bool[] or a span of "
                "bool");
  static constexpr bool fine = std::ranges::contiguous_range<const E&> && std::ranges::sized_range<const E&>;
  static_assert(is_bits<E> || fine,
                "cameo: the elements of an input must be contiguous in memory (std::vector, std::array, "
                "std::span, an array, a tensor_view); copy these into a std::vector");
};
template <class E>
struct one_check {
  static_assert(element_type<E>,
                "cameo: an input is a value, an any_value, a range of elements, a pointer with a shape, or one element "
                "of a type that core/dtype.hpp lists (for long long use std::int64_t)");
};

}  // namespace inputs

namespace detail {
/// Identifies an input or output of a model by its name, or by its index in session::inputs() or outputs().
struct io_key {
  static constexpr std::size_t by_name = std::size_t(-1);
  std::string_view name = {};
  std::size_t index = by_name;

  template <class N>
    requires std::convertible_to<const N&, std::string_view> || std::integral<N>
  constexpr io_key(const N& which) {
    if constexpr (std::integral<N>) index = std::size_t(which);
    else name = which;
  }
};
}  // namespace detail

/// An input of one run, by name or by index, in host memory. Elements are borrowed: they must stay valid and unchanged
/// until the run has ended; only text is copied.
///
///   session.run({{"pixels", vector}, {"mask", pointer, {1, 128}}, {"k", 3.0f}, {"ids", {7, 8, 9}}, {"text", "hello"}})
///
/// Without a shape, elements have the shape that the model declares: one open dim follows from their number; several
/// open dims are 1 if the elements exactly fill the other dims. A tensor_view has a shape already. If the elements do
/// not fit, the run returns INVALID_ARGUMENT.
struct named_input {
  detail::io_key key;
  value input;
  bool shape_of_model = false;          ///< true: `input` is flat, and its shape follows from the declared one
  std::optional<std::int64_t> count{};  ///< number of elements; nullopt: as many as the shape needs

  named_input(detail::io_key k, const value& v) : key{k}, input{v} {}
  named_input(detail::io_key k, const any_value& v) : key{k}, input{v.view()} {}
  /// An input of a range of elements or of texts, or of a single one.
  template <class E>
  named_input(detail::io_key k, const E& elements) : key{k}, shape_of_model{!std::convertible_to<const E&, value>} {
    if constexpr (std::convertible_to<const E&, value>) input = elements;
    else if constexpr (inputs::text<E> || inputs::texts<E>) take_texts(elements);
    else if constexpr (std::ranges::range<const E&>) take(elements);
    else take_one(elements);
  }
  /// An input with an explicit shape; a pointer must point to shape.count() elements.
  template <class E>
  named_input(detail::io_key k, const E& elements, const extents& shape) : named_input{k, elements} {
    input.shape = shape;
    shape_of_model = false;
  }
  template <class T>
  named_input(detail::io_key k, T* const& elements, const extents& shape) : key{k} {
    using element = std::remove_const_t<T>;
    static_assert(sizeof(detail::element_check<element>));
    if constexpr (element_type<element>) input = value::tensor(dtype_of<element>, shape, elements);
  }
  /// An input of a braced list, which lives until the end of the call of run() that contains it.
  template <class T>
  named_input(detail::io_key k, std::initializer_list<T> elements)
      : named_input{k, std::span<const T>{elements.begin(), elements.size()}} {}
  template <class T>
  named_input(detail::io_key k, std::initializer_list<T> elements, const extents& shape)
      : named_input{k, std::span<const T>{elements.begin(), elements.size()}, shape} {}

 private:
  template <class E>
  void take(const E& elements) {
    if constexpr (inputs::range_check<E>::fine) {
      using T = std::ranges::range_value_t<const E&>;
      static_assert(sizeof(detail::element_check<T>));
      const auto size = std::int64_t(std::ranges::size(elements));
      count = size;
      if constexpr (element_type<T>) input = value::tensor(dtype_of<T>, {size}, std::ranges::data(elements));
      if constexpr (inputs::with_shape<E>) input.shape = elements.shape(), shape_of_model = false;
    }
  }
  template <class E>
  void take_one(const E& element) {
    static_assert(sizeof(inputs::one_check<E>));
    count = 1;
    if constexpr (element_type<E>) input = value::tensor(dtype_of<E>, {}, &element);
  }
  template <class E>
  void take_texts(const E& given) {
    std::vector<std::string_view> texts;
    if constexpr (inputs::text<E>) texts.emplace_back(given);
    else
      for (const auto& each : given) texts.emplace_back(each);
    count = std::int64_t(texts.size());
    texts_ = any_value::tensor({*count}, texts);
    input = texts_.view();
  }

  any_value texts_;
};

}  // namespace CAMEO_NAMESPACE
