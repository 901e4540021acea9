#pragma once
#include "python/errors.hpp"

#include <cameo/op/value_type.hpp>
#include <cameo/session/any_value.hpp>

namespace cameo::python {

/// A value that Python gave: what it is, and what keeps its elements where they are.
struct given_value {
  value is;
  any_value own = {};         // elements that were copied: text, packed types, sequences
  nb::object kept = {};       // the Python object whose memory it is
  bool any_shape = false;     // one text, or a flat list of them: the shape is the model's
  bool is_read_only = false;  // of the memory
  bool is_shared = false;     // the elements are where the object has them, and no copies
};

/// cameo.Value: a value that owns its elements, or keeps the object that does.
struct python_value {
  given_value of;
};

/// Reads numpy.ndarray, cameo.Value, what has a buffer or __dlpack__, str, numbers and lists, and for their types
/// sequences, dictionaries and cameo.SparseTensor. Elements stay where they are if they lie dense in host memory.
/// Raises InvalidArgument, naming `what`.
given_value to_value(nb::handle object, const value_type& declared, std::string_view what);

/// Raises InvalidArgument about `what`.
[[noreturn]] void refuse(std::string_view what, const std::string& words);

/// A tensor that an object's __dlpack__ gives, which keeps it; or that a capsule has, which is used up.
given_value of_dlpack(nb::handle object, std::string_view what);
/// Whether a capsule has a tensor of uint8. Raises TypeError for what is no capsule of DLPack.
bool has_uint8(nb::handle capsule);
/// A cameo.Value as an object whose __dlpack__ takes what DLPack's takes. Raises BufferError where its elements may
/// only be read, and who asks cannot be told so.
nb::object as_dlpack(nb::handle value, const nb::kwargs& how);
/// DLPack's number of host memory.
constexpr int dlpack_cpu = 1;

/// numpy.ndarray, list or dict; without numpy, or for elements that it has no type for, cameo.Value. `owner` keeps the
/// elements; arrays refer to them.
nb::object to_python(const any_value& owner, const value&);
/// A numpy array of a binding's memory, copied.
nb::object copy_to_python(const value&);
/// cameo.Value of a value.
nb::object to_python_value(const any_value& owner, const value&);

/// An element of a tensor: int, float, bool, complex or str.
nb::object to_scalar(const value& tensor, std::size_t i);
/// Looks whether numpy is there; once, when the module is imported.
void find_numpy();

/// Adds cameo.Value to the module.
void define_value(nb::module_&);

}  // namespace cameo::python
