// Tests session.set_denormal_as_zero, which applies to all threads during a run, and to none of them afterwards.
#include "session/models.hpp"

#include <cameo/session/threads.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

using namespace cameo;
using namespace cameo::test;

namespace {

constexpr std::size_t length = 1 << 20;  // more than one thread takes at a time
constexpr float least = std::numeric_limits<float>::min();

/// Two nodes that compute x / 2, and a cast of float16 to float.
std::unique_ptr<model> halved() {
  model_builder m;
  const value_id x = m.input("x", dtype::f32, {dim::fixed(length)}), h = m.input("h", dtype::f16, {dim{}});
  for (const char* name : {"one", "other"}) m.output(m.node("Mul", {x, m.constant<float>(name, {}, {0.5f})}));
  m.output(m.node("Cast", {h}, {model_builder::integer("to", std::int64_t(dtype::f32))}));
  return m.take();
}

session_options options_of(thread_pool& pool, bool flushes, execution_mode mode) {
  session_options options;
  options.use(pool);
  options.execution = mode;
  if (flushes) options.config.emplace_back("session.set_denormal_as_zero", "1");
  return options;
}

/// The number of zeros in the first two outputs. It also checks that the smallest float16 values are never flushed.
std::size_t zeros(const session& s) {
  const std::vector<float> x(length, least);
  const std::vector<float16> h(7, float16::from_bits(1));  // denormal as float16, but normal as float
  const auto made = s.run({{"x", x}, {"h", h}});
  REQUIRE_MESSAGE(made, std::string{made ? "" : made.error().words()});
  std::size_t found = 0;
  for (std::size_t i = 0; i < 2; ++i) {
    const auto y = made->get<float>(i);
    REQUIRE(y);
    found += std::size_t(std::count(y->begin(), y->end(), 0.0f));
  }
  const auto wide = made->get<float>(2);
  REQUIRE(wide);
  for (float each : *wide) CHECK(each == 0x1p-24f);
  return found;
}

}  // namespace

TEST_CASE("session.set_denormal_as_zero applies to all threads of a session's runs, and to nothing else") {
  for (const execution_mode mode : {execution_mode::sequential, execution_mode::parallel}) {
    const result<std::unique_ptr<thread_pool>> made = thread_pool::make(3);
    REQUIRE(made);
    thread_pool& pool = **made;
    const session kept = loaded(halved(), options_of(pool, false, mode));
    const session flushed = loaded(halved(), options_of(pool, true, mode));
    CHECK(zeros(kept) == 0);
#if defined(__SSE2__) || defined(__aarch64__)
    CHECK(zeros(flushed) == 2 * length);
#else
    CHECK(zeros(flushed) == 0);  // the key has no effect on this processor
#endif
    CHECK(zeros(kept) == 0);  // the threads of the pool have their own mode again
    volatile float mine = least;
    mine = mine * 0.5f;
    CHECK(mine > 0);  // the caller has its own mode again, too
  }
}
