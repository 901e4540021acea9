#pragma once
#include <cameo/core/result.hpp>

#include <nanobind/nanobind.h>

namespace cameo::python {

namespace nb = nanobind;

/// Raises the exception of cameo.errors for this code, with its words.
[[noreturn]] void raise(const status&);

inline void check(const status& done) {
  if (!done) raise(done);
}
template <class T>
T check(result<T>&& done) {
  if (!done) raise(done.error());
  return std::move(*done);
}

}  // namespace cameo::python
