#include "bad_model.hpp"
#include "wire_format.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// A model of `depth` nested Ifs, which is valid except for the depth. Protobuf would not write it. The bytes before
/// and after a body are collected separately, because otherwise all bytes would be copied for each level.
std::string nested(int depth) {
  const std::string leaf = wrap(1, wrap(1, "c") + wrap(2, "z") + wrap(4, "Identity")), end = wrap(12, wrap(1, "z"));
  const std::string graph_type("\xA0\x01\x05", 3);
  // The second branch is a leaf, so that there are 2 * depth branches, not 2^depth.
  const std::string other = wrap(5, wrap(1, "else_branch") + wrap(6, leaf + wrap(2, "leaf") + end) + graph_type);
  const std::string body = leaf + wrap(2, "leaf") + end;
  std::vector<std::string> before, after;
  std::size_t length = body.size();
  const auto put = [&](unsigned field, const std::string& head,
                       const std::string& tail) {  // encloses the present bytes
    const std::string start = begin_of(field, head.size() + length + tail.size()) + head;
    before.push_back(start), after.push_back(tail);
    length += start.size() + tail.size();
  };
  for (int i = 0; i < depth; ++i) {
    put(6, "", "");
    put(5, wrap(1, "then_branch"), graph_type);
    put(1, wrap(1, "c") + wrap(2, "z") + wrap(3, "if" + std::to_string(i)) + wrap(4, "If"), other);
    after.push_back(wrap(2, "g" + std::to_string(i)) + end), before.emplace_back();
    length += after.back().size();
  }
  std::string whole;
  for (std::size_t i = before.size(); i-- > 0;) whole += before[i];
  whole += body;
  for (const std::string& each : after) whole += each;
  onnx::GraphProto top;
  *top.add_initializer() = truth("c", true);
  whole += top.SerializeAsString();
  return new_model().SerializeAsString() + wrap(7, whole);
}

}  // namespace

TEST_CASE("subgraphs nested 10,000 deep are INVALID_GRAPH, at once and in little memory") {
  const std::string bytes = nested(10000);
  const memory_peak peak;
  CHECK(ends_within(5, [&] {
    CHECK_REFUSED(load_bytes(bytes).error(), status_code::invalid_graph, bad_name, "graph_depth", "128");
  }));
  CHECK(peak.grown_kb() < allowed_kb);
}

TEST_CASE("subgraphs nested 100 deep run, and those 129 deep are refused") {
  result<session> s = load_bytes(nested(100));
  CHECK_MESSAGE(s, shown(s.error()));
  if (s) CHECK_REFUSED(s->run({}).error(), status_code::ok);
  CHECK_REFUSED(load_bytes(nested(130)).error(), status_code::invalid_graph, bad_name);
}

TEST_CASE("a greater depth that an option allows is a status, too, and does not overflow the stack") {
  session_options deep;
  deep.limits.graph_depth = 20000;
  const status s = load_bytes(nested(10000), deep).error();
  INFO(shown(s));
  CHECK(s.code() == status_code::invalid_graph);
  CHECK(says(s, bad_name));
}
