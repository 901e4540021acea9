#pragma once
#include <cameo/core/result.hpp>

#include <nanobind/nanobind.h>

#include <string>

namespace cameo::python {

namespace nb = nanobind;

/// Releases the interpreter's lock (GIL) and acquires it again in the destructor.
class without_interpreter {
 public:
  without_interpreter() : state_{PyEval_SaveThread()} {}
  without_interpreter(const without_interpreter&) = delete;
  without_interpreter& operator=(const without_interpreter&) = delete;
  ~without_interpreter();

 private:
  PyThreadState* state_;
};

/// Acquires the interpreter's lock in a thread that may or may not hold it, and releases it in the destructor.
class with_interpreter {
 public:
  with_interpreter();
  with_interpreter(const with_interpreter&) = delete;
  with_interpreter& operator=(const with_interpreter&) = delete;
  ~with_interpreter() { PyGILState_Release(state_); }

 private:
  PyGILState_STATE state_;
};

/// A name or a path as a Python str. Bytes that are not UTF-8 become surrogates, which of_text() converts back.
nb::object to_text(std::string_view);
/// A text for display as a Python str. Bytes that are not UTF-8 become escapes such as \xff.
nb::object to_words(std::string_view);
/// The bytes of a name. Raises InvalidArgument for an object that is not a str.
std::string of_text(nb::handle);

/// Raises the exception of cameo.errors for this code, with its message.
[[noreturn]] void raise(const status&);

/// Raises the error, if there is one, else returns the value.
inline void check(const status& done) {
  if (!done) raise(done);
}
template <class T>
T check(result<T>&& done) {
  if (!done) raise(done.error());
  return std::move(*done);
}

}  // namespace cameo::python
