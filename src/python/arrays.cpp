#include "python/arrays.hpp"

#include <cameo/core/elements.hpp>

#include <nanobind/stl/vector.h>

#define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
#include <numpy/ndarrayobject.h>

#include <array>

namespace cameo::python {
namespace {

bool has_numpy = false;

/// The numpy type of an element type: numpy's type number, or the name of the type in the package ml_dtypes.
struct array_row {
  dtype id;
  int number;  // -1: none
  const char* ml_name;
};
constexpr array_row array_rows[] = {
    array_row{dtype::undefined, -1, nullptr},
    array_row{dtype::f32, NPY_FLOAT, nullptr},
    array_row{dtype::u8, NPY_UINT8, nullptr},
    array_row{dtype::i8, NPY_INT8, nullptr},
    array_row{dtype::u16, NPY_UINT16, nullptr},
    array_row{dtype::i16, NPY_INT16, nullptr},
    array_row{dtype::i32, NPY_INT32, nullptr},
    array_row{dtype::i64, NPY_INT64, nullptr},
    array_row{dtype::string, NPY_OBJECT, nullptr},
    array_row{dtype::boolean, NPY_BOOL, nullptr},
    array_row{dtype::f16, NPY_HALF, nullptr},
    array_row{dtype::f64, NPY_DOUBLE, nullptr},
    array_row{dtype::u32, NPY_UINT32, nullptr},
    array_row{dtype::u64, NPY_UINT64, nullptr},
    array_row{dtype::c64, NPY_CFLOAT, nullptr},
    array_row{dtype::c128, NPY_CDOUBLE, nullptr},
    array_row{dtype::bf16, -1, "bfloat16"},
    array_row{dtype::f8e4m3fn, -1, "float8_e4m3fn"},
    array_row{dtype::f8e4m3fnuz, -1, "float8_e4m3fnuz"},
    array_row{dtype::f8e5m2, -1, "float8_e5m2"},
    array_row{dtype::f8e5m2fnuz, -1, "float8_e5m2fnuz"},
    array_row{dtype::u4, -1, "uint4"},
    array_row{dtype::i4, -1, "int4"},
    array_row{dtype::f4e2m1, -1, "float4_e2m1fn"},
    array_row{dtype::f8e8m0, -1, "float8_e8m0fnu"},
    array_row{dtype::u2, -1, "uint2"},
    array_row{dtype::i2, -1, "int2"},
    array_row{dtype::f6e2m3, -1, "float6_e2m3fn"},
    array_row{dtype::f6e3m2, -1, "float6_e3m2fn"},
};
static_assert(detail::complete_and_in_order(array_rows), "every element type has a row, in the order of dtype");

std::string kind_of(nb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

/// The name of a numpy type, without its module.
std::string_view plain_name(PyArray_Descr* descr) {
  const std::string_view name = descr->typeobj->tp_name;
  return name.substr(name.rfind('.') + 1);
}

dtype type_of(PyArrayObject* array) {
  const int number = PyArray_TYPE(array);
  if (number == NPY_LONGLONG) return dtype::i64;
  if (number == NPY_ULONGLONG) return dtype::u64;
  for (const array_row& row : array_rows)
    if (row.number == number && row.id != dtype::undefined) return row.id;
  if (number == NPY_UNICODE || number == NPY_STRING || number == NPY_VSTRING || number == NPY_VOID)
    return dtype::string;
  if (number >= NPY_USERDEF)
    for (const array_row& row : array_rows)
      if (row.ml_name && plain_name(PyArray_DESCR(array)) == row.ml_name) return row.id;
  return dtype::undefined;
}

extents shape_of(PyArrayObject* array, std::string_view what) {
  if (std::size_t(PyArray_NDIM(array)) > max_rank)
    refuse(what, "a tensor of rank " + std::to_string(PyArray_NDIM(array)) + "; " + std::to_string(max_rank) +
                     " is the largest");
  extents shape;
  for (int i = 0; i < PyArray_NDIM(array); ++i) shape.push_back(PyArray_DIM(array, i));
  return shape;
}

std::string text_of(nb::handle object, std::string_view what) {
  if (PyBytes_Check(object.ptr()))
    return {PyBytes_AS_STRING(object.ptr()), std::size_t(PyBytes_GET_SIZE(object.ptr()))};
  // Other objects, such as numbers and None in a table with mixed columns, are converted by str().
  const nb::object text = PyUnicode_Check(object.ptr()) ? nb::borrow(object) : nb::steal(PyObject_Str(object.ptr()));
  if (!text.is_valid()) throw nb::python_error();
  const nb::object bytes = nb::steal(PyUnicode_AsEncodedString(text.ptr(), "utf-8", "surrogateescape"));
  if (!bytes.is_valid()) PyErr_Clear(), refuse(what, "a text that is not valid Unicode");
  return {PyBytes_AS_STRING(bytes.ptr()), std::size_t(PyBytes_GET_SIZE(bytes.ptr()))};
}

given_value texts_of(const extents& shape, const std::vector<std::string>& texts) {
  given_value made;
  made.own = any_value::tensor(shape, std::vector<std::string_view>{texts.begin(), texts.end()});
  if (!made.own) raise(status_code::out_of_memory);
  made.view = made.own.view();
  return made;
}

given_value texts_of(PyArrayObject* array, std::string_view what) {
  std::vector<std::string> texts;
  const nb::object flat = nb::steal(PyArray_Ravel(array, NPY_CORDER));
  if (!flat.is_valid()) throw nb::python_error();
  auto* const elements = reinterpret_cast<PyArrayObject*>(flat.ptr());
  for (npy_intp i = 0; i < PyArray_DIM(elements, 0); ++i) {
    if (PyArray_TYPE(elements) == NPY_VOID) {  // raw bytes are strings, as in onnxruntime
      texts.emplace_back(static_cast<const char*>(PyArray_GETPTR1(elements, i)),
                         std::size_t(PyArray_ITEMSIZE(elements)));
      continue;
    }
    const nb::object item =
        nb::steal(PyArray_GETITEM(elements, static_cast<const char*>(PyArray_GETPTR1(elements, i))));
    if (!item.is_valid()) throw nb::python_error();
    texts.push_back(text_of(item, what));
  }
  return texts_of(shape_of(array, what), texts);
}

/// Packs elements of less than a byte, which numpy stores in one byte each. The result owns its memory.
given_value packed_of(PyArrayObject* array, dtype type, std::string_view what) {
  const extents shape = shape_of(array, what);
  const unsigned bits = bits_of(type), in_byte = 8 / bits;
  std::vector<std::uint8_t> bytes((std::size_t(shape.count()) + in_byte - 1) / in_byte);
  const auto* const elements = static_cast<const std::uint8_t*>(PyArray_DATA(array));
  for (std::size_t i = 0; i < std::size_t(shape.count()); ++i)
    bytes[i / in_byte] = std::uint8_t(bytes[i / in_byte] | (elements[i] & ((1u << bits) - 1)) << (i % in_byte * bits));
  given_value made;
  made.own = any_value::copy_of(value::tensor(type, shape, bytes.data()));
  if (!made.own) raise(status_code::out_of_memory);
  made.view = made.own.view();
  return made;
}

given_value of_array(PyArrayObject* array, std::string_view what) {
  const dtype type = type_of(array);
  if (type == dtype::undefined)
    refuse(what, "no tensor has elements of numpy's type " + std::string{plain_name(PyArray_DESCR(array))});
  if (type == dtype::string) return texts_of(array, what);
  given_value made;
  if (PyArray_ISCARRAY_RO(array)) {
    made.kept = nb::borrow(reinterpret_cast<PyObject*>(array)), made.is_shared = true;
  } else {  // strided, big-endian, or not aligned: a copy
    PyArray_Descr* const native = PyArray_DescrNewByteorder(PyArray_DESCR(array), NPY_NATIVE);
    made.kept = nb::steal(PyArray_FromArray(array, native, NPY_ARRAY_CARRAY_RO));
    if (!made.kept.is_valid()) throw nb::python_error();
    array = reinterpret_cast<PyArrayObject*>(made.kept.ptr());
  }
  if (bits_of(type) < 8) return packed_of(array, type, what);
  made.view = value::tensor(type, shape_of(array, what), PyArray_DATA(array));
  made.is_read_only = !PyArray_ISWRITEABLE(array);
  return made;
}

/// The formats of buffers by element type: https://docs.python.org/3/library/struct.html, and Z for complex numbers.
constexpr std::pair<dtype, std::string_view> formats[] = {
    {dtype::f32, "f"}, {dtype::u8, "B"},      {dtype::i8, "b"},   {dtype::u16, "H"},  {dtype::i16, "h"},
    {dtype::i32, "i"}, {dtype::i64, "q"},     {dtype::f16, "e"},  {dtype::f64, "d"},  {dtype::u32, "I"},
    {dtype::u64, "Q"}, {dtype::boolean, "?"}, {dtype::c64, "Zf"}, {dtype::c128, "Zd"}};

/// The element type of a buffer's format; `undefined` if tensors have no such type. The size decides between integers,
/// since that of 'l' depends on the platform.
dtype type_of_format(const char* format, Py_ssize_t bytes) {
  std::string_view text = format ? format : "B";
  if (text.find_first_of("@=<") == 0) text.remove_prefix(1);
  static constexpr std::array is_signed{dtype::i8, dtype::i16, dtype::i32, dtype::i64};
  static constexpr std::array is_unsigned{dtype::u8, dtype::u16, dtype::u32, dtype::u64};
  const std::size_t log2 = bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : 3;
  if (text.size() == 1 && text.find_first_of("bhilqn") == 0) return is_signed[log2];
  if (text.size() == 1 && text.find_first_of("BHILQN") == 0) return is_unsigned[log2];
  for (const auto& [id, name] : formats)
    if (name == text) return id;
  return dtype::undefined;
}

given_value of_buffer(nb::handle object, std::string_view what) {
  given_value made;
  made.kept = nb::steal(PyMemoryView_FromObject(object.ptr()));
  if (!made.kept.is_valid()) throw nb::python_error();
  const Py_buffer* const buffer = PyMemoryView_GET_BUFFER(made.kept.ptr());
  const dtype type = type_of_format(buffer->format, buffer->itemsize);
  if (type == dtype::undefined || std::size_t(buffer->itemsize) * 8 != bits_of(type))
    refuse(what,
           std::string{"no tensor has elements of the buffer's format "} + (buffer->format ? buffer->format : ""));
  if (!PyBuffer_IsContiguous(buffer, 'C')) refuse(what, "the elements of the buffer are not dense; copy them first");
  if (std::size_t(buffer->ndim) > max_rank) refuse(what, "the buffer has too many dims");
  extents shape;
  for (int i = 0; i < buffer->ndim; ++i) shape.push_back(buffer->shape[i]);
  made.view = value::tensor(type, shape, buffer->buf);
  made.is_read_only = buffer->readonly, made.is_shared = true;
  return made;
}

/// True if an object does not export a buffer although its type can: jax's arrays of bfloat16, for example.
bool refuses_buffer(nb::handle object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_FULL_RO) == 0) return PyBuffer_Release(&view), false;
  PyErr_Clear();
  return true;
}

/// A sequence, map or sparse tensor: a deep copy of its parts, which owns its memory.
given_value of_parts(value whole, std::vector<given_value> parts) {
  std::vector<value> views;
  for (const given_value& part : parts) views.push_back(part.view);
  whole.parts = std::span<value>{views};
  given_value made;
  made.own = any_value::copy_of(whole);
  if (!made.own) raise(status_code::out_of_memory);
  made.view = made.own.view();
  return made;
}

given_value of_sequence(nb::handle object, const value_type& declared, std::string_view what) {
  std::vector<given_value> parts;
  for (const nb::handle each : nb::borrow<nb::object>(object)) {
    parts.push_back(to_value(each, declared.element ? *declared.element : value_type{}, what));
    if (PyUnicode_Check(each.ptr())) parts.back().view.shape = {};  // a scalar, as for a number
  }
  value whole;
  whole.kind = value_kind::sequence;
  if (!parts.empty()) whole.type = parts[0].view.type;
  else if (declared.element) whole.type = declared.element->type;
  return of_parts(whole, std::move(parts));
}

given_value of_numbers(nb::handle, const value_type&, std::string_view what);

given_value of_map(nb::handle object, const value_type& declared, std::string_view what) {
  const nb::object keys = nb::steal(PyDict_Keys(object.ptr())), values = nb::steal(PyDict_Values(object.ptr()));
  std::vector<given_value> parts;
  if (!keys.is_valid() || !values.is_valid()) throw nb::python_error();
  parts.push_back(to_value(keys, value_type::tensor(declared.type), what));
  parts.push_back(to_value(values, declared.element ? *declared.element : value_type{}, what));
  for (const given_value& part : parts)  // both have one element for each entry
    if (part.view.kind != value_kind::tensor || part.view.shape != extents{std::int64_t(PyList_GET_SIZE(keys.ptr()))})
      refuse(what, "a map has a number or a text for each key, and keys that are numbers or texts");
  value whole;
  whole.kind = value_kind::map;
  whole.type = parts[0].view.type;
  return of_parts(whole, std::move(parts));
}

given_value of_sparse(nb::handle object, const value_type& declared, std::string_view what) {
  std::vector<given_value> parts;
  parts.push_back(to_value(object.attr("values"), value_type::tensor(declared.type), what));
  parts.push_back(to_value(object.attr("indices"), value_type::tensor(dtype::i64), what));
  for (const given_value& part : parts)
    if (part.view.kind != value_kind::tensor) refuse(what, "the values and indices of a sparse tensor are tensors");
  value whole;
  whole.kind = value_kind::sparse_tensor;
  whole.type = parts[0].view.type;
  std::vector<std::int64_t> dims;
  if (!nb::try_cast(object.attr("shape"), dims) || dims.size() > max_rank)
    refuse(what, "the shape of a sparse tensor is " + std::to_string(max_rank) + " whole numbers at most");
  whole.shape = extents{std::span<const std::int64_t>{dims}};
  return of_parts(whole, std::move(parts));
}

/// A new reference to numpy's description of a type; null if neither numpy nor ml_dtypes has the type.
PyArray_Descr* descr_of(dtype type) {
  const array_row& row = array_rows[std::size_t(type)];
  if (row.number >= 0) return PyArray_DescrFromType(row.number);
  if (!row.ml_name) return nullptr;
  PyArray_Descr* made = nullptr;
  const nb::object module = nb::steal(PyImport_ImportModule("ml_dtypes"));
  const nb::object name =
      module.is_valid() ? nb::steal(PyObject_GetAttrString(module.ptr(), row.ml_name)) : nb::object{};
  if (name.is_valid()) static_cast<void>(PyArray_DescrConverter(name.ptr(), &made));
  PyErr_Clear();
  return made;
}

/// True if the conversion of Python's numbers (`plain`) to `type` (`made`) kept their values: 1.5 is not an int64, and
/// 9 is not an int4. Rounding to floats is allowed. numpy itself checks the range of integers of one byte or more.
bool keeps_numbers(nb::handle plain, nb::handle made, dtype type) {
  auto* const from = reinterpret_cast<PyArrayObject*>(plain.ptr());
  auto* const to = reinterpret_cast<PyArrayObject*>(made.ptr());
  const bool is_small = type == dtype::i4 || type == dtype::u4 || type == dtype::i2 || type == dtype::u2;
  const bool is_whole = is_small || PyArray_ISINTEGER(to) || PyArray_ISBOOL(to);
  const bool may_differ =
      is_small || (PyArray_ISFLOAT(from) && is_whole) || (PyArray_ISCOMPLEX(from) && !PyArray_ISCOMPLEX(to));
  if (!may_differ) return true;
  return nb::cast<bool>(
      nb::module_::import_("numpy").attr("array_equal")(plain, made.attr("astype")(plain.attr("dtype"))));
}

/// Converts numbers and lists of numbers to the declared type, by numpy.
given_value of_numbers(nb::handle object, const value_type& declared, std::string_view what) {
  if (!has_numpy)
    refuse(what, "is a " + kind_of(object) + ", which takes numpy; without it, give what has a buffer or __dlpack__");
  PyArray_Descr* const wanted =
      declared.type == dtype::undefined || !declared.is_tensor() ? nullptr : descr_of(declared.type);
  const auto read_as = [&](PyArray_Descr* type) {
    nb::object made = nb::steal(PyArray_FromAny(object.ptr(), type, 0, 0, NPY_ARRAY_CARRAY_RO, nullptr));
    if (made.is_valid()) return made;
    nb::python_error why;
    refuse(what, std::string{"is not a tensor: "} + why.what());
  };
  const nb::object array = read_as(wanted);
  if (wanted && declared.type != dtype::string && !keeps_numbers(read_as(nullptr), array, declared.type))
    refuse(what, "has numbers that are not of type " + std::string{detail::row_of(declared.type).name});
  given_value made = of_array(reinterpret_cast<PyArrayObject*>(array.ptr()), what);
  made.is_shared = false;
  return made;
}

bool is_number(nb::handle object) {
  PyObject* const number = object.ptr();
  return PyFloat_Check(number) || PyLong_Check(number) || PyComplex_Check(number) ||
         (has_numpy && PyArray_IsScalar(number, Generic));
}

/// True for a flat list or tuple of texts. Like a single text, it gets the shape of the model's input.
bool is_texts(nb::handle object) {
  if (!PyList_Check(object.ptr()) && !PyTuple_Check(object.ptr())) return false;
  const Py_ssize_t count = PySequence_Fast_GET_SIZE(object.ptr());
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!PyUnicode_Check(PySequence_Fast_GET_ITEM(object.ptr(), i))) return false;
  return count > 0;
}

