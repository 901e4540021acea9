#pragma once
#include <cameo/core/function_ref.hpp>
#include <cameo/partition/partition.hpp>
#include <cameo/session/session.hpp>
#include <cameo/session/threads.hpp>

#include "context/restore.hpp"
#include "context/write.hpp"
#include "file/held_folder.hpp"
#include "session/config.hpp"
#include "session/placement_rules.hpp"

#include <atomic>

namespace cameo::inline CAMEO_ABI {

/// A runner with its tables and room for the values that go in and out.
struct io_binding::impl {
  const session::impl* owner = nullptr;
  heap_arena tables{1 << 14};
  runner* run = nullptr;
  std::vector<value> inputs, outputs, bound;

  static result<std::unique_ptr<impl>> make(const session::impl&);
  impl() = default;
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  ~impl() {
    if (run) std::destroy_at(run);
  }
};

/// Where external data lies, instead of the model's own folder.
inline constexpr std::string_view weights_folder_key = "session.model_external_initializers_file_folder_path";

/// Folders of a model package that are held open, and its model's file; paths are followed from them. Null: by path.
struct opened_places {
  std::shared_ptr<const file_bytes> model;
  std::shared_ptr<const held_folder> beside, weights, contexts;  // the model's own; those of session keys
};

/// The compiled model that is written while a model is loaded, or instead.
struct compilation {
  compile_output output;  // never nothing
  std::string path;       // of the output, if it is a file
  context_output contexts;
  write_options weights;
  bool always = false;  // also when nothing was compiled
  bool fail_if_nothing = false;
  std::size_t compiled_nodes = 0;  // once written

  bool is_to_memory() const { return !std::holds_alternative<std::string>(output); }
  std::string weights_folder() const;  // with its separator
};

/// Of a model's main graph, as callers see it.
std::vector<io_info> inputs_of(const model&);
std::vector<io_info> outputs_of(const model&);

/// An input's dim that the model names instead of giving its size.
struct symbol_use {
  std::uint32_t symbol, input, axis;
};

struct session::impl {
  std::vector<std::byte> own_bytes;  // of a model that came through a stream; outlives the model
  opened_places places;              // of a model in a package
  session_options options;
  session_config config;
  placement_rules rules;                   // which nodes are for which kind of device
  std::vector<ep_assignment> assignments;  // if they are to be recorded
  std::vector<provider> providers;         // in use, by priority
  std::vector<device_kinds> kinds;         // of their devices, if there are rules
  std::vector<ep_device> devices;          // that were chosen for them
  std::vector<provider> all;               // of the runtime, while `choose_devices` has not chosen yet
  device_delegate choose_devices;
  std::span<const format_row> formats;
  const format_row* format = nullptr;                  // that the model was read by
  std::span<const transform_table* const> transforms;  // of level basic; providers have theirs
  transform_log log;
  std::unique_ptr<model> net;
  op_table ops;
  std::deque<function> bodies;                                        // standard function bodies that were needed
  std::vector<std::pair<const void*, const function*>> known_bodies;  // by their row
  std::deque<fused_node> fused;
  std::vector<std::string> fused_ops;  // per fused node: its operators, for people
  std::vector<compiled_node> programs;
  const compile_options* compile_only = nullptr;  // of runtime::compile
  std::optional<compilation> to_write;            // null: no compiled model is written
  std::shared_ptr<context_workspace> workspace;
  std::vector<memory_source> memories;
  std::vector<node_binder> binders;
  heap_arena plan_memory{1 << 16};
  const plan_view* plan = nullptr;
  std::vector<io_info> inputs, outputs;  // of the plan, in its order
  std::vector<const value*> defaults;    // per input: its value when the caller gives none, or null
  std::vector<symbol_use> symbols;       // where inputs name their dims, sorted by name
  std::unique_ptr<thread_pool> own_pool;
  task_pool_ref pool;
  std::size_t memory_limit = 0;

  mutable std::array<std::atomic<io_binding::impl*>, 64> idle{};
  mutable std::deque<std::atomic<bool>> other_shape_told;  // per output: a warning about another shape was given

