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

/// How nodes are scheduled. `sequential`: one after the other, each on all threads. `parallel`: nodes that are
/// independent of each other at once.
enum class execution_mode : std::uint8_t { sequential, parallel };

/// The progress of loading a model.
struct load_progress {
  std::string_view stage;  ///< "read", "check", "optimize", "place", "compile" or "plan"; "done" once, at the end
  double fraction = 0;     ///< The estimated fraction of the work that is done, from 0 to 1. It never falls.
};

/// The severity of a message. The numbers are those of ONNX Runtime.
enum class log_level : std::uint8_t { verbose, info, warning };

/// The options for loading a model and running it. They are plain data, which loading copies. docs/options.md lists the
/// options that other interfaces have too, with their names there.
struct session_options {
  /// The providers to use, by short or long name, in order of priority. Empty: the runtime's list. The fallback stays
  /// last even if it is not named; naming it makes it explicit.
  std::vector<std::string> providers;
  /// The devices of these providers that may be used. A provider that has none here chooses its devices itself. See
  /// append().
  std::vector<ep_device> devices;
  /// Chooses providers by their devices if `providers` is empty: any device_selector (prefer_npu{}), or a function. It
  /// is called once for each model, on the thread that loads it. Empty: the policy of the runtime's type, or, if it has
  /// none, the whole list.
  detail::device_delegate choose_devices = {};
  /// Session keys with their values (docs/session_keys.md). If a key is given twice, the last value counts.
  std::vector<std::pair<std::string, std::string>> config;
  /// Sizes of dims that the model's inputs leave open, by the name of the dim ("batch"), or by its denotation
  /// ("DATA_BATCH", in any case): the model is planned for these sizes, and runs accept no others. ONNX Runtime calls
  /// them free dimension overrides. If a name is given twice, the last size counts. Loading ends with INVALID_ARGUMENT
  /// for a size below 0, and for one that contradicts the model or another entry; a name that no input has is a
  /// warning.
  std::vector<std::pair<std::string, std::int64_t>> free_dims = {}, free_dims_by_denotation = {};
  optimization_level optimize = optimization_level::all;
  execution_mode execution = execution_mode::sequential;
  std::size_t threads = 0;          // threads of a run, the caller's included; 0: as many as cpuset and quota allow
  detail::task_pool_ref pool = {};  // the user's threads instead; see use()
  std::size_t memory_limit = 0;     // bytes for the values of one run; 0: the machine's memory
  memory_source memory = {};        // for the values of runs; the heap if it has no `allocate`
  load_limits limits = {};          // limits for hostile files
  std::string external_data_folder = {};  // replaces the model's folder
  /// Tensors that replace initializers of an ONNX model's main graph, by name. They have the same type and shape, or
  /// loading ends with INVALID_ARGUMENT. Initializers that are replaced need no file of external data. The elements are
  /// in the host's memory, outlive the session and must not change while it lives, because many of them are not copied.
  /// A name that no initializer has is a warning.
  std::vector<detail::given_tensor> initializers = {};
  /// Files of external data that are in memory, by their location in the model. The bytes outlive the session.
  std::vector<detail::given_file> external_files = {};
  std::shared_ptr<context_workspace> workspace = {};  // for ep.share_ep_contexts; null: the runtime's workspace
  stop_token stop = {};                               // ends loading with MODEL_LOAD_CANCELED
  /// The provider, by short or long name, whose memory holds the inputs and outputs of runs that are tensors of
  /// numbers: pointers that are bound come from its `allocate`, and nothing is copied where its nodes read and write
  /// them. Then only bindings run (session::bind), and io_binding::get() is refused. Empty, or a provider without
  /// separate memory: the host's memory. Loading ends with INVALID_ARGUMENT for a provider that is not in use.
  std::string io_memory = {};
  /// These functions provide and receive the contexts of compiled models, instead of files. `name` is the text in the
  /// model, and not a path. They are called while a model is loaded or compiled, perhaps by several threads for several
  /// models. No files are used then, not even after an error of these functions, which is passed on.
  detail::callback<result<std::vector<std::byte>>(std::string_view name)> read_context = {};
  detail::callback<status(std::string_view name, std::span<const std::byte>)> write_context = {};
  /// This function is called while the model is loaded, on the thread that loads it, some hundred times at most.
  detail::callback<void(const load_progress&)> progress = {};
  /// This function receives messages about loading, on the thread that loads, and about the first run whose output has
  /// another shape than declared, on that run's thread, perhaps on two at once. The text is only valid during the call.
  detail::callback<void(log_level, std::string_view words)> log = {};
  log_level log_from = log_level::info;  // the least severity; less severe messages are not composed

  /// Adds a provider with some of its devices (of runtime::devices) and options for it ("device_type"), which override
  /// those of the devices. INVALID_ARGUMENT without a device, or for devices of different providers.
  CAMEO_API status append(std::span<const ep_device> of_one_provider, const detail::text_pairs& provider_options = {});
  /// Uses one of ONNX Runtime's policies. INVALID_ARGUMENT for a number that is not a policy's.
  CAMEO_API status prefer(device_policy);
  /// Runs use the user's threads. The pool outlives the session.
  template <task_pool P>
  session_options& use(P& own) {
    pool = detail::task_pool_ref{own};
    return *this;
  }
  /// Runs use the user's memory for intermediate values, and for outputs of a binding that are not bound. It is
  /// allocated in large pieces and outlives the session. session::run returns copies on the heap.
  template <host_memory M>
  session_options& allocate_from(M& own) {
    memory = detail::memory_source_of(own);
    return *this;
  }
};

/// The settings of one run. The objects that they refer to outlive the run.
struct run_settings {
  stop_token stop = {};                            // ends the run with CANCELED
  std::optional<detail::duration> timeout = {};    // ends the run with DEADLINE_EXCEEDED, at once if it is 0 or less
  const struct step_observer* observer = nullptr;  // is called for every step; trace_profile has one
};

}  // namespace CAMEO_NAMESPACE
