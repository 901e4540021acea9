#pragma once
#include <cameo/core/fixed_string.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace CAMEO_NAMESPACE {

/// How cameo treats a session configuration key of ONNX Runtime.
enum class key_support : std::uint8_t { supported, ignored, refused };

/// The values of a key: any that its reader takes, or 1 and 0, where any other value counts as 0.
enum class key_values : std::uint8_t { any, on_or_off };

/// A session configuration key of ONNX Runtime, or one that only cameo has.
struct config_key_row {
  std::string_view key;
  std::string_view otherwise;  // the value of a key that is not set
  key_support support;
  std::string_view meaning;  // for docs/session_keys.md and messages
  key_values values = key_values::any;
};

/// The table of docs/session_keys.md, in the same order.
struct config_keys {
  using enum key_support;
  using enum key_values;
  static constexpr config_key_row rows[] = {
      {"ep.context_embed_mode", "0", supported, "1: contexts inside the compiled model; else in files beside it",
       on_or_off},
      {"ep.context_enable", "0", supported, "1: a compiled model is written while the model is loaded", on_or_off},
      {"ep.context_file_path", "", supported,
       "the compiled model that is written, or in whose folder contexts are read; unset: beside the model, "
       "NAME_ctx.onnx"},
      {"ep.context_model_external_initializers_file_name", "", supported,
       "file for the initializers of the compiled model; unset: they are inside it"},
      {"ep.context_node_name_prefix", "", supported, "prefix of the names of compiled nodes"},
      {"ep.enable_weightless", "0", supported,
       "1: constants of compiled groups stay initializers of the compiled model, and its contexts have none",
       on_or_off},
      {"ep.enable_weightless_ep_context_nodes", "0", supported, "older name of ep.enable_weightless", on_or_off},
      {"ep.share_ep_contexts", "0", supported, "1: contexts are shared with other sessions of the runtime", on_or_off},
      {"ep.stop_share_ep_contexts", "0", supported,
       "1: this is the last model that shares a context, which is written now", on_or_off},
      {"optimization.disable_specified_optimizers", "", supported,
       "names of transforms to leave out, separated by commas"},
      {"optimization.minimal_build_optimizations", "", supported,
       "save: rewrites of quantized nodes, and of activations into convolutions, that level extended would do are "
       "saved in an ORT file and not done. apply: from level extended on, only these are done"},
      {"session.disable_aot_function_inlining", "0", supported,
       "1: the model's functions are inlined after the basic level, and only if no provider takes them", on_or_off},
      {"session.disable_cpu_ep_fallback", "0", supported, "1: a node that only the fallback takes is an error",
       on_or_off},
      {"session.disable_double_qdq_remover", "0", supported,
       "1: a DequantizeLinear and the same QuantizeLinear after it are not removed", on_or_off},
      {"session.disable_model_compile", "0", supported, "1: providers may not compile groups of nodes", on_or_off},
      {"session.disable_prepacking", "0", supported, "1: kernels keep no packed copies of constants", on_or_off},
      {"session.disable_qdq_constant_folding", "0", supported, "1: DequantizeLinear of a constant is not folded",
       on_or_off},
      {"session.disable_quant_qdq", "0", supported, "1: QuantizeLinear and DequantizeLinear are not rewritten",
       on_or_off},
      {"session.execution_mode", "sequential", supported,
       "sequential or parallel; overrides session_options::execution"},
      {"session.fail_on_suboptimal_compiled_model", "0", supported,
       "1: a compiled model that would run faster if it was compiled again is an error", on_or_off},
      {"session.enable_quant_qdq_cleanup", "0", supported,
       "1: pairs that only round floats are removed; results change a little", on_or_off},
      {"session.enable_saved_runtime_optimizations", "0", supported,
       "1: rewrites that are saved in an ORT file are done from level extended on", on_or_off},
      {"session.graph_optimization_level", "enable_all", supported,
       "disable_all, enable_basic, enable_extended, enable_layout or enable_all (or 0 to 3, and 99); overrides "
       "session_options::optimize"},
      {"session.graph_optimizations_loop_level", "1", supported,
       "levels extended to all are repeated while one of them (2) or the last of them (1) changed something; 0: they "
       "are not repeated"},
      {"session.intra_op_num_threads", "0", supported,
       "number of threads, 0 for what cpuset and CPU quota allow; overrides session_options::threads"},
      {"session.intra_op.allow_spinning", "1", supported, "0: threads sleep at once between parallel regions",
       on_or_off},
      {"session.layer_assignment_settings", "", supported,
       "assigns nodes to cpu, gpu or npu by their metadata layer_ann: \"gpu(enc, =head); npu(dec)\""},
      {"session.load_model_format", "", supported,
       "ORT or ONNX; unset: ORT for a file name that ends in .ort and for bytes with the identifier of ORT files"},
      {"session.model_external_initializers_file_folder_path", "", supported,
       "folder of external data; overrides session_options::external_data_folder"},
      {"session.name_based_layer_assignment", "", supported,
       "assigns nodes to cpu, gpu or npu by parts of their names: \"gpu(/encoder/); npu(attention)\""},
      {"session.optimized_model_external_initializers_file_name", "", supported,
       "file beside the optimized model for its initializers; unset: they are inside it"},
      {"session.optimized_model_external_initializers_min_size_in_bytes", "1024", supported,
       "smallest initializer, in bytes, that is written to that file"},
      {"session.optimized_model_filepath", "", supported,
       "path of the optimized model, which is written before groups are compiled"},
      {"session.qdq_matmulnbits_accuracy_level", "4", supported,
       "4: products with a dequantized constant of 2, 4 or 8 bits quantize the other factor to bytes; other numbers: "
       "they compute with floats"},
      {"session.qdqisint8allowed", "", supported,
       "0: quantized nodes with int8 inputs compute with floats; 1: optimization.minimal_build_optimizations includes "
       "them"},
      {"session.record_ep_graph_assignment_info", "0", supported,
       "1: session::assignments lists the provider of each node", on_or_off},
      {"session.round_float16", "0", supported,
       "1: float16 values are rounded after each node, as ONNX specifies, also between nodes that compute in float32 "
       "(docs/performance.md); only cameo has this key",
       on_or_off},
      {"session.save_model_format", "", supported, "ORT or ONNX; unset: ORT for a path that ends in .ort"},
      {"session.separate_dims", "0", supported,
       "1: input dims with the same name may have different sizes; only cameo has this key", on_or_off},
      {"session.set_denormal_as_zero", "0", supported, "1: denormal floats count as zero in runs", on_or_off},
      {"session.strict", "0", supported,
       "1: each deviation that docs/oddities.md lists is an error; only cameo has this key", on_or_off},
      {"session.strict_shape_type_inference", "0", supported,
       "1: a value whose declared rank or size is wrong is an error", on_or_off},
      {"ep.cuda.fpa_intb_gemm", "0", ignored, "for a provider that cameo does not have"},
      {"ep.cuda.fpa_intb_profile_m", "", ignored, "for a provider that cameo does not have"},
      {"ep.cuda.gqa_workspace_max_total_sequence_length", "", ignored, "for a provider that cameo does not have"},
      {"ep.dynamic.qnn_htp_performance_mode", "default", ignored, "for a provider that cameo does not have"},
      {"ep.dynamic.workload_type", "Default", ignored, "threads have the priority of the thread that makes them"},
      {"ep.context_source_model_path", "", ignored, "constants are in contexts or in the compiled model"},
      {"ep.enable_weightless_mode", "", ignored,
       "ep.enable_weightless leaves out all constants that a provider can leave out"},
      {"ep.nnapi.partitioning_stop_ops", "", ignored, "for a provider that cameo does not have"},
      {"mlas.disable_kleidiai", "0", ignored, "kernels of that library are not used"},
      {"mlas.enable_gemm_fastmath_arm64_bfloat16", "0", ignored, "products of floats are computed in float"},
      {"mlas.kleidiai.conv_igemm_max_work", "0", ignored, "kernels of that library are not used"},
      {"mlas.nchwc_depthwise_sliding", "", ignored, "kernels choose by shapes"},
      {"mlas.nchwc_pointwise_conv_max_input_channel_batch", "", ignored, "kernels choose by shapes"},
      {"mlas.qnbit.force_fp32", "0", ignored, "kernels take the accuracy level of a node"},
      {"mlas.use_lut_gemm", "0", ignored, "kernels choose by shapes"},
      {"optimization.constant_folding_max_output_size_in_bytes", "1073741824", ignored, "folding has its own limits"},
      {"optimization.enable_cast_chain_elimination", "0", ignored,
       "no optimizer of that kind; chains that change no value are always removed"},
      {"optimization.enable_gelu_approximation", "0", ignored, "no optimizer of that kind"},
      {"optimization.enable_memory_probe_recompute_config", "0:0", ignored, "for training"},
      {"optimization.memory_optimizer_config", "", ignored, "for training"},
      {"session.allow_released_opsets_only", "1", ignored, "operators are looked up in cameo's tables of opsets"},
      {"session.debug_layout_transformation", "0", ignored, "nothing to debug"},
      {"session.dynamic_block_base", "0", ignored, "blocks depend on shapes alone"},
      {"session.enable_cpu_mem_arena", "1", ignored, "values always lie in arenas"},
      {"session.enable_dq_matmulnbits_fusion", "0", ignored,
       "products with constants of few bits always become MatMulNBits at level extended"},
      {"session.enable_matmul_fp8_fusion", "0", ignored, "no optimizer of that kind"},
      {"session.enable_mem_pattern", "1", ignored, "offsets of values are always planned"},
      {"session.force_spinning_stop", "0", ignored, "threads never spin between runs"},
      {"session.inter_op.allow_spinning", "1", ignored, "there is one pool of threads"},
      {"session.inter_op.spin_backoff_max", "1", ignored, "there is one pool of threads"},
      {"session.inter_op.spin_duration_us", "", ignored, "there is one pool of threads"},
      {"session.inter_op_num_threads", "0", ignored, "there is one pool of threads"},
      {"session.intra_op.spin_backoff_max", "1", ignored, "threads look for work for at most 50 us, then sleep"},
      {"session.intra_op.spin_duration_us", "", ignored, "threads look for work for at most 50 us, then sleep"},
      {"session.log_id", "", ignored, "use session_options::log and log_from"},
      {"session.log_severity_level", "", ignored, "use session_options::log and log_from"},
      {"session.log_verbosity_level", "", ignored, "use session_options::log and log_from"},
      {"session.max_shape_override", "", ignored, "cameo estimates nothing from largest shapes"},
      {"session.moe_expert_counter_alpha", "", ignored, "for session.enable_moe_expert_counting"},
      {"session.moe_expert_counter_beta", "", ignored, "for session.enable_moe_expert_counting"},
      {"session.moe_expert_counter_state_file", "", ignored, "for session.enable_moe_expert_counting"},
      {"session.prepack.enable_parallel", "0", ignored, "constants are packed one after the other"},
      {"session.qdq_matmulnbits_block_size", "0", ignored, "quantized values without blocks get blocks of 32"},
      {"session.strict_workspace_verification", "0", ignored,
       "no kernel estimates a workspace before the plan is made"},
      {"session.use_deterministic_compute", "0", ignored, "the same inputs always give the same bits"},
      {"session.use_device_allocator_for_initializers", "0", ignored,
       "constants lie in the memory of the device that reads them"},
      {"session.use_env_allocators", "0", ignored, "every session has its own arenas"},
      {"session.use_external_initializer_file_buffers_directly", "0", ignored, "constants are always read in place"},
      {"session.use_memory_mapped_ort_model", "0", ignored, "a file is always mapped"},
      {"session.use_ort_model_bytes_directly", "0", ignored,
       "bytes are always read in place, and must outlive the session"},
      {"session.use_ort_model_bytes_for_initializers", "0", ignored,
       "constants of at least 128 bytes always stay in the file or the bytes"},
      {"session.x64quantprecision", "0", ignored, "products of integers are exact"},
      {"session.collect_node_memory_stats_to_file", "", refused,
       "not collected; session::fixed_bytes and io_binding::arena_bytes return the sums"},
      {"session.compile_only", "0", refused, "use runtime::compile"},
      {"session.enable_moe_expert_counting", "0", refused, "not counted"},
      {"session.enable_moe_expert_statistics", "0", refused, "not counted"},
      {"session.enable_profiling", "", refused, "use trace_profile and run_settings::observer"},
      {"session.function_expansion_byte_limit", "", refused, "use session_options::limits"},
      {"session.function_expansion_node_limit", "", refused, "use session_options::limits"},
      {"session.gqa_value_layout", "", refused, "values of GroupQueryAttention have the operator's layout"},
      {"session.intra_op_thread_affinities", "", refused, "use your own task_pool"},
      {"session.node_partition_config_file", "", refused, "there are no streams; use session_options::execution"},
      {"session.resource_cuda_partitioning_settings", "", refused,
       "each node goes to the first provider that takes it; use session_options::providers"},
      {"session.save_external_prepacked_constant_initializers", "0", refused, "packed copies are not saved"},
      {"session.use_per_session_threads", "1", refused, "use one task_pool for all sessions"},
  };
  static_assert(std::ranges::all_of(rows,
                                    [](const config_key_row& row) {
                                      return row.values == any || row.otherwise == "0" || row.otherwise == "1";
                                    }),
                "cameo: a key that is on or off is one of both when it is not set");
};

/// A row of the table, looked up at compile time: a misspelled key does not compile.
///
///   if (config.is_on(config_key<"session.disable_prepacking">)) ...
template <detail::fixed_string Key>
inline constexpr const config_key_row& config_key = []() -> const config_key_row& {
  constexpr auto at = std::ranges::find(config_keys::rows, std::string_view{Key}, &config_key_row::key);
  static_assert(at != std::end(config_keys::rows), "cameo: src/core/config_keys.hpp has no row for this session key");
  return *at;
}();

}  // namespace CAMEO_NAMESPACE
