#include "python/errors.hpp"

#include <unistd.h>

namespace cameo::python {
namespace {

/// Takes the interpreter's lock. While the interpreter ends, versions before 3.14 end a daemon thread that asks for it,
/// by an exception that must not pass through C++: such a thread waits here for the end of the process, as in 3.14.
template <class Take>
auto take_lock(Take&& take) noexcept {
  try {
    return take();
  } catch (...) {
    for (;;) pause();
  }
}

}  // namespace

without_interpreter::~without_interpreter() {
  take_lock([&] { PyEval_RestoreThread(state_); });
}
with_interpreter::with_interpreter() : state_{take_lock([] { return PyGILState_Ensure(); })} {}

void raise(const status& why) {
  const int number = detail::status_rows[std::size_t(why.code())].number;
  // Messages may quote names of a model, which can have any bytes.
  const nb::object words =
      nb::steal(PyUnicode_DecodeUTF8(why.words().data(), Py_ssize_t(why.words().size()), "backslashreplace"));
  const nb::object error = nb::module_::import_("cameo.errors").attr("of_code")(number, words);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

}  // namespace cameo::python
