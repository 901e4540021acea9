#pragma once
#include <cameo/graph/model.hpp>
#include <cameo/os/heap_arena.hpp>
#include <cameo/partition/partition.hpp>
#include <cameo/plan/planner.hpp>
#include <cameo/run/runner.hpp>
#include <cameo/session/compile.hpp>
#include <cameo/session/threads.hpp>

#include "context/companions.hpp"
#include "context/write.hpp"
#include "session/progress.hpp"

namespace CAMEO_NAMESPACE {

// The stages of loading a model, in their order; load.cpp calls them. A stage takes objects that it only reads by const
// reference and objects that it changes by reference, and returns what it makes, which is then stored in `loaded`.
//
//   read       parses the model
//   choose     chooses the providers of the session, and their devices
//   fix        sets the sizes of dims that the model leaves open
//   check      finds the operator of every node, and infers the type of every value
//   rewrite    applies rewrites that need no provider and produce only standard operators
//   place      assigns a provider to each node; a group that a provider compiles becomes one node
//   compile    compiles these groups, and restores the contexts of compiled models
//   write      writes the compiled model, if it was requested
//   rewrite    applies the transforms of each provider to its nodes
//   save       saves the optimized model, if it was requested
//   plan       binds kernels, and assigns memory to values
//   describe   describes inputs and outputs for callers

/// Stage "read": the model, the format that read it, and bytes that the model refers to and the session owns.
struct read_model {
  std::vector<std::byte> bytes;
  const detail::format_row* format = nullptr;
  std::unique_ptr<model> net;
};
result<read_model> read_path(const load_settings&, const std::string& path);
result<read_model> read_bytes(const load_settings&, std::span<const std::byte>, std::string_view name);
result<read_model> read_own_bytes(const load_settings&, std::vector<std::byte>&&, std::string_view name);
/// Reads the stream to its end.
result<read_model> read_stream(const load_settings&, std::istream&, std::string_view name);
/// A model that the caller made counts as one in the last format of the list.
result<read_model> made_model(const load_settings&, std::unique_ptr<model>);

/// Stage "choose": the providers of the session in order of priority, configured with their options.
struct chosen_providers {
  std::vector<provider> list;
  std::vector<ep_device> devices;           // the devices chosen for the providers, in order of preference
  std::vector<detail::device_kinds> kinds;  // per provider: kinds of its devices; empty without placement rules
  detail::text_pairs options;               // provider options that the caller or a device set, by session key

  std::vector<claim_row> claimers() const;
};
/// The table row that describes a provider to partitioning.
claim_row claimer(const provider&, detail::device_kinds);
/// Chooses the providers that the options name, or the whole list. It needs no model, so that its errors are found
/// before a model is read.
result<chosen_providers> choose_by_list(const load_settings&);
/// Chooses the providers of the devices that the policy in the options chooses, given the model's metadata.
result<chosen_providers> choose_by_policy(const load_settings&, const model&);

/// Stage "fix": applies session_options::free_dims.
status fix_free_dims(const session_options&, const detail::format_row&, model&);

/// Stage "fix": gives each dim of an input whose name is not a word ('?') a separate symbol of that name; with `all`,
/// every named dim. Dims of other values with the name become unknown. Otherwise a name stands for one size, on which
/// fusions rely, and a run with two sizes for it is INVALID_ARGUMENT.
void separate_dims(model&, bool all);

/// Stage "check": the operators of the model's nodes; see check_model.
result<op_table> check_operators(std::span<const provider>, model&);

/// The compiled model to be written, either while the model is loaded or by runtime::compile.
struct compilation {
  compile_output output;  // always set
  std::string path;       // of the output; empty: it is in memory
  context_output contexts;
  write_options weights;
  bool must_be_new = false;           // the model's file must not exist yet
  std::vector<companion> companions;  // files beside it; require_replaceable() checks whether they may be replaced
  bool always = false;                // the model is written even if no node was compiled
  bool fail_if_nothing = false;       // FAIL if no node was compiled
  std::size_t compiled_nodes = 0;     // set after writing

