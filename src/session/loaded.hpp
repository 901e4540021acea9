#pragma once
#include "session/idle_objects.hpp"
#include "session/stages.hpp"

#include <cameo/os/heap_arena.hpp>

#include <atomic>

namespace CAMEO_NAMESPACE {

/// What a session keeps of loading. It does not change from then on.
struct loaded {
  detail::callback<void(log_level, std::string_view words)> log;
  log_level log_from = log_level::warning;
  session_config config;
  placement_rules rules;
  std::shared_ptr<context_workspace> workspace;
  std::size_t memory_limit = 0;
  bool denormals_as_zero = false;
  chosen_providers by;
  read_model from;
  transform_log rewrites;
  placed_nodes placed;
  compiled_groups compiled;
  session_plan plan;
  described_io io;
  session_threads threads;

  const model& net() const { return *from.net; }
  std::vector<placement_info> placements(bool with_refusals) const;
  std::size_t fixed_bytes() const;
  /// Whether all inputs and outputs lie in the host's memory.
  bool has_host_io() const;
};

/// A runner with its tables and room for the values that go in and out.
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

/// Reads the model that is to be loaded; called once.
using model_source = detail::function_ref<result<read_model>(const load_settings&)>;

/// A loaded model and its runners that are not in use.
struct session::impl {
  /// All stages. `name`: of the model, for messages; `places`: of a model in a package.
  static result<session> make(const detail::loader&, const session_options&, std::string_view name,
                              opened_places places, model_source);
  explicit impl(loaded&& made) : is{std::move(made)}, other_shape_told(is.io.outputs.size()) {}
  impl(const impl&) = delete;
  impl& operator=(const impl&) = delete;

  const loaded is;
  mutable idle_objects<io_binding::impl, 64> idle;
  mutable std::vector<std::atomic<bool>> other_shape_told;  // per output: a warning about another shape was given
  mutable std::atomic<bool> sizes_told = false;             // a warning about dims of one name was given

  result<std::unique_ptr<io_binding::impl>> acquire() const;
  void give_back(std::unique_ptr<io_binding::impl>) const;
  /// The input as a run takes it: with the model's shape where it brought none.
  result<value> input(std::size_t i, const named_input&) const;
  /// INVALID_ARGUMENT when a symbol is of two sizes; a warning, once, when symbols of one name are. Allocates nothing
  /// while all is well.
  status check_symbols(std::span<const value> given) const;
  status run(io_binding::impl&, const run_settings&) const;
  result<named_values> run(io_binding::impl&, std::span<const named_input>, const run_settings&) const;
  status tell_shapes(std::span<const value> made) const;
  /// What went wrong in a run, with the model's file in front.
  status at_file(status failed) const;
};

}  // namespace CAMEO_NAMESPACE
