#include "python/arrays.hpp"
#include "python/loading.hpp"

#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>
#include <cameo/packages.hpp>
#include <cameo/session/compile.hpp>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace cameo::python {
namespace {

nb::list providers() {
  nb::list made;
  for (const provider& each : build::runtime{}.providers())
    made.append(nb::make_tuple(std::string{each.row->name}, std::string{each.row->long_name}));
  return made;
}

nb::list devices() {
  nb::list made;
  for (const ep_device& each : build::runtime{}.devices())
    made.append(nb::make_tuple(each.provider, each.ep, std::string{detail::name_of(each.kind())}, each.device.name,
                               each.device.hardware.vendor));
  return made;
}

std::size_t compile(nb::handle source, nb::handle target, bool embed, const nb::dict& keywords) {
  load_setting how = to_setting(keywords);
  compile_options options;
  std::optional<model_bytes> bytes;
  if (PyUnicode_Check(source.ptr())) options.input = path_of(source);
  else options.input = bytes.emplace(source).view;
  options.output = path_of(target);
  options.embed = embed;
  options.optimize = how.options.optimize;
  options.session = std::move(how.options);
  result<compile_report> done = [&] {
    const without_interpreter others_run;
    return build::runtime{}.compile(std::move(options));
  }();
  return how.watch->result_of(std::move(done)).compiled_nodes;
}

/// Calls into Python while a model is compiled. An exception ends compilation and is stored in `thrown`.
template <class Call>
status call_python(std::exception_ptr& thrown, Call&& call) {
  const with_interpreter held;
  try {
    call();
    return {};
  } catch (...) {
    if (!thrown) thrown = std::current_exception();
    return {status_code::fail, "a function in Python raised an exception"};
  }
}

/// The location of an initializer that a Python function returned: a file, an offset and a number of bytes; or None.
std::optional<external_place> to_place(nb::handle made, const value& initializer) {
  if (made.is_none()) return {};
  const auto [file, offset, bytes] = nb::cast<std::tuple<nb::object, std::uint64_t, std::uint64_t>>(made);
  const std::size_t needed = initializer.bytes();
  if (bytes != needed)
    refuse("place", "has " + std::to_string(bytes) + " bytes, for an initializer of " + std::to_string(needed));
  return external_place{path_of(file), offset};
}

/// Compiles a model as onnxruntime's ModelCompiler does. `output` is a path, a function that is called with pieces of
/// the model's bytes, or None for a file beside the model. `how` has members of compile_options. `place` is a function
/// that returns the location of an initializer, or None.
void compile_model(nb::handle source, nb::handle output, const nb::dict& keywords, const nb::dict& how,
                   nb::handle place) {
  load_setting setting = to_setting(keywords);
  compile_options options;
  std::optional<model_bytes> bytes;
  std::exception_ptr thrown;
  if (PyUnicode_Check(source.ptr())) options.input = path_of(source);
  else options.input = bytes.emplace(source).view;
  if (PyUnicode_Check(output.ptr())) options.output = path_of(output);
  else if (!output.is_none())
    options.output = compile_output{[&](std::span<const std::byte> piece) {
      return call_python(thrown, [&] { output(nb::bytes(reinterpret_cast<const char*>(piece.data()), piece.size())); });
    }};
  options.embed = nb::cast<bool>(how["embed"]);
  options.optimize = optimization_level(nb::cast<std::uint8_t>(how["optimize"]));
  options.external_initializers = path_of(how["external_initializers"]);
  options.external_threshold = nb::cast<std::size_t>(how["external_threshold"]);
  options.fail_if_nothing_compiled = nb::cast<bool>(how["fail_if_nothing_compiled"]);
  options.fail_if_output_exists = nb::cast<bool>(how["fail_if_output_exists"]);
  if (!place.is_none())
    options.place_initializer = [&](std::string_view name, const value& v) -> result<std::optional<external_place>> {
      std::optional<external_place> made;
      const status done = call_python(thrown, [&] { made = to_place(place(to_text(name), copy_to_python(v)), v); });
      if (!done) return done;
      return made;
    };
  options.session = std::move(setting.options);
  result<compile_report> done = [&] {
    const without_interpreter others_run;
    return build::runtime{}.compile(std::move(options));
  }();
  if (thrown) std::rethrow_exception(thrown);
  setting.watch->result_of(std::move(done));
}

/// The compatibility string for a provider in a compiled model; None if there is none. Raises InvalidProtobuf for a
/// file that is not a model.
nb::object compatibility(nb::handle source, std::string_view provider) {
  const build::runtime runtime;
  const auto find = [&](const auto& from, const result<std::unique_ptr<model>>& net) {
    if (!net && net.error().code() == status_code::invalid_protobuf) raise(net.error());
    const std::optional<std::string> text = check(runtime.compatibility(from, provider));
    return text ? to_text(*text) : nb::object{nb::none()};
  };
  if (PyUnicode_Check(source.ptr())) {
    const std::string path = path_of(source);
    return find(path, read_onnx(path));
  }
  const model_bytes bytes{source};
  return find(bytes.view, read_onnx(bytes.view, "model"));
}

int fit(std::string_view provider, std::string_view text) {
  const std::string_view names[] = {provider};
  return int(check(build::runtime{}.fit(names, text)));
}

/// cameo.Pipeline: the components of a model package as one model.
struct python_pipeline {
  pipeline loaded;
  nb::object inputs, outputs;
  std::shared_ptr<load_watch> watch;

