// A model package: a folder with three models, each in the variants that its author has compiled (here one). When the
// package is loaded, the best variant of each model is selected. The three models run as one pipeline, because outputs
// of a model have the names of inputs of the next one. Usage: example_package digits.onnx
//
//     takes pixels: tensor(uint8)[8,8]
//     gives digit: tensor(int64)[1]
//     prepare: portable, classify: portable, decide: portable
//     digit = int64[1] 7
#include "../build_model.hpp"

#include <cameo/eps/cpu.hpp>
#include <cameo/format/onnx.hpp>
#include <cameo/packages.hpp>

#include <cstdio>
#include <filesystem>
#include <random>

namespace {

namespace fs = std::filesystem;
using runtime = cameo::runtime<cameo::eps::cpu>;  // with more providers, their variants can be selected

/// Converts the 8 by 8 pixels of a picture to the input of the classifier: numbers from 0 to 1, in a batch of one.
std::unique_ptr<cameo::model> make_prepare() {
  examples::model_builder net;
  net.input("pixels", cameo::dtype::u8, {8, 8}).constant<std::int64_t>("batch", {4}, {1, 1, 8, 8});
  net.constant<float>("white", {}, {255});
  cameo::attribute to;
  to.name = "to", to.kind = cameo::attribute_kind::i, to.i = 1;  // float
  net.node("Cast", {"pixels"}, "ink", {to})
      .node("Div", {"ink", "white"}, "light")
      .node("Reshape", {"light", "batch"}, "image");
  net.output("image");
  return net.finish();
}

/// Selects the most probable digit.
std::unique_ptr<cameo::model> make_decide() {
  examples::model_builder net;
  net.input("probabilities", cameo::dtype::f32, {1, 10});
  cameo::attribute axis, keep;
  axis.name = "axis", axis.kind = cameo::attribute_kind::i, axis.i = 1;
  keep.name = "keepdims", keep.kind = cameo::attribute_kind::i, keep.i = 0;
  net.node("ArgMax", {"probabilities"}, "digit", {axis, keep}).output("digit");
  return net.finish();
}

/// Adds a component with a variant for any processor. An author of packages would add compiled variants
/// (runtime::compile) to the same component, with the devices that they are for.
cameo::status add(cameo::package& to, const std::string& component, const fs::path& folder) {
  cameo::package_variant portable;
  portable.name = "portable";
  portable.ep = std::string{cameo::eps::cpu::long_name};
  portable.model_file = "model.onnx";
  if (cameo::status s = to.add_component(component); !s) return s;
  return to.add_variant(component, portable, folder / component);
}

/// Writes the models' files, then the package with its inputs and outputs.
cameo::status make_package(const fs::path& from, const fs::path& classifier, const fs::path& to) {
  for (const char* component : {"prepare", "classify", "decide"}) fs::create_directories(from / component);
  if (cameo::status s = cameo::write_onnx(*make_prepare(), from / "prepare/model.onnx"); !s) return s;
  if (cameo::status s = cameo::write_onnx(*make_decide(), from / "decide/model.onnx"); !s) return s;
  fs::copy_file(classifier, from / "classify/model.onnx", fs::copy_options::overwrite_existing);

  cameo::result<cameo::package> made = cameo::package::make("read_a_digit");
  if (!made) return made.error();
  for (const char* component : {"prepare", "classify", "decide"})
    if (cameo::status s = add(*made, component, from); !s) return s;
  if (cameo::status s = made->save_as(to); !s) return s;
  const auto parts = cameo::interfaces_of(*made, cameo::default_formats::rows);
  if (!parts) return cameo::status{parts.error()};
  const auto whole = cameo::connect(*parts);
  if (!whole) return cameo::status{whole.error()};
  cameo::package_io declared = whole->io;  // without this, the classifier's logits would be outputs
  std::erase_if(declared.outputs, [](const cameo::package_value& v) { return v.name != "digit"; });
  if (cameo::status s = made->set_io(declared); !s) return s;
  return made->commit();
}

int read_digit(const fs::path& folder) {
  const std::vector<std::uint8_t> pixels{0, 0, 255, 255, 255, 255, 0,   0,  //
                                         0, 0, 255, 255, 255, 255, 0,   0,  //
                                         0, 0, 0,   0,   255, 255, 0,   0,  //
                                         0, 0, 255, 255, 255, 255, 255, 0,  //
                                         0, 0, 255, 255, 255, 255, 255, 0,  //
                                         0, 0, 0,   255, 255, 0,   0,   0,  //
                                         0, 0, 0,   255, 255, 0,   0,   0,  //
                                         0, 0, 255, 255, 0,   0,   0,   0};
  const auto package = cameo::package::open(folder);
  if (!package) return cameo::report(package.error());
  const auto pipeline = runtime{}.load(*package);
  if (!pipeline) return cameo::report(pipeline.error());
  for (const cameo::io_info& each : pipeline->inputs()) std::printf("takes %s\n", to_string(each).c_str());
  for (const cameo::io_info& each : pipeline->outputs()) std::printf("gives %s\n", to_string(each).c_str());
  for (std::size_t i = 0; i < pipeline->size(); ++i)
    std::printf("%s%s: %s", i ? ", " : "", pipeline->selected(i).component().c_str(),
                pipeline->selected(i).variant().name.c_str());
  std::printf("\n");
  const auto outputs = pipeline->run({{"pixels", pixels, {8, 8}}});
  return outputs ? cameo::print(*outputs) : cameo::report(outputs.error());
}

}  // namespace

int main(int argc, char** argv) {
  const fs::path classifier = argc > 1 ? argv[1] : "digits.onnx";
  const fs::path scratch = fs::temp_directory_path() / ("cameo-example-" + std::to_string(std::random_device{}()));
  fs::create_directories(scratch);
  const cameo::status made = make_package(scratch / "models", classifier, scratch / "package");
  const int done = made ? read_digit(scratch / "package") : cameo::report(made);
  fs::remove_all(scratch);
  return done;
}
