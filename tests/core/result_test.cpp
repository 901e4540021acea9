#include <cameo/core/result.hpp>
#include <cameo/core/version.hpp>
#include <cameo/interop/exceptions.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

using namespace cameo;

namespace {

result<std::string> made() { return std::string{"a string that is stored on the heap"}; }
result<std::string> refused() { return status{status_code::not_found, "there is no such thing"}; }

}  // namespace

TEST_CASE("result: an error can be read any number of times") {
  const result<std::string> kept = refused();
  result<std::string> r = refused();
  for (int i = 0; i < 2; ++i) {
    const status first = r.error();
    CHECK(first.words() == "there is no such thing");
    CHECK(r.error().words() == "there is no such thing");
    CHECK(kept.error().in("here").words() == "here: there is no such thing");
    CHECK(kept.error().words() == "there is no such thing");
  }
  CHECK(r.error().code() == status_code::not_found);
  CHECK(made().error().code() == status_code::ok);
  const status moved = std::move(r).error();
  CHECK(moved.words() == "there is no such thing");
  static_assert(std::is_same_v<decltype(refused().error()), status>, "no reference to what is gone");
}

TEST_CASE("result: value_or() returns the value, or the other value") {
  CHECK(made().value_or("other") == "a string that is stored on the heap");
  CHECK(refused().value_or("other") == "other");
  const result<std::string> there = made(), not_there = refused();
  CHECK(there.value_or("other") == *there);
  CHECK(not_there.value_or(std::string{"other"}) == "other");
  CHECK(*result<std::unique_ptr<int>>{std::make_unique<int>(7)}.value_or(nullptr) == 7);
}

TEST_CASE("result: and_then and transform call the function with the value, or return the error without a call") {
  int calls = 0;
  const auto size = [&](const std::string& text) { return ++calls, text.size(); };
  const auto checked = [&](const std::string& text) -> result<std::size_t> {
    ++calls;
    if (text.size() > 100) return status{status_code::invalid_argument, "too long"};
    return text.size();
  };
  CHECK(*made().transform(size) == 35);
  CHECK(*made().and_then(checked) == 35);
  const result<std::string> there = made();
  CHECK(*there.transform(size) == 35);
  CHECK(*there.and_then(checked).transform([](std::size_t n) { return n + 1; }) == 36);
  CHECK(there.and_then([](const std::string&) { return status{status_code::fail, "f's own"}; }).words() == "f's own");
  CHECK(calls == 4);
  const result<std::string> not_there = refused();
  CHECK(not_there.transform(size).error().words() == "there is no such thing");
  CHECK(refused().transform(size).error().code() == status_code::not_found);
  CHECK(refused().and_then(checked).error().words() == "there is no such thing");
  CHECK(not_there.and_then(checked).error().words() == "there is no such thing");
  CHECK(not_there.error().words() == "there is no such thing");
  CHECK(calls == 4);
  // A value that can only be moved.
  CHECK(*result<std::unique_ptr<int>>{std::make_unique<int>(7)}.transform([](std::unique_ptr<int> p) { return *p; }) ==
        7);
}

namespace {

/// A type whose move throws while `throws` is true.
struct fragile {
  fragile() = default;
  fragile(fragile&& from) : throws{from.throws} {
    if (throws) throw 7;
  }
  bool throws = false;
};
static_assert(!std::is_nothrow_move_constructible_v<result<fragile>>);
static_assert(!std::is_nothrow_move_assignable_v<result<fragile>>);
static_assert(std::is_nothrow_move_constructible_v<result<std::vector<std::string>>>);
static_assert(std::is_nothrow_move_assignable_v<result<std::vector<std::string>>>);

}  // namespace

TEST_CASE("a value whose move throws lets the exception out, and leaves an error in an assigned result") {
  result<fragile> from{fragile{}}, to{fragile{}};
  to = std::move(from);
  CHECK(to);
  from->throws = true;
  CHECK_THROWS_AS(static_cast<void>(result<fragile>{std::move(from)}), int);
  CHECK_THROWS_AS(to = std::move(from), int);
  CHECK(to.error().code() == status_code::fail);
  to = result<fragile>{status_code::not_found};
  CHECK(to.error().code() == status_code::not_found);
  to = result<fragile>{fragile{}};
  CHECK(to);
}

TEST_CASE("status codes as text") {
  CHECK(to_string(status_code::ok) == "OK");
  CHECK(to_string(status_code::out_of_memory) == "OUT_OF_MEMORY");
  CHECK(to_string(status_code(200)) == "UNKNOWN");
}

TEST_CASE("value_or_throw returns the value, or throws an exception with code and message") {
  CHECK(value_or_throw(made()) == "a string that is stored on the heap");
  ok_or_throw(status{});
  CHECK_THROWS_WITH_AS(value_or_throw(refused()), "NOT_FOUND: there is no such thing", status_error);
  CHECK_THROWS_WITH_AS(ok_or_throw(status{status_code::canceled}), "CANCELED", std::exception);
  try {
    value_or_throw(refused());
  } catch (const status_error& e) {
    CHECK(e.why().code() == status_code::not_found);
    CHECK(e.why().words() == "there is no such thing");
  }
}

TEST_CASE("the version is defined for the preprocessor, as text and as a number") {
  const std::string joined = std::to_string(CAMEO_VERSION_MAJOR) + "." + std::to_string(CAMEO_VERSION_MINOR) + "." +
                             std::to_string(CAMEO_VERSION_PATCH);
  CHECK(joined == CAMEO_VERSION);
#if CAMEO_VERSION_NUMBER >= 100
  CHECK(CAMEO_VERSION_NUMBER == CAMEO_VERSION_MAJOR * 10000 + CAMEO_VERSION_MINOR * 100 + CAMEO_VERSION_PATCH);
#else
  FAIL("CAMEO_VERSION_NUMBER is less than that of 0.1.0");
#endif
}
