#pragma once
#include <cameo/kernel/kernel.hpp>

namespace CAMEO_NAMESPACE::eps {

// Sequences refer to their elements: none of these copies a tensor that does not lie in planned memory. Positions count
// from the end when negative; one out of range is INVALID_ARGUMENT.

/// A sequence of the inputs, in order.
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

/// Inserts at a position; without a position: at the end.
struct sequence_insert {
  static result<sequence_insert> bind(bind_context&) { return sequence_insert{}; }
  status run(run_context& c) const;
};

/// Removes the element at a position; without a position: the last.
struct sequence_erase {
  static result<sequence_erase> bind(bind_context&) { return sequence_erase{}; }
  status run(run_context& c) const;
};

/// The number of elements, as an int64 scalar.
struct sequence_length {
  static result<sequence_length> bind(bind_context&) { return sequence_length{}; }
  status run(run_context& c) const;
};

/// The input as an optional, or without one an empty optional.
struct optional_of {
  static result<optional_of> bind(bind_context&) { return optional_of{}; }
  status run(run_context& c) const { return c.forward(0, c.input(0)); }
};

/// A bool scalar: false for an empty optional and for no input; true for a value that is no optional.
struct optional_has_element {
  static result<optional_has_element> bind(bind_context&) { return optional_has_element{}; }
  status run(run_context& c) const;
};

/// The content of the optional; INVALID_ARGUMENT when it is empty.
struct optional_get_element {
  static result<optional_get_element> bind(bind_context&) { return optional_get_element{}; }
  status run(run_context& c) const;
};

}  // namespace CAMEO_NAMESPACE::eps