given_value of_texts(nb::handle object, std::string_view what) {
  std::vector<std::string> texts;
  if (PyUnicode_Check(object.ptr())) texts.push_back(text_of(object, what));
  else
    for (const nb::handle each : nb::borrow<nb::object>(object)) texts.push_back(text_of(each, what));
  given_value made = texts_of(extents{std::int64_t(texts.size())}, texts);
  made.any_shape = true;
  return made;
}

bool is_sparse(nb::handle object) {
  return PyTuple_Check(object.ptr()) && nb::hasattr(object, "indices") && nb::hasattr(object, "values");
}

nb::object object_array(const value& v, const npy_intp* dims) {
  const nb::object array = nb::steal(PyArray_SimpleNew(int(v.shape.rank()), const_cast<npy_intp*>(dims), NPY_OBJECT));
  if (!array.is_valid()) throw nb::python_error();
  auto** const elements = static_cast<PyObject**>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
  const auto texts = v.as_unchecked<std::string_view>();
  for (std::size_t i = 0; i < texts.size(); ++i) {
    Py_XDECREF(elements[i]);
    elements[i] = to_text(texts[i]).release().ptr();
  }
  return array;
}

/// A numpy array of elements of less than a byte: one byte for each, with the sign extended.
nb::object unpacked_array(const value& v, PyArray_Descr* descr, const npy_intp* dims) {
  const nb::object array =
      nb::steal(PyArray_NewFromDescr(&PyArray_Type, descr, int(v.shape.rank()), dims, nullptr, nullptr, 0, nullptr));
  if (!array.is_valid()) throw nb::python_error();
  auto* const elements = static_cast<std::uint8_t*>(PyArray_DATA(reinterpret_cast<PyArrayObject*>(array.ptr())));
  const auto* const bytes = static_cast<const std::uint8_t*>(v.data);
  const unsigned bits = bits_of(v.type), in_byte = 8 / bits, sign = 1u << (bits - 1);
  const bool is_signed = v.type == dtype::i4 || v.type == dtype::i2;
  for (std::size_t i = 0; i < std::size_t(v.shape.count()); ++i) {
    const unsigned element = bytes[i / in_byte] >> (i % in_byte * bits) & ((1u << bits) - 1);
    elements[i] = std::uint8_t(is_signed ? (element ^ sign) - sign : element);
  }
  return array;
}

