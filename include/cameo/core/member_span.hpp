#pragma once
#include <cameo/core/abi.hpp>

#include <cstddef>
#include <span>
#include <type_traits>

namespace CAMEO_NAMESPACE::detail {

/// A std::span for members of a class that is defined before T is. libc++ copies a std::span only of a complete type,
/// and the compiler checks at the end of a class whether it can be copied. Converts from and to std::span.
template <class T>
class member_span {
 public:
  constexpr member_span() = default;
  constexpr member_span(T* first, std::size_t count) : first_{first}, count_{count} {}
  template <class U, std::size_t N>
    requires std::is_convertible_v<U (*)[], T (*)[]>
  constexpr member_span(std::span<U, N> from) : first_{from.data()}, count_{from.size()} {}
  template <class U, std::size_t N>
    requires std::is_convertible_v<U (*)[], T (*)[]>
  constexpr member_span(U (&from)[N]) : first_{from}, count_{N} {}
  /// The elements of a list that owns them (std::vector, std::array) and outlives this span.
  template <class L>
    requires(!std::is_same_v<std::remove_const_t<L>, member_span>) && requires(L& list) {
      list.size();
      static_cast<T*>(list.data());
    }
  constexpr member_span(L& from) : first_{from.data()}, count_{from.size()} {}

  constexpr T* data() const { return first_; }
  constexpr std::size_t size() const { return count_; }
  constexpr bool empty() const { return count_ == 0; }
  constexpr T* begin() const { return first_; }
  constexpr T* end() const { return first_ + count_; }
  constexpr T& operator[](std::size_t i) const { return first_[i]; }
  constexpr T& front() const { return *first_; }
  constexpr T& back() const { return first_[count_ - 1]; }
  constexpr std::span<T> subspan(std::size_t first) const { return std::span<T>{first_, count_}.subspan(first); }
  constexpr std::span<T> first(std::size_t count) const { return {first_, count}; }

 private:
  T* first_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace CAMEO_NAMESPACE::detail

template <class T>
inline constexpr bool std::ranges::enable_borrowed_range<cameo::detail::member_span<T>> = true;
