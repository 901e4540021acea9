// Tests the inputs and outputs of whole packages.
#include <cameo/packages.hpp>

#include "full_speed.hpp"
#include "packages.hpp"

namespace cameo::test {
namespace {

using shape = std::vector<std::string>;

package_value floats(std::string name, shape dims, bool optional = false) {
  return {std::move(name), "tensor(float)", std::move(dims), optional};
}

/// Two components a -> b -> c: the first computes features of an image, the second classes.
std::vector<component_io> two_components() {
  return {{"features", {{floats("image", {"batch", "4"})}, {floats("vector", {"batch", "3"}), floats("norm", {"1"})}}},
          {"classes", {{floats("vector", {"n", "3"}), floats("bias", {"2"}, true)}, {floats("class", {"n", "2"})}}}};
}

std::string names_of(const std::vector<package_value>& all) {
  std::string made;
  for (const package_value& v : all) made += (made.empty() ? "" : " ") + v.name;
  return made;
}

std::string words(const result<connected_io>& r) { return r ? "fits" : std::string{r.error().words()}; }

TEST_CASE("components connect by names: a value that no earlier one has is an input, one that none reads an output") {
  const std::vector<component_io> parts = two_components();
  const auto whole = connect(parts);
  REQUIRE_MESSAGE(whole, words(whole));
  CHECK(names_of(whole->io.inputs) == "image bias");
  CHECK(whole->io.inputs[1].optional);
  CHECK(names_of(whole->io.outputs) == "norm class");
  REQUIRE(whole->sources.size() == 2);
  CHECK(whole->sources[0][0].component == connected_io::outside);
  CHECK(whole->sources[1][0].component == 0);
  CHECK(whole->sources[1][0].number == 0);
  CHECK(whole->sources[1][1].component == connected_io::outside);
  CHECK(whole->sources[1][1].number == 1);
}

TEST_CASE("of earlier components with an output of a name the last one is read; an input of several is one") {
  const std::vector<component_io> parts{{"a", {{floats("x", {"1"})}, {floats("y", {"1"})}}},
                                        {"b", {{floats("y", {"1"}), floats("x", {"1"})}, {floats("y", {"1"})}}},
                                        {"c", {{floats("y", {"1"})}, {floats("z", {"1"})}}}};
  const auto whole = connect(parts);
  REQUIRE_MESSAGE(whole, words(whole));
  CHECK(names_of(whole->io.inputs) == "x");
  CHECK(names_of(whole->io.outputs) == "z");
  CHECK(whole->sources[2][0].component == 1);
}

TEST_CASE("components that do not connect are refused, and the message names both") {
  std::vector<component_io> apart{{"a", {{floats("x", {"1"})}, {floats("y", {"1"})}}},
                                  {"b", {{floats("other", {"1"})}, {floats("z", {"1"})}}}};
  CHECK(has(words(connect(apart)), "component 'b' reads no output of an earlier component: its inputs are 'other'"));
  apart[1].io.inputs = {floats("y", {"2"})};
  CHECK(has(words(connect(apart)), "component 'b' takes 'y: tensor(float)[2]', and component 'a' gives"));
  apart[1].io.inputs = {floats("y", {"1"}), {"x", "tensor(int64)", shape{"1"}, false}};
  CHECK(has(words(connect(apart)), "'x: tensor(int64)[1]'"));
}

TEST_CASE("values agree if their types and their known dims do") {
  CHECK(agree(floats("a", {"batch", "3"}), floats("b", {"2", "3"})));
  CHECK(agree(floats("a", {"?"}), floats("a", {"n"})));
  CHECK(!agree(floats("a", {"2"}), floats("a", {"3"})));
  CHECK(!agree(floats("a", {"2"}), floats("a", {"2", "1"})));
  CHECK(agree({"a", "tensor(float)", {}, false}, floats("a", {"2"})));
  CHECK(!agree({"a", "tensor(double)", {}, false}, floats("a", {"2"})));
  CHECK(agree({"a", "seq(tensor(float)[2])", {}, false}, {"a", "seq(tensor(float))", {}, false}));
  CHECK(agree({"a", "", {}, false}, floats("a", {"2"})));
}

TEST_CASE("a declaration may omit and reorder outputs; it must contain all inputs without a default") {
  const std::vector<component_io> parts = two_components();
  package_io declared{{floats("image", {"batch", "4"})},
                      {floats("class", {"batch", "2"}), floats("vector", {"b", "3"})}};
  const auto whole = connect(parts, &declared);
  REQUIRE_MESSAGE(whole, words(whole));
  CHECK(names_of(whole->io.outputs) == "class vector");
  declared.outputs.push_back(floats("nothing", {"1"}));
  CHECK(has(words(connect(parts, &declared)), "output 'nothing' is declared, and no component gives it"));
  declared.outputs = {floats("class", {"batch", "5"})};
  CHECK(has(words(connect(parts, &declared)), "'class: tensor(float)[batch,5]' is declared; it is"));
  declared.outputs = {};
  declared.inputs = {};
  CHECK(has(words(connect(parts, &declared)), "input 'image' is in only one of the two"));
  declared.inputs = {floats("image", {"batch", "4"}), floats("more", {"1"}, true)};
  CHECK(has(words(connect(parts, &declared)), "input 'more' is declared, and no component takes it from the caller"));
}

TEST_CASE("variants of a component have one interface, in any order of names") {
  const package_io a{{floats("x", {"1"}), floats("y", {"2"}, true)}, {floats("z", {"3"})}};
  package_io b{{floats("x", {"n"})}, {floats("z", {"3"})}};
  CHECK(same_interface(a, b));
  CHECK(same_interface(b, a));
  b.outputs[0].name = "w";
  CHECK(has(same_interface(a, b).words(), "output 'z' is in only one of the two; the other has 'w'"));
  b = a, b.inputs[0].type = "tensor(int8)";
  CHECK(has(same_interface(a, b).words(),
            "input 'x' has the type 'x: tensor(float)[1]' in one and 'x: tensor(int8)[1]' in the other"));
}

TEST_CASE("a commit keeps the inputs and outputs of the package and its other metadata") {
  const package_folder folder;
  folder.write("manifest.json", R"({"schema_version": "1.0", "components": {}, "additional_metadata": {"by": "us"}})");
  package p = opened(folder.path());
  CHECK(!p.io());
  const package_io io{{floats("image", {"batch", "4", "?"}), floats("bias", {"2"}, true)},
                      {{"words", "seq(tensor(string))", {}, false}}};
  REQUIRE(p.set_io(io));
  CHECK(p.io() == io);
  REQUIRE(p.commit());
  const std::string text = text_of_file(folder / "manifest.json");
  CHECK(has(text, R"("by")"));
  const package again = opened(folder.path());
  CHECK(again.io() == io);
  package changed = opened(folder.path());
  REQUIRE(changed.set_io(std::nullopt));
  REQUIRE(changed.commit());
  CHECK(!opened(folder.path()).io());
  CHECK(has(text_of_file(folder / "manifest.json"), R"("by")"));
}

TEST_CASE("many values are read and connected in linear time") {
  constexpr int many = full_speed ? 100'000 : 10'000;
  package_io io;
  for (int i = 0; i < many; ++i) io.inputs.push_back({"i" + std::to_string(i), "t", {}, false});
  for (int i = 0; i < many; ++i) io.outputs.push_back({"o" + std::to_string(i), "t", {}, false});
  const package_folder folder;
  folder.write("manifest.json", R"({"schema_version": "1.0", "components": {}})");
  package p = opened(folder.path());
  REQUIRE(p.set_io(io));
  REQUIRE(p.commit());
  const std::optional<package_io> again = opened(folder.path()).io();
  REQUIRE(again);
  CHECK(*again == io);
  const std::vector<component_io> parts{{"a", {io.inputs, io.outputs}}, {"b", {io.outputs, io.inputs}}};
  const auto whole = connect(parts, &*again);
  REQUIRE(whole);
  CHECK(whole->io.outputs.size() == std::size_t(many));
}

TEST_CASE("metadata under 'io' in another format is a warning, and declares nothing") {
  for (const char* io : {"1", "{}", R"({"inputs": [], "outputs": [{"name": "x"}]})",
                         R"({"inputs": [{"name": "x", "type": "t", "shape": [1.5]}], "outputs": []})",
                         R"({"inputs": [{"name": "x", "type": "t"}, {"name": "x", "type": "t"}], "outputs": []})",
                         R"({"inputs": [{"name": "x", "type": "t", "optional": 1}], "outputs": []})"}) {
    CAPTURE(io);
    const package_folder folder;
    folder.write("manifest.json",
                 std::string{R"({"schema_version": "1.0", "components": {}, "additional_metadata": )"} + R"({"io": )" +
                     io + "}}");
    CHECK(!opened(folder.path()).io());
    std::vector<package_problem> found;
    CHECK(package::validate(folder.path(), {}, found));
    REQUIRE(found.size() == 1);
    CHECK(found[0].at == "/additional_metadata/io");
    CHECK(!found[0].is_error);
  }
  const package_folder folder;
  folder.write("manifest.json", R"({"schema_version": "1.0", "components": {}, "additional_metadata": [1]})");
  package p = opened(folder.path());
  CHECK(p.set_io(package_io{}).code() == status_code::invalid_argument);
}

}  // namespace
}  // namespace cameo::test
