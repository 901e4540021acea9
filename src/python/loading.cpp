#include "python/loading.hpp"

#include "python/arrays.hpp"
#include "session/option_table.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cameo/graph/model.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

namespace cameo::python {
namespace {

unsigned long main_thread = 0;

/// A stop token that is requested if one of two is.
struct either_stop {
  stop_token a;
  python_stop b;
  bool stop_requested() const { return a.stop_requested() || b.stop_requested(); }
};

/// Calls Python from a thread that does not hold the interpreter's lock. An exception ends loading; one that is raised
/// in a run is raised again when the run has ended.
template <class Call>
void call_python(load_watch& watch, Call&& call) {
  const with_interpreter held;
  const unsigned long thread = PyThread_get_thread_ident();
  if (watch.thrown.contains(thread)) return;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    call();
  } catch (const nb::python_error&) {
    watch.thrown.emplace(thread, std::current_exception());
    watch.stop.request_stop();
  }
}

/// Adds the tensors that replace initializers and the files of external data to the options. The session refers to
/// them.
void keep_weights(const nb::dict& keywords, load_watch& watch, session_options& to) {
  for (const nb::handle pair : nb::borrow<nb::object>(keywords["initializers"])) {
    const std::string name = of_text(pair[0]);
    const given_value& kept = watch.given.emplace_back(to_value(pair[1], {}, name));
    to.initializers.push_back({name, kept.view});
  }
  for (const nb::handle pair : nb::borrow<nb::object>(keywords["external_files"]))
    to.external_files.push_back({path_of(pair[0]), watch.files.emplace_back(nb::object{pair[1]}).view});
}

}  // namespace

const python_stop& stop_of(nb::handle given) {
  if (!nb::isinstance<python_stop>(given))
    raise(status{status_code::invalid_argument, "is not a cameo.Stop"}.in("stop"));
  return nb::cast<const python_stop&>(given);
}

void find_main_thread() {
  main_thread = nb::cast<unsigned long>(nb::module_::import_("threading").attr("main_thread")().attr("ident"));
}

void run_stop::begin(const python_stop& of_session, nb::handle own) {
  of_session_ = of_session.requested;
  own_ = own.is_none() ? nullptr : stop_of(own).requested;
  owner_ = PyThread_get_thread_ident() == main_thread ? main_thread : 0;
  looks_ = 0, next_ = {}, interrupted_ = false;
}

/// Checks at most ten times in a second, because each check takes the interpreter's lock.
bool run_stop::check_interpreter() const {
  if (PyThread_get_thread_ident() != owner_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  const bool is_first = next_ == std::chrono::steady_clock::time_point{};
  next_ = now + std::chrono::milliseconds{100};
  if (is_first) return false;
  const with_interpreter held;
  if (PyErr_CheckSignals() == 0) return false;
  interrupted_ = true;
  return true;
}

load_setting to_setting(const nb::dict& keywords) {
  load_setting made;
  session_options& to = made.options;
  auto watch = std::make_shared<load_watch>();
  const auto get = [&](const char* key) { return nb::object(keywords[key]); };
  for (const nb::handle pair : get("options")) check(set_option(to, of_text(pair[0]), path_of(pair[1])));
  check(build::choose_default_provider(to));
  keep_weights(keywords, *watch, to);
  to.stop = watch->stop.get_token();
  if (const nb::object stop = get("stop"); !stop.is_none()) to.stop = either_stop{to.stop, stop_of(stop)};
  watch->progress = get("progress");
  watch->log = get("log");
  to.progress = [watch](const load_progress& at) {
    call_python(*watch, [&] {
      if (!watch->progress.is_none()) watch->progress(std::string{at.stage}, at.fraction);
    });
  };
  to.log = [watch](log_level severity, std::string_view words) {
    call_python(*watch, [&] {
      if (!watch->log.is_none()) watch->log(int(severity), to_words(words));
    });
  };
  made.watch = std::move(watch);
  return made;
}

void define_options(nb::module_& m) {
  nb::dict all;
  for (const option_row& row : option_rows())
    all[to_text(row.name)] = nb::make_tuple(to_text(row.shown_value()), to_text(row.words), to_text(row.initial));
  m.attr("options") = all;
}

std::string path_of(nb::handle text) {
  const nb::object bytes = nb::steal(PyUnicode_EncodeFSDefault(text.ptr()));
  if (!bytes.is_valid()) throw nb::python_error();
  return {PyBytes_AS_STRING(bytes.ptr()), std::size_t(PyBytes_GET_SIZE(bytes.ptr()))};
}

model_bytes::model_bytes(nb::handle buffer) : kept{nb::steal(PyMemoryView_FromObject(buffer.ptr()))} {
  if (!kept.is_valid()) throw nb::python_error();
  const Py_buffer* const got = PyMemoryView_GET_BUFFER(kept.ptr());
  if (!PyBuffer_IsContiguous(got, 'C')) raise({status_code::invalid_argument, "the bytes of the model are not dense"});
  view = {static_cast<const std::byte*>(got->buf), std::size_t(got->len)};
  if (got->readonly) return;
  copy.assign(view.begin(), view.end());
  view = copy;
}

std::vector<std::string> names_of_dims(const model& of) {
  constexpr std::string_view prefix = "unk__";
  std::vector<std::string> names = of.symbols;
  std::set<std::uint64_t> in_file;
  std::uint64_t next = 0;
  for (std::string& name : names) {
    std::uint64_t number = 0;
    if (!name.starts_with(prefix)) continue;
    const auto [end, wrong] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), number);
    if (wrong != std::errc{} || end != name.data() + name.size()) continue;
    while (in_file.contains(next)) ++next;
    if (number > next || in_file.contains(number)) in_file.insert(number);
    else next = std::max(next, number + 1), name.clear();
  }
  return names;
}

