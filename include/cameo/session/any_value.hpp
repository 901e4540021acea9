#pragma once
#include <cameo/core/arena.hpp>
#include <cameo/core/result.hpp>
#include <cameo/core/value.hpp>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE {

namespace detail {
/// Checks that a value is a tensor with elements of this type in host memory. INVALID_ARGUMENT, with a description of
/// the value, if not.
CAMEO_API status check_tensor(const value&, dtype elements);

/// The elements of a tensor of T in host memory; errors as check_tensor. The view refers to the value.
template <class T>
result<tensor_view<const T>> view_as(const value& v) {
  static_assert(sizeof(detail::element_check<T>));
  if constexpr (element_type<T>)
    if (status s = detail::check_tensor(v, dtype_of<T>); !s) return s;
  return v.as_unchecked<T>();
}

template <class Owner>
struct temporary_owner {
  static_assert(sizeof(Owner) == 0,
                "cameo: a view refers to the elements of these values, but they are temporary; give them a name that "
                "lives as long as the view");
};
}  // namespace detail

/// A value in host memory that owns its data. Copies share the data, which never changes, so copying is cheap and
/// several threads may read it. A function that fails to create one (out of memory, wrong count) returns `none`.
class any_value {
 public:
  any_value() = default;
  /// A tensor with a copy of `elements`, whose number must be shape.count().
  template <class T>
  static any_value tensor(const extents& shape, std::span<const T> elements) {
    if (std::int64_t count = 0; !shape.checked_count(count) || std::size_t(count) != elements.size()) return {};
    return copy_of(value::tensor(shape, elements));
  }
  template <class T>
  static any_value tensor(const extents& shape, std::initializer_list<T> elements) {
    return tensor(shape, std::span<const T>{elements.begin(), elements.size()});
  }
  template <class T>
  static any_value tensor(const extents& shape, const std::vector<T>& elements) {
    return tensor(shape, std::span<const T>{elements});
  }
  /// A deep copy of a value in host memory, including strings and nested values. `none` when memory runs out.
  CAMEO_API static any_value copy_of(const value&);
  /// Takes ownership of a value that other code, such as a reader of files, created in `memory`.
  CAMEO_API static any_value adopt(std::shared_ptr<arena> memory, const value&);

  const value& view() const { return value_; }
  operator const value&() const { return value_; }
  explicit operator bool() const { return bool(value_); }
  value_kind kind() const { return value_.kind; }
  dtype type() const { return value_.type; }
  const extents& shape() const { return value_.shape; }
  /// The elements of a tensor of T; errors as view_as. The view refers to this value.
  template <class T>
  result<tensor_view<const T>> get() const& {
    return detail::view_as<T>(value_);
  }
  template <class T>
  result<tensor_view<const T>> get() && {
    static_cast<void>(sizeof(detail::temporary_owner<T>));
    return status_code::fail;
  }
  /// The elements without a check: the value must be a tensor of T.
  template <class T>
  tensor_view<const T> as_unchecked() const& {
    return value_.as_unchecked<T>();
  }

 private:
  std::shared_ptr<arena> memory_;
  value value_;
};

/// Formats a value in host memory with at most `elements` of each tensor: "float[2,3] 1 2 3 ...".
CAMEO_API std::string to_string(const value&, std::size_t elements = 8);

/// An output of a run with its name in the model.
struct named_value {
  std::string name;
  any_value value;
};

/// Outputs of a run, in the model's order. Moving is cheap; a copy shares the values.
///
///   for (const auto& [name, value] : *outputs) ...
///   auto probabilities = outputs->get<float>("probabilities");  // result<tensor_view<const float>>
class named_values {
 public:
  std::vector<named_value> items;

  auto begin() const { return items.begin(); }
  auto end() const { return items.end(); }
  std::size_t size() const { return items.size(); }
  const named_value& operator[](std::size_t i) const { return items[i]; }
  /// The output of this name; null if there is none.
  CAMEO_API const any_value* find(std::string_view name) const;
  /// The elements of an output that is a tensor of T. INVALID_ARGUMENT when there is no such output (the message lists
  /// the outputs) or it has another type. The view refers to these outputs: keep them.
  template <class T>
  result<tensor_view<const T>> get(std::string_view name) const& {
    const result<const named_value*> found = at(name);
    if (!found) return status{found.error()};
    return in_output(**found, (*found)->value.get<T>());
  }
  template <class T>
  result<tensor_view<const T>> get(std::size_t i = 0) const& {
    const result<const named_value*> found = at(i);
    if (!found) return status{found.error()};
    return in_output(**found, (*found)->value.get<T>());
  }
  template <class T>
  result<tensor_view<const T>> get() && {
    static_cast<void>(sizeof(detail::temporary_owner<T>));
    return status_code::fail;
  }
  template <class T, class Which>
  result<tensor_view<const T>> get(const Which&) && {
    return std::move(*this).template get<T>();
  }

 private:
  CAMEO_API result<const named_value*> at(std::string_view name) const;
  CAMEO_API result<const named_value*> at(std::size_t i) const;
  CAMEO_API static status in(const named_value& output, const status&);
  template <class View>
  static result<View> in_output(const named_value& output, result<View> view) {
    if (!view) return in(output, view.error());
    return view;
  }
};

}  // namespace CAMEO_NAMESPACE
