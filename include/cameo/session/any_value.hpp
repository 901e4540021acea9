#pragma once
#include <cameo/core/arena.hpp>
#include <cameo/core/value.hpp>

#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace cameo::inline CAMEO_ABI {

/// A value in host memory that owns what it refers to. Copies share it and it does not change, so copying is cheap and
/// threads may read one at once. An error in making it (no memory, wrong count) leaves it `none`.
class any_value {
 public:
  any_value() = default;
  /// A tensor with a copy of `elements`, shape.count() of them.
  template <element_type T>
  static any_value tensor(const extents& shape, std::span<const T> elements) {
    if (std::int64_t count = 0; !shape.checked_count(count) || std::size_t(count) != elements.size()) return {};
    return copy_of(value::tensor(shape, elements));
  }
  template <element_type T>
  static any_value tensor(const extents& shape, std::initializer_list<T> elements) {
    return tensor(shape, std::span<const T>{elements.begin(), elements.size()});
  }
  template <element_type T>
  static any_value tensor(const extents& shape, const std::vector<T>& elements) {
    return tensor(shape, std::span<const T>{elements});
  }
  /// A deep copy of a value in host memory, strings and parts included. `none` when memory runs out.
  static any_value copy_of(const value&);
  /// A value made in `memory` by others (a reader of files); they are kept together.
  static any_value adopt(std::shared_ptr<arena> memory, const value& v) {
    any_value made;
    made.memory_ = std::move(memory), made.value_ = v;
    return made;
  }

  const value& view() const { return value_; }
  operator const value&() const { return value_; }
  explicit operator bool() const { return bool(value_); }
  value_kind kind() const { return value_.kind; }
  dtype type() const { return value_.type; }
  const extents& shape() const { return value_.shape; }
  /// The elements; only for a tensor of T.
  template <element_type T>
  tensor_view<const T> as() const {
    return value_.as<T>();
  }

 private:
  std::shared_ptr<arena> memory_;
  value value_;
};

/// "float[2,3] 1 2 3 ...": at most `elements` of each tensor. The value is in host memory.
std::string to_string(const value&, std::size_t elements = 8);

/// An output of a run with the model's name for it.
struct named_value {
  std::string name;
  any_value value;
};

/// Outputs of a run, in the model's order.
class named_values {
 public:
  std::vector<named_value> items;

  auto begin() const { return items.begin(); }
  auto end() const { return items.end(); }
  std::size_t size() const { return items.size(); }
  const named_value& operator[](std::size_t i) const { return items[i]; }
  /// Null when there is no such name.
  const any_value* find(std::string_view name) const {
    for (const named_value& each : items)
      if (each.name == name) return &each.value;
    return nullptr;
  }
};

}  // namespace cameo::inline CAMEO_ABI
