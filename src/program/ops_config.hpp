#pragma once
#include <cameo/core/result.hpp>
#include <cameo/core/value.hpp>
#include <cameo/kernel/operand.hpp>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace cameo::program {

/// The element types that an operator is used with, for the inputs and outputs whose types ONNX Runtime tracks.
struct used_types {
  std::map<int, detail::type_mask> inputs, outputs;  // by index
  std::set<std::array<dtype, 3>> triples;            // of inputs 0, 2 and 1, for operators that track combinations

  bool empty() const { return inputs.empty() && outputs.empty() && triples.empty(); }
};

/// A reduced operator configuration, as ONNX Runtime's build takes it: the operators and types that models need.
/// Format: https://onnxruntime.ai/docs/reference/operators/reduced-operator-config-file.html
struct ops_config {
  using op_key = std::pair<std::string, std::string>;  // domain ("" for ONNX's) and operator

  std::map<std::string, std::map<int, std::set<std::string>>> ops;  // by domain, then by opset or since-version
  std::map<op_key, used_types> types;
  std::optional<detail::type_mask> allowed;  // !globally_allowed_types: the types of all operators
  bool empty_means_all = false;              // !no_ops_specified_means_all_ops_are_required

  /// Adds a node's operator, with the types of its inputs and outputs if ONNX Runtime tracks them.
  void add(std::string_view domain, std::string_view op_type, const detail::node_signature&);
  /// The types that an input or output of an operator needs; nullopt: all types.
  std::optional<detail::type_mask> wanted(const op_key&, int index, bool is_output) const;
};

/// Parses the text of a configuration. INVALID_ARGUMENT with the number of the line.
result<ops_config> read_ops_config(std::string_view text);
/// The text of a configuration, formatted as ONNX Runtime's tool does; without types unless `with_types`.
std::string write_ops_config(const ops_config&, const std::vector<std::string>& models, bool with_types);

}  // namespace cameo::program
