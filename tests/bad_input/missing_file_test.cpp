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

TEST_CASE("what is no file is INVALID_ARGUMENT: nothing, a folder, a device that never ends, a pipe nobody writes") {
  const scratch_folder folder;
  CHECK_REFUSED(load_file(folder.path.string()).error(), status_code::invalid_argument, folder.path.c_str());
  CHECK(load_file("").error().code() != status_code::ok);
  CHECK_REFUSED(load_file("/dev/zero").error(), status_code::invalid_argument, "/dev/zero");
  REQUIRE(::mkfifo((folder / "pipe.onnx").c_str(), 0600) == 0);
  CHECK_REFUSED(load_file(folder / "pipe.onnx").error(), status_code::invalid_argument, "pipe.onnx");
}

TEST_CASE("names of files that cannot be are refused: too long, with a zero byte inside") {
  CHECK(load_file(std::string(100000, 'a')).error().code() != status_code::ok);
  CHECK(load_file(std::string("/tmp/a\0b.onnx", 13)).error().code() != status_code::ok);
}
