#pragma once
#include <cameo/kernel/run_context.hpp>

namespace CAMEO_NAMESPACE::eps {

// Conversions for kernels that move elements of whole bytes: elements of less than a byte are unpacked to uint8, moved,
// and packed again.

/// The tensor itself, if its elements have whole bytes; else its elements as uint8 in scratch memory.
result<value> whole_bytes(run_context&, const value&);

/// An output that is written by whole bytes: in its memory, or in scratch memory of uint8 that store() packs.
struct byte_output {
  value* tensor = nullptr;
  value bytes = {};

  static result<byte_output> make(run_context&, std::size_t output, const extents& shape);
  void store(run_context&) const;
};

}  // namespace CAMEO_NAMESPACE::eps
