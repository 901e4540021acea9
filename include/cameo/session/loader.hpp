#pragma once
#include <cameo/session/session.hpp>

namespace CAMEO_NAMESPACE {

class component_context;  // session/component_context.hpp
class package;            // package/package.hpp
class pipeline;           // session/pipeline.hpp
struct compile_options;   // session/compile.hpp
struct compile_report;
struct provider;   // ep/provider_row.hpp
struct selection;  // package/select.hpp
struct selection_request;
struct transform_table;  // transform/transform.hpp

namespace detail {
struct ep_intent;   // session/component_context.hpp
struct format_row;  // format/format.hpp

/// A type-erased runtime: its parts, which are borrowed while a model is loaded, and its functions. runtime<...>
/// documents the functions.
struct loader {
  member_span<const provider> providers;  // by priority
  member_span<const format_row> formats;
  std::span<const transform_table* const> transforms = {};  // applied before partitioning
  std::shared_ptr<context_workspace> workspace = {};        // shared by the runtime's sessions
  device_delegate choose_devices = {};                      // the runtime's device policy; empty: all providers

  CAMEO_API result<session> load(std::string_view path, const session_options&) const;
  CAMEO_API result<session> load(std::span<const std::byte> bytes, std::string_view name, const session_options&) const;
  CAMEO_API result<session> load(std::vector<std::byte>&& bytes, std::string_view name, const session_options&) const;
  CAMEO_API result<session> load_copy(std::span<const std::byte> bytes, std::string_view name,
                                      const session_options&) const;
  CAMEO_API result<session> load(std::istream&, std::string_view name, const session_options&) const;
  CAMEO_API result<session> load(std::unique_ptr<model>, const session_options&) const;
  /// Loads a component, or all components of a package. Null options: those of the package are used.
  CAMEO_API result<session> load(const component_context&, const session_options*) const;
  CAMEO_API result<pipeline> load(const package&, const session_options*,
                                  function_ref<selection(const selection_request&)>) const;
  CAMEO_API result<component_context> select(const package&, std::string_view component, const session_options&,
                                             function_ref<selection(const selection_request&)>) const;
  CAMEO_API result<ep_intent> intent(const session_options&) const;
  CAMEO_API result<compile_report> compile(compile_options) const;
  CAMEO_API result<std::optional<std::string>> compatibility(std::string_view path, std::string_view provider) const;
  CAMEO_API result<std::optional<std::string>> compatibility(std::span<const std::byte> bytes,
                                                             std::string_view provider) const;
  CAMEO_API result<compiled_fit> fit(std::span<const std::string_view> names, std::string_view written) const;
};

/// An empty workspace for a runtime; see context/workspace.hpp.
CAMEO_API std::shared_ptr<context_workspace> new_workspace();
}  // namespace detail

}  // namespace CAMEO_NAMESPACE
