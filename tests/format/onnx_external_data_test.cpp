#include <cameo/format/onnx.hpp>
#include <cameo/graph/model.hpp>

#include "onnx_messages.hpp"

#include <doctest/doctest.h>

#include <cstring>

using namespace cameo;
using namespace cameo::test;

namespace {

/// A folder with a model and its weights, and a secret outside it.
struct laid_out {
  scratch_folder folder;
  std::string model_folder = folder / "model";
  laid_out() {
    std::filesystem::create_directories(model_folder + "/inside");
    folder.write("secret", std::string(1000, 's'));
    folder.write("model/w.data", std::string(1000, 'w'));
    folder.write("model/inside/w.data", std::string(1000, 'i'));
    std::filesystem::create_symlink("../secret", model_folder + "/link_out");
    std::filesystem::create_symlink("..", model_folder + "/folder_out");
    std::filesystem::create_symlink("inside/w.data", model_folder + "/link_in");
  }
  result<std::unique_ptr<model>> read(const onnx::TensorProto& t) const {
    onnx::ModelProto m = new_model();
    *m.mutable_graph()->add_initializer() = t;
    return read_onnx(folder.write("model/m.onnx", m.SerializeAsString()));
  }
};

char first_byte(const model& m) { return *static_cast<const char*>(m.main()[m.main().find("t")].constant->data); }

}  // namespace

TEST_CASE("external data is mapped from the model's folder, from an offset, through links that stay inside") {
  const laid_out at;
  for (const auto& [location, expect] : {std::pair{"w.data", 'w'},
                                         {"./w.data", 'w'},
                                         {"inside/w.data", 'i'},
                                         {"inside/../w.data", 'w'},
                                         {"link_in", 'i'}}) {
    auto m = at.read(external_message("t", {50}, location, "64", "200"));
    REQUIRE_MESSAGE(m, m.error().words());
    CHECK(first_byte(**m) == expect);
    CHECK((*m)->files.size() == 2);
  }
  auto misaligned = at.read(external_message("t", {50}, "w.data", "3"));
  REQUIRE_MESSAGE(misaligned, misaligned.error().words());
  const auto* const data = (*misaligned)->main()[(*misaligned)->main().find("t")].constant->data;
  CHECK(reinterpret_cast<std::uintptr_t>(data) % 64 == 0);
}

TEST_CASE("a file is mapped once for all its tensors") {
  const laid_out at;
  onnx::ModelProto m = new_model();
  for (const char* name : {"a", "b", "c"})
    *m.mutable_graph()->add_initializer() = external_message(name, {50}, name[0] == 'b' ? "./w.data" : "w.data");
  auto read = read_onnx(at.folder.write("model/m.onnx", m.SerializeAsString()));
  REQUIRE_MESSAGE(read, read.error().words());
  CHECK((*read)->files.size() == 2);
}

TEST_CASE("external data outside the folder is INVALID_GRAPH, however it is reached") {
  const laid_out at;
  for (const std::string& location :
       {std::string{"../secret"}, at.folder / "secret", std::string{"inside/../../secret"}, std::string{"link_out"},
        std::string{"folder_out/secret"}, std::string{"inside/../folder_out/secret"}, std::string{"/etc/passwd"},
        std::string{"..\\secret"}, std::string{"\\secret"}, std::string{"C:secret"}, std::string{"C:\\secret"},
        std::string{".."}, std::string{"."}, std::string{"inside"}, std::string{""}, std::string{"none"},
        std::string{"w.data\0x", 8}, std::string{"../model/w.data"}, std::string(5000, 'a')}) {
    CAPTURE(location);
    auto m = at.read(external_message("t", {50}, location));
    REQUIRE(!m);
    CHECK(m.error().code() == status_code::invalid_graph);
    CHECK(says(m.error(), "tensor 't' float[50]"));
    CHECK(says(m.error(), "m.onnx"));
  }
}

TEST_CASE("external data that ends early or has impossible numbers is INVALID_GRAPH") {
  const laid_out at;
  const auto refused = [&](const char* offset, const char* length, std::int64_t count = 50) {
    auto m = at.read(external_message("t", {count}, "w.data", offset, length));
    return !m && m.error().code() == status_code::invalid_graph && says(m.error(), "w.data");
  };
  CHECK(refused("", "", 251));
  CHECK(refused("804", ""));
  CHECK(refused("1001", "200"));
  CHECK(refused("18446744073709551615", "200"));
  CHECK(refused("0", "201"));
  CHECK(refused("0", "199"));
  CHECK(at.read(external_message("t", {50}, "w.data", "800", "200")));
  for (const char* number : {"-1", "x", "1x", "18446744073709551616", " 1"})
    CHECK(at.read(external_message("t", {50}, "w.data", number)).error().code() == status_code::invalid_graph);
  onnx::TensorProto strings = external_message("t", {50}, "w.data");
  strings.set_data_type(onnx::TensorProto::STRING);
  CHECK(at.read(strings).error().code() == status_code::invalid_graph);
  onnx::TensorProto nowhere = external_message("t", {50}, "w.data");
  nowhere.clear_external_data();
  CHECK(at.read(nowhere).error().code() == status_code::invalid_graph);
}

TEST_CASE("a model from memory has external data only when its folder is given") {
  const laid_out at;
  onnx::ModelProto m = new_model();
  *m.mutable_graph()->add_initializer() = external_message("t", {50}, "w.data");
  const status s = read_message(m).error();
  CHECK(s.code() == status_code::invalid_graph);
  CHECK(says(s, "external_data_folder"));
  read_options options;
  options.external_data_folder = at.model_folder;
  auto read = read_message(m, options);
  REQUIRE_MESSAGE(read, read.error().words());
  CHECK(first_byte(**read) == 'w');
  options.external_data_folder = at.folder / "nowhere";
  CHECK(read_message(m, options).error().code() == status_code::invalid_graph);
}

TEST_CASE("paths are confined by where they lead, not by how they begin") {
  const scratch_folder folder;
  std::filesystem::create_directory(folder / "a");
  std::filesystem::create_directory(folder / "ab");
  folder.write("ab/f", "four");
  folder.write("a/..f", "four");
  const auto leads = [&](const std::string& base, const std::string& location) {
    onnx::ModelProto m = new_model();
    *m.mutable_graph()->add_initializer() = external_message("t", {1}, location);
    read_options options;
    options.external_data_folder = folder / base;
    return read_message(m, options).error().code();
  };
  CHECK(leads("a", "..f") == status_code::ok);
  CHECK(leads("a/", "..f") == status_code::ok);
  std::filesystem::create_directory_symlink("../ab", folder / "a/link");
  CHECK(leads("a", "link/f") == status_code::invalid_graph);
  std::filesystem::create_directory_symlink("ab", folder / "whole");  // the folder itself may be a link
  CHECK(leads("whole", "f") == status_code::ok);
}
