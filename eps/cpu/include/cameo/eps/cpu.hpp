#pragma once
#include <cameo/ep/peak.hpp>
#include <cameo/ep/provider_row.hpp>
#include <cameo/eps/cpu/layout.hpp>
#include <cameo/transform/rules/fusions.hpp>
#include <cameo/transform/rules/wide_float16.hpp>

#include <span>
#include <string>

namespace CAMEO_NAMESPACE {
struct entry_words;
}  // namespace CAMEO_NAMESPACE

namespace CAMEO_NAMESPACE::eps {

/// The kernels of the provider `cpu`. eps/cpu/src/kernel_table.cpp and kernel_words.cpp compile them, so that a program
/// that includes this header compiles neither kernels nor Highway.
struct cpu_kernels {
  CAMEO_API static const detail::kernel_table table;
  /// One entry for each row of the kernel list, for programs that write kernel lists themselves (`cameo reduce`).
  CAMEO_API static std::span<const entry_words> words();
};

/// The execution provider that runs ONNX on the processor. It has a kernel for every standard operator and is therefore
/// the fallback at the end of a runtime's list of providers. Thread-safe.
struct cpu {
  static constexpr std::string_view name = "cpu", long_name = "CPUExecutionProvider";
  static constexpr provider_vendor vendor{"cameo"};
  using role = fallback;
  using kernels = cpu_kernels;
  using transforms = rules::standard_fusions_and<nchwc_layout, detail::wide_float16>;
  static constexpr provider_option options[] = {
      {"math", "float32",
       "bf16: constant weights of matrix products and convolutions, and the values that they are multiplied by, are "
       "rounded to bfloat16 if the processor has instructions for it; bf16:PATTERN,...: only in nodes whose name "
       "matches a pattern, where * stands for any characters"}};

  std::string bf16_nodes = {};  // patterns of node names, separated by commas; empty: no node. See `options`

  /// Returns a copy for a session with these options; INVALID_ARGUMENT for a value that `options` does not allow.
  CAMEO_API result<cpu> configured(const provider_options&) const;
  /// Sets bind_context::choice to bfloat16 arithmetic for the nodes whose names match bf16_nodes.
  CAMEO_API void before_bind(bind_context&) const;
  /// Identifies the layout of packed constants: a version number of the packing, and the instruction set in use.
  CAMEO_API static std::string packing();
  /// Returns one device: the processor, with the instruction set that the kernels use.
  CAMEO_API result<std::vector<provider_device>> devices() const;
  /// Measures the processor's peak: multiply-adds in registers, and the bandwidth of a sum over a buffer of `bytes` (at
  /// least 1 MiB; its size decides whether it fits a cache). Each of the two takes about `seconds` and is the best of
  /// many short runs. The bandwidth is 0 if there is no memory for the buffer.
  CAMEO_API static machine_peak measure_peak(std::size_t threads, std::size_t bytes, double seconds);
};

}  // namespace CAMEO_NAMESPACE::eps

extern template CAMEO_API const cameo::provider_row& cameo::detail::row_of<cameo::eps::cpu>();
