// A model whose weights are larger than a protobuf file can be. The data file is sparse: it needs no disk space, and
// loading must not read what it does not need.
#include <cameo/cameo.hpp>
#include <cameo/eps/cpu.hpp>

#include "format/onnx_messages.hpp"

#include <doctest/doctest.h>

using namespace cameo;
using namespace cameo::test;

TEST_CASE("weights of 3 GB in external data load without being read, and their last element is right") {
  const scratch_folder folder;
  constexpr std::int64_t count = 800'000'000;  // floats: 3.2 GB, over what a protobuf file may hold
  folder.write("weights.bin", "");
  std::filesystem::resize_file(folder.path / "weights.bin", std::uintmax_t(count) * 4);
  {
    std::fstream file{folder / "weights.bin", std::ios::binary | std::ios::in | std::ios::out};
    file.seekp((count - 1) * 4);
    const float last = 42;
    file.write(reinterpret_cast<const char*>(&last), sizeof last);
  }
  onnx::ModelProto m = new_model();
  onnx::TensorProto& w = *m.mutable_graph()->add_initializer();
  w.set_name("w"), w.set_data_type(onnx::TensorProto::FLOAT), w.add_dims(count);
  w.set_data_location(onnx::TensorProto::EXTERNAL);
  const auto entry = [&](const char* key, const std::string& text) {
    auto& e = *w.add_external_data();
    e.set_key(key), e.set_value(text);
  };
  entry("location", "weights.bin"), entry("offset", "0"), entry("length", std::to_string(count * 4));
  onnx::TensorProto& at = *m.mutable_graph()->add_initializer();
  at.set_name("at"), at.set_data_type(onnx::TensorProto::INT64), at.add_dims(1), at.add_int64_data(count - 1);
  onnx::NodeProto& gather = *m.mutable_graph()->add_node();
  gather.set_op_type("Gather"), gather.set_name("gather");
  gather.add_input("w"), gather.add_input("at"), gather.add_output("y");
  add_value(*m.mutable_graph()->mutable_output(), "y", {1});
  const std::string path = folder.write("large.onnx", m.SerializeAsString());

  const auto resident_kb = [] {
    std::ifstream status{"/proc/self/status"};
    for (std::string line; std::getline(status, line);)
      if (line.rfind("VmRSS:", 0) == 0) return std::atol(line.c_str() + 6);
    return 0L;
  };
  const long before = resident_kb();
  const result<session> s = cameo::runtime<eps::cpu>{}.load(path);
  REQUIRE_MESSAGE(s, std::string{s.error().words()});
  const result<named_values> out = s->run({});
  REQUIRE_MESSAGE(out, std::string{out.error().words()});
  CHECK((*out)[0].value.as_unchecked<float>()[0] == 42);
  CHECK(resident_kb() - before < 100'000);
}
