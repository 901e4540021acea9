#pragma once
// What the handles of cameo/c/cameo.h are. The functions stand in one file for each topic.
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
  std::vector<std::string> names;  // none: the fallback alone, or what a policy chooses

  /// What a call's options are for this runtime; `given` may be null. INVALID_ARGUMENT when both name providers.
  cameo::result<cameo::session_options> options(const cameo_options* given) const;
};

struct cameo_options {
  cameo::session_options all;
};

struct cameo_io {
  const cameo::io_info* is;
  std::vector<std::string> dim_names;  // by axis, empty where the model has none
};

/// What a session and its bindings share: a binding may outlive the session's handle.
struct cameo_session {
  std::shared_ptr<const cameo::session> loaded;
  std::vector<cameo_io> inputs, outputs;
};

struct cameo_value {
  cameo::any_value owned;  // `is` refers to it, unless the elements are the caller's or a binding's
  cameo::value is;
  std::vector<std::unique_ptr<cameo_value>> parts;

  cameo_value() = default;
  explicit cameo_value(cameo::any_value made) : owned{std::move(made)} { show(owned.view()); }
  /// Refers to a value of which it owns nothing.
  void show(const cameo::value&);
};

struct cameo_binding {
  std::shared_ptr<const cameo::session> session;
  cameo::io_binding bound;
  std::vector<cameo_value> outputs;                                 // of the last run; empty before
  std::vector<std::pair<std::string, cameo::any_value>> kept = {};  // inputs whose parts are the binding's
};

struct cameo_stop {
  cameo::stop_source source;
  cameo::stop_token token = source.get_token();
};

namespace cameo::c {

/// The status as a function returns it; where there is no memory for an error, one that always was there.
cameo_error* to_error(status) noexcept;

/// What a function does, as it returns it: exceptions of containers are errors, too.
template <class Work>
cameo_error* answer(Work&& work) noexcept {
  return to_error(guarded(work));
}

/// INVALID_ARGUMENT for the first of these that is null: {"made", made}.
struct needed {
  const char* name;
  const void* pointer;
};
status need(std::initializer_list<needed>);

/// Dims from a caller, with their number of elements and bytes checked. INVALID_ARGUMENT in words.
result<extents> to_extents(const std::int64_t* dims, std::size_t rank);
/// A tensor in the caller's memory. INVALID_ARGUMENT when it does not fill it.
result<value> to_tensor(int element_type, const std::int64_t* dims, std::size_t rank, const void* elements,
                        std::size_t bytes);

/// What a getter is asked of; for NULL, something of its kind that is empty.
template <class T>
const T& shown(const T* handle) {
  static const T nothing{};
  return handle ? *handle : nothing;
}

/// Of one run.
run_settings to_settings(const cameo_stop*, std::int64_t timeout);

}  // namespace cameo::c
