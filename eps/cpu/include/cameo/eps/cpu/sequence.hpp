#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

// Operators on sequences. A sequence refers to its elements: no operator copies a tensor, unless the tensor is in
// planned memory. Negative positions count from the end; a position out of range is INVALID_ARGUMENT.

/// SequenceConstruct: a sequence of the inputs, in order.
struct sequence_construct {
  static result<sequence_construct> bind(bind_context&) { return sequence_construct{}; }
  status run(run_context& c) const;
};

struct sequence_empty {
  static result<sequence_empty> bind(bind_context&) { return sequence_empty{}; }
  status run(run_context& c) const;
};

struct sequence_at {
  static result<sequence_at> bind(bind_context&) { return sequence_at{}; }
  status run(run_context& c) const;
};

/// SequenceInsert: inserts at a position; without a position, at the end.
struct sequence_insert {
  static result<sequence_insert> bind(bind_context&) { return sequence_insert{}; }
  status run(run_context& c) const;
};

/// SequenceErase: removes the element at a position; without a position, the last one.
struct sequence_erase {
  static result<sequence_erase> bind(bind_context&) { return sequence_erase{}; }
  status run(run_context& c) const;
};

/// SequenceLength: the number of elements, as an int64 scalar.
struct sequence_length {
  static result<sequence_length> bind(bind_context&) { return sequence_length{}; }
  status run(run_context& c) const;
};

/// Optional: the input as an optional, or without an input an empty optional.
struct optional_of {
  static result<optional_of> bind(bind_context&) { return optional_of{}; }
  status run(run_context& c) const { return c.forward(0, c.input(0)); }
};

/// OptionalHasElement: a bool scalar; false for an empty optional and without an input, true for a value that is not an
/// optional.
struct optional_has_element {
  static result<optional_has_element> bind(bind_context&) { return optional_has_element{}; }
  status run(run_context& c) const;
};

/// OptionalGetElement: the content of the optional; INVALID_ARGUMENT if it is empty.
struct optional_get_element {
  static result<optional_get_element> bind(bind_context&) { return optional_get_element{}; }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
