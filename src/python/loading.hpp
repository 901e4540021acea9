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

/// A model in memory. Of a buffer that may be written to, a copy: what was checked must not change.
struct model_bytes {
  nb::object kept;
  std::vector<std::byte> copy = {};
  std::span<const std::byte> view = {};

  explicit model_bytes(nb::handle buffer);
};

/// What a session keeps of Python's: its callbacks, weights, and the exceptions that callbacks raised, the first of
/// each thread that calls them. One ends loading. The interpreter's lock guards all of it.
struct load_watch {
  stop_source stop;
  nb::object progress, log;
  std::vector<given_value> given;                      // instead of initializers
  std::vector<model_bytes> files;                      // of external data
  std::map<unsigned long, std::exception_ptr> thrown;  // by the thread that called

  /// The end of loading: `progress` is let go. Raises what a callback raised in any thread, whatever became of loading;
  /// otherwise the error of loading.
  template <class T>
  T result_of(result<T>&& loaded) {
    progress = nb::none();
    const std::map<unsigned long, std::exception_ptr> raised = std::exchange(thrown, {});
    if (!raised.empty()) std::rethrow_exception(raised.begin()->second);
    return check(std::move(loaded));
  }
  /// After each run: what a callback raised in this thread during the run, or null.
  std::exception_ptr take_of_this_thread() {
    const auto raised = thrown.extract(PyThread_get_thread_ident());
    return raised ? raised.mapped() : nullptr;
  }
  /// For the garbage collector, which has to find an owner of the session among what `log` refers to.
  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(log.ptr());
    return 0;
  }
  void clear() { log = nb::none(); }
};

/// Functions for the garbage collector, of a type that is bound to Python and has traverse() and clear() for what it
/// keeps.
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

/// cameo.Stop. Copies are the same stop; it is a token, too.
struct python_stop {
  std::shared_ptr<std::atomic<bool>> requested = std::make_shared<std::atomic<bool>>(false);

  bool stop_requested() const { return requested->load(std::memory_order_relaxed); }
};

/// The cameo.Stop that was given. InvalidArgument for anything else.
const python_stop& stop_of(nb::handle);

/// Session options from the keywords that cameo._options.normalized makes, and what watches over loading. Ctrl-C ends
/// loading, too.
struct load_setting {
  session_options options;
  std::shared_ptr<load_watch> watch;
};
load_setting to_setting(const nb::dict& keywords);

/// The bytes of a path or of another text, which need not be UTF-8.
std::string path_of(nb::handle text);

/// Adds `options`: what stands for an option's value, what it does, and its default, by the option's name.
void define_options(nb::module_&);
/// Adds providers(), devices(), Stop, and what works on files: compiling, inspecting, packages.
void define_tools(nb::module_&);
/// Adds Session, Binding and Profile.
void define_sessions(nb::module_&);

/// The names of a model's dims by number, without those that inference made up: it counts them from unk__0 on, and
/// leaves out the numbers that the file has.
std::vector<std::string> names_of_dims(const model&);
/// (name, "tensor", "float", dims or None, optional, type in words); a dim is a number, a name or None.
nb::tuple describe(const io_info&, const std::vector<std::string>& symbols);
/// What ends a run: the session's cancel(), the caller's own cameo.Stop, and Ctrl-C. It outlives the run; one run at a
/// time.
class run_stop {
 public:
  run_stop() = default;
  run_stop(const run_stop&) = delete;
  run_stop& operator=(const run_stop&) = delete;

  /// A run of this thread begins. `own` may be None.
  void begin(const python_stop& of_session, nb::handle own);
  /// For the run's settings; made once.
  const stop_token& token() const { return token_; }
  /// With the interpreter's lock, after the run: raises what a signal's handler raised, or else what a callback of the
  /// session's did. Neither is left for a later run of this thread.
  void raise_after_run(load_watch& watch) const {
    const std::exception_ptr raised = watch.take_of_this_thread();
    if (interrupted_) throw nb::python_error();
    if (raised) std::rethrow_exception(raised);
  }

 private:
  struct asked {
    const run_stop* of;
    bool stop_requested() const { return of->is_asked(); }
  };
  /// Nodes of a run ask this, in any of its threads. The interpreter is asked at every 16th look: counts that threads
  /// lose do no harm.
  bool is_asked() const {
    if (of_session_->load(std::memory_order_relaxed) || (own_ && own_->load(std::memory_order_relaxed))) return true;
    if (!owner_) return false;
    const unsigned looks = looks_.load(std::memory_order_relaxed) + 1;
    looks_.store(looks, std::memory_order_relaxed);
    return interrupted_.load(std::memory_order_relaxed) || (looks % 16 == 0 && ask_interpreter());
  }
  bool ask_interpreter() const;

  std::shared_ptr<const std::atomic<bool>> of_session_, own_;
  unsigned long owner_ = 0;  // the thread whose business signals are, if it is the one that runs
  mutable std::atomic<unsigned> looks_ = 0;
  mutable std::chrono::steady_clock::time_point next_ = {};
  mutable std::atomic<bool> interrupted_ = false;
  stop_token token_ = asked{this};
};

/// Finds the thread whose business signals are; once, when the module is imported.
void find_main_thread();

/// The inputs of a run: a dictionary of names, and what keeps the elements.
class run_inputs {
 public:
  run_inputs(nb::handle dictionary, const std::vector<io_info>& declared);
  std::span<const named_input> all() const { return all_; }

 private:
  std::vector<named_input> all_;
  std::vector<nb::object> kept_;
  std::vector<any_value> own_;
  std::vector<std::unique_ptr<std::string>> names_;  // of bytes that are no UTF-8
};
/// None: never; a number: seconds.
std::optional<detail::duration> to_timeout(nb::handle seconds);

}  // namespace cameo::python
