#include <cameo/core/duration.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>

using namespace cameo;
using namespace std::chrono_literals;

TEST_CASE("durations of any period and count become nanoseconds") {
  CHECK(detail::duration{}.nanoseconds() == 0);
  CHECK(!detail::duration{});
  CHECK(detail::duration{1ns}.nanoseconds() == 1);
  CHECK(detail::duration{20ms}.nanoseconds() == 20'000'000);
  CHECK(detail::duration{1h}.nanoseconds() == std::int64_t{3'600} * 1'000'000'000);
  CHECK(detail::duration{-5us}.nanoseconds() == -5'000);
  CHECK(detail::duration{std::chrono::duration<double>{0.25}}.nanoseconds() == 250'000'000);
  CHECK(detail::duration::from_nanoseconds(7).nanoseconds() == 7);
  CHECK(detail::duration{std::chrono::nanoseconds{(std::int64_t{1} << 53) + 1}}.nanoseconds() ==
        (std::int64_t{1} << 53) + 1);
}

TEST_CASE("a duration beyond 292 years becomes 292 years") {
  constexpr std::int64_t about = INT64_MAX - 2048;
  CHECK(detail::duration{std::chrono::hours::max()}.nanoseconds() > about);
  CHECK(detail::duration{std::chrono::hours::min()}.nanoseconds() < -about);
  CHECK(detail::duration{std::chrono::nanoseconds::max()}.nanoseconds() > about);
  CHECK(detail::duration{std::chrono::duration<double>{1e300}}.nanoseconds() > about);
}
