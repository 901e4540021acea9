// The exchange of tensors with other frameworks by DLPack, without a copy: https://dmlc.github.io/dlpack/latest/
#include "python/arrays.hpp"

#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>

namespace cameo::python {
namespace {

static_assert(dlpack_cpu == nb::device::cpu::value);

/// The element types with a separate type code in DLPack. Other types follow from a code for their kind and their bits.
constexpr std::pair<nb::dlpack::dtype_code, dtype> dlpack_rows[] = {
    {nb::dlpack::dtype_code::Bfloat, dtype::bf16},
    {nb::dlpack::dtype_code::Float8_E4M3FN, dtype::f8e4m3fn},
    {nb::dlpack::dtype_code::Float8_E4M3FNUZ, dtype::f8e4m3fnuz},
    {nb::dlpack::dtype_code::Float8_E5M2, dtype::f8e5m2},
    {nb::dlpack::dtype_code::Float8_E5M2FNUZ, dtype::f8e5m2fnuz},
    {nb::dlpack::dtype_code::Float8_E8M0FNU, dtype::f8e8m0},
};

dtype type_of_dlpack(nb::dlpack::dtype given) {
  using code = nb::dlpack::dtype_code;
  if (given.lanes != 1) return dtype::undefined;
  for (const auto& [number, type] : dlpack_rows)
    if (given.code == std::uint8_t(number) && given.bits == bits_of(type)) return type;
  const auto in = [&](code number, std::initializer_list<dtype> all) {
    if (given.code == std::uint8_t(number))
      for (const dtype each : all)
        if (bits_of(each) == given.bits) return each;
    return dtype::undefined;
  };
  for (const dtype found :
       {in(code::Bool, {dtype::boolean}), in(code::Float, {dtype::f16, dtype::f32, dtype::f64}),
        in(code::Complex, {dtype::c64, dtype::c128}), in(code::Int, {dtype::i8, dtype::i16, dtype::i32, dtype::i64}),
        in(code::UInt, {dtype::u8, dtype::u16, dtype::u32, dtype::u64})})
    if (found != dtype::undefined) return found;
  return dtype::undefined;
}

nb::dlpack::dtype dlpack_type(dtype type) {
  for (const auto& [number, id] : dlpack_rows)
    if (id == type) return {std::uint8_t(number), bits_of(type), 1};
  for (std::uint8_t number = 0; number <= std::uint8_t(nb::dlpack::dtype_code::Bool); ++number)
    if (const nb::dlpack::dtype made{number, bits_of(type), 1}; type_of_dlpack(made) == type) return made;
  return {};
}

/// True if the consumer supports DLPack 1.0 or later, whose capsules have a flag for read-only elements.
bool supports_read_only(const nb::kwargs& how) {
  std::pair<int, int> version;
  return how.contains("max_version") && nb::try_cast(how["max_version"], version) && version.first >= 1;
}

}  // namespace

namespace {

bool is_capsule(nb::handle object) {
  if (!PyCapsule_CheckExact(object.ptr())) return false;
  if (PyCapsule_IsValid(object.ptr(), "dltensor") || PyCapsule_IsValid(object.ptr(), "dltensor_versioned")) return true;
  throw nb::type_error("a DLPack capsule is named 'dltensor', and can be used once");
}

template <class Array>
given_value of_ndarray(const Array& array, std::string_view what) {
  if (array.device_type() != nb::device::cpu::value)
    refuse(what, "the tensor is in a device's memory; copy it to the host first");
  const dtype type = type_of_dlpack(array.dtype());
  if (type == dtype::undefined) refuse(what, "no tensor has elements of its type");
  if (array.ndim() > max_rank) refuse(what, "the tensor has too many dims");
  extents shape;
  for (std::size_t i = 0; i < array.ndim(); ++i) shape.push_back(std::int64_t(array.shape(i)));
  const extents dense = row_major_strides(shape);
  for (std::size_t i = 0; i < array.ndim(); ++i)
    if (shape[i] > 1 && array.size() > 0 && array.stride(i) != dense[i])
      refuse(what, "the elements of the tensor are not dense; make it contiguous first");
  given_value made;
  made.view = value::tensor(type, shape, const_cast<void*>(static_cast<const void*>(array.data())));
  made.is_shared = true;
  made.kept = nb::capsule{new Array{array}, [](void* kept) noexcept { delete static_cast<Array*>(kept); }};
  return made;
}

}  // namespace

given_value of_dlpack(nb::handle object, std::string_view what) {
  is_capsule(object);
  nb::ndarray<> writable;
  if (nb::try_cast(object, writable)) return of_ndarray(writable, what);
  nb::ndarray<nb::ro> array;
  if (!nb::try_cast(object, array)) refuse(what, "its __dlpack__ returns no tensor that can be read here");
  given_value made = of_ndarray(array, what);
  made.is_read_only = true;
  return made;
}

bool has_uint8(nb::handle capsule) {
  if (!is_capsule(capsule)) throw nb::type_error("is not a DLPack capsule");
  const auto* const tensor = static_cast<const nb::dlpack::dltensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  if (!tensor) throw nb::python_error();  // a capsule of DLPack 1.0, which has a type for bool
  return type_of_dlpack(tensor->dtype) == dtype::u8;
}

nb::object as_dlpack(nb::handle self, const nb::kwargs& how) {
  const python_value& held = nb::cast<const python_value&>(self);
  if (held.given.is_read_only && !supports_read_only(how)) {
    PyErr_SetString(PyExc_BufferError, "the elements are read-only, which DLPack supports from version 1.0 on");
    throw nb::python_error();
  }
  if (held.given.view.kind != value_kind::tensor) refuse("Value", "is not a tensor");
  const value& v = held.given.view;
  const nb::dlpack::dtype type = dlpack_type(v.type);
  if (!type.bits) refuse("Value", "DLPack has no elements of " + std::string{detail::row_of(v.type).name});
  std::size_t dims[max_rank];
  for (std::size_t i = 0; i < v.shape.rank(); ++i) dims[i] = std::size_t(v.shape[i]);
  if (held.given.is_read_only)
    return nb::cast(
        nb::ndarray<nb::array_api, nb::ro>{v.data, v.shape.rank(), dims, self, nullptr, type, nb::device::cpu::value});
  return nb::cast(
      nb::ndarray<nb::array_api>{v.data, v.shape.rank(), dims, self, nullptr, type, nb::device::cpu::value});
}

}  // namespace cameo::python
