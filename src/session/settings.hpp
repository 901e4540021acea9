#pragma once
#include <cameo/context/workspace.hpp>
#include <cameo/ep/provider_row.hpp>
#include <cameo/format/format.hpp>
#include <cameo/partition/placement.hpp>
#include <cameo/session/loader.hpp>
#include <cameo/transform/transform.hpp>

#include "core/guarded.hpp"
#include "file/held_folder.hpp"
#include "session/config.hpp"

namespace CAMEO_NAMESPACE {

/// The key of the folder of external data.
inline constexpr const config_key_row& weights_folder_key =
    config_key<"session.model_external_initializers_file_folder_path">;

/// The model file of a model package and its folders, which are held open. Relative paths are followed from them; null:
/// a path is opened by name.
struct opened_places {
  std::shared_ptr<const detail::file_bytes> model;
  std::shared_ptr<const detail::held_folder> model_folder, weights, contexts;  // the last two: of session keys
};

/// The settings that a model is loaded with: the user's options and the parts of the runtime. They are checked before
/// the first stage of loading and do not change afterwards.
struct load_settings {
  session_options options;  // session keys are applied to them
  session_config config;
  placement_rules rules;                 // assign nodes to kinds of devices
  std::span<const provider> of_runtime;  // borrowed from the runtime, like the next two members
  std::span<const detail::format_row> formats;
  std::span<const transform_table* const> transforms;  // those of the runtime; providers have more
  std::shared_ptr<context_workspace> workspace;
  std::size_t memory_limit = 0;
  opened_places places;                           // for a model in a package
  const compile_options* compile_only = nullptr;  // the options of runtime::compile; null: the model is loaded to run

  /// Checks and resolves the options of a session. INVALID_ARGUMENT for options and keys that contradict each other,
  /// are unknown, or have a value that is not accepted.
  static result<load_settings> make(const detail::loader&, const session_options&);

  const placement_rules* used_rules() const { return rules.rules.empty() ? nullptr : &rules; }
  bool logs(log_level level) const { return options.log && level >= options.log_from; }
  void warn(std::string_view words) const {
    if (logs(log_level::warning)) options.log(log_level::warning, words);
  }
  std::vector<std::string_view> disabled_transforms() const;

  /// The format that the value of a session key names, as in ONNX Runtime: "ORT", and any other value means the last
  /// format of the list, ONNX. INVALID_ARGUMENT if ORT is not in the list.
  result<const detail::format_row*> format_named(std::string_view value) const;
};

/// The format of these bytes, or of a file of this path that is read or written; one of the two may be empty. It is the
/// last format of the list if none recognizes them.
const detail::format_row& format_of(std::span<const detail::format_row>, std::span<const std::byte> bytes,
                                    std::string_view path);

/// Wraps a callback of the options, so that errors about exceptions that it throws name the member.
template <class R, class... Args>
void name_exceptions_of(detail::callback<R(Args...)>& called, std::string_view name) {
  if (!called) return;
  called = [own = std::move(called), name](Args... args) -> R {
    return call_user(name, [&]() -> R { return own(std::forward<Args>(args)...); });
  };
}

/// True if a session key "ep.<of>.<option>" sets an option of this provider.
bool is_key_of(const provider_row&, std::string_view of);
/// Returns INVALID_ARGUMENT for an option that the provider does not have. `where` is what set the option, for the
/// message: "session key 'ep.cpu.x'".
status no_option(std::string_view where, const provider_row&, std::string_view option);

}  // namespace CAMEO_NAMESPACE