nb::tuple describe(const io_info& io, const std::vector<std::string>& symbols) {
  static constexpr const char* kinds[] = {"unknown", "tensor",   "sparse_tensor", "sequence",
                                          "map",     "optional", "opaque"};
  nb::object dims = nb::none();
  if (io.type.is_tensor() && io.type.shape) {
    nb::list all;
    for (const dim& d : *io.type.shape) {
      if (d.known()) all.append(d.size);
      else if (d.symbol > 0 && d.symbol < symbols.size() && !symbols[d.symbol].empty())
        all.append(to_text(symbols[d.symbol]));
      else all.append(nb::none());
    }
    dims = nb::tuple(all);
  }
  return nb::make_tuple(to_text(io.name), kinds[std::size_t(io.type.kind)],
                        io.type.is_tensor() ? nb::object(nb::str(detail::row_of(io.type.type).name)) : nb::none(), dims,
                        io.optional || io.type.kind == type_kind::optional, to_text(io.type_text));
}

run_inputs::run_inputs(nb::handle dictionary, const std::vector<io_info>& declared) {
  static const value_type unknown;
  nb::object copied;
  if (!PyDict_Check(dictionary.ptr())) {  // another mapping
    if (!nb::hasattr(dictionary, "keys")) raise({status_code::invalid_argument, "inputs are a dictionary of names"});
    copied = nb::steal(PyDict_New());
    if (!copied.is_valid() || PyDict_Update(copied.ptr(), dictionary.ptr()) != 0) throw nb::python_error();
    dictionary = copied;
  }
  const auto count = std::size_t(PyDict_GET_SIZE(dictionary.ptr()));
  all_.reserve(count), kept_.reserve(count);
  PyObject *key = nullptr, *object = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(dictionary.ptr(), &at, &key, &object);) {
    // Reading an object may call Python, which may change the dictionary.
    const nb::object held_key = nb::borrow(key), held = nb::borrow(object);
    Py_ssize_t size = 0;
    if (!PyUnicode_Check(key)) raise({status_code::invalid_argument, "the name of an input is not a text"});
    const char* const text = PyUnicode_AsUTF8AndSize(key, &size);
    if (!text) PyErr_Clear(), names_.push_back(std::make_unique<std::string>(of_text(key)));
    const std::string_view name = text ? std::string_view{text, std::size_t(size)} : *names_.back();
    std::size_t i = 0;
    while (i < declared.size() && declared[i].name != name) ++i;
    given_value given = to_value(held, i < declared.size() ? declared[i].type : unknown, name);
    named_input& made = i < declared.size() ? all_.emplace_back(i, given.view) : all_.emplace_back(name, given.view);
    if (given.any_shape) made.shape_of_model = true, made.count = given.view.shape.count();
    if (given.own) own_.push_back(std::move(given.own));
    kept_.push_back(std::move(given.kept));
    if (i == declared.size()) kept_.push_back(held_key);
  }
}

std::optional<detail::duration> to_timeout(nb::handle seconds) {
  if (seconds.is_none()) return {};
  const double number = PyFloat_AsDouble(seconds.ptr());
  if (number == -1 && PyErr_Occurred()) throw nb::python_error();
  if (std::isnan(number)) raise({status_code::invalid_argument, "a timeout is a number of seconds"});
  const double nanoseconds = number * 1e9;
  constexpr double most = 9.2e18;
  return detail::duration::from_nanoseconds(nanoseconds > most ? INT64_MAX
                                            : nanoseconds <= 0 ? 0
                                                               : std::int64_t(nanoseconds));
}

}  // namespace cameo::python
