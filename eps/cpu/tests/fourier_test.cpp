#include <cameo/eps/cpu/fourier.hpp>

#include "kernel_rig.hpp"

#include <doctest/doctest.h>

#include <complex>
#include <numbers>

namespace cameo::test {
namespace {

using complexes = std::vector<std::complex<double>>;

std::vector<double> some_signal(std::size_t count) {
  std::mt19937 dice{unsigned(count)};
  std::vector<double> made(count);
  for (double& x : made) x = double(dice() % 2000) / 1000 - 1;
  return made;
}
/// The DFT by its definition, in quadratic time.
complexes spectrum_of(std::span<const double> signal, std::size_t length) {
  complexes made(length);
  for (std::size_t k = 0; k < length; ++k)
    for (std::size_t i = 0; i < std::min(length, signal.size()); ++i)
      made[k] += signal[i] * std::polar(1.0, -2 * std::numbers::pi * double(i * k % length) / double(length));
  return made;
}
double farthest(const tensor_view<const double>& got, const complexes& want) {
  double far = 0;
  REQUIRE(got.count() == std::int64_t(2 * want.size()));
  for (std::size_t i = 0; i < want.size(); ++i)
    far = std::max({far, std::abs(got[std::int64_t(2 * i)] - want[i].real()),
                    std::abs(got[std::int64_t(2 * i + 1)] - want[i].imag())});
  return far;
}
std::vector<double> elements(const tensor_view<const double>& v) { return {v.begin(), v.end()}; }

TEST_CASE("a DFT of any length is the sum that defines it, of a signal that is truncated or padded") {
  for (std::int64_t length = 1; length <= 70; ++length) {
    CAPTURE(length);
    const std::vector<double> x = some_signal(40);
    const std::vector<std::int64_t> said{length};
    kernel_rig rig{20};
    rig.input(extents{1, 40, 1}, x).input(extents{}, said);
    REQUIRE(rig.run<eps::dft>({dtype::f64}));
    CHECK(farthest(rig.output<double>(0), spectrum_of(x, std::size_t(length))) < 1e-11);
  }
}

TEST_CASE(
    "a transform whose length is known is planned when the kernel is bound: a run has the same bits and less to do") {
  for (const std::int64_t length : {1, 7, 64, 97}) {
    CAPTURE(length);
    const std::vector<double> x = some_signal(std::size_t(length));
    const std::vector<std::int64_t> said{length}, axis{1};
    kernel_rig late{20}, constant{20}, shaped{20}, far{20};
    REQUIRE(late.input(extents{1, length, 1}, x).input(extents{}, said).run<eps::dft>({dtype::f64}));
    REQUIRE(constant.input(extents{1, length, 1}, x).input(extents{}, said, true).run<eps::dft>({dtype::f64}));
    shaped.input(extents{1, length, 1}, x).no_input().input(extents{}, axis, true);
    REQUIRE(shaped.run<eps::dft>({dtype::f64}));
    far.input(extents{1, length, 1}, x).no_input().input(extents{}, axis);
    REQUIRE(far.run<eps::dft>({dtype::f64}));
    for (const kernel_rig* other : {&constant, &shaped, &far})
      CHECK(elements(other->output<double>(0)) == elements(late.output<double>(0)));
    CHECK(constant.scratch_bytes() < late.scratch_bytes());
    CHECK(shaped.scratch_bytes() == constant.scratch_bytes());
    CHECK(far.scratch_bytes() == late.scratch_bytes());
  }
}

TEST_CASE("the inverse of a onesided spectrum is planned for the whole length") {
  for (const std::int64_t half : {2, 5, 33}) {
    const std::vector<double> x = some_signal(std::size_t(2 * half));
    const std::vector<std::int64_t> said{2 * (half - 1)};
    const auto back = [&](kernel_rig& rig) -> kernel_rig& {
      rig.attribute("inverse", std::int64_t{1})
          .attribute("onesided", std::int64_t{1})
          .attribute("axis", std::int64_t{1});
      return rig.input(extents{1, half, 2}, x);
    };
    kernel_rig known{17}, late{17};
    REQUIRE(back(known).run<eps::dft>({dtype::f64}));
    REQUIRE(back(late).input(extents{}, said).run<eps::dft>({dtype::f64}));
    CHECK(elements(known.output<double>(0)) == elements(late.output<double>(0)));
    CHECK(known.scratch_bytes() < late.scratch_bytes());
  }
}

TEST_CASE("an STFT is planned for the length of frame_length, of the window or of the signal") {
  const std::vector<double> x = some_signal(50), window = some_signal(12);
  const std::vector<std::int64_t> step{5}, frame{12};
  kernel_rig by_length{17}, by_window{17}, late{17}, by_signal{17};
  by_length.input(extents{1, 50, 1}, x).input(extents{}, step).input(extents{12}, window).input(extents{}, frame, true);
  by_window.input(extents{1, 50, 1}, x).input(extents{}, step).input(extents{12}, window);
  late.input(extents{1, 50, 1}, x).input(extents{}, step).input(extents{12}, window).input(extents{}, frame);
  for (kernel_rig* each : {&by_length, &by_window, &late}) REQUIRE(each->run<eps::stft>({dtype::f64}));
  CHECK(elements(by_length.output<double>(0)) == elements(late.output<double>(0)));
  CHECK(elements(by_window.output<double>(0)) == elements(late.output<double>(0)));
  CHECK(by_length.scratch_bytes() < late.scratch_bytes());
  CHECK(by_window.scratch_bytes() == by_length.scratch_bytes());
  by_signal.attribute("onesided", std::int64_t{0}).input(extents{1, 50, 1}, x).input(extents{}, step);
  REQUIRE(by_signal.run<eps::stft>({dtype::f64}));
  CHECK(farthest(by_signal.output<double>(0), spectrum_of(x, 50)) < 1e-11);
}

}  // namespace
}  // namespace cameo::test
