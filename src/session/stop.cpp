#include <cameo/session/stop.hpp>

#include <atomic>

namespace CAMEO_NAMESPACE {

struct stop_source::shared {
  std::atomic<bool> requested = false;
};

stop_source::stop_source() : shared_{std::make_shared<shared>()} {}

stop_token stop_source::get_token() const {
  struct token {
    std::shared_ptr<const shared> state;
    bool stop_requested() const { return state->requested.load(std::memory_order_relaxed); }
  };
  return token{shared_};
}

void stop_source::request_stop() const noexcept { shared_->requested.store(true, std::memory_order_relaxed); }
bool stop_source::stop_requested() const noexcept { return shared_->requested.load(std::memory_order_relaxed); }

}  // namespace CAMEO_NAMESPACE
