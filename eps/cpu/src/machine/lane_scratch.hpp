#pragma once
#include <cameo/kernel/run_context.hpp>

namespace CAMEO_NAMESPACE::eps {

/// Scratch memory with the same number of elements for each worker thread (lane) of the pool. It is valid until the
/// kernel returns.
template <class T>
class lane_scratch {
 public:
  [[gnu::noinline]] static result<lane_scratch> make(run_context& c, std::size_t each) {
    lane_scratch made;
    made.each_ = each;
    std::size_t count = 0;
    if (!checked_multiply(each, c.lanes(), count)) return status_code::out_of_memory;
    const result<std::span<T>> memory = c.scratch<T>(count);
    if (!memory) return memory.error();
    made.data_ = memory->data();
    return made;
  }
  T* at(std::size_t lane) const { return data_ + lane * each_; }

 private:
  T* data_ = nullptr;
  std::size_t each_ = 0;
};

}  // namespace CAMEO_NAMESPACE::eps
