#pragma once
#include <cameo/core/callback.hpp>
#include <cameo/op/op.hpp>

#include <deque>
#include <map>

#include "ort_plugin/host.hpp"

namespace cameo::inline CAMEO_ABI::detail::ort {

/// One way to type an operator of a provider's own: ONNX Runtime checks models against it, and takes the types of
/// outputs from it. It has no kernel: its nodes are the provider's to compile.
struct placeholder : ort_custom_op {
  struct argument {
    std::int32_t type = 0;  // 0: any
    bool may_be_absent = false;
  };
  placeholder(std::uint32_t version, const op_row&, const std::string& provider);

  std::string op;
  const std::string& provider;  // the execution provider's name
  int since;
  std::vector<argument> inputs, outputs;
};

/// A provider's own operators by their domains, which ONNX Runtime adds to a session that the provider is in.
class placeholder_domains {
 public:
  /// Of those operators that ONNX does not have. `declined` is told which can't be made known, and why. `provider` has
  /// to live as long.
  placeholder_domains(const host&, std::span<const std::span<const op_row>>, const std::string& provider,
                      const callback<void(std::string_view words)>& declined);
  placeholder_domains(const placeholder_domains&) = delete;
  placeholder_domains& operator=(const placeholder_domains&) = delete;
  ~placeholder_domains();

  std::span<ort_custom_op_domain* const> all() const { return domains_; }

 private:
  status add(const op_row&, const std::string& provider);
  const host& host_;
  std::deque<placeholder> ops_;
  std::map<std::string_view, ort_custom_op_domain*> by_name_;
  std::vector<ort_custom_op_domain*> domains_;
};

}  // namespace cameo::inline CAMEO_ABI::detail::ort
