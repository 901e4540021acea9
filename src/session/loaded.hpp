#pragma once
#include "session/idle_objects.hpp"
#include "session/stages.hpp"

#include <cameo/os/heap_arena.hpp>

#include <atomic>

namespace CAMEO_NAMESPACE {

/// The state of a session that loading creates. It is immutable afterwards.
struct loaded {
  detail::callback<void(log_level, std::string_view words)> log;
  log_level log_from = log_level::warning;
  session_config config;
  placement_rules rules;
  std::shared_ptr<context_workspace> workspace;
  std::size_t memory_limit = 0;
  bool denormals_as_zero = false;
  chosen_providers chosen;
  read_model source;
  transform_log rewrites;
  placed_nodes placed;
  compiled_groups compiled;
  session_plan plan;
  described_io io;
  session_threads threads;

  const model& net() const { return *source.net; }
  std::vector<placement_info> placements(bool with_refusals) const;
  std::size_t fixed_bytes() const;
  /// True if all inputs and outputs are in host memory.
  bool has_host_io() const;
};

/// A runner with its tables and the arrays of its inputs and outputs.
struct io_binding::impl {
  const session::impl* owner = nullptr;
  detail::heap_arena tables{1 << 14};
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

/// Reads the model to be loaded. Called once.
using model_source = detail::function_ref<result<read_model>(const load_settings&)>;

/// A loaded model and its idle runners.
struct session::impl {
  /// Runs all stages of loading. `name` is the model's name in messages; `places` are the open files of a package.
  static result<session> make(const detail::loader&, const session_options&, std::string_view name,
                              opened_places places, model_source);
  explicit impl(loaded&& made) : state{std::move(made)}, other_shape_reported(state.io.outputs.size()) {}
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  const loaded state;
  mutable idle_objects<io_binding::impl, 64> idle;
  mutable std::vector<std::atomic<bool>> other_shape_reported;  // per output: it was warned of another shape
  mutable std::atomic<bool> sizes_reported = false;             // it was warned of two sizes for one name

  result<std::unique_ptr<io_binding::impl>> acquire() const;
  void give_back(std::unique_ptr<io_binding::impl>) const;
  /// The checked value of an input, with the declared shape if the caller gave none.
  result<value> input(std::size_t i, const named_input&) const;
  /// Compares the sizes that inputs give to the model's symbolic dims. INVALID_ARGUMENT if one symbol gets two sizes;
  /// one warning per session if two symbols with the same name get two sizes. Does not allocate if the sizes are
  /// correct.
  status check_symbols(std::span<const value> given) const;
  status run(io_binding::impl&, const run_settings&) const;
  result<named_values> run(io_binding::impl&, std::span<const named_input>, const run_settings&) const;
  status report_shapes(std::span<const value> made) const;
  /// An error of a run, preceded by the model's file.
  status at_file(status failed) const;
};

}  // namespace CAMEO_NAMESPACE