  bool is_to_memory() const { return output.is_memory(); }
  std::string weights_folder() const;  // ends with a separator
};
/// Decides whether a compiled model is to be written, and where. This is checked before any provider compiles.
result<std::optional<compilation>> choose_output(const load_settings&, std::span<const provider>, const model&);

/// Stage "rewrite": the objects that transforms work with.
struct rewriting {
  const load_settings& how;
  std::span<const provider> providers;
  const op_table& ops;
  model& net;
  transform_log& log;
};
/// Returns INVALID_ARGUMENT if runtime optimizations are to be saved but no file is to be written that could contain
/// them. It is called before a model is read.
status require_file_for_groups(const load_settings&);
/// Applies to all nodes: rewrites that an ORT file has recorded, transforms of every level, inlining of functions, and
/// the level basic.
status rewrite_ahead(const rewriting&, const chosen_providers&);
/// Applies the levels above basic: the transforms of each provider to its nodes.
status rewrite_placed(const rewriting&);
/// Applies the providers' transforms of the last phase (transform_phase::last), at every level, and records the groups
/// for a saved file. Each load of a model repeats that phase, so that a file need not contain its results.
status rewrite_last(const rewriting&);

/// Stage "place": the groups that providers compile, as one fused node each.
struct placed_nodes {
  std::vector<std::unique_ptr<function>> bodies;  // the standard function bodies in use
  std::vector<fused_node> fused;
  std::vector<ep_assignment> assignments;  // empty unless they are recorded
};
/// Assigns a provider to every node.
result<placed_nodes> place_nodes(const load_settings&, const chosen_providers&, const op_table&,
                                 const std::optional<compilation>&, model&);
/// Inlines calls of the model's functions, except those that a provider takes as one node.
status inline_calls(const load_settings&, const chosen_providers&, const op_table&, model&);

/// Stage "compile": a program for each fused node.
struct compiled_groups {
  std::vector<compiled_node> programs;
  std::vector<std::string> operators;  // the operators in each group, for display
};
result<compiled_groups> compile_groups(const load_settings&, std::span<const provider>, std::optional<compilation>&,
                                       const placed_nodes&, model&, const load_reporter&);
/// Checks that the contexts of the compiled model can be written: INVALID_ARGUMENT, NOT_IMPLEMENTED and other errors.
status require_storing(const load_settings&, std::span<const provider>, compilation&, const std::vector<fused_node>&,
                       const model&);

/// Stage "write": writes the compiled model. Afterwards the model in memory is unchanged, except that initializers
/// which only compiled groups read are removed.
status write_compiled(const load_settings&, std::span<const provider>, placed_nodes&, const compiled_groups&, model&,
                      compilation&);

/// Stage "save": writes the model to session.optimized_model_filepath.
status save_optimized(const rewriting&, const std::vector<fused_node>&);

/// Stage "plan": the steps of a run, and the kinds of memory that they use.
struct session_plan {
  std::vector<memory_source> memories;
  std::unique_ptr<detail::heap_arena> memory =
      std::make_unique<detail::heap_arena>(1 << 16);  // owns the plan and its kernels
  const plan_view* steps = nullptr;
};
result<session_plan> make_session_plan(const load_settings&, std::span<const provider>, const compiled_groups&,
                                       const model&, const load_reporter&);

/// Stage "describe": the inputs and outputs of the plan, in its order.
struct described_io {
  /// A dim of an input whose size the model does not fix, but names.
  struct symbol_use {
    std::uint32_t symbol, input, axis;
    std::string_view name;  // of the dim in the model; after separate_dims(), several symbols may have one name
  };
  std::vector<io_info> inputs, outputs;
  std::vector<const value*> defaults;  // per input: the value of an omitted input; null: it has no default
  std::vector<symbol_use> symbols;     // sorted by name
};
result<described_io> describe_io(model&, const session_plan&);
/// Describes the inputs of a model's main graph, without initializers that a caller may not replace.
std::vector<io_info> inputs_of(const model&);
std::vector<io_info> outputs_of(const model&);
/// The index of an input or output. INVALID_ARGUMENT with a message such as
/// "the model has no input 'x'; it has 'a', 'b'".
result<std::size_t> find_io(const std::vector<io_info>&, detail::io_key, std::string_view whose, std::string_view kind);

/// Replaces a constant that the planner does not process by an aligned copy, unless it is aligned or null.
/// OUT_OF_MEMORY.
status align_constant(const value*&, model&);

/// The threads of runs: those of the caller's pool, or of a pool that the session owns.
struct session_threads {
  std::unique_ptr<thread_pool> own;
  detail::task_pool_ref pool;
  std::size_t count = 1;  // the number of threads that a run may use, including the caller's
};
result<session_threads> start_threads(const load_settings&);

}  // namespace CAMEO_NAMESPACE
