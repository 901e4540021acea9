#pragma once
#include <cameo/core/abi.hpp>

#include <array>
#include <atomic>
#include <memory>

namespace CAMEO_NAMESPACE {

/// Objects that are each for one run at a time, kept for later ones. Lock-free: a slot changes its owner by one
/// exchange. Thread-safe.
template <class T, std::size_t Most>
class idle_objects {
 public:
  idle_objects() = default;
  idle_objects(const idle_objects&) = delete;
  idle_objects& operator=(const idle_objects&) = delete;
  ~idle_objects() {
    for (auto& each : slots_) delete each.load(std::memory_order_acquire);
  }

  /// One that is not in use; null when there is none.
  std::unique_ptr<T> take() {
    for (auto& each : slots_)
      if (each.load(std::memory_order_relaxed))
        if (T* const found = each.exchange(nullptr, std::memory_order_acq_rel)) return std::unique_ptr<T>{found};
    return nullptr;
  }
  /// Keeps it if there is room.
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
