// The program of C, as C++ and with cameo's own build: where that has a sanitizer, the functions for C do.
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
