#include "bad_model.hpp"

#include <sys/stat.h>

using namespace cameo;
using namespace cameo::test;

TEST_CASE("a missing file is NO_SUCHFILE and named") {
  const scratch_folder folder;
  CHECK_REFUSED(load_file(folder / "none.onnx").error(), status_code::no_suchfile, "none.onnx");
  CHECK_REFUSED(load_file(folder / "no/folder/none.onnx").error(), status_code::no_suchfile, "no/folder/none.onnx");
  std::filesystem::create_symlink("nowhere", folder.path / "link.onnx");
  CHECK_REFUSED(load_file(folder / "link.onnx").error(), status_code::no_suchfile, "link.onnx");
}

TEST_CASE("a path of something else is INVALID_ARGUMENT: empty, a folder, an endless device, a pipe without a writer") {
  const scratch_folder folder;
  CHECK_REFUSED(load_file(folder.path.string()).error(), status_code::invalid_argument, folder.path.c_str());
  CHECK(load_file("").error().code() != status_code::ok);
  CHECK_REFUSED(load_file("/dev/zero").error(), status_code::invalid_argument, "/dev/zero");
  REQUIRE(::mkfifo((folder / "pipe.onnx").c_str(), 0600) == 0);
  CHECK_REFUSED(load_file(folder / "pipe.onnx").error(), status_code::invalid_argument, "pipe.onnx");
}

TEST_CASE("impossible names of files are refused: too long, or with a zero byte") {
  CHECK(load_file(std::string(100000, 'a')).error().code() != status_code::ok);
  CHECK(load_file(std::string("/tmp/a\0b.onnx", 13)).error().code() != status_code::ok);
}
