// Memory that the program provides: all values of runs are in 64 KiB that the program has reserved. A run that needs
// more fails, and the next run succeeds again.
//
//     16384 of 65536 bytes are taken, and the output lies there
//     largest error: 2.0e-07
//     a run that is too large: OUT_OF_MEMORY
//     all memory released
#include "../build_model.hpp"

#include <cameo/eps/cpu.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <mutex>

namespace {

/// A block of memory that is allocated from front to back. Starts from the front again once all allocations are
/// released. Thread-safe.
class memory_block {
 public:
  void* allocate(std::size_t bytes, std::size_t alignment) noexcept {
    const std::lock_guard hold{mutex_};
    const std::size_t first = (used_ + alignment - 1) / alignment * alignment;  // memory_ is aligned to 4096
    if (alignment > 4096 || first > memory_.size() || bytes > memory_.size() - first) return nullptr;
    used_ = first + bytes, ++blocks_;
    return memory_.data() + first;
  }
  void release(void*, std::size_t) noexcept {
    const std::lock_guard hold{mutex_};
    if (--blocks_ == 0) used_ = 0;
  }

  std::size_t used() const { return used_; }
  std::size_t size() const { return memory_.size(); }
  bool holds(const void* p) const { return p >= memory_.data() && p < memory_.data() + memory_.size(); }

 private:
  std::mutex mutex_;
  std::size_t used_ = 0, blocks_ = 0;
  alignas(4096) std::array<std::byte, 65536> memory_{};
};
static_assert(cameo::host_memory<memory_block>);

/// y = sqrt(|exp(x) - x|) for a vector of any length; its nodes have intermediate values.
std::unique_ptr<cameo::model> make_model() {
  examples::model_builder net;
  net.input("x", cameo::dtype::f32, {-1});
  net.node("Exp", {"x"}, "grown").node("Sub", {"grown", "x"}, "less").node("Abs", {"less"}, "size");
  net.node("Sqrt", {"size"}, "y").output("y");
  return net.finish();
}

}  // namespace

int main() {
  memory_block own;  // outlives the session
  bool right = false;
  {
    auto session = cameo::runtime<cameo::eps::cpu>{}.load(make_model(), cameo::session_options{}.allocate_from(own));
    if (!session) return cameo::report(session.error());
    auto binding = session->bind();
    if (!binding) return cameo::report(binding.error());

    std::vector<float> x(1000);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i) / 250 - 2;
    if (cameo::status s = binding->bind_input("x", x); !s) return cameo::report(s);
    if (cameo::status s = session->run(*binding); !s) return cameo::report(s);
    const cameo::value& y = *binding->output("y");
    std::printf("%zu of %zu bytes are taken, and the output lies %s\n", own.used(), own.size(),
                own.holds(y.data) ? "there" : "elsewhere");
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
      largest = std::max(largest, std::abs(double(y.as_unchecked<float>()[std::int64_t(i)]) -
                                           std::sqrt(std::abs(std::exp(double(x[i])) - double(x[i])))));
    std::printf("largest error: %.1e\n", largest);
    right = own.holds(y.data) && y.shape == cameo::extents{1000} && largest < 1e-6;

    const std::vector<float> too_many(100'000);
    if (cameo::status s = binding->bind_input("x", too_many); !s) return cameo::report(s);
    const cameo::status refused = session->run(*binding);
    std::printf("a run that is too large: %s\n", refused.name());
    right = right && refused.code() == cameo::status_code::out_of_memory;
    if (cameo::status s = binding->bind_input("x", x); !s) return cameo::report(s);
    if (cameo::status s = session->run(*binding); !s) return cameo::report(s);
  }
  std::printf("%s\n", own.used() == 0 ? "all memory released" : "not all memory released");
  return right && own.used() == 0 ? 0 : 1;
}
