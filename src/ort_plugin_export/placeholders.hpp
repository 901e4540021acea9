#pragma once
#include <deque>
#include <map>

#include "ort_plugin_export/plugin.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// A custom operator of ONNX Runtime for one version and one combination of types of a provider's operator. ONNX
/// Runtime checks models and infers types with it. It has no kernel, since the provider compiles its nodes.
struct placeholder : ort_custom_op {
  struct argument {
    std::int32_t type = 0;      // 0: any
    std::int32_t presence = 0;  // 0: required, 1: may be absent
  };
  placeholder(const plugin&, const op_row&, const op_version&);

  std::string op;
  const std::string& provider;  // the execution provider's name
  int since;
  std::vector<argument> inputs, outputs;
};

/// The domains of a provider's operators, which ONNX Runtime adds to the sessions that use the provider.
class placeholder_domains {
 public:
  /// Makes placeholders for the operators that ONNX does not have, and logs a warning for each that can't have one.
  /// There are none before ONNX Runtime 1.24, which takes no operators from plugins. The plugin must outlive this.
  explicit placeholder_domains(const plugin&);
  placeholder_domains(const placeholder_domains&) = delete;
  placeholder_domains& operator=(const placeholder_domains&) = delete;
  ~placeholder_domains();

  const std::map<std::string_view, ort_custom_op_domain*>& all() const { return all_; }

 private:
  void add(const op_row&);
  const plugin& plugin_;
  std::deque<placeholder> ops_;
  std::map<std::string_view, ort_custom_op_domain*> all_;
};

}  // namespace CAMEO_NAMESPACE::detail::ort
