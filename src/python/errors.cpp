#include "python/errors.hpp"

namespace cameo::python {

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
