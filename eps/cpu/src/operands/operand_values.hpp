#pragma once
#include <cameo/eps/cpu/detail/number_sets.hpp>
#include <cameo/geometry/axes.hpp>
#include <cameo/op/attributes/read_attribute.hpp>

#include "refuse.hpp"

namespace CAMEO_NAMESPACE::eps {

/// The integers of an int32 or int64 tensor, by index.
class integers {
 public:
  explicit integers(const value& v) : data_{v.data}, count_{v.shape.count()}, wide_{v.type == dtype::i64} {}
  std::int64_t count() const { return count_; }
  std::int64_t operator[](std::int64_t i) const {
    return wide_ ? static_cast<const std::int64_t*>(data_)[i] : static_cast<const std::int32_t*>(data_)[i];
  }

 private:
  const void* data_;
  std::int64_t count_;
  bool wide_;
};

/// Checks the rank of a shape that is made, or the number of sizes or axes in a list.
inline status check_rank(std::size_t rank) { return check_number("the rank", std::int64_t(rank), 0, max_rank); }

/// Reads sizes from a one-dimensional integer tensor; INVALID_ARGUMENT if there are more than max_rank.
inline status read_extents(const value& v, std::string_view what, extents& out) {
  const integers from{v};
  if (v.shape.rank() > 1) return check_shape(what, v.shape, {from.count()});
  if (status s = check_rank(std::size_t(from.count())); !s) return s;
  out.resize(0);
  for (std::int64_t i = 0; i < from.count(); ++i) out.push_back(from[i]);
  return {};
}

/// A list of sizes or axes for a contract: an input, or else the attribute that it was in older versions; or absent.
struct number_input {
  extents room;
  geometry::number_list list;  // of `room`, or of the attribute

  status read(const value& v, std::string_view what, const attribute_list<std::int64_t>& otherwise = {}) {
    if (v) {
      if (status s = read_extents(v, what, room); !s) return s;
      list = room.dims();
    } else if (otherwise.given) {
      list = otherwise;
    }
    return {};
  }
};

/// Checks that sizes, such as those of read_extents(), are not negative. `what` is one of them.
inline status check_sizes(std::string_view what, const extents& sizes) {
  for (const std::int64_t size : sizes)
    if (status s = check_at_least(what, size, 0); !s) return s;
  return {};
}

/// Element i of an attribute's list; `otherwise` if the attribute is absent.
inline std::int64_t number_or(std::span<const std::int64_t> list, std::size_t i, std::int64_t otherwise) {
  return list.empty() ? otherwise : list[i];
}

template <class T>
inline constexpr bool is_narrow_float = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
inline constexpr bool is_number = (mask_of<T> & number_elements::mask) != 0;
/// The number in the type that is computed with: float16 and bfloat16 become float, other types stay.
template <class T>
constexpr auto widened(T v) {
  if constexpr (is_narrow_float<T>) return float(v);
  else return v;
}

/// Converts a real number to an integer, rounded toward zero; false for NaN, and for numbers that don't fit.
template <class T>
bool to_integer(T v, std::int64_t& out) {
  if constexpr (std::is_integral_v<T>) {
    out = std::int64_t(v);
    return !std::is_same_v<T, std::uint64_t> || out >= 0;
  } else {
    const auto x = double(widened(v));
    if (!(x > -9.2e18 && x < 9.2e18)) return false;
    out = std::int64_t(x);
    return true;
  }
}
/// Converts element i of a numeric tensor to an integer; false if that is impossible.
inline bool integer_at(const value& v, std::int64_t i, std::int64_t& out) {
  bool fits = false;
  number_elements::call(
      v.type, [&]<class T>(std::type_identity<T>) { fits = to_integer(static_cast<const T*>(v.data)[i], out); });
  return fits;
}

/// Reads the number of a tensor of any type; INVALID_ARGUMENT if it is not an integer.
inline status read_integer(const value& v, std::string_view name, std::int64_t& out) {
  if (integer_at(v, 0, out)) return {};
  return bad_input(name, " is not a number");
}

}  // namespace CAMEO_NAMESPACE::eps
