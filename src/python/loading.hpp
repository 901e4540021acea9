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

/// A model in memory. A writable buffer is copied, because the bytes must not change after they were checked.
struct model_bytes {
  nb::object kept;  // keeps the buffer alive
  std::vector<std::byte> copy = {};
  std::span<const std::byte> view = {};

  explicit model_bytes(nb::handle buffer);
};

/// The Python objects of a session: its callbacks, weights, and the first exception that callbacks raised in each
/// thread. An exception ends loading. The interpreter's lock guards all members.
struct load_watch {
  stop_source stop;
  nb::object progress, log;
  std::vector<given_value> given;                      // values that replace initializers
  std::vector<model_bytes> files;                      // files of external data
  std::map<unsigned long, std::exception_ptr> thrown;  // by the thread in which the callback ran

  /// To be called when loading has ended; releases `progress`. If a callback raised an exception in any thread, raises
  /// it even if loading succeeded; otherwise raises the error of loading or returns the result.
  template <class T>
  T result_of(result<T>&& loaded) {
    progress = nb::none();
    const std::map<unsigned long, std::exception_ptr> raised = std::exchange(thrown, {});
    if (!raised.empty()) std::rethrow_exception(raised.begin()->second);
    return check(std::move(loaded));
  }
  /// To be called after each run: the exception that a callback raised in this thread during the run, or null.
  std::exception_ptr take_of_this_thread() {
    const auto raised = thrown.extract(PyThread_get_thread_ident());
    return raised ? raised.mapped() : nullptr;
  }
  /// Visits the objects for the garbage collector. `log` may refer to an owner of the session, which forms a cycle.
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(log.ptr());
    return 0;
  }
  void clear() { log = nb::none(); }
};

/// The garbage collector's functions for a type T that is bound to Python, by T's members traverse() and clear().
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

/// cameo.Stop. Copies share their state. It is also a stop token.
struct python_stop {
  std::shared_ptr<std::atomic<bool>> requested = std::make_shared<std::atomic<bool>>(false);

  bool stop_requested() const { return requested->load(std::memory_order_relaxed); }
};

/// The python_stop of a cameo.Stop. Raises InvalidArgument for any other object.
const python_stop& stop_of(nb::handle);

/// Session options, made from the keywords that cameo._options.normalized returns, and the Python objects that they
/// refer to. Ctrl-C also ends loading.
struct load_setting {
  session_options options;
  std::shared_ptr<load_watch> watch;
};
load_setting to_setting(const nb::dict& keywords);

/// A path as the system has it, which may be no UTF-8.
std::string path_of(nb::handle text);

/// Adds providers(), devices(), Stop, and what works on files: compiling, inspecting, packages.
void define_tools(nb::module_&);
/// Adds Session, Binding and Profile.
void define_sessions(nb::module_&);

/// The names of a model's dims by number, empty for names that shape inference generated: unk__0, unk__1 ..., except
/// those that the file has.
std::vector<std::string> names_of_dims(const model&);
/// (name, "tensor", "float", dims or None, optional, type as text); a dim is a number, a name or None.
nb::tuple describe(const io_info&, const std::vector<std::string>& symbols);
/// A tuple with describe() of each.
nb::tuple describe_all(const std::vector<io_info>&, const std::vector<std::string>& symbols);
/// The stop condition of a run: the session's cancel(), the caller's cameo.Stop, or Ctrl-C. It must outlive the run,
/// and serves one run at a time.
class run_stop {
 public:
  run_stop() = default;
  run_stop(const run_stop&) = delete;
  run_stop& operator=(const run_stop&) = delete;

  /// To be called when a run of this thread begins. `own` is the caller's cameo.Stop, or None.
  void begin(const python_stop& of_session, nb::handle own);
  /// The token for the settings of runs.
  const stop_token& token() const { return token_; }
  /// To be called after the run, with the interpreter's lock. Raises the exception of a signal handler, or else that of
  /// a callback of the session. Neither is kept for a later run of this thread.
  void raise_after_run(load_watch& watch) const {
    const std::exception_ptr raised = watch.take_of_this_thread();
    if (interrupted_) throw nb::python_error();
    if (raised) std::rethrow_exception(raised);
  }

 private:
  struct stop_check {
    const run_stop* stop;
    bool stop_requested() const { return stop->is_requested(); }
  };
  /// Called in any thread of the run, once for each node. Checks for signals in every 16th call; the counter is not
  /// exact when several threads update it at once, which does no harm.
  bool is_requested() const {
    if (of_session_->load(std::memory_order_relaxed) || (own_ && own_->load(std::memory_order_relaxed))) return true;
    if (!owner_) return false;
    const unsigned checks = checks_.load(std::memory_order_relaxed) + 1;
    checks_.store(checks, std::memory_order_relaxed);
    return interrupted_.load(std::memory_order_relaxed) || (checks % 16 == 0 && check_signals());
  }
  bool check_signals() const;

  std::shared_ptr<const std::atomic<bool>> of_session_, own_;
  unsigned long owner_ = 0;  // Python's main thread, which handles signals, if the run is in it; else 0
  mutable std::atomic<unsigned> checks_ = 0;
  mutable std::chrono::steady_clock::time_point next_ = {};
  mutable std::atomic<bool> interrupted_ = false;
  stop_token token_ = stop_check{this};
};

/// Finds the main thread, which handles signals. To be called once, when the module is imported.
void find_main_thread();

/// The inputs of a run, from a dictionary of Python objects by name. It keeps the elements alive.
class run_inputs {
 public:
  run_inputs(nb::handle dictionary, const std::vector<io_info>& declared);
  std::span<const named_input> all() const { return all_; }

 private:
  std::vector<named_input> all_;
  std::vector<nb::object> kept_;
  std::vector<any_value> own_;
  std::vector<std::unique_ptr<std::string>> names_;  // names with bytes that are not UTF-8
};
/// A timeout in seconds; nullopt for None.
std::optional<detail::duration> to_timeout(nb::handle seconds);

}  // namespace cameo::python
