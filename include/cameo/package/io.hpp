#pragma once
#include <cameo/core/result.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE {

/// An input or an output, described by text so that selection and packaging need not read models.
struct package_value {
  std::string name;
  std::string type;  // "tensor(float)", "seq(tensor(int64))"; empty: unknown, agrees with every type
  std::optional<std::vector<std::string>> shape;  // a tensor's dims: "3", "batch", "?"; std::nullopt: any shape
  bool optional = false;                          // an input with a default

  /// Formats name, type and shape: "image: tensor(float)[batch,3,224,224]".
  CAMEO_API std::string text() const;
  CAMEO_API bool operator==(const package_value&) const;
};

/// The inputs and outputs of a model, of a component or of a package.
struct package_io {
  std::vector<package_value> inputs, outputs;
  CAMEO_API bool operator==(const package_io&) const;
};

/// A component's inputs and outputs, which all of its variants have in common.
struct component_io {
  std::string component;
  package_io io;
};

/// The connections of components that run in order as one pipeline. An input of a component is the output of its name
/// of the last earlier component that has one; otherwise the caller of the pipeline provides it.
struct connected_io {
  static constexpr std::size_t outside = std::size_t(-1);
  /// The source of a value: an output of a component, or (component == outside) an input of the pipeline. `number` is
  /// its index there.
  struct place {
    std::size_t component = outside, number = 0;
  };
  package_io io;                            // the pipeline's inputs and outputs
  std::vector<std::vector<place>> sources;  // the source of each component's inputs
  std::vector<place> outputs;               // the source of each of the pipeline's outputs
};

/// Connects components by the names of their values. The inputs of the pipeline are those that no earlier component
/// produces, and its outputs those that no later one reads; or `declared`, if given, which must contain every input
/// without a default, and may omit outputs.
///   INVALID_ARGUMENT  a value has different types in two components (the message names both); a component other than
///                     the first reads no earlier component's output; `declared` has a value that no component has, or
///                     lacks a required input
CAMEO_API result<connected_io> connect(std::span<const component_io>, const package_io* declared = nullptr);

/// True if two values can be connected: they have the same type, and no dim that is a different number in each.
CAMEO_API bool agree(const package_value&, const package_value&);
/// Checks that two interfaces have the same names, in any order, and types that agree. Optional inputs may be missing.
/// INVALID_ARGUMENT, with the difference, if not.
CAMEO_API status same_interface(const package_io&, const package_io&);

}  // namespace CAMEO_NAMESPACE