void release_owner(PyObject* capsule) { delete static_cast<any_value*>(PyCapsule_GetPointer(capsule, nullptr)); }

/// A tensor as a numpy array; an invalid object if numpy lacks its element type. The array refers to the owner's memory
/// and keeps it alive; without an owner, it has a copy.
nb::object to_array(const any_value* owner, const value& v) {
  npy_intp dims[max_rank];
  for (std::size_t i = 0; i < v.shape.rank(); ++i) dims[i] = v.shape[i];
  if (v.type == dtype::string) return object_array(v, dims);
  PyArray_Descr* const descr = descr_of(v.type);
  if (!descr) return {};
  if (bits_of(v.type) < 8) return unpacked_array(v, descr, dims);
  const nb::object array =
      nb::steal(PyArray_NewFromDescr(&PyArray_Type, descr, int(v.shape.rank()), dims, nullptr, owner ? v.data : nullptr,
                                     owner ? NPY_ARRAY_CARRAY : 0, nullptr));
  if (!array.is_valid()) throw nb::python_error();
  auto* const raw = reinterpret_cast<PyArrayObject*>(array.ptr());
  if (!owner) {
    if (v.bytes()) std::memcpy(PyArray_DATA(raw), v.data, v.bytes());
    return array;
  }
  nb::object capsule = nb::steal(PyCapsule_New(new any_value{*owner}, nullptr, release_owner));
  if (!capsule.is_valid() || PyArray_SetBaseObject(raw, capsule.release().ptr()) != 0) throw nb::python_error();
  return array;
}

