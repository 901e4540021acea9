#pragma once
#include <cameo/core/abi.hpp>

#include <array>
#include <atomic>
#include <memory>

namespace CAMEO_NAMESPACE {

/// A pool of at most `Most` objects that runs use one at a time and leave for later runs. Lock-free: one atomic
/// exchange takes the object of a slot. Thread-safe.
template <class T, std::size_t Most>
class idle_objects {
 public:
  idle_objects() = default;
  idle_objects(const idle_objects&) = delete;
  idle_objects& operator=(const idle_objects&) = delete;
  ~idle_objects() {
    for (auto& each : slots_) delete each.load(std::memory_order_acquire);
  }

  /// Takes an object out of the pool; null if the pool is empty.
  std::unique_ptr<T> take() {
    for (auto& each : slots_)
      if (each.load(std::memory_order_relaxed))
        if (T* const found = each.exchange(nullptr, std::memory_order_acq_rel)) return std::unique_ptr<T>{found};
    return nullptr;
  }
  /// Puts an object into the pool, or destroys it if the pool is full.
  void give_back(std::unique_ptr<T> used) {
    for (auto& each : slots_) {
      T* none = nullptr;
      if (each.compare_exchange_strong(none, used.get(), std::memory_order_acq_rel))
        return static_cast<void>(used.release());
    }
  }

 private:
  std::array<std::atomic<T*>, Most> slots_{};
};

}  // namespace CAMEO_NAMESPACE
