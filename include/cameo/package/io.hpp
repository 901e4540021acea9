#pragma once
#include <cameo/core/result.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE {

/// An input or an output as text: selection and packaging don't read models.
struct package_value {
  std::string name;
  std::string type;  // "tensor(float)", "seq(tensor(int64))"; empty: unknown, agrees with all
  std::optional<std::vector<std::string>> shape;  // of a tensor: "3", "batch", "?"; std::nullopt: any
  bool optional = false;                          // an input with a default

  /// "image: tensor(float)[batch,3,224,224]"
  CAMEO_API std::string text() const;
  CAMEO_API bool operator==(const package_value&) const;
};

/// The inputs and outputs of a model, of a component or of a package.
struct package_io {
  std::vector<package_value> inputs, outputs;
  CAMEO_API bool operator==(const package_io&) const;
};

/// A component as a part of a pipeline: all of its variants have the same inputs and outputs.
struct component_io {
  std::string component;
  package_io io;
};

/// Components in order as one model. An input comes from the last earlier component that has an output of its name, or
/// from the caller.
struct connected_io {
  static constexpr std::size_t outside = std::size_t(-1);
  /// The source of a value.
  struct place {
    std::size_t component = outside, number = 0;  // of an output; or of an input of the whole, from the caller
  };
  package_io io;                            // of the whole
  std::vector<std::vector<place>> sources;  // per component and input
  std::vector<place> outputs;               // of the whole
};

/// Connects components by names. The inputs of the whole are those that no earlier component produces, and its outputs
/// those that no later one reads; or `declared`, if given: some of the outputs, and all inputs that have no default.
///   INVALID_ARGUMENT  a value with different types in two components (names both); a component, except the first, that
///                     reads no earlier one's output; a value in `declared` but in no component, or the other way round
CAMEO_API result<connected_io> connect(std::span<const component_io>, const package_io* declared = nullptr);

/// True if two values can be connected: the same type, and no dim that is a different number on both sides.
CAMEO_API bool agree(const package_value&, const package_value&);
/// INVALID_ARGUMENT stating the difference: names, in any order, and types that don't agree. Optional inputs may be
/// missing.
CAMEO_API status same_interface(const package_io&, const package_io&);

}  // namespace CAMEO_NAMESPACE