nb::object parts_to_python(const any_value& owner, const value& v) {
  if (v.kind == value_kind::sequence) {
    nb::list made;
    for (const value& part : v.parts) made.append(to_python(owner, part));
    return made;
  }
  if (v.kind == value_kind::map) {
    nb::dict made;
    for (std::size_t i = 0; i < std::size_t(v.parts[0].shape.count()); ++i)
      made[to_scalar(v.parts[0], i)] = to_scalar(v.parts[1], i);
    return made;
  }
  nb::list shape;
  for (const std::int64_t dim : v.shape) shape.append(dim);
  return nb::module_::import_("cameo").attr("SparseTensor")(to_python(owner, v.parts[0]), to_python(owner, v.parts[1]),
                                                            nb::tuple(shape));
}

/// Converts an object that exports its memory: by its buffer, __dlpack__ or __array__.
given_value of_exporter(nb::handle object, const value_type& declared, std::string_view what) {
  const bool has_dlpack = nb::hasattr(object, "__dlpack__");
  if (PyObject_CheckBuffer(object.ptr()) && !(has_dlpack && refuses_buffer(object))) return of_buffer(object, what);
  if (has_dlpack) return of_dlpack(object, what);
  if (has_numpy && nb::hasattr(object, "__array__")) return of_numbers(object, declared, what);
  refuse(what,
         "is a " + kind_of(object) + ", which is not a tensor; give an array, or what has a buffer or __dlpack__");
}

}  // namespace

