#include "bad_model.hpp"

#include <random>

using namespace cameo;
using namespace cameo::test;

TEST_CASE("garbage is INVALID_PROTOBUF; an empty file has no graph: INVALID_ARGUMENT") {
  CHECK_REFUSED(load_bytes("this is text, not a model").error(), status_code::invalid_protobuf, bad_name);
  CHECK_REFUSED(load_bytes(std::string(5000, '\xFF')).error(), status_code::invalid_protobuf, bad_name);
  CHECK_REFUSED(load_bytes(std::string(5000, '\0')).error(), status_code::invalid_protobuf, bad_name);
  CHECK_REFUSED(load_bytes("\x7f"
                           "ELF\2\1\1")
                    .error(),
                status_code::invalid_protobuf, bad_name);
  CHECK_REFUSED(load_bytes("").error(), status_code::invalid_argument, bad_name);
}

TEST_CASE("a model without a graph, and one without nodes and outputs, are INVALID_ARGUMENT") {
  onnx::ModelProto m = new_model();
  CHECK_REFUSED(load_error(m), status_code::invalid_argument, bad_name, "empty");
  m.clear_graph();
  CHECK_REFUSED(load_error(m), status_code::invalid_argument, bad_name);
}

TEST_CASE("random bytes of any length are a status") {
  std::mt19937 random{7};
  for (int i = 0; i < 500; ++i) {
    std::string bytes(random() % 600, '\0');
    for (char& c : bytes) c = char(random());
    const status s = load_bytes(bytes).error();
    INFO(shown(s));
    const bool known = s.code() == status_code::invalid_protobuf || s.code() == status_code::invalid_argument ||
                       s.code() == status_code::invalid_graph;
    CHECK(known);
    CHECK(says(s, bad_name));
  }
}
