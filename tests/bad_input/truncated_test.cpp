#include "bad_model.hpp"

using namespace cameo;
using namespace cameo::test;

namespace {

/// Truncates a model at every `step`-th byte. Returns how many of the results were INVALID_PROTOBUF.
std::size_t count_invalid(const std::string& whole, std::size_t step, std::size_t& cuts) {
  std::size_t found = 0;
  for (std::size_t size = 0; size < whole.size(); size += step, ++cuts) {
    const status s = load_bytes(whole.substr(0, size)).error();
    if (s.code() == status_code::invalid_protobuf) {
      ++found;
      CHECK(says(s, bad_name));
      continue;
    }
    INFO(size, " bytes: ", shown(s));  // truncated between fields: the rest is an incomplete model
    const bool known = s.code() == status_code::invalid_argument || s.code() == status_code::invalid_graph ||
                       s.code() == status_code::ok;
    CHECK(known);
  }
  return found;
}

}  // namespace

TEST_CASE("a model that is truncated at any byte is INVALID_PROTOBUF, except between its fields") {
  std::size_t cuts = 0;
  const std::size_t invalid = count_invalid(add_model().SerializeAsString(), 1, cuts);
  CHECK(cuts > 100);
  CHECK(invalid >= cuts - 20);
}

TEST_CASE("a larger model that is truncated at each 997th byte is INVALID_PROTOBUF") {
  onnx::ModelProto m = rich_model();
  for (int i = 0; i < 40; ++i) *m.mutable_graph()->add_initializer() = floats("w" + std::to_string(i), {50, 50});
  std::size_t cuts = 0;
  const std::size_t invalid = count_invalid(m.SerializeAsString(), 997, cuts);
  CHECK(cuts > 400);
  CHECK(invalid >= cuts - 3);
}

TEST_CASE("a file that is truncated before loading is not read past its end") {
  const scratch_folder folder;
  const std::string path = folder.write(bad_name, add_model().SerializeAsString());
  std::filesystem::resize_file(path, 100);
  CHECK_REFUSED(load_file(path).error(), status_code::invalid_protobuf, bad_name);
}