void refuse(std::string_view what, const std::string& words) {
  raise(status{status_code::invalid_argument, words}.in(what));
}

void find_numpy() {
  has_numpy = _import_array() == 0;
  PyErr_Clear();
}

given_value to_value(nb::handle object, const value_type& declared, std::string_view what) {
  if (has_numpy && PyArray_Check(object.ptr())) return of_array(reinterpret_cast<PyArrayObject*>(object.ptr()), what);
  if (nb::isinstance<python_value>(object)) {
    given_value made = nb::cast<const python_value&>(object).given;
    made.kept = nb::borrow(object), made.is_shared = true;
    return made;
  }
  if (declared.kind == type_kind::optional && declared.element) return to_value(object, *declared.element, what);
  if (object.is_none()) return {};
  if (PyDict_Check(object.ptr())) return of_map(object, declared, what);
  if (is_sparse(object)) return of_sparse(object, declared, what);
  const bool is_list = PyList_Check(object.ptr()) || PyTuple_Check(object.ptr());
  if (is_list && declared.kind == type_kind::sequence) return of_sequence(object, declared, what);
  if (PyUnicode_Check(object.ptr()) || is_texts(object)) return of_texts(object, what);
  if (is_list || is_number(object)) return of_numbers(object, declared, what);
  return of_exporter(object, declared, what);
}

