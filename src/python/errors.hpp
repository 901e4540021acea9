#pragma once
#include <cameo/core/result.hpp>

#include <nanobind/nanobind.h>

#include <string>

namespace cameo::python {

namespace nb = nanobind;

/// Lets go of the interpreter's lock.
class without_interpreter {
 public:
  without_interpreter() : state_{PyEval_SaveThread()} {}
  without_interpreter(const without_interpreter&) = delete;
  without_interpreter& operator=(const without_interpreter&) = delete;
  ~without_interpreter();

 private:
  PyThreadState* state_;
};

/// Holds the interpreter's lock in a thread that may have let go of it.
class with_interpreter {
 public:
  with_interpreter();
  with_interpreter(const with_interpreter&) = delete;
  with_interpreter& operator=(const with_interpreter&) = delete;
  ~with_interpreter() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

/// A name of a model or a path as Python's str. Bytes that are no UTF-8 are surrogates, which of_text makes bytes
/// again.
nb::object to_text(std::string_view);
/// The same for what is read only: such bytes are written out.
nb::object to_words(std::string_view);
/// The bytes of a name. InvalidArgument for what is no text.
std::string of_text(nb::handle);

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
