#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// A folder with secret.bin and the model's folder, which has data.bin of 128 bytes.
struct place {
  scratch_folder outside;
  std::filesystem::path inside = outside.path / "model";
  place() {
    std::filesystem::create_directory(inside);
    outside.write("secret.bin", std::string(128, 's'));
    outside.write("model/data.bin", std::string(128, 'd'));
  }
  status load(const std::string& location, const std::string& offset = {}, const std::string& length = {}) const {
    onnx::ModelProto m = add_model();
    *m.mutable_graph()->mutable_initializer(0) = external_message("w", {32}, location, offset, length);
    outside.write("model/bad.onnx", m.SerializeAsString());
    return load_file((inside / bad_name).string()).error();
  }
};

}  // namespace

TEST_CASE("external data inside the folder is read") {
  const place p;
  CHECK_REFUSED(p.load("data.bin"), status_code::ok);
  CHECK_REFUSED(p.load("./data.bin", "0", "128"), status_code::ok);
}

TEST_CASE("external data that is absolute or escapes by .. is INVALID_GRAPH with the name and the location") {
  const place p;
  for (const std::string& location :
       {p.outside / "secret.bin", std::string{"/etc/passwd"}, std::string{"../secret.bin"},
        std::string{"x/../../secret.bin"}, std::string{"./.././secret.bin"}, (p.inside / "data.bin").string(),
        std::string{".."}, std::string{""}}) {
    CHECK_REFUSED(p.load(location), status_code::invalid_graph, bad_name, "'w'", location);
  }
  CHECK_REFUSED(p.load(std::string("data.bin\0../secret.bin", 22)), status_code::invalid_graph, bad_name, "'w'");
}

TEST_CASE("external data that escapes through a symlink, to a file or of a folder, is INVALID_GRAPH") {
  const place p;
  std::filesystem::create_symlink("../secret.bin", p.inside / "link.bin");
  std::filesystem::create_symlink("..", p.inside / "up");
  std::filesystem::create_symlink("link.bin", p.inside / "second.bin");
  std::filesystem::create_symlink("loop.bin", p.inside / "loop.bin");
  for (const char* location : {"link.bin", "up/secret.bin", "second.bin", "up/model/../secret.bin", "loop.bin"})
    CHECK_REFUSED(p.load(location), status_code::invalid_graph, bad_name, "'w'", location);
}

TEST_CASE("external data of another size than declared, or at an offset beyond the file, is INVALID_GRAPH") {
  const place p;
  const std::pair<const char*, const char*> wrong[] = {{"1", ""},
                                                       {"128", ""},
                                                       {"4096", "128"},
                                                       {"0", "127"},
                                                       {"0", "129"},
                                                       {"-1", "128"},
                                                       {"0", "-128"},
                                                       {"x", ""},
                                                       {"18446744073709551615", "128"},
                                                       {"9223372036854775807", "128"},
                                                       {"0", "18446744073709551615"},
                                                       {"99999999999999999999999", ""},
                                                       {"0x10", "1"}};
  for (const auto& [offset, length] : wrong)
    CHECK_REFUSED(p.load("data.bin", offset, length), status_code::invalid_graph, bad_name, "'w'");
}

TEST_CASE("external data that does not exist, or is not a file, is a status with the name and the location") {
  const place p;
  std::filesystem::create_directory(p.inside / "folder");
  for (const char* location : {"none.bin", "folder", "none/none.bin", "data.bin/x"}) {
    const status s = p.load(location);
    INFO(shown(s));
    const bool known = s.code() == status_code::invalid_graph || s.code() == status_code::no_suchfile;
    CHECK(known);
    for (const char* words : {bad_name, "'w'", location}) CHECK(says(s, words));
  }
}

TEST_CASE("external data without a location, and of dims beyond memory, is INVALID_GRAPH") {
  const place p;
  onnx::ModelProto m = add_model();
  *m.mutable_graph()->mutable_initializer(0) = external_message("w", {32}, "data.bin");
  m.mutable_graph()->mutable_initializer(0)->clear_external_data();
  p.outside.write("model/bad.onnx", m.SerializeAsString());
  CHECK_REFUSED(load_file((p.inside / bad_name).string()).error(), status_code::invalid_graph, bad_name, "'w'");
  *m.mutable_graph()->mutable_initializer(0) = external_message("w", {std::int64_t{1} << 50, 1 << 10}, "data.bin");
  p.outside.write("model/bad.onnx", m.SerializeAsString());
  CHECK_REFUSED(load_file((p.inside / bad_name).string()).error(), status_code::invalid_graph, bad_name, "'w'");
}