nb::object to_python(const any_value& owner, const value& v) {
  if (v.kind == value_kind::none) return nb::none();
  if (v.kind != value_kind::tensor) return parts_to_python(owner, v);
  nb::object array = has_numpy ? to_array(&owner, v) : nb::object{};
  return array.is_valid() ? array : to_python_value(owner, v);
}

nb::object copy_to_python(const value& v) {
  if (v.kind == value_kind::tensor && has_numpy)
    if (nb::object array = to_array(nullptr, v); array.is_valid()) return array;
  const any_value copy = any_value::copy_of(v);
  return to_python(copy, copy.view());
}

nb::object to_python_value(const any_value& owner, const value& v) {
  return nb::cast(python_value{{v, owner, {}, false, false}});
}

nb::object to_scalar(const value& tensor, std::size_t i) {
  if (tensor.type == dtype::string) return to_text(tensor.as_unchecked<std::string_view>()[i]);
  if (tensor.type == dtype::boolean) return nb::cast(detail::element_at<bool>(tensor, i));
  nb::object made;
  detail::number_elements::call(tensor.type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_floating_point_v<decltype(detail::number_at<T>(tensor, i))>)
      made = nb::float_(double(detail::number_at<T>(tensor, i)));
    else made = nb::int_(detail::number_at<T>(tensor, i));
  });
  const auto complex = [&](auto number) { made = nb::steal(PyComplex_FromDoubles(number.re, number.im)); };
  if (tensor.type == dtype::c64) complex(detail::element_at<complex64>(tensor, i));
  if (tensor.type == dtype::c128) complex(detail::element_at<complex128>(tensor, i));
  if (!made.is_valid())
    refuse("Value", "Python has no number for " + std::string{detail::row_of(tensor.type).name} + "; use bytes()");
  return made;
}

