#pragma once
// The definitions of the handles of cameo/c/cameo.h. The functions are in one source file for each topic.
#include "build/runtime.hpp"
#include "core/guarded.hpp"

#include <cameo/c/cameo.h>
#include <cameo/session/session.hpp>

#include <memory>
#include <string>
#include <vector>

struct cameo_error {
  cameo::status why;
};

struct cameo_runtime {
  cameo::build::runtime providers;
  std::vector<std::string> names;  // empty: only the fallback, or the providers that a policy chooses

  /// The caller's options (may be null) with the providers `names`. INVALID_ARGUMENT if `names` is not empty and the
  /// options also have a policy, which would choose the providers.
  cameo::result<cameo::session_options> options(const cameo_options* given) const;
};

struct cameo_options {
  cameo::session_options all;
};

struct cameo_io {
  const cameo::io_info* info;
  std::vector<std::string> dim_names;  // per axis; empty: the dim has no name
};

/// A loaded session, which its bindings share, because they may outlive its handle.
struct cameo_session {
  std::shared_ptr<const cameo::session> loaded;
  std::vector<cameo_io> inputs, outputs;
};

struct cameo_value {
  cameo::any_value owned;  // the data of `view`, unless that is the caller's or a binding's
  cameo::value view;
  std::vector<std::unique_ptr<cameo_value>> parts;

  cameo_value() = default;
  explicit cameo_value(cameo::any_value made) : owned{std::move(made)} { refer_to(owned.view()); }
  /// Sets `view` and `parts` to a value without owning it.
  void refer_to(const cameo::value&);
};

struct cameo_binding {
  std::shared_ptr<const cameo::session> session;
  cameo::io_binding bound;
  std::vector<cameo_value> outputs;                                 // of the last run; empty before it
  std::vector<std::pair<std::string, cameo::any_value>> kept = {};  // the inputs that the binding owns, by name
};

struct cameo_stop {
  cameo::stop_source source;
  cameo::stop_token token = source.get_token();
};

namespace cameo::c {

/// Converts a status to an error handle, null for success. If memory for the handle runs out, the result is a static
/// handle with OUT_OF_MEMORY.
cameo_error* to_error(status) noexcept;

/// Runs the body of a C function and converts its status; exceptions, such as those of containers, become errors.
template <class Work>
cameo_error* answer(Work&& work) noexcept {
  return to_error(guarded(work));
}

/// An argument that must not be null: {"made", made}.
struct needed {
  const char* name;
  const void* pointer;
};
/// Checks arguments that must not be null. INVALID_ARGUMENT, with the argument's name, for the first that is null.
status need(std::initializer_list<needed>);

/// The caller's dims as a shape. INVALID_ARGUMENT when the rank is too large, a dim is negative, or the number of
/// elements overflows.
result<extents> to_extents(const std::int64_t* dims, std::size_t rank);
/// A tensor in the caller's memory. INVALID_ARGUMENT unless its elements take exactly `bytes` bytes.
result<value> to_tensor(int element_type, const std::int64_t* dims, std::size_t rank, const void* elements,
                        std::size_t bytes);

/// The handle that was passed to a getter; for NULL, an empty object of its type.
template <class T>
const T& deref(const T* handle) {
  static const T nothing{};
  return handle ? *handle : nothing;
}

/// The settings of one run; `timeout` is in nanoseconds, negative for none.
run_settings to_settings(const cameo_stop*, std::int64_t timeout);

}  // namespace cameo::c
