#include "inspect/page.hpp"
#include "python/arrays.hpp"
#include "python/loading.hpp"

#include <cameo/graph/model.hpp>
#include <cameo/session/profile.hpp>

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <atomic>

namespace cameo::python {
namespace {

/// cameo.Session. Members are changed only with the interpreter's lock.
struct python_session {
  std::optional<model_bytes> bytes;  // has to outlive `loaded`, whose weights may refer to it
  std::shared_ptr<const session> loaded;
  nb::object inputs, outputs;  // tuples of descriptions
  std::vector<nb::object> output_names;
  python_stop stop;  // for the runs since the last cancel()
  std::shared_ptr<load_watch> watch;
  std::shared_ptr<trace_profile> profile = {};

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(inputs.ptr());
    Py_VISIT(outputs.ptr());
    if (bytes) Py_VISIT(bytes->kept.ptr());
    return watch->traverse(visit, arg);
  }
  void clear() { watch->clear(); }

  /// The settings of a run. The caller keeps the profile and `ends` alive until it has ended.
  run_settings settings(nb::handle timeout, const run_stop& ends) const {
    run_settings made;
    made.timeout = to_timeout(timeout);
    made.stop = ends.token();
    if (profile) made.observer = &profile->observer();
    return made;
  }
};

void load(python_session* self, nb::handle source, std::string_view name, const nb::dict& keywords) {
  load_setting how = to_setting(keywords);
  std::optional<model_bytes> bytes;
  std::string path;
  if (PyUnicode_Check(source.ptr())) path = path_of(source);
  else bytes.emplace(source);
  result<session> loaded = [&] {
    const without_interpreter others_run;
    const build::runtime runtime;
    return bytes ? runtime.load(bytes->view, how.options, name) : runtime.load(path, how.options);
  }();
  session made = how.watch->result_of(std::move(loaded));
  new (self)
      python_session{std::move(bytes), std::make_shared<const session>(std::move(made)), {}, {}, {}, {}, how.watch};
  const std::vector<std::string> symbols = names_of_dims(self->loaded->graph());
  self->inputs = describe_all(self->loaded->inputs(), symbols);
  self->outputs = describe_all(self->loaded->outputs(), symbols);
  for (const io_info& each : self->loaded->outputs()) self->output_names.push_back(to_text(each.name));
}

named_values run_once(const python_session& self, nb::handle inputs, nb::handle timeout, nb::handle stop) {
  const run_inputs given{inputs, self.loaded->inputs()};
  run_stop ends;
  ends.begin(self.stop, stop);
  const run_settings settings = self.settings(timeout, ends);
  const std::shared_ptr<trace_profile> profile = self.profile;
  result<named_values> made = [&] {
    const without_interpreter others_run;
    return self.loaded->run(given.all(), settings);
  }();
  ends.raise_after_run(*self.watch);
  return check(std::move(made));
}

nb::object shown(const any_value& made, bool values) {
  return values ? to_python_value(made, made.view()) : to_python(made, made.view());
}

nb::dict run(const python_session& self, nb::handle inputs, nb::handle timeout, nb::handle stop, bool values) {
  const named_values made = run_once(self, inputs, timeout, stop);
  nb::dict all;
  for (std::size_t i = 0; i < made.size(); ++i) {
    const nb::object one = shown(made[i].value, values);
    if (PyDict_SetItem(all.ptr(), self.output_names[i].ptr(), one.ptr()) != 0) throw nb::python_error();
  }
  return all;
}

/// The index of an input or output; all.size() for an unknown name, for which the library has an error message.
std::size_t index_of(const std::vector<io_info>& all, std::string_view name) {
  std::size_t i = 0;
  while (i < all.size() && all[i].name != name) ++i;
  return i;
}

/// The indexes of outputs by their names; None: all outputs.
std::vector<std::size_t> chosen_outputs(const python_session& self, nb::handle names) {
  std::vector<std::size_t> made;
  const std::vector<io_info>& all = self.loaded->outputs();
  if (names.is_none()) {
    for (std::size_t i = 0; i < all.size(); ++i) made.push_back(i);
    return made;
  }
  if (PyUnicode_Check(names.ptr())) raise({status_code::invalid_argument, "names of outputs come in a list"});
  for (const nb::handle name : nb::borrow<nb::object>(names)) {
    const std::string text = of_text(name);
    const std::size_t i = index_of(all, text);
    if (i == all.size()) raise(status{status_code::invalid_argument, "the model has no output of this name"}.in(text));
    made.push_back(i);
  }
  return made;
}

nb::list run_list(const python_session& self, nb::handle names, nb::handle inputs, nb::handle timeout, nb::handle stop,
                  bool values) {
  const std::vector<std::size_t> chosen = chosen_outputs(self, names);
  const named_values made = run_once(self, inputs, timeout, stop);
  nb::list all;
  for (const std::size_t i : chosen) all.append(shown(made[i].value, values));
  return all;
}

/// cameo.Binding. It keeps the objects that runs read and write alive. If a second thread uses it at the same time,
/// that thread gets an error.
struct python_binding {
  nb::object owner;  // the cameo.Session
  const python_session* parent;
  std::shared_ptr<const session> loaded;
  io_binding bound;
  struct kept_value {
    nb::object object;
    any_value own = {};
    nb::object memory = {};  // a memoryview: while it exists, the object must not move its elements
  };
  std::vector<kept_value> inputs, outputs;
  std::atomic<bool> is_used = false;
  bool has_run = false;
  run_stop ends = {};  // for the current run

