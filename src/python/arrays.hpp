#pragma once
#include "python/errors.hpp"

#include <cameo/op/value_type.hpp>
#include <cameo/session/any_value.hpp>

namespace cameo::python {

/// A value that was made from a Python object, with the owner of its elements.
struct given_value {
  value view;                 // borrows from `own` or `kept`
  any_value own = {};         // the owner of copied elements: texts, packed types, sequences
  nb::object kept = {};       // the Python object that owns the elements
  bool any_shape = false;     // one text or a flat list of texts, which gets the shape of the model's input
  bool is_read_only = false;  // the elements must not be written
  bool is_shared = false;     // the elements are in the object's memory, not copied
};

/// cameo.Value: a value that owns its elements, or keeps the object that does.
struct python_value {
  given_value given;
};

/// Converts numpy.ndarray, cameo.Value, objects with a buffer or __dlpack__, str, numbers and lists; for inputs
/// declared so also sequences, dictionaries and cameo.SparseTensor. Elements are not copied if they are contiguous in
/// host memory. Raises InvalidArgument; `what` is the input's name for the message.
given_value to_value(nb::handle object, const value_type& declared, std::string_view what);

/// Raises InvalidArgument about `what`.
[[noreturn]] void refuse(std::string_view what, const std::string& words);

/// The tensor of an object with __dlpack__, or of a DLPack capsule, which is consumed. The result keeps the elements
/// alive.
given_value of_dlpack(nb::handle object, std::string_view what);
/// True if a capsule has a tensor of uint8. Raises TypeError for an object that is not a DLPack capsule.
bool has_uint8(nb::handle capsule);
/// A cameo.Value as an object whose __dlpack__ takes the keywords `how`. Raises BufferError if the elements are
/// read-only and the consumer requests a version of DLPack that cannot express that.
nb::object as_dlpack(nb::handle value, const nb::kwargs& how);
/// DLPack's device type of host memory (kDLCPU).
constexpr int dlpack_cpu = 1;

/// A numpy.ndarray, list or dict that refers to the elements, which `owner` owns; a cameo.Value without numpy, or if
/// numpy lacks the element type.
nb::object to_python(const any_value& owner, const value&);
/// to_python() of a copy, for memory that a binding will overwrite.
nb::object copy_to_python(const value&);
/// A cameo.Value that shares the ownership of a value.
nb::object to_python_value(const any_value& owner, const value&);

/// An element of a tensor: int, float, bool, complex or str.
nb::object to_scalar(const value& tensor, std::size_t i);
/// Finds out whether numpy is installed. To be called once, when the module is imported.
void find_numpy();

/// Adds cameo.Value to the module.
void define_value(nb::module_&);

}  // namespace cameo::python
