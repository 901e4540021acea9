#include "bad_model.hpp"

#include <chrono>

using namespace cameo;
using namespace cameo::test;

namespace {

std::string varint(std::size_t number) {
  std::string made;
  for (; number >= 0x80; number >>= 7) made += char(number | 0x80);
  return made + char(number);
}
std::string wrap(int field, const std::string& inside) {
  return varint(std::size_t(field) << 3 | 2) + varint(inside.size()) + inside;
}

/// `depth` Ifs inside each other, valid but for their depth; made inside out, for protobuf would not write it.
std::string nested(int depth) {
  const std::string leaf = wrap(1, wrap(1, "c") + wrap(2, "z") + wrap(4, "Identity")), end = wrap(12, wrap(1, "z"));
  std::string body = leaf + wrap(2, "leaf") + end;
  for (int i = 0; i < depth; ++i) {
    std::string attributes;
    for (const char* name : {"then_branch", "else_branch"}) {
      // The second branch is a leaf: twice the depth, not 2 to the power of it.
      const std::string& graph = name[0] == 't' ? body : leaf + wrap(2, "leaf") + end;
      attributes += wrap(5, wrap(1, name) + wrap(6, graph) + std::string("\xA0\x01\x05", 3));
    }
    body = wrap(1, wrap(1, "c") + wrap(2, "z") + wrap(3, "if" + std::to_string(i)) + wrap(4, "If") + attributes) +
           wrap(2, "g" + std::to_string(i)) + end;
  }
  onnx::GraphProto top;
  *top.add_initializer() = truth("c", true);
  return new_model().SerializeAsString() + wrap(7, body + top.SerializeAsString());
}

}  // namespace

TEST_CASE("subgraphs nested 10,000 deep are INVALID_GRAPH, at once and in little memory") {
  const std::string bytes = nested(10000);
  const auto start = std::chrono::steady_clock::now();
  const memory_peak peak;
  CHECK_REFUSED(load_bytes(bytes).error(), status_code::invalid_graph, bad_name, "graph_depth", "128");
  CHECK(peak.grown_kb() < allowed_kb);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds{5});
}

TEST_CASE("subgraphs nested 100 deep run; 129 deep they do not") {
  result<session> s = load_bytes(nested(100));
  CHECK_MESSAGE(s, shown(s.error()));
  if (s) CHECK_REFUSED(s->run({}).error(), status_code::ok);
  CHECK_REFUSED(load_bytes(nested(130)).error(), status_code::invalid_graph, bad_name);
}

TEST_CASE("a greater depth that an option asks for is a status too, not the end of the stack") {
  session_options deep;
  deep.limits.graph_depth = 20000;
  const status s = load_bytes(nested(10000), deep).error();
  INFO(shown(s));
  CHECK(s.code() == status_code::invalid_graph);
  CHECK(says(s, bad_name));
}
