#include "session/config.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace cameo::inline CAMEO_ABI {
namespace {

using enum key_support;
constexpr config_key_row rows[] = {
    {"session.disable_cpu_ep_fallback", "0", supported, "1: a node that only the fallback takes is an error"},
    {"session.disable_model_compile", "0", supported, "1: providers may not compile groups of nodes"},
    {"session.disable_prepacking", "0", supported, "1: kernels keep no packed copies of constants"},
    {"session.intra_op.allow_spinning", "1", supported, "0: threads sleep at once between parallel regions"},
    {"session.model_external_initializers_file_folder_path", "", supported, "where external data lies"},
    {"session.optimized_model_filepath", "", supported, "where the optimized model is written, before it is compiled"},
    {"session.graph_optimizations_loop_level", "1", supported,
     "2 or 1: levels extended to all again if any of them, or the last, changed something; 0: once"},
    {"session.disable_aot_function_inlining", "0", supported,
     "1: the model's functions are opened only when no provider takes them, after the basic level"},
    {"optimization.disable_specified_optimizers", "", supported, "names of transforms to leave out, with commas"},
    {"session.inter_op.allow_spinning", "1", without_effect, "there is one pool of threads"},
    {"session.set_denormal_as_zero", "0", without_effect, "denormals are kept"},
    {"session.use_env_allocators", "0", without_effect, "every session has arenas of its own"},
    {"session.load_model_format", "", without_effect, "the format is told by the bytes"},
    {"session.dynamic_block_base", "0", without_effect, "blocks depend on shapes alone"},
    {"session.force_spinning_stop", "0", without_effect, "threads never spin between runs"},
    {"session.strict_shape_type_inference", "0", without_effect, "contradictions are errors always"},
    {"session.use_device_allocator_for_initializers", "0", without_effect, "constants lie where they are read"},
    {"session.debug_layout_transformation", "0", without_effect, "nothing to debug"},
    {"session.record_ep_graph_assignment_info", "0", without_effect, "session::placements always knows"},
    {"optimization.enable_gelu_approximation", "0", without_effect, "no optimizer of that kind"},
    {"session.qdq_matmulnbits_accuracy_level", "4", without_effect, "no optimizer of that kind"},
    {"session.disable_quant_qdq", "0", supported, "1: QuantizeLinear and DequantizeLinear stay as they are written"},
    {"session.disable_double_qdq_remover", "0", supported,
     "1: a DequantizeLinear and the same QuantizeLinear again stay"},
    {"session.enable_quant_qdq_cleanup", "0", supported, "1: pairs that only round floats go; results change a little"},
    {"session.save_model_format", "", refused, "models are not saved by a session"},
    {"session.intra_op_thread_affinities", "", refused, "bring a task_pool of your own"},
};

constexpr std::size_t longest_key = 1024, longest_value = 8192;

}  // namespace

std::span<const config_key_row> config_keys() { return rows; }

result<session_config> session_config::make(const session_options& options) {
  session_config made;
  for (const auto& [key, text] : options.config) {
    if (key.empty() || key.size() > longest_key || text.size() > longest_value)
      return status{status_code::invalid_argument,
                    fmt::format("session key '{}': keys have 1 to {} bytes, values up to {}", key.substr(0, 40),
                                longest_key, longest_value)};
    const auto row =
        std::find_if(std::begin(rows), std::end(rows), [&k = key](const config_key_row& r) { return r.key == k; });
    if (row == std::end(rows) && key.rfind("ep.", 0) != 0)
      return status{status_code::invalid_argument,
                    fmt::format("session key '{}' is not known; docs/session_keys.md lists the keys", key)};
    if (row != std::end(rows) && row->support == key_support::refused)
      return status{status_code::invalid_argument,
                    fmt::format("session key '{}' is not supported: {}", key, row->meaning)};
    made.entries_.emplace_back(key, text);
  }
  return made;
}

std::string_view session_config::operator[](std::string_view key) const {
  for (auto at = entries_.rbegin(); at != entries_.rend(); ++at)
    if (at->first == key) return at->second;
  for (const config_key_row& row : rows)
    if (row.key == key) return row.otherwise;
  return {};
}

}  // namespace cameo::inline CAMEO_ABI
