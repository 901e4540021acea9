#pragma once
#include <cameo/core/memory.hpp>
#include <cameo/ep/device.hpp>
#include <cameo/format/format.hpp>
#include <cameo/run/task_pool.hpp>
#include <cameo/transform/level.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace cameo::inline CAMEO_ABI {

class context_workspace;  // context/workspace.hpp

/// In which order nodes run: one after the other, each on all threads; or those that don't wait for each other at once.
enum class execution_mode : std::uint8_t { sequential, parallel };

/// How far the loading of a model has come.
struct load_progress {
  std::string_view stage;  ///< "read", "check", "optimize", "place", "compile", "plan"; "done" once, at the end
  double fraction = 0;     ///< of the whole, an estimate from 0 to 1 that never falls
};

/// How much a message matters; numbers as ONNX Runtime's.
enum class log_level : std::uint8_t { verbose, info, warning };

/// How to load a model and run it. Plain data; names and meanings of `config` are ONNX Runtime's
/// (docs/session_keys.md).
struct session_options {
  /// Providers to use, by short or long name, in this order; empty: the runtime's list. The fallback stays last without
  /// being named; naming it makes it explicit.
  std::vector<std::string> providers;
  /// Devices of these providers that may be used; a provider without any here uses what it likes. See append().
  std::vector<ep_device> devices;
  /// Chooses providers by their devices where `providers` names none: any device_selector (prefer_npu{}), or a
  /// function. Called once for each model, on the thread that loads it. Empty: what the runtime's type says, which is
  /// the whole list if it says nothing.
  device_delegate choose_devices = {};
  std::vector<std::pair<std::string, std::string>> config;  // keys and values; the last of a key holds
  optimization_level optimize = optimization_level::all;
  execution_mode execution = execution_mode::sequential;  // parallel: independent nodes at once
  std::size_t threads = 0;                                // 0: what cpuset and CPU quota allow
  task_pool_ref pool = {};                                // threads of the user's own instead
  bool use_pool = false;                                  // true: `pool` counts
  std::size_t memory_limit = 0;                           // bytes for values of one run; 0: the machine's memory
  memory_source memory = {};                              // for values of runs; without `allocate`: the heap
  load_limits limits = {};                                // what a hostile file may cost
  std::string external_data_folder = {};                  // instead of the model's own folder
  std::shared_ptr<context_workspace> workspace = {};      // for ep.share_ep_contexts; null: the runtime's
  std::stop_token stop = {};                              // ends loading with MODEL_LOAD_CANCELED
  /// Gives and takes contexts of compiled models instead of files; `name` is what the model says, and no path. Called
  /// while a model is loaded or compiled, perhaps by several threads for several models. There are no files then, also
  /// when it fails, and what it fails with is passed on.
  std::function<result<std::vector<std::byte>>(std::string_view name)> read_context = {};
  std::function<status(std::string_view name, std::span<const std::byte>)> write_context = {};
  /// Called while the model is loaded, on the thread that loads it, some hundred times at most. It does not throw.
  std::function<void(const load_progress&)> progress = {};
  /// Told what a person may want to know of loading, on the thread that loads; and of the first run that makes an
  /// output of another shape than declared, on that run's, perhaps on two at once. The words are gone afterwards.
  std::function<void(log_level, std::string_view words)> log = {};
  log_level log_from = log_level::info;  // what matters less is not put together

  /// Adds a provider with some of its devices (of runtime::devices) and options for it ("device_type"), which win over
  /// the devices'. INVALID_ARGUMENT without a device, or for devices of different providers.
  CAMEO_API status append(std::span<const ep_device> of_one_provider, const text_pairs& provider_options = {});
  /// Lets one of ONNX Runtime's policies choose. INVALID_ARGUMENT for a number that is none of them.
  CAMEO_API status prefer(device_policy);
  /// Threads of the user's own; the pool outlives the session.
  template <task_pool P>
  session_options& use(P& own) {
    pool = task_pool_ref{own};
    use_pool = true;
    return *this;
  }
  /// Memory of the user's own for the values of runs: those in between, and outputs of a binding that are not bound. It
  /// is taken in large pieces and outlives the session. What session::run returns are copies on the heap.
  template <host_memory M>
  session_options& allocate_from(M& own) {
    memory = memory_source_of(own);
    return *this;
  }
};

/// One run. What it refers to outlives the run.
struct run_settings {
  std::stop_token stop = {};                         // ends it with CANCELED
  std::chrono::steady_clock::duration timeout = {};  // ends it with DEADLINE_EXCEEDED; zero: none
  const struct step_observer* observer = nullptr;    // told of every step; trace_profile has one
};

}  // namespace cameo::inline CAMEO_ABI
