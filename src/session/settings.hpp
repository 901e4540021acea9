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

/// Where external data lies, instead of the model's own folder.
inline constexpr const config_key_row& weights_folder_key =
    config_key<"session.model_external_initializers_file_folder_path">;

/// Folders of a model package that are held open, and its model's file; paths are followed from them. Null: by path.
struct opened_places {
  std::shared_ptr<const detail::file_bytes> model;
  std::shared_ptr<const detail::held_folder> beside, weights, contexts;  // the model's own; those of session keys
};

/// What a model is loaded with: the caller's options and the parts of the runtime. Checked before the first stage, and
/// the same for all stages.
struct load_settings {
  session_options options;  // with what their keys say
  session_config config;
  placement_rules rules;                 // which nodes are for which kind of device
  std::span<const provider> of_runtime;  // borrowed, as the next two
  std::span<const detail::format_row> formats;
  std::span<const transform_table* const> transforms;  // of the runtime; providers have more
  std::shared_ptr<context_workspace> workspace;
  std::size_t memory_limit = 0;
  opened_places places;                           // of a model in a package
  const compile_options* compile_only = nullptr;  // of runtime::compile

  /// INVALID_ARGUMENT for options and keys that contradict each other, are not known, or can't have their value.
  static result<load_settings> make(const detail::loader&, const session_options&);

  const placement_rules* used_rules() const { return rules.rules.empty() ? nullptr : &rules; }
  bool logs(log_level level) const { return options.log && level >= options.log_from; }
  void warn(std::string_view words) const {
    if (logs(log_level::warning)) options.log(log_level::warning, words);
  }
  std::vector<std::string_view> disabled_transforms() const;

  /// The format that the value of a session key names, as ONNX Runtime does: "ORT", and everything else is the last of
  /// the list, ONNX. INVALID_ARGUMENT when ORT is not in the list.
  result<const detail::format_row*> format_named(std::string_view value) const;
};

/// The format that reads these bytes or the file of this path (either may be empty), or that such a path is written
/// in: the last of the list where none recognizes them.
const detail::format_row& format_of(std::span<const detail::format_row>, std::span<const std::byte> bytes,
                                    std::string_view path);

/// From here on, what a callback throws has the name of the member of the options that it is.
template <class R, class... Args>
void name_exceptions_of(detail::callback<R(Args...)>& called, std::string_view name) {
  if (!called) return;
  called = [own = std::move(called), name](Args... args) -> R {
    return call_user(name, [&]() -> R { return own(std::forward<Args>(args)...); });
  };
}

/// Whether a session key "ep.<of>.<option>" is one of this provider.
bool is_key_of(const provider_row&, std::string_view of);
/// INVALID_ARGUMENT: `where` names an option that the provider does not have.
status no_option(std::string_view where, const provider_row&, std::string_view option);

}  // namespace CAMEO_NAMESPACE
