#pragma once
#include "program/runtime.hpp"
#include "python/errors.hpp"

#include <cameo/session/session.hpp>

#include <exception>
#include <memory>

namespace cameo::python {

/// What Python's callbacks leave behind while a model is loaded: the first exception, which ends it.
struct load_watch {
  stop_source stop;
  nb::object progress, log;
  std::exception_ptr thrown;

  /// Raises what a callback raised, whatever became of loading; otherwise the error of loading.
  template <class T>
  T result_of(result<T>&& loaded) {
    if (thrown) std::rethrow_exception(thrown);
    return check(std::move(loaded));
  }
};

/// cameo.Stop.
struct python_stop {
  stop_source source;
  stop_token token = source.get_token();
};

/// Session options from the keywords that cameo._options.normalized makes, and what watches over loading. Ctrl-C ends
/// loading, too.
struct load_setting {
  session_options options;
  std::shared_ptr<load_watch> watch;
};
load_setting to_setting(const nb::dict& keywords);

/// A model in memory. Of a buffer that may be written to, a copy: what was checked must not change.
struct model_bytes {
  nb::object kept;
  std::vector<std::byte> copy = {};
  std::span<const std::byte> view = {};

  explicit model_bytes(nb::handle buffer);
};

/// Adds providers(), devices(), Stop, and what works on files: compiling, inspecting, packages.
void define_tools(nb::module_&);
/// Adds Session, Binding and Profile.
void define_sessions(nb::module_&);

/// (name, "tensor", "float", dims or None, optional, type in words); a dim is a number, a name or None.
nb::tuple describe(const io_info&, const std::vector<std::string>& symbols);
/// The inputs of a run: a dictionary of names, and what keeps the elements.
class run_inputs {
 public:
  run_inputs(nb::handle dictionary, const std::vector<io_info>& declared);
  std::span<const named_input> all() const { return all_; }

 private:
  std::vector<named_input> all_;
  std::vector<nb::object> kept_;
  std::vector<any_value> own_;
};
/// None: never; a number: seconds.
std::optional<duration> to_timeout(nb::handle seconds);

}  // namespace cameo::python
