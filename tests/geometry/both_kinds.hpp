#pragma once
#include <doctest/doctest.h>
#include <cameo/core/result.hpp>
#include <cameo/geometry/sizes.hpp>

#include <algorithm>

/// Sizes of both kinds for tests of contracts.
namespace both_kinds {

using namespace cameo;
using namespace cameo::geometry;

using known = sizes<std::int64_t>;
using open = sizes<dim>;
using shape = shape_view<std::int64_t>;
using open_shape = shape_view<dim>;

constexpr dim n(std::int64_t size) { return dim::fixed(size); }
constexpr dim symbol = dim::named(1), other_symbol = dim::named(2), unknown{};

/// The dims of known sizes.
constexpr open as_dims(const known& sizes) {
  open made;
  for (const std::int64_t size : sizes) made.push_back(n(size));
  return made;
}
constexpr bool says(const status& s, std::string_view words) {
  return !s && (!status::has_words || s.words() == words);
}
template <class T>
constexpr bool says(const result<T>& r, std::string_view words) {
  return says(r.error(), words);
}

/// The value of a temporary result, which holds one.
template <class T>
constexpr T value_in(const result<T>& r) {
  return *r;
}

/// Calls f(sizes) for all shapes of up to `rank` axes whose sizes are below `end`.
template <class F>
void each_shape(std::size_t rank, std::int64_t end, const F& f) {
  for (std::size_t r = 0; r <= rank; ++r) {
    known at(r, 0);
    for (bool more = true; more;) {
      f(at);
      more = false;
      for (std::size_t i = r; i-- > 0 && !more; at[i] = more ? at[i] : 0) more = ++at[i] < end;
    }
  }
}

/// Computes the common shape of two by ONNX's definition of multidirectional broadcasting. False if they have none.
inline bool have_common_shape(const extents& a, const extents& b, extents& common) {
  common.resize(0);
  common.resize(std::max(a.rank(), b.rank()));
  for (std::size_t i = 1; i <= common.rank(); ++i) {
    const std::int64_t x = i <= a.rank() ? a[a.rank() - i] : 1, y = i <= b.rank() ? b[b.rank() - i] : 1;
    if (x != y && x != 1 && y != 1) return false;
    common[common.rank() - i] = x == 1 ? y : x;
  }
  return true;
}

/// Checks that both kinds of size are refused with the same words, or neither is.
template <class A, class B>
bool agree(const result<A>& running, const result<B>& loading) {
  CHECK(bool(running) == bool(loading));
  CHECK(running.error().words() == loading.error().words());
  return running && loading;
}

}  // namespace both_kinds
