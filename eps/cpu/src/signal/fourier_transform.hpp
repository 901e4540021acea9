#pragma once
#include <cameo/core/result.hpp>
#include <cameo/core/value.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace CAMEO_NAMESPACE::eps {

/// The discrete Fourier transform of any one length: Cooley and Tukey's algorithm (radix 2) for a power of two, else
/// Bluestein's, a convolution with the length of a power of two. Made while binding if the length is known then, else
/// in a run. Its use is const, with scratch memory of the caller, and so thread-safe.
class fourier_transform {
 public:
  using number = complex128;

  /// Makes the transform of a length. `take(count)` returns memory for `count` numbers, as a result<std::span<number>>,
  /// which must outlive the transform.
  template <class Take>
  static result<fourier_transform> make(std::int64_t length, Take&& take) {
    fourier_transform made;
    made.n_ = length;
    if (length > std::int64_t{1} << 40) return status_code::out_of_memory;
    made.size_ = 1;
    while (made.size_ < length) made.size_ *= 2;
    made.direct_ = made.size_ == length;
    if (!made.direct_)
      while (made.size_ < 2 * length - 1) made.size_ *= 2;
    const result<std::span<number>> roots = take(std::size_t(made.size_ / 2 + 1));
    const result<std::span<number>> chirp = take(std::size_t(made.direct_ ? 0 : length));
    const result<std::span<number>> kernel = take(std::size_t(made.direct_ ? 0 : made.size_));
    if (!roots || !chirp || !kernel) return status_code::out_of_memory;
    for (std::int64_t i = 0; i <= made.size_ / 2; ++i) (*roots)[std::size_t(i)] = root(double(i) / double(made.size_));
    made.roots_ = roots->data();
    if (!made.direct_) made.make_chirp(chirp->data(), kernel->data());
    return made;
  }
  std::int64_t length() const { return n_; }
  /// The scratch memory that forward() and inverse() need, in numbers.
  std::int64_t scratch() const { return direct_ ? 0 : size_; }

  /// Replaces x [length()] by its transform.
  void forward(number* x, number* scratch) const {
    if (direct_) return transform(x);
    for (std::int64_t i = 0; i < n_; ++i) scratch[i] = times(x[i], chirp_[i]);
    std::fill(scratch + n_, scratch + size_, number{0, 0});
    transform(scratch);
    // The inverse transform is the conjugate of the transform of the conjugate.
    for (std::int64_t i = 0; i < size_; ++i) scratch[i] = conjugate(times(scratch[i], kernel_[i]));
    transform(scratch);
    for (std::int64_t i = 0; i < n_; ++i) {
      const number back = conjugate(scratch[i]);
      x[i] = times({back.re / double(size_), back.im / double(size_)}, chirp_[i]);
    }
  }
  /// Replaces x by its inverse transform, which is divided by the length.
  void inverse(number* x, number* scratch) const {
    for (std::int64_t i = 0; i < n_; ++i) x[i] = conjugate(x[i]);
    forward(x, scratch);
    for (std::int64_t i = 0; i < n_; ++i) x[i] = {x[i].re / double(n_), -x[i].im / double(n_)};
  }

 private:
  static number times(number a, number b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
  static number conjugate(number a) { return {a.re, -a.im}; }
  /// exp(-2 pi i part)
  static number root(double part) {
    const double angle = -2 * std::numbers::pi * part;
    return {std::cos(angle), std::sin(angle)};
  }

  /// Makes the factors of Bluestein's algorithm, and the transform of its convolution kernel.
  void make_chirp(number* chirp, number* kernel) {
    std::int64_t square = 0;  // i * i modulo 2 n, so that the angle is exact
    for (std::int64_t i = 0; i < n_; ++i) {
      chirp[i] = root(double(square) / double(2 * n_));
      square = (square + 2 * i + 1) % (2 * n_);
    }
    std::fill_n(kernel, size_, number{0, 0});
    for (std::int64_t i = 0; i < n_; ++i) kernel[i] = kernel[i ? size_ - i : 0] = conjugate(chirp[i]);
    transform(kernel);
    chirp_ = chirp, kernel_ = kernel;
  }
  /// Transforms size_ numbers in place (radix 2).
  void transform(number* x) const {
    for (std::int64_t i = 1, j = 0; i < size_; ++i) {  // permutes to the order of reversed bits
      std::int64_t bit = size_ / 2;
      for (; j & bit; bit /= 2) j ^= bit;
      j ^= bit;
      if (i < j) std::swap(x[i], x[j]);
    }
    for (std::int64_t half = 1; half < size_; half *= 2)
      for (std::int64_t start = 0; start < size_; start += 2 * half)
        for (std::int64_t k = 0; k < half; ++k) {
          const number a = x[start + k], b = times(x[start + half + k], roots_[k * (size_ / (2 * half))]);
          x[start + k] = {a.re + b.re, a.im + b.im};
          x[start + half + k] = {a.re - b.re, a.im - b.im};
        }
  }

  std::int64_t n_ = 0, size_ = 0;
  bool direct_ = true;
  const number *roots_ = nullptr, *chirp_ = nullptr, *kernel_ = nullptr;
};

}  // namespace CAMEO_NAMESPACE::eps
