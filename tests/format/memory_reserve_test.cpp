// The memory reserve for protobuf, with new-handlers that the program sets itself.
#include "format/memory_reserve.hpp"

#include <doctest/doctest.h>

#include <new>

using namespace cameo;

namespace {

std::new_handler handler_before_chained = nullptr;
int chained_calls = 0;

/// A handler that the program sets, which then calls the handler that was set before.
void chained() {
  if (++chained_calls > 100) throw 1;  // an endless recursion
  if (!handler_before_chained) throw std::bad_alloc{};
  handler_before_chained();
}

}  // namespace

TEST_CASE(
    "a program's handler that chained_calls the one before it, which is the reserve's, ends with std::bad_alloc") {
  const std::new_handler own = std::get_new_handler();
  {
    const memory_reserve first{64};
    handler_before_chained = std::set_new_handler(chained);
  }
  {
    const memory_reserve second{64};  // its handler calls `chained`, which calls it
    const std::new_handler now = std::get_new_handler();
    now();
    CHECK(second.is_used());
    for (int i = 0; i < 2; ++i) {
      chained_calls = 0;
      CHECK_THROWS_AS(now(), std::bad_alloc);
      CHECK(chained_calls == 1);
    }
  }
  CHECK((std::get_new_handler() == chained));
  std::set_new_handler(own);
}
