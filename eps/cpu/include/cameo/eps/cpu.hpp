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

/// The kernels of cpu, compiled in eps/cpu/src/kernel_table.cpp and kernel_words.cpp: users' builds include neither
/// kernels nor Highway.
struct cpu_kernels {
  CAMEO_API static const detail::kernel_table table;
  /// The entries of the list, for programs that write lists of their own.
  CAMEO_API static std::span<const entry_words> words();
};

/// Runs ONNX on the processor; the fallback at the end of a runtime's list. Thread-safe.
struct cpu {
  static constexpr std::string_view name = "cpu", long_name = "CPUExecutionProvider";
  static constexpr provider_vendor vendor{"cameo"};
  using role = fallback;
  using kernels = cpu_kernels;
  using transforms = rules::standard_fusions_and<nchwc_layout, detail::wide_float16>;
  static constexpr provider_option options[] = {
      {"math", "float32",
       "bf16: constant weights of products and convolutions, and what they are multiplied with, are rounded to "
       "bfloat16, where the processor has instructions for that; bf16:PATTERN,...: of nodes with such names, * stands "
       "for any characters"}};

  std::string bf16_nodes = {};  // patterns of names, with commas; empty: none. See options

  /// A copy for a session; INVALID_ARGUMENT for values that the table above does not have.
  CAMEO_API result<cpu> configured(const provider_options&) const;
  /// Tells kernels of the nodes that bf16_nodes names.
  CAMEO_API void before_bind(bind_context&) const;
  /// Identifies the form of packed constants: the instruction set in use, and a version number of the packing.
  CAMEO_API static std::string packing();
  /// One device: the processor, with the instruction set that the kernels use.
  CAMEO_API result<std::vector<provider_device>> devices() const;
  /// What the processor can do: multiply-adds in registers, and a sum over a buffer of `bytes` (at least 1 MiB) that
  /// fits a cache or does not. The best of short rounds, for about `seconds` each; 0 bytes per second where there is no
  /// memory for the buffer.
  CAMEO_API static machine_peak measure_peak(std::size_t threads, std::size_t bytes, double seconds);
};

}  // namespace CAMEO_NAMESPACE::eps

extern template CAMEO_API const cameo::provider_row& cameo::detail::row_of<cameo::eps::cpu>();
