#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE::detail {
/// A length of time in nanoseconds. Every std::chrono::duration converts to it, without the header <chrono>; one longer
/// than 292 years becomes 292 years.
class duration {
 public:
  constexpr duration() = default;
  /// A duration of this many nanoseconds.
  static constexpr duration from_nanoseconds(std::int64_t nanoseconds) {
    duration made;
    made.nanoseconds_ = nanoseconds;
    return made;
  }
  /// Converts `from`, a std::chrono::duration or a type like it: it has count() and the ratio D::period, in seconds.
  template <class D>
    requires requires { D::period::num; }
  constexpr duration(const D& from) {
    constexpr long double most = 9'223'372'036'854'774'784.0L;  // the last double below 2^63
    const long double exact = static_cast<long double>(from.count()) * D::period::num * 1'000'000'000 / D::period::den;
    nanoseconds_ = std::int64_t(exact > most ? most : exact < -most ? -most : exact);
  }
  constexpr std::int64_t nanoseconds() const { return nanoseconds_; }
  /// False for zero.
  constexpr explicit operator bool() const { return nanoseconds_ != 0; }

 private:
  std::int64_t nanoseconds_ = 0;
};
}  // namespace CAMEO_NAMESPACE::detail