namespace {

/// The format of a buffer with elements of a type; null if there is none.
const char* format_of(dtype type) {
  for (const auto& [id, format] : formats)
    if (id == type) return format.data();
  return nullptr;
}

/// The arrays of a Py_buffer, which live as long as the buffer is exported.
struct exported_shape {
  Py_ssize_t dims[max_rank], strides[max_rank];
};

int export_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  if (!nb::inst_ready(self)) return PyErr_SetString(PyExc_BufferError, "the value was not initialized"), -1;
  const python_value& held = *nb::inst_ptr<python_value>(self);
  const value& v = held.given.view;
  const char* const format = v.kind == value_kind::tensor ? format_of(v.type) : nullptr;
  if (!format || ((flags & PyBUF_WRITABLE) && held.given.is_read_only)) {
    PyErr_SetString(PyExc_BufferError, format ? "the elements are read-only" : "no buffer has such elements");
    return -1;
  }
  auto* const shape = new (std::nothrow) exported_shape;
  if (!shape) return PyErr_NoMemory(), -1;
  const extents strides = row_major_strides(v.shape);
  const Py_ssize_t item = bits_of(v.type) / 8;
  for (std::size_t i = 0; i < v.shape.rank(); ++i) shape->dims[i] = v.shape[i], shape->strides[i] = strides[i] * item;
  *view = {};
  view->buf = v.data, view->obj = Py_NewRef(self), view->len = Py_ssize_t(v.bytes());
  view->itemsize = item, view->readonly = held.given.is_read_only, view->ndim = int(v.shape.rank());
  view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
  view->shape = (flags & PyBUF_ND) ? shape->dims : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? shape->strides : nullptr;
  view->internal = shape;
  return 0;
}
void release_buffer(PyObject*, Py_buffer* view) noexcept { delete static_cast<exported_shape*>(view->internal); }

PyType_Slot value_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(export_buffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                             {0, nullptr}};

