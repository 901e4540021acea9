#include "memory_reserve.hpp"

#include <mutex>
#include <new>
#include <utility>

namespace CAMEO_NAMESPACE {
namespace {

constinit thread_local memory_reserve* of_this_thread = nullptr;
constinit thread_local bool calls_handler_before = false;

// The process has one handler, which is cameo's while there are reserves.
constinit std::mutex guard;
constinit std::size_t reserves = 0;
constinit std::new_handler handler_before = nullptr;

}  // namespace

memory_reserve::memory_reserve(std::size_t bytes) : memory_{::operator new(bytes)}, outer_{of_this_thread} {
  of_this_thread = this;
  const std::lock_guard hold{guard};
  if (reserves++ == 0) handler_before = std::set_new_handler(on_no_memory);
}

memory_reserve::~memory_reserve() {
  {
    const std::lock_guard hold{guard};
    if (--reserves == 0 && std::get_new_handler() == on_no_memory) std::set_new_handler(handler_before);
  }
  of_this_thread = outer_;
  release();
}

bool memory_reserve::release() noexcept {
  if (!memory_) return false;
  ::operator delete(std::exchange(memory_, nullptr));
  return true;
}

/// The handler that operator new calls if there is no memory; it tries again when the handler returns.
void memory_reserve::on_no_memory() {
  for (memory_reserve* each = of_this_thread; each; each = each->outer_)
    if (each->release()) return;
  std::new_handler before;
  {
    const std::lock_guard hold{guard};
    before = handler_before;
  }
  // A handler that the program set later may call cameo's handler, which in turn calls the earlier handler: a cycle.
  if (!before || calls_handler_before) throw std::bad_alloc{};
  struct mark {
    mark() { calls_handler_before = true; }
    mark(const mark&) = delete;
    mark& operator=(const mark&) = delete;
    ~mark() { calls_handler_before = false; }
  } const until_it_returns;
  before();
}

}  // namespace CAMEO_NAMESPACE