  int traverse(visitproc visit, void* arg) const { return watch->traverse(visit, arg); }
  void clear() { watch->clear(); }
};

nb::dict run_pipeline(const python_pipeline& self, nb::handle inputs, nb::handle timeout) {
  const run_inputs given{inputs, self.loaded.inputs()};
  run_stop ends;
  ends.begin({}, nb::none());
  run_settings settings;
  settings.timeout = to_timeout(timeout);
  settings.stop = ends.token();
  result<named_values> made = [&] {
    const without_interpreter others_run;
    return self.loaded.run(given.all(), settings);
  }();
  ends.raise_after_run(*self.watch);
  nb::dict all;
  for (const named_value& each : check(std::move(made)))
    all[to_text(each.name)] = to_python(each.value, each.value.view());
  return all;
}

nb::object text_or_none(const std::optional<std::string>& text) { return text ? to_text(*text) : nb::none(); }

nb::list components_of(const package& self) {
  nb::list made;
  for (const package_component& component : self.components()) {
    nb::list variants;
    for (const package_variant& v : component.variants)
      variants.append(
          nb::make_tuple(to_text(v.name), text_or_none(v.ep), text_or_none(v.device), text_or_none(v.model_file)));
    made.append(nb::make_tuple(to_text(component.name), variants));
  }
  return made;
}

python_pipeline* load_package(const package& self, bool with_options, const nb::dict& keywords) {
  load_setting how = to_setting(keywords);
  result<pipeline> loaded = [&] {
    const without_interpreter others_run;
    const build::runtime runtime;
    return with_options ? runtime.load(self, how.options) : runtime.load(self);
  }();
  auto made =
      std::make_unique<python_pipeline>(python_pipeline{how.watch->result_of(std::move(loaded)), {}, {}, how.watch});
  made->inputs = describe_all(made->loaded.inputs(), {});
  made->outputs = describe_all(made->loaded.outputs(), {});
  return made.release();
}

void define_packages(nb::module_& m) {
  nb::class_<python_pipeline>(m, "Pipeline", nb::type_slots(collected_slots<python_pipeline>),
                              "The components of a package as one model; of each, the variant that suits this machine.")
      .def_ro("_inputs", &python_pipeline::inputs)
      .def_ro("_outputs", &python_pipeline::outputs)
      .def("run", run_pipeline, nb::arg("inputs"), nb::arg("timeout").none() = nb::none(),
           "Runs all components once; see Session.run.");
  nb::class_<package>(m, "_Package")
      .def_static(
          "open",
          [](nb::handle folder) {
            const std::string path = path_of(folder);
            result<package> made = [&] {
              const without_interpreter others_run;
              return package::open(path);
            }();
            return new package{check(std::move(made))};
          },
          nb::rv_policy::take_ownership)
      .def_prop_ro("folder", [](const package& self) { return to_text(self.folder()); })
      .def_prop_ro("name", [](const package& self) { return text_or_none(self.name()); })
      .def_prop_ro("version", [](const package& self) { return text_or_none(self.version()); })
      .def_prop_ro("description", [](const package& self) { return text_or_none(self.description()); })
      .def("components", components_of)
      .def("load", load_package, nb::rv_policy::take_ownership);
}

}  // namespace

void define_tools(nb::module_& m) {
  m.def("providers", providers,
        "Short and long names of this build's providers, in order of priority; the last is the fallback.");
  m.def("devices", devices, "(short name, long name, kind, name, vendor) of the providers' devices on this machine.");
  m.def("compile_model", compile_model, nb::arg("source"), nb::arg("output").none(), nb::arg("keywords"),
        nb::arg("how"), nb::arg("place").none());
  m.def("compatibility", compatibility, nb::arg("source"), nb::arg("provider"));
  m.def("fit", fit, nb::arg("provider"), nb::arg("text"));
  m.def(
      "from_dlpack", [](nb::handle object) { return python_value{of_dlpack(object, "OrtValue")}; }, nb::arg("object"));
  m.def("dlpack_is_uint8", has_uint8, nb::arg("capsule"));
  m.def("compile", compile, nb::arg("source"), nb::arg("target"), nb::arg("embed"), nb::arg("keywords"));
  define_packages(m);
}

}  // namespace cameo::python
