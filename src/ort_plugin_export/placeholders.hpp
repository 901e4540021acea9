#pragma once
#include <deque>
#include <map>

#include "ort_plugin_export/plugin.hpp"

namespace CAMEO_NAMESPACE::detail::ort {

/// One way to type a version of an operator of a provider's own: ONNX Runtime checks models against it, and takes the
/// types of outputs from it. It has no kernel: its nodes are the provider's to compile.
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

/// A provider's own operators by their domains, which ONNX Runtime adds to a session that the provider is in.
class placeholder_domains {
 public:
  /// Of those operators that ONNX does not have; the log says which can't be made known, and why. None before ONNX
  /// Runtime 1.24, which takes no operators from plugins. The plugin has to live as long.
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