nb::object nested(const value& v, std::size_t axis, std::size_t& next) {
  if (axis == v.shape.rank()) return to_scalar(v, next++);
  nb::list made;
  for (std::int64_t i = 0; i < v.shape[axis]; ++i) made.append(nested(v, axis + 1, next));
  return made;
}

const value& tensor_in(const python_value& held) {
  if (held.given.view.kind != value_kind::tensor) refuse("Value", "is not a tensor");
  return held.given.view;
}
/// The tensor of a Value whose elements are bytes; texts are refused.
const value& dense_in(const python_value& held) {
  if (tensor_in(held).type == dtype::string) refuse("Value", "texts are not contiguous in memory");
  return held.given.view;
}

}  // namespace

void define_value(nb::module_& m) {
  nb::class_<python_value>(m, "Value", nb::type_slots(value_slots),
                           "A value in host memory. Runs take it, and return it for what numpy has no array for.\n\n"
                           "A tensor supports the buffer protocol and DLPack, both without a copy.")
      .def(
          "__init__",
          [](python_value* self, nb::handle object) { new (self) python_value{to_value(object, {}, "Value")}; },
          nb::arg("object"),
          "Refers to the elements of an array, a buffer or an object with __dlpack__, and keeps it alive; texts are "
          "copied.\n\nRaises InvalidArgument for an object that is not a tensor, or whose elements are not contiguous "
          "in "
          "host memory.")
      .def_prop_ro(
          "dtype", [](const python_value& v) { return detail::row_of(v.given.view.type).name; },
          "The element type as ONNX writes it: 'float', 'int64', 'bfloat16'.")
      .def_prop_ro(
          "shape",
          [](const python_value& v) {
            nb::list dims;
            for (const std::int64_t dim : v.given.view.shape) dims.append(dim);
            return nb::tuple(dims);
          },
          "The dims of a tensor.")
      .def_prop_ro(
          "kind",
          [](const python_value& v) {
            static constexpr const char* names[] = {"none", "tensor", "sequence", "map", "sparse_tensor"};
            return names[std::size_t(v.given.view.kind)];
          },
          "'tensor', 'sequence', 'map', 'sparse_tensor', or 'none' for an empty optional.")
      .def_prop_ro(
          "nbytes", [](const python_value& v) { return dense_in(v).bytes(); }, "Bytes of a tensor's elements.")
      .def_prop_ro(
          "address", [](const python_value& v) { return reinterpret_cast<std::uintptr_t>(dense_in(v).data); },
          "The address of a tensor's first element.")
      .def(
          "tolist",
          [](const python_value& v) {
            std::size_t next = 0;
            return nested(tensor_in(v), 0, next);
          },
          "A tensor's elements as nested lists of Python numbers or texts; for a scalar, the element.")
      .def(
          "bytes",
          [](const python_value& v) {
            return nb::bytes(static_cast<const char*>(dense_in(v).data), dense_in(v).bytes());
          },
          "A copy of a tensor's elements, packed as ONNX packs them.")
      .def(
          "numpy",
          [](nb::handle self) {
            const python_value& held = nb::cast<const python_value&>(self);
            if (!has_numpy) refuse("Value", "there is no numpy here; install it");
            if (held.given.own || held.given.view.kind != value_kind::tensor)
              return to_python(held.given.own, held.given.view);
            const nb::object numpy = nb::module_::import_("numpy");
            return nb::object(format_of(held.given.view.type) ? numpy.attr("asarray")(self)
                                                              : copy_to_python(held.given.view));
          },
          "A numpy array of the elements, a list or a dict; without a copy where numpy and the memory allow it.")
      .def(
          "__dlpack__", [](nb::handle self, nb::kwargs how) { return as_dlpack(self, how).attr("__dlpack__")(**how); },
          "The tensor as a capsule of DLPack, without a copy.")
      .def(
          "__dlpack_device__", [](nb::handle) { return nb::make_tuple(dlpack_cpu, 0); }, "(1, 0): host memory.")
      .def("__repr__", [](const python_value& v) {
        return nb::borrow<nb::str>(to_words("<cameo.Value " + to_string(v.given.view, 4) + ">"));
      });
}

}  // namespace cameo::python
