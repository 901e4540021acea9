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

/// Element types of an operator by input and by output, where ONNX Runtime keeps track of them.
struct used_types {
  std::map<int, detail::type_mask> inputs, outputs;
  std::set<std::array<dtype, 3>> triples;  // of operators whose types only count together

  bool empty() const { return inputs.empty() && outputs.empty() && triples.empty(); }
};

/// ONNX Runtime's configuration of a build with fewer operators and types: what models need.
struct ops_config {
  using op_key = std::pair<std::string, std::string>;  // domain ("" is ONNX's own) and operator

  std::map<std::string, std::map<int, std::set<std::string>>> ops;  // by domain and opset or since-version
  std::map<op_key, used_types> types;
  std::optional<detail::type_mask> allowed;  // for all operators
  bool empty_means_all = false;

  /// Adds a node with what is known of its values.
  void add(std::string_view domain, std::string_view op_type, const detail::node_signature&);
  /// The types that are wanted of an input or output of an operator; null: all.
  std::optional<detail::type_mask> wanted(const op_key&, int index, bool is_output) const;
};

/// Reads the text of one. INVALID_ARGUMENT with the line's number.
result<ops_config> read_ops_config(std::string_view text);
/// The text as ONNX Runtime's own tool writes it; with types if asked for.
std::string write_ops_config(const ops_config&, const std::vector<std::string>& models, bool with_types);

}  // namespace cameo::program
