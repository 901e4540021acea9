#include "python/errors.hpp"

#include <chrono>
#include <thread>

namespace cameo::python {
namespace {

/// Acquires the interpreter's lock (GIL). While the interpreter shuts down, versions before 3.14 end a daemon thread
/// that acquires the lock, by an exception that must not pass through C++. Such a thread waits here for the end of the
/// process, as it does in 3.14.
template <class Take>
auto take_lock(Take&& take) noexcept {
  try {
    return take();
  } catch (...) {
    for (;;) std::this_thread::sleep_for(std::chrono::hours{24});
  }
}

}  // namespace

without_interpreter::~without_interpreter() {
  take_lock([&] { PyEval_RestoreThread(state_); });
}
with_interpreter::with_interpreter() : state_{take_lock([] { return PyGILState_Ensure(); })} {}

namespace {

nb::object decoded(std::string_view text, const char* other_bytes) {
  nb::object made = nb::steal(PyUnicode_DecodeUTF8(text.data(), Py_ssize_t(text.size()), other_bytes));
  if (!made.is_valid()) throw nb::python_error();
  return made;
}

}  // namespace

nb::object to_text(std::string_view text) { return decoded(text, "surrogateescape"); }
nb::object to_words(std::string_view words) { return decoded(words, "backslashreplace"); }

std::string of_text(nb::handle text) {
  Py_ssize_t size = 0;
  if (!PyUnicode_Check(text.ptr())) raise({status_code::invalid_argument, "a name is not a text"});
  if (const char* const bytes = PyUnicode_AsUTF8AndSize(text.ptr(), &size)) return {bytes, std::size_t(size)};
  PyErr_Clear();
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (!bytes.is_valid()) PyErr_Clear(), raise({status_code::invalid_argument, "a name is not valid Unicode"});
  return {PyBytes_AS_STRING(bytes.ptr()), std::size_t(PyBytes_GET_SIZE(bytes.ptr()))};
}

void raise(const status& why) {
  const int number = detail::status_rows[std::size_t(why.code())].number;
  const nb::object words = to_words(why.words());
  const nb::object error = nb::module_::import_("cameo.errors").attr("of_code")(number, words);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

}  // namespace cameo::python
