#pragma once
#include <cameo/core/value.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace CAMEO_NAMESPACE::detail {

/// A tensor that replaces the model's initializer with this name. The elements are borrowed.
struct given_tensor {
  std::string name;
  value tensor;
};

/// The contents of a file of external data, given in memory. They are read where the model's initializers name
/// `location`. The bytes are borrowed.
struct given_file {
  std::string location;
  std::span<const std::byte> bytes;
};

}  // namespace CAMEO_NAMESPACE::detail
