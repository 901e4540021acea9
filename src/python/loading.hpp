#pragma once
#include "build/runtime.hpp"
#include "python/arrays.hpp"

#include <cameo/session/session.hpp>

#include <atomic>
#include <chrono>
#include <exception>
#include <map>
#include <memory>
#include <utility>

namespace cameo::python {

/// The bytes of a model in memory. A buffer that may be written to is copied, because bytes that were checked must not
/// change.
struct model_bytes {
  nb::object kept;
  std::vector<std::byte> copy = {};
  std::span<const std::byte> view = {};

  explicit model_bytes(nb::handle buffer);
};

/// The objects of Python that a session keeps: its callbacks, weights, and the exceptions that callbacks raised, the
/// first of each thread. An exception ends loading. The interpreter's lock guards all members.
struct load_watch {
  stop_source stop;
  nb::object progress, log;
  std::vector<given_value> given;                      // replace initializers
  std::vector<model_bytes> files;                      // files of external data
  std::map<unsigned long, std::exception_ptr> thrown;  // the key is the thread that called

  /// Ends loading, and releases `progress`. Raises what a callback raised in any thread, even if the model was loaded;
  /// otherwise the error of loading.
  template <class T>
  T result_of(result<T>&& loaded) {
    progress = nb::none();
    const std::map<unsigned long, std::exception_ptr> raised = std::exchange(thrown, {});
    if (!raised.empty()) std::rethrow_exception(raised.begin()->second);
    return check(std::move(loaded));
  }
  /// Returns what a callback raised in this thread during a run, or null. It is called after each run.
  std::exception_ptr take_of_this_thread() {
    const auto raised = thrown.extract(PyThread_get_thread_ident());
    return raised ? raised.mapped() : nullptr;
  }
  /// Visits `log` for the garbage collector, because `log` may refer to an owner of the session.
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(log.ptr());
    return 0;
  }
  void clear() { log = nb::none(); }
};

/// The functions of the garbage collector for a type that is bound to Python, and that has traverse() and clear() for
/// the objects that it keeps.
template <class T>
int traverse_bound(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  return nb::inst_ready(self) ? nb::inst_ptr<T>(self)->traverse(visit, arg) : 0;
}
template <class T>
int clear_bound(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<T>(self)->clear();
  return 0;
}
template <class T>
inline PyType_Slot collected_slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse_bound<T>)},
                                        {Py_tp_clear, reinterpret_cast<void*>(clear_bound<T>)},
                                        {0, nullptr}};

/// The class cameo.Stop, which is a stop token, too. Copies share the state.
struct python_stop {
  std::shared_ptr<std::atomic<bool>> requested = std::make_shared<std::atomic<bool>>(false);

  bool stop_requested() const { return requested->load(std::memory_order_relaxed); }
};

/// The cameo.Stop that was given. InvalidArgument for anything else.
const python_stop& stop_of(nb::handle);

/// The session options made of the keywords that cameo._options.normalized returns, and the objects that they refer to.
/// Ctrl-C ends loading, too.
struct load_setting {
  session_options options;
  std::shared_ptr<load_watch> watch;
};
load_setting to_setting(const nb::dict& keywords);

/// The bytes of a path or of another text, which need not be UTF-8.
std::string path_of(nb::handle text);

/// Adds `options`: what stands for an option's value, what it does, and its default, by the option's name.
void define_options(nb::module_&);
/// Adds providers(), devices(), Stop, and the functions that work on files: compiling, inspecting, packages.
void define_tools(nb::module_&);
/// Adds Session, Binding and Profile.
void define_sessions(nb::module_&);

/// The names of a model's dims by number, without those that shape inference made up. It counts them from unk__0 on,
/// and leaves out numbers that occur in the file.
std::vector<std::string> names_of_dims(const model&);
/// (name, "tensor", "float", dims or None, optional, type in words); a dim is a number, a name or None.
nb::tuple describe(const io_info&, const std::vector<std::string>& symbols);
/// A tuple with describe() of each.
nb::tuple describe_all(const std::vector<io_info>&, const std::vector<std::string>& symbols);
/// Ends a run by the session's cancel(), the caller's cameo.Stop, or Ctrl-C. It outlives the run, and is used by one
/// run at a time.
class run_stop {
 public:
  run_stop() = default;
  run_stop(const run_stop&) = delete;
  run_stop& operator=(const run_stop&) = delete;

  /// Prepares for a run of this thread. `own` may be None.
  void begin(const python_stop& of_session, nb::handle own);
  /// The token for the settings of the run.
  const stop_token& token() const { return token_; }
  /// Raises, after the run and with the interpreter's lock, what the handler of a signal raised, or else what a
  /// callback of the session raised. Neither is left for a later run of this thread.
  void raise_after_run(load_watch& watch) const {
    const std::exception_ptr raised = watch.take_of_this_thread();
    if (interrupted_) throw nb::python_error();
    if (raised) std::rethrow_exception(raised);
  }

 private:
  struct run_token {
    const run_stop* run;
    bool stop_requested() const { return run->is_requested(); }
  };
  /// Nodes of a run call this function on any thread of the run. Every 16th call checks the interpreter for signals.
  /// The count need not be exact, so threads may lose increments.
  bool is_requested() const {
    if (of_session_->load(std::memory_order_relaxed) || (own_ && own_->load(std::memory_order_relaxed))) return true;
    if (!owner_) return false;
    const unsigned looks = looks_.load(std::memory_order_relaxed) + 1;
    looks_.store(looks, std::memory_order_relaxed);
    return interrupted_.load(std::memory_order_relaxed) || (looks % 16 == 0 && check_interpreter());
  }
  bool check_interpreter() const;

  std::shared_ptr<const std::atomic<bool>> of_session_, own_;
  unsigned long owner_ = 0;  // the thread of the run if it is the one that handles signals, else 0
  mutable std::atomic<unsigned> looks_ = 0;
  mutable std::chrono::steady_clock::time_point next_ = {};
  mutable std::atomic<bool> interrupted_ = false;
  stop_token token_ = run_token{this};
};

/// Finds the main thread, which handles signals. It is called once, when the module is imported.
void find_main_thread();

/// The inputs of a run, from a dictionary of names and values, and the objects that own the elements.
class run_inputs {
 public:
  run_inputs(nb::handle dictionary, const std::vector<io_info>& declared);
  std::span<const named_input> all() const { return all_; }

 private:
  std::vector<named_input> all_;
  std::vector<nb::object> kept_;
  std::vector<any_value> own_;
  std::vector<std::unique_ptr<std::string>> names_;  // names that are not UTF-8
};
/// Converts a number of seconds, or None for no timeout.
std::optional<detail::duration> to_timeout(nb::handle seconds);

}  // namespace cameo::python
