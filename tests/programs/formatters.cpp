// What <cameo/interop/fmt.hpp> and <cameo/interop/ostream.hpp> print, with this program's own fmt: cameo's is renamed.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#define FMT_HEADER_ONLY
#include <doctest/doctest.h>
#include <cameo/interop/fmt.hpp>
#include <cameo/interop/ostream.hpp>

#include <sstream>

using namespace cameo;

namespace {

/// As fmt writes it; nothing, if a stream writes something else.
template <class T>
std::string printed(const T& object) {
  std::ostringstream stream;
  stream << object;
  std::string text = fmt::format("{}", object);
  return stream.str() == text ? text : std::string{};
}

TEST_CASE("fmt and streams print what callers get from cameo as to_string() says it") {
  const std::vector<float> numbers{1, 2.5f, 3, 4, 5, 6, 7, 8, 9, 10};
  const extents shape{2, 5};
  CHECK(printed(status{status_code::invalid_argument, "net.onnx: no"}) == "INVALID_ARGUMENT: net.onnx: no");
  CHECK(printed(status{}) == "OK");
  CHECK(printed(status_code::no_suchfile) == "NO_SUCHFILE");
  CHECK(printed(dtype::i64) == "int64");
  CHECK(printed(shape) == "[2,5]");
  CHECK(printed(extents{}) == "[]");
  CHECK(printed(any_value::tensor(shape, numbers)) == "float[2,5] 1 2.5 3 4 5 6 7 8 ...");
  CHECK(printed(value{}) == "none");
  CHECK(printed(tensor_view<const float>{numbers.data(), shape}) == "float[2,5] 1 2.5 3 4 5 6 7 8 ...");
  CHECK(printed(io_info{"image", {}, false, "tensor(float)[batch,3]"}) == "image: tensor(float)[batch,3]");
}

TEST_CASE("fmt's widths hold for the whole text") {
  CHECK(fmt::format("{:>7}|{:<8}|", extents{2, 3}, status_code::fail) == "  [2,3]|FAIL    |");
}

}  // namespace
