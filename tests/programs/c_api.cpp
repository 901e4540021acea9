// The C program tests/package/c/app.c, compiled as C++ in cameo's build, so that the C API is also tested with
// sanitizers.
#define main c_program
#include "package/c/app.c"
#undef main

#include <cameo/test_paths.hpp>

#include <string>

int main() {
  std::string name = "c_api", path = std::string{cameo::test::source_dir} + "/examples/digits/digits.onnx";
  char* arguments[] = {name.data(), path.data(), nullptr};
  return c_program(2, arguments);
}