  int traverse(visitproc visit, void* arg) const {
    Py_VISIT(owner.ptr());
    for (const std::vector<kept_value>* all : {&inputs, &outputs})
      for (const kept_value& each : *all) {
        Py_VISIT(each.object.ptr());
        Py_VISIT(each.memory.ptr());
      }
    return 0;
  }
  /// Releases nothing, because a run would then use released memory. The collector breaks cycles at other objects.
  void clear() {}
};

/// Marks a binding as in use until the destructor.
class binding_use {
 public:
  explicit binding_use(python_binding& binding) : binding_{binding} {
    if (binding_.is_used.exchange(true))
      raise({status_code::invalid_argument, "the binding is used by another thread; each thread needs its own"});
  }
  binding_use(const binding_use&) = delete;
  binding_use& operator=(const binding_use&) = delete;
  ~binding_use() { binding_.is_used = false; }

 private:
  python_binding& binding_;
};

void bind_input(python_binding& self, const nb::str& input, nb::handle object) {
  const binding_use used{self};
  const std::string name = of_text(input);
  const std::vector<io_info>& all = self.loaded->inputs();
  const std::size_t i = index_of(all, name);
  given_value given = to_value(object, i < all.size() ? all[i].type : value_type{}, name);
  named_input bound{name, given.view};
  if (given.any_shape) bound.shape_of_model = true, bound.count = given.view.shape.count();
  check(self.bound.bind_input(bound));
  self.inputs[i] = {std::move(given.kept), std::move(given.own)};
}

void bind_output(python_binding& self, const nb::str& output, nb::handle object) {
  const binding_use used{self};
  const std::string name = of_text(output);
  const std::size_t i = index_of(self.loaded->outputs(), name);
  if (object.is_none()) {
    check(self.bound.bind_output(name, value{}));
    self.outputs[i] = {};
    return;
  }
  given_value given = to_value(object, {}, name);
  const bool has_bytes = given.view.kind == value_kind::tensor && bits_of(given.view.type) >= 8;
  if (given.is_read_only || !given.is_shared || !has_bytes)
    raise(status{status_code::invalid_argument,
                 "runs can't write there: an output needs a writable, dense array of a type of whole bytes"}
              .in(name));
  check(self.bound.bind_output(name, given.view));
  self.outputs[i] = {nb::borrow(object), {}, std::move(given.kept)};
}

void run_binding(python_binding& self, nb::handle timeout, nb::handle stop) {
  const binding_use used{self};
  self.has_run = false;
  self.ends.begin(self.parent->stop, stop);
  const run_settings settings = self.parent->settings(timeout, self.ends);
  const std::shared_ptr<trace_profile> profile = self.parent->profile;
  status done;
  {
    const without_interpreter others_run;
    done = self.loaded->run(self.bound, settings);
  }
  self.ends.raise_after_run(*self.parent->watch);
  check(done);
  self.has_run = true;
}

/// The object that was bound to an output if the last run filled all of it, otherwise a copy of the output.
nb::object output_of(python_binding& self, std::size_t i, bool values) {
  const value& made = self.bound.output(i);
  const nb::object& bound = self.outputs[i].object;
  if (bound.is_valid() && !bound.is_none() && !values)
    if (const given_value whole = to_value(bound, {}, "output"); whole.view.shape == made.shape) return bound;
  if (!values) return copy_to_python(made);
  const any_value copy = any_value::copy_of(made);
  return to_python_value(copy, copy.view());
}

nb::dict outputs_of(python_binding& self, bool values) {
  const binding_use used{self};
  if (!self.has_run) raise({status_code::invalid_argument, "the binding has not run yet, or its last run failed"});
  nb::dict all;
  for (std::size_t i = 0; i < self.bound.output_count(); ++i)
    all[self.parent->output_names[i]] = output_of(self, i, values);
  return all;
}

nb::list placements_of(const python_session& self, bool with_refusals) {
  nb::list all;
  for (const placement_info& each : self.loaded->placements(with_refusals)) {
    nb::list refusals;
    for (const auto& refusal : each.refusals) refusals.append(to_words(refusal));
    all.append(nb::make_tuple(to_text(each.node), to_text(each.domain), to_text(each.op_type), each.provider,
                              each.opset, each.depth, to_text(each.fused_from), nb::tuple(refusals),
                              to_text(each.output)));
  }
  return all;
}

nb::dict metadata_of(const python_session& self) {
  const model& m = self.loaded->graph();
  nb::dict made, properties, opsets;
  for (const detail::property& each : m.metadata) properties[to_words(each.first)] = to_words(each.second);
  for (const opset_import& each : m.imports) opsets[to_words(each.domain)] = each.version;
  made["producer_name"] = to_words(m.producer_name);
  made["producer_version"] = to_words(m.producer_version);
  made["graph_name"] = to_words(m.main().name);
  made["domain"] = to_words(m.domain);
  made["description"] = to_words(m.doc_string);
  made["version"] = m.model_version;
  made["ir_version"] = m.ir_version;
  made["opsets"] = opsets;
  made["custom_metadata_map"] = properties;
  return made;
}

nb::object page(const python_session& self, nb::handle name) {
  const std::string path = path_of(name);
  const std::string made = [&] {
    const without_interpreter others_run;
    return inspect::page_of(path, *self.loaded, inspect::look_at(*self.loaded));
  }();
  return to_words(made);
}

nb::dict counts_of(const python_session& self) {
  const inspect::inspection seen = inspect::look_at(*self.loaded);
  nb::dict made, ops, providers;
  for (const auto& [op, count] : seen.ops) ops[to_text(op)] = count;
  for (const auto& [name, count] : seen.providers) providers[to_text(name)] = count;
  made["ops"] = ops;
  made["providers"] = providers;
  made["parameters"] = seen.parameters.elements;
  made["parameter_bytes"] = seen.parameters.bytes;
  made["arena_bytes"] = self.loaded->fixed_bytes();
  return made;
}

void define_binding(nb::module_& m) {
  nb::class_<python_binding>(
      m, "Binding", nb::type_slots(collected_slots<python_binding>),
      "A session with its inputs and outputs bound to memory. Runs copy nothing and, from the second run on, allocate "
      "nothing.\n\nOne run at a time; each thread needs its own binding.")
      .def("bind_input", bind_input, nb::arg("name"), nb::arg("object").none(),
           "Every run reads the elements of this array, buffer or tensor, which may change between runs. The binding "
           "keeps it alive. None: an optional input without a value.\n\nRaises InvalidArgument for an unknown name, or "
           "for another type or shape than the model's.")
      .def("bind_output", bind_output, nb::arg("name"), nb::arg("object").none(),
           "Runs write the output into this array, buffer or tensor, which must be large enough; None: into memory of "
           "the binding again.\n\nRaises InvalidArgument for an unknown name, another type, or read-only memory.")
      .def("run", run_binding, nb::arg("timeout").none() = nb::none(), nb::arg("stop").none() = nb::none(),
           "Runs once, without the interpreter's lock.\n\nRaises InvalidArgument, Canceled, DeadlineExceeded (after "
           "`timeout` seconds), OutOfMemory.")
      .def("outputs", outputs_of, nb::arg("values") = false,
           "The outputs of the last run by name: the bound object if the run filled all of it, otherwise a copy.");
}

void define_profile(nb::module_& m) {
  nb::class_<trace_profile>(m, "_Profile")
      .def_prop_ro("steps", &trace_profile::size)
      .def_prop_ro("dropped", &trace_profile::dropped)
      .def("write", [](const trace_profile& self, nb::handle path) { check(self.write(path_of(path))); });
}

}  // namespace

