#include <cameo/core/callback.hpp>
#include <cameo/session/stop.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <stop_token>
#include <string>

using namespace cameo;

namespace {

int doubled(int n) { return 2 * n; }

}  // namespace

TEST_CASE("a callback owns its callable object, and copies share it") {
  detail::callback<int()> count;
  {
    std::string kept = "kept";
    count = [kept, n = 0]() mutable { return int(kept.size()) + n++; };
  }
  const detail::callback<int()> same = count;
  CHECK(count() == 4);
  CHECK(same() == 5);
  CHECK(count() == 6);
  CHECK(detail::callback<int(int)>{doubled}(4) == 8);
}

TEST_CASE("a null function and an empty std::function make empty callbacks") {
  CHECK(!detail::callback<int(int)>{});
  CHECK(!detail::callback<int(int)>{nullptr});
  CHECK(!detail::callback<int(int)>{static_cast<int (*)(int)>(nullptr)});
  CHECK(!detail::callback<int(int)>{std::function<int(int)>{}});
  CHECK(detail::callback<int(int)>{std::function<int(int)>{doubled}});
}

TEST_CASE("stop tokens reflect their source, cameo's or the standard library's") {
  CHECK(!stop_token{}.stop_possible());
  CHECK(!stop_token{}.stop_requested());
  const stop_source ours;
  std::stop_source theirs;
  const stop_token a = ours.get_token(), b = theirs.get_token();
  CHECK(a.stop_possible());
  CHECK(!a.stop_requested());
  CHECK(!b.stop_requested());
  const stop_source same = ours;
  same.request_stop();
  theirs.request_stop();
  CHECK(a.stop_requested());
  CHECK(ours.stop_requested());
  CHECK(b.stop_requested());
}
