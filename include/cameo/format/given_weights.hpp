#pragma once
#include <cameo/core/value.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace CAMEO_NAMESPACE::detail {

/// A tensor that replaces the initializer with this name.
struct given_tensor {
  std::string name;
  value tensor;
};

/// The bytes of a file of external data, for the location in the model. They are borrowed.
struct given_file {
  std::string location;
  std::span<const std::byte> bytes;
};

}  // namespace CAMEO_NAMESPACE::detail