nb::tuple describe_all(const std::vector<io_info>& all, const std::vector<std::string>& symbols) {
  nb::list made;
  for (const io_info& each : all) made.append(describe(each, symbols));
  return nb::tuple(made);
}

void define_sessions(nb::module_& m) {
  nb::class_<python_stop>(m, "Stop", "Ends the loading and the runs that it was passed to, now and later. Thread-safe.")
      .def(nb::init<>())
      .def(
          "request", [](const python_stop& self) { *self.requested = true; }, "Requests the stop.")
      .def_prop_ro(
          "requested", [](const python_stop& self) { return self.stop_requested(); },
          "True once request() was called.");
  define_profile(m);
  define_binding(m);
  nb::class_<python_session>(m, "Session", nb::is_weak_referenceable(), nb::type_slots(collected_slots<python_session>))
      .def("__init__", load, nb::arg("source"), nb::arg("name"), nb::arg("keywords"))
      .def_ro("_inputs", &python_session::inputs)
      .def_ro("_outputs", &python_session::outputs)
      .def(
          "run", run, nb::arg("inputs"), nb::arg("timeout").none() = nb::none(), nb::arg("stop").none() = nb::none(),
          nb::arg("values") = false,
          "Runs the model once. Takes a dictionary of arrays by input name; returns one of all outputs, in the model's "
          "order.\n\nArrays are read without a copy, and the interpreter's lock is released during the run; any number "
          "of threads may run one session. `timeout` in seconds. `values`: outputs are cameo.Value.\n\nRaises "
          "InvalidArgument for an input that is missing, unknown, or of another type or shape than the model declares; "
          "Canceled, DeadlineExceeded, OutOfMemory.")
      .def("run_list", run_list, nb::arg("names").none(), nb::arg("inputs"), nb::arg("timeout").none() = nb::none(),
           nb::arg("stop").none() = nb::none(), nb::arg("values") = false,
           "Runs the model once, like run(); returns a list of the outputs with these names. None: all outputs.")
      .def(
          "bind",
          [](nb::pointer_and_handle<python_session> self) {
            const session& loaded = *self.p->loaded;
            auto made = std::unique_ptr<python_binding>{
                new python_binding{nb::borrow(self.h), self.p, self.p->loaded, check(loaded.bind()), {}, {}}};
            made->inputs.resize(loaded.inputs().size());
            made->outputs.resize(loaded.outputs().size());
            return made.release();
          },
          nb::rv_policy::take_ownership, "A new binding, with its own memory for runs.")
      .def(
          "cancel",
          [](python_session& self) {
            *self.stop.requested = true;
            self.stop = {};
          },
          "Ends the current runs with Canceled; later runs are not affected. Thread-safe.")
      .def_prop_ro(
          "providers", [](const python_session& self) { return self.loaded->providers(); },
          "Short names of the providers in use, in order of priority.")
      .def_prop_ro(
          "threads", [](const python_session& self) { return self.loaded->thread_count(); },
          "The number of threads that a run may use, the caller's included.")
      .def(
          "config",
          [](const python_session& self, std::string_view key) { return std::string{self.loaded->config(key)}; },
          nb::arg("key"), "The value of a configuration key in this session; empty for unknown keys.")
      .def("_placements", placements_of, nb::arg("with_refusals"))
      .def("_metadata", metadata_of)
      .def("_page", page, nb::arg("name"))
      .def("_counts", counts_of)
      .def("_start_profile",
           [](python_session& self, std::size_t capacity) {
             self.profile = std::make_shared<trace_profile>(*self.loaded, capacity);
             return self.profile;
           })
      .def("_stop_profile", [](python_session& self) { self.profile = {}; });
}

}  // namespace cameo::python
