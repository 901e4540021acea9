#pragma once
#include <cameo/core/abi.hpp>

#include <cstdint>

namespace CAMEO_NAMESPACE {

/// While it lives, and if `enabled`, denormal floats count as zero in this thread, as operands and as results; the
/// destructor restores the mode. Such floats cost processors up to a hundred times the time of normal ones. It has no
/// effect on processors other than x86 and 64-bit Arm.
class denormals_as_zero {
 public:
  explicit denormals_as_zero(bool enabled) : enabled_{enabled} {
    if (enabled) saved_mode_ = mode(), set_mode(saved_mode_ | bits);
  }
  ~denormals_as_zero() {
    if (enabled_) set_mode(saved_mode_);
  }
  denormals_as_zero(const denormals_as_zero&) = delete;
  denormals_as_zero& operator=(const denormals_as_zero&) = delete;

 private:
#if defined(__SSE2__)
  using word = std::uint32_t;
  static constexpr word bits = 0x8040;  // MXCSR's FTZ and DAZ
  static word mode() { return __builtin_ia32_stmxcsr(); }
  static void set_mode(word mode) { __builtin_ia32_ldmxcsr(mode); }
#elif defined(__aarch64__)
  using word = std::uint64_t;
  static constexpr word bits = 1 << 24;  // FPCR's FZ
  static word mode() {
    word mode;
    asm volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
  }
  static void set_mode(word mode) { asm volatile("msr fpcr, %0" : : "r"(mode)); }
#else
  using word = std::uint8_t;
  static constexpr word bits = 0;
  static word mode() { return 0; }
  static void set_mode(word) {}
#endif
  bool enabled_;
  word saved_mode_ = 0;
};

}  // namespace CAMEO_NAMESPACE