  impl() = default;
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;
  ~impl() {
    for (auto& each : idle) delete each.load(std::memory_order_acquire);
  }

  /// A step of loading: its name in progress reports, its share of the time (an estimate), and its line for the log.
  struct stage {
    std::string_view name;
    unsigned percent;
    status (impl::*run)() = nullptr;  // null: what reads the model
    void (impl::*log)() const = nullptr;
  };
  const stage* at_stage = nullptr;
  double percent_before = 0;  // of the stages that are done
  mutable double told = 0;    // fraction of the last progress

  std::size_t warnings_told = 0;  // of the model's

  // messages.cpp
  void tell_part(double of_stage) const;
  void tell_warnings();
  void tell_shapes(std::span<const value> made) const;
  bool logs(log_level level) const { return options.log && level >= options.log_from; }
  void log_config() const;
  void log_model() const;
  void log_placements() const;
  void log_plan() const;

  // free_dims.cpp
  status fix_free_dims();

  // optimize.cpp
  status check_groups();
  status replay_saved();
  status apply_groups_of_providers(group_mode);
  status optimize_before();
  result<bool> rewrite_among(std::size_t provider, std::span<const transform_table* const> tables);
  result<bool> optimize_placed(optimization_level);
  result<const format_row*> saved_format() const;
  status write_out_definitions();
  status optimize_after();
  status save_optimized();

  // contexts.cpp
  status choose_output();
  status restore(std::size_t provider);
  bool is_source(const std::string& path) const;
  status choose_file(compilation&) const;
  status choose_weights(compilation&) const;
  status choose_contexts(compilation&) const;
  status write_compiled();
  status require_storing() const;
  status require_replaceable_files() const;

  // providers.cpp
  status require_known_keys(std::span<const provider>) const;
  status choose_providers(const session_parts&);
  status choose_named();
  status choose_by_devices();
  void publish(const provider_row&, const provider_options&);
  status configure_providers();

  // load.cpp, in this order
  status choose_format(std::span<const std::byte> bytes, std::string_view path);
  const format_row* format_of(std::span<const std::byte> bytes, std::string_view path) const;
  result<const format_row*> format_named(std::string_view key) const;
  status check();
  status inline_ahead();
  status align(const value*&);
  status place();
  status compile();
  status compile_groups(std::size_t provider);
  status make_the_plan();
  status describe_io();
  status start_threads();
  status load(std::span<const stage>, function_ref<status()> read);
  status start(const session_parts&, const session_options&);
  template <class Read>
  static result<session> make(const session_parts&, const session_options&, std::string_view name, Read&&);
  static result<std::unique_ptr<model>> read_path(impl&, const std::string& path, const read_options&);
  static result<std::unique_ptr<model>> read_span(impl&, std::span<const std::byte>, std::string_view name,
                                                  const read_options&);
  static result<session> make_of_file(const session_parts&, const session_options&, opened_places);
  read_options how_to_read() const;
  void find_kinds();
  std::vector<claim_row> claimers() const;
  const placement_rules* used_rules() const { return rules.rules.empty() ? nullptr : &rules; }
  result<const function*> body_of(model&, const graph_node&);

  // session.cpp
  std::vector<placement_info> placements(bool with_refusals) const;  // once compiled
  std::size_t fixed_bytes() const;
  result<std::unique_ptr<io_binding::impl>> acquire() const;
  void give_back(std::unique_ptr<io_binding::impl>) const;
  /// The input as a run takes it: with the model's shape where it brought none.
  result<value> input(std::size_t i, const named_input&) const;
  result<std::size_t> input_number(std::string_view name) const;
  /// INVALID_ARGUMENT when a symbol is of two sizes. Allocates nothing while all is well.
  status check_symbols(std::span<const value> given) const;
  status run(io_binding::impl&, const run_settings&) const;
  /// What went wrong in a run, with the model's file in front.
  status at_file(status failed) const;
};

}  // namespace cameo::inline CAMEO_ABI
