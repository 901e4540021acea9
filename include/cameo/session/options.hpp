#pragma once
#include <cameo/core/duration.hpp>
#include <cameo/core/memory.hpp>
#include <cameo/ep/device.hpp>
#include <cameo/format/given_weights.hpp>
#include <cameo/format/limits.hpp>
#include <cameo/run/task_pool.hpp>
#include <cameo/session/stop.hpp>
#include <cameo/transform/level.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CAMEO_NAMESPACE {

class context_workspace;  // context/workspace.hpp

/// The order of nodes: one after the other, each on all threads; or nodes that are independent of each other at once.
enum class execution_mode : std::uint8_t { sequential, parallel };

/// The progress of loading a model.
struct load_progress {
  std::string_view stage;  ///< "read", "check", "optimize", "place", "compile", "plan"; "done" once, at the end
  double fraction = 0;     ///< of the whole, an estimate from 0 to 1 that never falls
};

/// The severity of a message; numbers as ONNX Runtime's.
enum class log_level : std::uint8_t { verbose, info, warning };

/// How to load a model and run it. Plain data; names and meanings of `config` are ONNX Runtime's
/// (docs/session_keys.md).
struct session_options {
  /// Providers to use, by short or long name, in this order; empty: the runtime's list. The fallback stays last even if
  /// it is not named; naming it makes it explicit.
  std::vector<std::string> providers;
  /// Devices of these providers that may be used; a provider without any here chooses by itself. See append().
  std::vector<ep_device> devices;
  /// Chooses providers by their devices if `providers` is empty: any device_selector (prefer_npu{}), or a
  /// function. Called once for each model, on the thread that loads it. Empty: the policy of the runtime's type, or, if
  /// it has none, the whole list.
  detail::device_delegate choose_devices = {};
  std::vector<std::pair<std::string, std::string>> config;  // keys and values; of equal keys the last counts
  /// Sizes for dims that the model's inputs leave open, by the name that the model gives them ("batch"), or by what it
  /// says they are ("DATA_BATCH", in any case): the model is planned for these sizes, and runs take no others. ONNX
  /// Runtime calls them free dimension overrides. The last of a text counts. Loading ends with INVALID_ARGUMENT for a
  /// size below 0, or one that differs from what the model or another entry says; a name that no input has is a
  /// warning.
  std::vector<std::pair<std::string, std::int64_t>> free_dims = {}, free_dims_by_denotation = {};
  optimization_level optimize = optimization_level::all;
  execution_mode execution = execution_mode::sequential;  // parallel: independent nodes at once
  std::size_t threads = 0;                                // 0: what cpuset and CPU quota allow
  detail::task_pool_ref pool = {};                        // threads of the user's own instead; see use()
  std::size_t memory_limit = 0;                           // bytes for values of one run; 0: the machine's memory
  memory_source memory = {};                              // for values of runs; without `allocate`, the heap's
  load_limits limits = {};                                // limits for hostile files
  std::string external_data_folder = {};                  // instead of the model's own folder
  /// Tensors instead of initializers of an ONNX model's main graph, by name: of the same type and shape, or loading
  /// ends with INVALID_ARGUMENT. Those with external data need no file then. The elements are in the host's memory and
  /// outlive the session. Many of them are not copied, so they must not change while the session lives. A name that no
  /// initializer has is a warning.
  std::vector<detail::given_tensor> initializers = {};
  /// Files of external data that are in memory, by the location that the model gives them; they outlive the session.
  std::vector<detail::given_file> external_files = {};
  std::shared_ptr<context_workspace> workspace = {};  // for ep.share_ep_contexts; null: the runtime's
  stop_token stop = {};                               // ends loading with MODEL_LOAD_CANCELED
  /// A provider, by short or long name, in whose memory a run's inputs and outputs lie where they are tensors of
  /// numbers: pointers that are bound are of its `allocate`, and nothing is copied where its nodes read and make them.
  /// Only bindings run then (session::bind), and io_binding::get() is refused. Empty, or a provider without memory of
  /// its own: the host's. Loading ends with INVALID_ARGUMENT for a provider that is not in use.
  std::string io_memory = {};
  /// They provide and receive the contexts of compiled models instead of files; `name` is the text in the model, and no
  /// path. Called while a model is loaded or compiled, perhaps by several threads for several models. No files are used
  /// then, not even after an error of these functions, which is passed on.
  detail::callback<result<std::vector<std::byte>>(std::string_view name)> read_context = {};
  detail::callback<status(std::string_view name, std::span<const std::byte>)> write_context = {};
  /// Called while the model is loaded, on the thread that loads it, some hundred times at most. It does not throw.
  detail::callback<void(const load_progress&)> progress = {};
  /// Receives messages about loading, on the loading thread; and about the first run whose output has another shape
  /// than declared, on that run's thread, perhaps on two at once. The text is only valid during the call.
  detail::callback<void(log_level, std::string_view words)> log = {};
  log_level log_from = log_level::info;  // less severe messages are not composed

  /// Adds a provider with some of its devices (of runtime::devices) and options for it ("device_type"), which override
  /// those of the devices. INVALID_ARGUMENT without a device, or for devices of different providers.
  CAMEO_API status append(std::span<const ep_device> of_one_provider, const detail::text_pairs& provider_options = {});
  /// Uses one of ONNX Runtime's policies. INVALID_ARGUMENT for a number that is none of them.
  CAMEO_API status prefer(device_policy);
  /// Threads of the user's own; the pool outlives the session.
  template <task_pool P>
  session_options& use(P& own) {
    pool = detail::task_pool_ref{own};
    return *this;
  }
  /// Memory of the user's own for the values of runs: intermediate values, and outputs of a binding that are not bound.
  /// It is allocated in large pieces and outlives the session. session::run returns copies on the heap.
  template <host_memory M>
  session_options& allocate_from(M& own) {
    memory = detail::memory_source_of(own);
    return *this;
  }
};

/// The settings of one run. The objects that it refers to outlive the run.
struct run_settings {
  stop_token stop = {};                            // ends it with CANCELED
  std::optional<detail::duration> timeout = {};    // ends it with DEADLINE_EXCEEDED, at once if 0 or less
  const struct step_observer* observer = nullptr;  // called for every step; trace_profile has one
};

}  // namespace CAMEO_NAMESPACE
