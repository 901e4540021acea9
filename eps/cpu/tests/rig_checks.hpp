#pragma once
// Checks of the kernel of a rig.
#include <doctest/doctest.h>

#include "kernel_rig.hpp"

namespace cameo::test {

/// Runs the kernel, which must succeed: else the test ends.
template <class K>
void run_ok(kernel_rig& rig, std::vector<dtype> outputs) {
  const status done = rig.run<K>(std::move(outputs));
  REQUIRE_MESSAGE(bool(done), done.words());
}

/// Checks that the kernel refuses its node or its inputs with this code, and with a message that contains these words.
template <class K>
void check_refused(kernel_rig& rig, status_code code, std::string_view words = {}) {
  const status s = rig.run<K>({dtype::f32});
  CHECK_MESSAGE(s.code() == code, s.words());
  CHECK_MESSAGE(s.words().find(words) != std::string_view::npos, s.words());
}

/// Checks that a kernel in 16 bits, on one thread and on three, gives the bits of the same kernel in float on the same
/// random numbers, rounded once at the end. `set(rig)` gives a rig its attributes; `is_constant(input, lanes)` says
/// whether an input is constant in a rig with so many lanes. `others` are the types of the outputs after the first,
/// which must be equal.
template <class T, template <class> class Kernel>
void check_like_float(int since, const std::vector<extents>& shapes, std::mt19937& random, const auto& set,
                      const auto& is_constant, const std::vector<dtype>& others = {}) {
  std::vector<std::vector<T>> narrow;
  std::vector<std::vector<float>> wide;
  for (const extents& shape : shapes) {
    narrow.push_back(random_numbers<T>(random, shape.count()));
    wide.emplace_back(narrow.back().begin(), narrow.back().end());
  }
  const auto run = [&]<class U>(kernel_rig& rig, const std::vector<std::vector<U>>& numbers, std::size_t lanes) {
    set(rig);
    for (std::size_t i = 0; i < shapes.size(); ++i) rig.input<U>(shapes[i], numbers[i], is_constant(i, lanes));
    std::vector<dtype> outputs{dtype_of<U>};
    outputs.insert(outputs.end(), others.begin(), others.end());
    run_ok<Kernel<U>>(rig, outputs);
  };
  kernel_rig plain{since};
  run(plain, wide, 1);
  std::vector<T> want;
  for (const float v : plain.output<float>(0)) want.push_back(T(v));
  for (const std::size_t lanes : {1, 3}) {
    kernel_rig rig{since, lanes};
    run(rig, narrow, lanes);
    CHECK(std::memcmp(want.data(), rig.output<T>(0).data(), want.size() * sizeof(T)) == 0);
    for (std::size_t i = 1; i <= others.size(); ++i) {
      if (others[i - 1] == dtype::undefined) continue;
      const value &a = plain.output_value(i), &b = rig.output_value(i);
      CHECK((a.bytes() == b.bytes() && std::memcmp(a.data, b.data, a.bytes()) == 0));
    }
  }
}
inline constexpr auto no_constants = [](std::size_t, std::size_t) { return false; };

}  // namespace cameo::test
