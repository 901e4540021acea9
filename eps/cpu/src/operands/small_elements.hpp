#pragma once
#include <cameo/kernel/run_context.hpp>

namespace CAMEO_NAMESPACE::eps {

// Elements of less than a byte, for kernels that move whole bytes: unpacked, moved as uint8, and packed again.

/// A tensor that moves by whole bytes: itself, or its elements as uint8 in scratch, one a byte.
result<value> whole_bytes(run_context&, const value&);

/// An output that is moved to by whole bytes: in its memory, or in scratch of uint8 that store() packs into it.
struct byte_output {
  value* tensor = nullptr;
  value bytes = {};

  static result<byte_output> make(run_context&, std::size_t output, const extents& shape);
  void store(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
