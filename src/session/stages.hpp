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

// The stages of loading a model, in their order; load.cpp calls one after the other. A stage takes as const what it
// only reads and by reference what it changes, and returns what it makes. What they make stays in `loaded`.
//
//   read       bytes become a model
//   choose     the providers, and devices of theirs, that the session uses
//   fix        sizes for dims that the model leaves open
//   check      every node has its operator, every value its type
//   rewrite    rewrites that need no provider are done: they make standard operators only
//   place      each node has its provider; groups that a provider compiles are one node each
//   compile    these groups have programs; contexts of compiled models are restored
//   write      the compiled model, if one is wanted
//   rewrite    again, among the nodes of each provider
//   save       the optimized model, if it is wanted
//   plan       kernels are bound, memory is laid out
//   describe   inputs and outputs, as callers see them

/// read: the model, the format that it was read by, and the bytes of a stream, which the model refers to.
struct read_model {
  std::vector<std::byte> bytes;
  const detail::format_row* format = nullptr;
  std::unique_ptr<model> net;
};
result<read_model> read_path(const load_settings&, const std::string& path);
result<read_model> read_bytes(const load_settings&, std::span<const std::byte>, std::string_view name);
result<read_model> read_own_bytes(const load_settings&, std::vector<std::byte>&&, std::string_view name);
/// To the stream's end.
result<read_model> read_stream(const load_settings&, std::istream&, std::string_view name);
/// A model that the caller made is in the last format of the list.
result<read_model> made_model(const load_settings&, std::unique_ptr<model>);

/// choose: providers in use by priority, configured with the session's options for them.
struct chosen_providers {
  std::vector<provider> list;
  std::vector<ep_device> devices;           // that were chosen for them, in order of preference
  std::vector<detail::device_kinds> kinds;  // per provider: of its devices; empty without placement rules
  detail::text_pairs options;               // session keys of options that were set, by the caller or a device

  std::vector<claim_row> claimers() const;
};
/// A provider as partitioning sees it.
claim_row claimer(const provider&, detail::device_kinds);
/// Those that the options name, or the whole list. Needs no model: what is wrong is said before one is read.
result<chosen_providers> choose_by_list(const load_settings&);
/// Those of the devices that the policy in the options chooses, asked with what the model says of itself.
result<chosen_providers> choose_by_policy(const load_settings&, const model&);

/// fix: session_options::free_dims.
status fix_free_dims(const session_options&, const detail::format_row&, model&);

/// fix: dims of inputs whose name is no word ('?') become dims of their own, with that name; with `all` also others.
/// Other values that have it are of unknown size. A word names one size else, as fusions rely on: a run that gives it
/// two is INVALID_ARGUMENT.
void separate_dims(model&, bool all);

/// check: the operators that the model's nodes are of; see check_model.
result<op_table> check_operators(std::span<const provider>, model&);

/// The compiled model that is to be written, while a model is loaded or instead.
struct compilation {
  compile_output output;  // never nothing
  std::string path;       // of the output, if it is a file
  context_output contexts;
  write_options weights;
  bool must_be_new = false;           // the file of the model
  std::vector<companion> companions;  // files beside it, which may replace others if require_replaceable() says so
  bool always = false;                // also when nothing was compiled
  bool fail_if_nothing = false;
  std::size_t compiled_nodes = 0;  // once written

  bool is_to_memory() const { return output.is_memory(); }
  std::string weights_folder() const;  // with its separator
};
/// Whether a compiled model is to be written, and where; known, and checked, before any provider compiles.
result<std::optional<compilation>> choose_output(const load_settings&, std::span<const provider>, const model&);

/// rewrite: what transforms work with.
struct rewriting {
  const load_settings& how;
  std::span<const provider> providers;
  const op_table& ops;
  model& net;
  transform_log& log;
};
/// Before anything is read: INVALID_ARGUMENT when saving of runtime optimizations is asked for and no file is to have
/// them.
status require_room_for_groups(const load_settings&);
/// What an ORT file has saved; what every level does; calls opened, and the level basic. Any node.
status rewrite_ahead(const rewriting&, const chosen_providers&);
/// Levels above basic: the transforms of each provider among its own nodes.
status rewrite_placed(const rewriting&);
/// What providers rewrite at every level, after all else (transform_phase::last), and the records of groups that
/// a file is to have. Each load of a model does it, so a file need not have it.
status rewrite_last(const rewriting&);

/// place: the groups that providers compile, one fused node each, and the provider of every node.
struct placed_nodes {
  std::vector<std::unique_ptr<function>> bodies;  // standard function bodies that were needed
  std::vector<fused_node> fused;
  std::vector<ep_assignment> assignments;  // if they are to be recorded
};
result<placed_nodes> place_nodes(const load_settings&, const chosen_providers&, const op_table&,
                                 const std::optional<compilation>&, model&);
/// The model's own functions that no provider takes as they are.
status inline_calls(const load_settings&, const chosen_providers&, const op_table&, model&);

/// compile: a program for each fused node.
struct compiled_groups {
  std::vector<compiled_node> programs;
  std::vector<std::string> operators;  // that are in the group, for people
};
result<compiled_groups> compile_groups(const load_settings&, std::span<const provider>, std::optional<compilation>&,
                                       const placed_nodes&, model&, const load_teller&);
/// INVALID_ARGUMENT, NOT_IMPLEMENTED and others when the contexts to be made could not be kept.
status require_storing(const load_settings&, std::span<const provider>, compilation&, const std::vector<fused_node>&,
                       const model&);

/// write: the model is as before afterwards, but for initializers that only compiled groups read.
status write_compiled(const load_settings&, std::span<const provider>, placed_nodes&, const compiled_groups&, model&,
                      compilation&);

/// save: session.optimized_model_filepath.
status save_optimized(const rewriting&, const std::vector<fused_node>&);

/// plan: the steps of a run, and the kinds of memory that they work in.
struct session_plan {
  std::vector<memory_source> memories;
  std::unique_ptr<detail::heap_arena> memory =
      std::make_unique<detail::heap_arena>(1 << 16);  // of the plan and its kernels
  const plan_view* steps = nullptr;
};
result<session_plan> make_session_plan(const load_settings&, std::span<const provider>, const compiled_groups&,
                                       const model&, const load_teller&);

/// describe: inputs and outputs of the plan, in its order.
struct described_io {
  /// An input's dim that the model names instead of giving its size.
  struct symbol_use {
    std::uint32_t symbol, input, axis;
    std::string_view name;  // of the model; separate_dims() gives one to several symbols
  };
  std::vector<io_info> inputs, outputs;
  std::vector<const value*> defaults;  // per input: its value when the caller gives none, or null
  std::vector<symbol_use> symbols;     // sorted by name
};
result<described_io> describe_io(model&, const session_plan&);
/// Of a model's main graph, as callers see it.
std::vector<io_info> inputs_of(const model&);
std::vector<io_info> outputs_of(const model&);
/// The index of one of them. INVALID_ARGUMENT in words such as "the model has no input 'x'; it has 'a', 'b'".
result<std::size_t> find_io(const std::vector<io_info>&, detail::io_key, std::string_view whose, std::string_view kind);

/// Aligns a constant that is passed on without the planner; null stays null. OUT_OF_MEMORY.
status align_constant(const value*&, model&);

/// Threads for runs: of the caller's pool, or of the session's own.
struct session_threads {
  std::unique_ptr<thread_pool> own;
  detail::task_pool_ref pool;
  std::size_t count = 1;  // that a run may use, the caller's included
};
result<session_threads> start_threads(const load_settings&);

}  // namespace CAMEO_NAMESPACE
