// Tests what <cameo/interop/fmt.hpp> and <cameo/interop/ostream.hpp> print. This program has its own fmt; the copy
// inside of cameo's library has other symbols.
#define FMT_HEADER_ONLY
#include <cameo/interop/fmt.hpp>
#include <cameo/interop/ostream.hpp>

#include <cstdio>
#include <sstream>

using namespace cameo;

namespace {

/// The text that fmt formats; empty if a stream prints another one.
template <class T>
std::string printed(const T& object) {
  std::ostringstream stream;
  stream << object;
  std::string text = fmt::format("{}", object);
  return stream.str() == text ? text : std::string{};
}

int failures = 0;

void expect(const std::string& text, const char* expected) {
  if (text == expected) return;
  std::printf("printed '%s', expected '%s'\n", text.c_str(), expected);
  ++failures;
}

}  // namespace

int main() {
  const std::vector<float> numbers{1, 2.5f, 3, 4, 5, 6, 7, 8, 9, 10};
  const extents shape{2, 5};
  expect(printed(status{status_code::invalid_argument, "net.onnx: no"}), "INVALID_ARGUMENT: net.onnx: no");
  expect(printed(status{}), "OK");
  expect(printed(status_code::no_suchfile), "NO_SUCHFILE");
  expect(printed(dtype::i64), "int64");
  expect(printed(shape), "[2,5]");
  expect(printed(extents{}), "[]");
  expect(printed(any_value::tensor(shape, numbers)), "float[2,5] 1 2.5 3 4 5 6 7 8 ...");
  expect(printed(value{}), "none");
  expect(printed(tensor_view<const float>{numbers.data(), shape}), "float[2,5] 1 2.5 3 4 5 6 7 8 ...");
  expect(printed(io_info{"image", {}, false, "tensor(float)[batch,3]"}), "image: tensor(float)[batch,3]");
  // The width of a format applies to the whole text.
  expect(fmt::format("{:>7}|{:<8}|", extents{2, 3}, status_code::fail), "  [2,3]|FAIL    |");
  return failures ? 1 : 0;
}
