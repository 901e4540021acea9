#include "python/arrays.hpp"
#include "python/loading.hpp"

#include <cameo/packages.hpp>
#include <cameo/session/compile.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace cameo::python {
namespace {

nb::list providers() {
  nb::list made;
  for (const provider& each : program::program_runtime{}.providers())
    made.append(nb::make_tuple(std::string{each.row->name}, std::string{each.row->long_name}));
  return made;
}

nb::list devices() {
  nb::list made;
  for (const ep_device& each : program::program_runtime{}.devices())
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
    return program::program_runtime{}.compile(std::move(options));
  }();
  return how.watch->result_of(std::move(done)).compiled_nodes;
}

/// cameo.Pipeline: the components of a package as one model.
struct python_pipeline {
  pipeline loaded;
  nb::object inputs, outputs;
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
  ends.raise_interrupt();
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
    const program::program_runtime runtime;
    return with_options ? runtime.load(self, how.options) : runtime.load(self);
  }();
  auto made = std::make_unique<python_pipeline>(python_pipeline{how.watch->result_of(std::move(loaded)), {}, {}});
  const auto described = [](const std::vector<io_info>& all) {
    nb::list list;
    for (const io_info& each : all) list.append(describe(each, {}));
    return nb::tuple(list);
  };
  made->inputs = described(made->loaded.inputs());
  made->outputs = described(made->loaded.outputs());
  return made.release();
}

void define_packages(nb::module_& m) {
  nb::class_<python_pipeline>(m, "Pipeline",
                              "The components of a package, each in the variant that runs here, as one model.")
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
        "Short and long names of the providers that this build has, in order; the last is the fallback.");
  m.def("devices", devices, "(short name, long name, kind, name, vendor) of each provider's devices here.");
  m.def("compile", compile, nb::arg("source"), nb::arg("target"), nb::arg("embed"), nb::arg("keywords"));
  define_packages(m);
}

}  // namespace cameo::python
